//! Errors of setting up or restoring the machine.

use std::io;
use std::path::Path;

/// An error with its cause and remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    /// The kind of error.
    pub kind: Kind,
    /// The message for the user, with the setting and what was expected.
    pub text: String,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The value is not valid for the setting.
    Usage,
    /// The target is unsuitable, or the user lacks permission.
    Refused,
    /// An operation failed.
    Failed,
}

impl Error {
    pub(crate) fn usage(text: impl Into<String>) -> Error {
        Error { kind: Kind::Usage, text: text.into() }
    }

    pub(crate) fn refused(text: impl Into<String>) -> Error {
        Error { kind: Kind::Refused, text: text.into() }
    }

    pub(crate) fn failed(text: impl Into<String>) -> Error {
        Error { kind: Kind::Failed, text: text.into() }
    }

    /// An operation on a file failed; `what` names it ("cannot be made").
    pub(crate) fn io(file: &Path, what: &str, error: &io::Error) -> Error {
        Error::failed(format!("{}: {what}: {error}", file.display()))
    }
}
