//! Names of errors.

macro_rules! names {
    ($($name:ident)+) => {
        &[$((stringify!($name), libc::$name)),+]
    };
}

/// Errors by name, the errors of I/O first.
const NAMES: &[(&str, i32)] = names!(
    EIO ENOSPC EAGAIN EINTR EINVAL EDQUOT EILSEQ ETIMEDOUT EREMOTEIO ENODATA ENOMEM EFBIG EROFS
    ENXIO ENODEV EBUSY EOPNOTSUPP ENOTSUP EWOULDBLOCK ECANCELED EPERM ENOENT ESRCH E2BIG ENOEXEC
    EBADF ECHILD EACCES EFAULT ENOTBLK EEXIST EXDEV ENOTDIR EISDIR ENFILE EMFILE ENOTTY ETXTBSY
    ESPIPE EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP ENOMSG
    EIDRM ENOSTR ETIME ENOSR ENONET EREMOTE ENOLINK ECOMM EPROTO EBADMSG EOVERFLOW ENOTUNIQ
    EBADFD EREMCHG EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT
    ESOCKTNOSUPPORT EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH
    ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ESHUTDOWN ECONNREFUSED EHOSTDOWN
    EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN ENOMEDIUM EMEDIUMTYPE ENOKEY EOWNERDEAD
    ENOTRECOVERABLE EHWPOISON
);

/// An error by name or number.
pub(super) fn parse(text: &str) -> Result<i32, String> {
    if let Some((_, number)) = NAMES.iter().find(|(name, _)| *name == text) {
        return Ok(*number);
    }
    // The kernel's error numbers end at 4095.
    text.parse().ok().filter(|number| (1..=4095).contains(number)).ok_or_else(|| {
        let hint = crate::value::nearest(text, NAMES.iter().map(|(name, _)| *name))
            .map_or(String::new(), |near| format!("; did you mean '{near}'?"));
        format!("expected the name or number of an error, such as ENOSPC, got '{text}'{hint}")
    })
}
