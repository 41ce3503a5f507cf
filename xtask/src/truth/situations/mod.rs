//! The situations, by what limits them.

mod cache;
mod contention;
mod limits;
mod load;
mod objects;
mod storage;

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

/// Every situation.
pub fn all() -> impl Iterator<Item = &'static Situation> {
    [storage::ALL, cache::ALL, limits::ALL, load::ALL, contention::ALL, objects::ALL]
        .into_iter()
        .flatten()
}

/// Patterns that read.
const READS: &[&str] = &["read", "randread"];
/// Patterns that write.
const WRITES: &[&str] = &["write", "randwrite"];
/// Both, and mixes.
const ANY: &[&str] = &["read", "randread", "write", "randwrite", "rw", "randrw"];
