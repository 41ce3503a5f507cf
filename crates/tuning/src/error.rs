//! Why the machine could not be made what was asked for.

use std::io;
use std::path::Path;

/// What went wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    /// Whose fault it is.
    pub kind: Kind,
    /// For the user, in whole sentences, with the setting and what was expected.
    pub text: String,
}

/// Whose fault it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The value is none of the setting's.
    Usage,
    /// The target does not suit, or this user may not.
    Refused,
    /// The machine did not follow.
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

    /// A call on a file failed; `what` says what it was to do ("cannot be made").
    pub(crate) fn io(file: &Path, what: &str, error: &io::Error) -> Error {
        Error::failed(format!("{}: {what}: {error}", file.display()))
    }
}
