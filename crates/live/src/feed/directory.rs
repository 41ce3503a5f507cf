//! Where the sockets are: a directory that is the user's own and nobody else's.

use rustix::fs::{FileType, Mode};
use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Why the directory of the sockets cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// It is not what it should be, or not the user's own.
    #[error(
        "'{path}' is {what}: sockets of runs are only kept in a directory of one's own, mode 0700"
    )]
    Foreign {
        /// The directory.
        path: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// It cannot be made, or not be looked at.
    #[error("'{path}': {error}")]
    Io {
        /// The directory.
        path: String,
        /// Why not.
        error: io::Error,
    },
}

/// The directory of this user's sockets: `fathom` below the runtime directory of the session, where
/// there is one that is the user's own (XDG Base Directory Specification), else `/tmp/fathom-UID`.
pub fn default_directory() -> PathBuf {
    let user = rustix::process::geteuid().as_raw();
    // sudo may leave that of who called it in place: what is made there would bar them from it.
    let is_own = |path: &OsString| rustix::fs::stat(path).is_ok_and(|stat| stat.st_uid == user);
    directory(env::var_os("XDG_RUNTIME_DIR").filter(is_own), user)
}

/// The same, for a session with this runtime directory and a user.
pub fn directory(runtime: Option<OsString>, user: u32) -> PathBuf {
    let runtime = runtime.map(PathBuf::from).filter(|path| path.is_absolute());
    runtime.map_or_else(|| format!("/tmp/fathom-{user}").into(), |path| path.join("fathom"))
}

/// Makes the directory where it is not there.
///
/// # Errors
/// When it is somebody else's, or anybody else may write to it or read it.
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

/// Whether the directory is the user's own, and nobody else's.
///
/// # Errors
/// What is wrong with it.
pub(super) fn check(path: &Path) -> Result<(), DirectoryError> {
    let shown = || path.display().to_string();
    let foreign = |what| Err(DirectoryError::Foreign { path: shown(), what });
    // Not what a link leads to: in /tmp anybody may have made one.
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
