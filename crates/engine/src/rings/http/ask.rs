//! Which request an I/O is, and what its failure is to those who know only errnos.

use super::numbered;
use crate::ops::{Op, OpKind};
use crate::rings::Setup;
use objects::{Action, Failure};
use plan::ObjectSet;
use std::fmt::Write;

/// How I/Os become requests.
pub(super) struct Asking {
    /// Path of each file, a slash in front.
    files: Vec<String>,
    /// Files are objects; else each of their blocks is one.
    ranges: bool,
    /// Objects have numbers; there are no files.
    numbered: Option<ObjectSet>,
}

impl Asking {
    pub fn new(setup: &Setup<'_>) -> Asking {
        let path = |path: &String| format!("/{}", path.strip_prefix('/').unwrap_or(path));
        Asking {
            files: setup.files.iter().map(|file| path(&file.path)).collect(),
            ranges: setup.worker.objects.as_ref().is_some_and(|store| store.ranges),
            numbered: setup.worker.numbered.clone(),
        }
    }

    /// The request of an I/O and how many bytes it is to send or to bring, its object's name written
    /// to `path`; `None` where there is none for its kind.
    pub fn request(&self, op: &Op, path: &mut String) -> Option<(Action, u64)> {
        if let Some(set) = &self.numbered {
            return numbered::request(set, op, path);
        }
        path.clear();
        path.push_str(self.files.get(op.file as usize)?);
        if !self.ranges {
            // Text of any length goes into a string.
            let _ = write!(path, "_{}_{}", op.offset, op.length);
        }
        on_object(op, self.ranges)
    }
}

/// The request of an operation on one object, of which a read may want a range only.
pub(super) fn on_object(op: &Op, ranges: bool) -> Option<(Action, u64)> {
    match op.kind {
        OpKind::Read => {
            let range = ranges.then_some((op.offset, op.length));
            Some((Action::Get { range }, op.length))
        }
        OpKind::Write => Some((Action::Put, op.length)),
        OpKind::Trim => Some((Action::Delete, 0)),
        OpKind::Stat => Some((Action::Head, 0)),
        OpKind::ResetZone | OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_) => None,
    }
}

/// The errno that a failure counts as.
pub(super) fn errno(failure: &Failure) -> i32 {
    match failure {
        Failure::Status { status, .. } => of_status(*status),
        Failure::NoSuchHost(_) => libc::EHOSTUNREACH,
        Failure::Connect(errno) => some(*errno, libc::ECONNREFUSED),
        Failure::Broken(errno) => some(*errno, libc::ECONNRESET),
        Failure::Tls(_) => libc::EPROTO,
        Failure::Timeout => libc::ETIMEDOUT,
        Failure::Short { .. } | Failure::WrongLength { .. } => libc::EIO,
        Failure::Garbage(_) => libc::EBADMSG,
        Failure::Refused(_) => libc::EINVAL,
        Failure::GivenUp => libc::ECANCELED,
    }
}

fn some(errno: i32, otherwise: i32) -> i32 {
    if errno > 0 { errno } else { otherwise }
}

fn of_status(status: u16) -> i32 {
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

    fn asked(ranges: bool, kind: OpKind) -> (String, Option<(Action, u64)>) {
        let asking = Asking { files: vec!["/bucket/object".into()], ranges, numbered: None };
        let op = Op { kind, file: 0, offset: 8192, length: 4096, tag: 0 };
        let mut path = "left over".to_owned();
        let request = asking.request(&op, &mut path);
        (path, request)
    }

    #[test]
    fn a_block_is_an_object() {
        let name = "/bucket/object_8192_4096";
        let get = Action::Get { range: None };
        assert_eq!(asked(false, OpKind::Read), (name.into(), Some((get, 4096))));
        assert_eq!(asked(false, OpKind::Write), (name.into(), Some((Action::Put, 4096))));
        assert_eq!(asked(false, OpKind::Trim), (name.into(), Some((Action::Delete, 0))));
        assert_eq!(asked(false, OpKind::Fsync).1, None);
    }

    #[test]
    fn or_a_file_is_one_and_read_by_range() {
        let get = Action::Get { range: Some((8192, 4096)) };
        assert_eq!(asked(true, OpKind::Read), ("/bucket/object".into(), Some((get, 4096))));
    }

    #[test]
    fn failures_have_errnos() {
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
