//! Why work could not be done.

/// Why work could not be done, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Failure {
    /// What was tried on a path, and what the system says.
    pub(crate) fn io(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Failure {
        Failure(format!("cannot {doing} {}: {error}", path.display()))
    }
}
