//! The errno that a failed request counts as.

use objects::Failure;

/// The errno that a failure counts as.
pub(super) fn errno(failure: &Failure) -> i32 {
    match failure {
        Failure::Status { status, .. } => status_errno(*status),
        Failure::NoSuchHost(_) => libc::EHOSTUNREACH,
        Failure::Connect(errno) => or_default(*errno, libc::ECONNREFUSED),
        Failure::Broken(errno) => or_default(*errno, libc::ECONNRESET),
        Failure::Tls(_) => libc::EPROTO,
        Failure::Timeout => libc::ETIMEDOUT,
        Failure::Short { .. } | Failure::WrongLength { .. } => libc::EIO,
        Failure::Garbage(_) => libc::EBADMSG,
        Failure::Refused(_) => libc::EINVAL,
        Failure::GivenUp => libc::ECANCELED,
    }
}

fn or_default(errno: i32, default: i32) -> i32 {
    if errno > 0 { errno } else { default }
}

fn status_errno(status: u16) -> i32 {
    match status {
        300..=399 => libc::EREMOTE,
        400 | 411 => libc::EINVAL,
        401 | 403 | 407 => libc::EACCES,
        404 | 410 => libc::ENOENT,
        405 | 501 => libc::EOPNOTSUPP,
        408 | 504 => libc::ETIMEDOUT,
        409 => libc::EEXIST,
        413 => libc::EFBIG,
        416 => libc::ERANGE,
        429 | 503 => libc::EBUSY,
        507 => libc::ENOSPC,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_has_its_errno() {
        let status = |status| Failure::Status { status, code: "".into(), message: "".into() };
        assert_eq!(errno(&status(404)), libc::ENOENT);
        assert_eq!(errno(&status(403)), libc::EACCES);
        assert_eq!(errno(&status(503)), libc::EBUSY);
        assert_eq!(errno(&status(500)), libc::EIO);
        assert_eq!(errno(&Failure::Broken(libc::ECONNRESET)), libc::ECONNRESET);
        assert_eq!(errno(&Failure::Connect(0)), libc::ECONNREFUSED);
        assert_eq!(errno(&Failure::Short { came: 1, due: 2 }), libc::EIO);
    }
}
