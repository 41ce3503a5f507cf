//! The request of a command line.

use super::Remarks;
use super::profile::Profile;

/// The request of a command line.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskspdCommand {
    /// The task.
    pub task: Task,
    /// The workload.
    pub profile: Profile,
    /// Remarks on the command line.
    pub remarks: Remarks,
    /// fathom's own options.
    pub own: Own,
}

/// The task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Task {
    /// Run it.
    #[default]
    Run,
    /// Show the profile (`-Rp`).
    Show,
    /// Show the usage.
    Help,
}

/// fathom's own options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// `--allow-destroy`: devices that may be overwritten even if they hold data.
    pub allow_destroy: Vec<String>,
    /// `--record`: the file for the record.
    pub record: Option<String>,
    /// `--no-archive`; `--no-record` is its old name.
    pub no_archive: bool,
    /// `--with-serials`.
    pub with_serials: bool,
}

/// What is wrong with a command line or a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Usage(
    /// One mistake per line; empty if there are no arguments.
    pub String,
);

/// The inputs of parsing besides the command line.
pub struct ParseContext<'a> {
    /// Reads a file. The error says why it cannot be read.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Seed for a bare `-z`.
    pub seed: u64,
}
