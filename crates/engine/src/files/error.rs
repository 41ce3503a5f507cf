//! Errors of operations on a whole file.

use std::fmt;
use std::io;

/// An operation on a file that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} '{path}': {}{}", system_text(source), self.hint())]
pub struct FileError {
    /// The operation.
    pub action: Action,
    /// The file.
    pub path: String,
    /// The system's error.
    pub source: io::Error,
}

/// The system's text of an error, without the number that Rust appends.
pub fn system_text(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error ").next().unwrap_or_default().to_owned()
}

/// An operation on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// open(2).
    Open {
        /// With O_DIRECT.
        direct: bool,
    },
    /// fsync(2) or similar.
    Sync,
    /// Write-back of the page cache by the kernel.
    WriteBack,
    /// Setting the write hint.
    Hint,
    /// Removing it.
    Unlink,
    /// Reading it before the run.
    PreRead,
    /// Reading its length and extents.
    Inspect,
    /// Allocating its space.
    Allocate,
    /// Filling it with data.
    Fill,
    /// Making a directory.
    MakeDirectory,
    /// Running a program.
    Run,
    /// Looking up an address.
    Find,
    /// Listening on an address.
    Listen,
    /// Accepting a connection.
    Accept,
    /// Connecting.
    Connect,
}

impl FileError {
    /// The failure of an operation on `path`.
    pub fn new(action: Action, path: &str, source: io::Error) -> Self {
        FileError { action, path: path.into(), source }
    }

    /// The errno; 0 if there is none.
    pub fn errno(&self) -> i32 {
        self.source.raw_os_error().unwrap_or(0)
    }

    fn hint(&self) -> &'static str {
        match (self.action, self.errno()) {
            (Action::Open { direct: true }, libc::EINVAL | libc::EOPNOTSUPP) => {
                "; the filesystem seems not to support O_DIRECT: open it without, or use \
                 another filesystem"
            }
            (Action::Open { .. }, libc::EMFILE) => {
                "; raise the limit on open files (ulimit -n) or have fewer files open"
            }
            (Action::Open { .. }, libc::EROFS) => {
                "; the filesystem is mounted read-only: use another directory"
            }
            (Action::Connect, libc::ETIMEDOUT | libc::ECONNRESET | libc::ENODEV)
                if self.path.starts_with("vsock:1:") =>
            {
                "; 1 is this machine itself, which takes the kernel's module vsock_loopback"
            }
            (Action::Connect | Action::Listen, libc::EAFNOSUPPORT | libc::ENODEV)
                if self.path.starts_with("vsock:") =>
            {
                "; the kernel of this machine has no vsock"
            }
            (_, libc::EFBIG) => {
                "; the filesystem, or a limit of the shell (ulimit -f), takes no files of \
                 this size"
            }
            _ => "",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Open { .. } => "open",
            Action::Sync => "sync",
            Action::WriteBack => "write back from the page cache",
            Action::Hint => "set the write_hint of",
            Action::Unlink => "remove",
            Action::PreRead => "read in advance",
            Action::Inspect => "inspect",
            Action::Allocate => "allocate space for",
            Action::Fill => "lay out",
            Action::MakeDirectory => "make the directory",
            Action::Run => "run",
            Action::Find => "find",
            Action::Listen => "listen on",
            Action::Accept => "accept a connection on",
            Action::Connect => "connect to",
        })
    }
}
