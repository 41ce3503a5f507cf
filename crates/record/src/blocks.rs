//! The final states of the blocks of a device in a wear test.

use crate::Histogram;
use serde::{Deserialize, Serialize};

/// Number of blocks by final state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockStates {
    /// Size of a block, in bytes.
    pub size: u64,
    /// Neither trimmed nor written.
    pub untouched: u64,
    /// Trimmed last.
    pub trimmed: u64,
    /// Written last.
    pub written: u64,
    /// A trim of it failed.
    pub trim_failed: u64,
    /// A write to it failed.
    pub write_failed: u64,
    /// Number of trims that the failed blocks had survived.
    pub trims_survived: Histogram,
}

impl BlockStates {
    /// Adds the counts of another worker.
    pub fn add(&mut self, other: &BlockStates) {
        self.size = self.size.max(other.size);
        self.untouched += other.untouched;
        self.trimmed += other.trimmed;
        self.written += other.written;
        self.trim_failed += other.trim_failed;
        self.write_failed += other.write_failed;
        self.trims_survived.merge(&other.trims_survived);
    }
}
