//! What a check of the source finds.

use std::fmt;
use std::path::PathBuf;

/// A place where a rule is broken.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// File below the root.
    pub path: PathBuf,
    /// Line from 1; 0: the file as a whole.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub message: String,
}

impl Finding {
    /// One at a line of a file.
    pub fn new(path: impl Into<PathBuf>, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.into(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.message),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.message),
        }
    }
}
