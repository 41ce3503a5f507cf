//! Block sizes.

/// Sizes of the I/Os of one direction, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockPlan {
    /// One size.
    Fixed(u64),
    /// Uniform between `min` and `max`, in steps of `step`.
    Range {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
        /// Granularity: the smallest size, or 1 with unaligned sizes.
        step: u64,
    },
    /// By share: (size, per cent); the shares add up to 100.
    Split(Vec<(u64, u32)>),
}

impl Default for BlockPlan {
    fn default() -> Self {
        BlockPlan::Fixed(4096)
    }
}

impl BlockPlan {
    /// Smallest size.
    pub fn min(&self) -> u64 {
        match self {
            BlockPlan::Fixed(size) => *size,
            BlockPlan::Range { min, .. } => *min,
            BlockPlan::Split(entries) => entries.iter().map(|e| e.0).min().unwrap_or(0),
        }
    }

    /// Largest size.
    pub fn max(&self) -> u64 {
        match self {
            BlockPlan::Fixed(size) => *size,
            BlockPlan::Range { max, .. } => *max,
            BlockPlan::Split(entries) => entries.iter().map(|e| e.0).max().unwrap_or(0),
        }
    }
}
