//! The sources of values: variables and files.

use std::path::{Path, PathBuf};
use std::{fmt, io};

/// The environment variables and files that credentials are read from. Tests provide their own.
pub trait ProcessContext {
    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;
    /// A file's content.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
}

/// The environment of this process and the files of this machine.
pub struct ThisProcess;

impl ProcessContext for ThisProcess {
    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

/// A value and its source. `Debug` shows only the source, because the value may be a secret.
#[derive(Clone, PartialEq, Eq)]
pub struct SourcedValue {
    /// The value.
    pub value: String,
    /// The source: "the variable AWS_REGION", "/root/.aws/config:3".
    pub from: String,
}

impl fmt::Debug for SourcedValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourcedValue(from {})", self.from)
    }
}

/// A variable that is set and not empty.
pub fn set(context: &dyn ProcessContext, name: &str) -> Option<String> {
    context.variable(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

/// `path` with the home directory in place of `~`.
pub fn at_home(context: &dyn ProcessContext, path: &str) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(Path::new(&set(context, "HOME")?).join(rest)),
        None => Some(path.into()),
    }
}
