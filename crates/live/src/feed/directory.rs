//! The directory of the sockets, which is private to the user.

use rustix::fs::{FileType, Mode};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, io};

/// Why the directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It is not a directory, or not private.
    #[error("'{path}' is {what}: sockets of runs need a private directory with mode 0700")]
    Foreign {
        /// The directory.
        path: String,
        /// The problem.
        what: &'static str,
    },
    /// It cannot be made or examined.
    #[error("'{path}': {error}")]
    Io {
        /// The directory.
        path: String,
        /// The error.
        error: io::Error,
    },
}

/// The directory of this user's sockets: `fathom` in the runtime directory of the session if the
/// user owns it (XDG Base Directory Specification), else `/tmp/fathom-UID`.
pub fn default_directory() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    // sudo may keep the variable of the calling user, who could not use what root makes there.
    let is_own = |path: &OsString| rustix::fs::stat(path).is_ok_and(|stat| stat.st_uid == user);
    directory(env::var_os("XDG_RUNTIME_DIR").filter(is_own), user)
}

/// The directory for this runtime directory and user.
pub fn directory(runtime: Option<OsString>, user: u32) -> PathBuf {
    let runtime = runtime.map(PathBuf::from).filter(|path| path.is_absolute());
    runtime.map_or_else(|| format!("/tmp/fathom-{user}").into(), |path| path.join("fathom"))
}

/// Makes the directory if it does not exist.
///
/// # Errors
/// When another user owns it or has access to it.
pub(super) fn make(path: &Path) -> Result<(), DirectoryError> {
    let io = |error: rustix::io::Errno| DirectoryError::Io {
        path: path.display().to_string(),
        error: error.into(),
    };
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) | Err(rustix::io::Errno::EXIST) => check(path),
        Err(error) => Err(io(error)),
    }
}

/// Checks that the directory is private to the user.
pub(super) fn check(path: &Path) -> Result<(), DirectoryError> {
    let shown = || path.display().to_string();
    let foreign = |what| Err(DirectoryError::Foreign { path: shown(), what });
    // Links are not followed: in /tmp anybody may have made one.
    let stat = rustix::fs::lstat(path)
        .map_err(|error| DirectoryError::Io { path: shown(), error: error.into() })?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return foreign("no directory");
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return foreign("another user's");
    }
    let others = Mode::from_raw_mode(stat.st_mode) & (Mode::RWXG | Mode::RWXO);
    if others.is_empty() { Ok(()) } else { foreign("open to others") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn the_directory_is_that_of_the_session_or_of_the_user() {
        let of = |runtime: Option<&str>| directory(runtime.map(Into::into), 7);
        assert_eq!(of(Some("/run/user/7")), Path::new("/run/user/7/fathom"));
        assert_eq!(of(Some("here")), Path::new("/tmp/fathom-7"));
        assert_eq!(of(Some("")), Path::new("/tmp/fathom-7"));
        assert_eq!(of(None), Path::new("/tmp/fathom-7"));
    }

    #[test]
    fn only_a_directory_of_ones_own_will_do() {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        make(&path("new")).unwrap();
        make(&path("new")).unwrap();
        std::fs::write(path("file"), "").unwrap();
        symlink(path("new"), path("link")).unwrap();
        std::fs::create_dir(path("open")).unwrap();
        std::fs::set_permissions(path("open"), PermissionsExt::from_mode(0o755)).unwrap();
        for (name, what) in [
            ("file", "no directory"),
            ("link", "no directory"),
            ("open", "open to others"),
            ("no/where", "No such file"),
        ] {
            let said = make(&path(name)).unwrap_err().to_string();
            assert!(said.contains(what), "{name}: {said}");
        }
    }
}
