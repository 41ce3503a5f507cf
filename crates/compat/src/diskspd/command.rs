//! What a command line asks for.

use super::Remarks;
use super::profile::Profile;

/// What a command line asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct DiskspdCommand {
    /// What is to be done.
    pub task: Task,
    /// The workload.
    pub profile: Profile,
    /// What the user should know of what was typed.
    pub remarks: Remarks,
    /// What is meant for fathom.
    pub own: Own,
}

/// What is to be done.
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

/// Options of fathom's own, which DISKSPD does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Own {
    /// `--allow-destroy`: devices that may be overwritten whatever is on them.
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

/// What a command line depends on beside itself.
pub struct ParseContext<'a> {
    /// The bytes of a file, or what keeps it from being read.
    pub read: &'a dyn Fn(&str) -> Result<Vec<u8>, String>,
    /// Seed for a bare `-z`.
    pub seed: u64,
}
