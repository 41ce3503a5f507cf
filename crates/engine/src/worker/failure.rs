//! Why a worker cannot run.

use crate::files::FileError;
use std::io;

pub(crate) enum Failure {
    File(FileError),
    /// The step that failed, as in "cannot allocate buffers".
    Setup(&'static str, io::Error),
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::File(error)
    }
}

/// Names the step of a set-up error.
pub(crate) fn step(what: &'static str) -> impl Fn(io::Error) -> Failure {
    move |error| Failure::Setup(what, error)
}
