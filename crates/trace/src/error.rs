//! What is wrong with a log, and where.

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
    /// The log as a whole.
    #[error("{0}")]
    Whole(String),
    /// The system's answer when it was read.
    #[error("it cannot be read: {0}")]
    Read(String),
}

impl From<std::io::Error> for TraceError {
    fn from(error: std::io::Error) -> Self {
        TraceError::Read(error.to_string())
    }
}
