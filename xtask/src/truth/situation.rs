//! What describes a situation.

use super::stage::{Made, Stage};
use anyhow::Result;

/// A situation whose limit is known because it was made.
pub struct Situation {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is made, for readers of the table.
    pub what: &'static str,
    /// The limits that are right, as reports name them.
    pub limits: &'static [&'static str],
    /// Findings that have to be there.
    pub must: &'static [&'static str],
    /// Warnings that hold, whether they are given or not.
    pub may: &'static [&'static str],
    /// Makes it, in a shape drawn at random.
    pub make: fn(&mut Stage) -> Result<Made>,
}

/// Patterns that read.
pub const READS: &[&str] = &["read", "randread"];
/// Patterns that write.
pub const WRITES: &[&str] = &["write", "randwrite"];
/// Both, and mixes.
pub const ANY: &[&str] = &["read", "randread", "write", "randwrite", "rw", "randrw"];
