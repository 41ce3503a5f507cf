//! The request of a command line.

use super::Remarks;
use super::profile::Profile;
pub use crate::hpc::Own;

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
