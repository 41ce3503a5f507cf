//! What figures are of.

use record::Direction;

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// I/Os in a direction.
    Io(Direction),
    /// Synchronisations.
    Sync,
    /// Requests of a kind to an object store, by its name in [`record::REQUESTS`].
    Request(String),
}

impl Operation {
    /// "read", "sync", "GET".
    pub fn name(&self) -> &str {
        match self {
            Operation::Io(direction) => direction.name(),
            Operation::Sync => "sync",
            Operation::Request(request) => request,
        }
    }

    /// The direction of I/Os.
    pub fn direction(&self) -> Option<Direction> {
        match self {
            Operation::Io(direction) => Some(*direction),
            Operation::Sync | Operation::Request(_) => None,
        }
    }

    /// The kind of request.
    pub fn request(&self) -> Option<&str> {
        match self {
            Operation::Request(request) => Some(request),
            Operation::Io(_) | Operation::Sync => None,
        }
    }
}

/// The name of a kind of request as reports have it, however it is typed; `None`: there is no such
/// kind.
pub(crate) fn request_named(text: &str) -> Option<&'static str> {
    record::REQUESTS.into_iter().find(|request| request.eq_ignore_ascii_case(text))
}
