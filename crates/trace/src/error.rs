//! Errors of logs, with their places.

use thiserror::Error;

/// Why a log cannot be replayed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TraceError {
    /// A line of a text log.
    #[error("line {line}: {what}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong, what was expected, what to do.
        what: String,
    },
    /// A place in a binary log.
    #[error("byte {byte}: {what}")]
    Byte {
        /// Where the record begins, from 0.
        byte: u64,
        /// What is wrong, what was expected, what to do.
        what: String,
    },
    /// The whole log.
    #[error("{0}")]
    Whole(String),
    /// The log cannot be read; the system's error.
    #[error("it cannot be read: {0}")]
    Read(String),
}

impl From<std::io::Error> for TraceError {
    fn from(error: std::io::Error) -> Self {
        TraceError::Read(error.to_string())
    }
}
