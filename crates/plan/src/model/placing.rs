//! Placement of I/O other than plain sequential or random.

use super::blocks::BlockPlan;
use job::Distribution;
use record::PerDirection;

/// Placement of I/O other than plain sequential or uniformly random. The default changes
/// nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placing {
    /// Distribution of random offsets, per direction. Sizes and block numbers count from
    /// the beginning of each file's region.
    pub spread: PerDirection<Distribution>,
    /// Whether a sequence advances by its length each time.
    pub sequence_stride: bool,
    /// Share of sequential I/O in a random pattern, in per cent of the I/Os of each direction.
    pub sequential_share: PerDirection<u8>,
    /// Sizes of this sequential I/O, if they differ from the sizes of its direction
    /// (`bs_is_seq_rand`).
    pub sequential_blocks: Option<BlockPlan>,
    /// Strides through zones, with any order within a zone.
    pub strides: Option<Strides>,
    /// The writes of `sprandom`.
    pub renewal: Option<Renewal>,
    /// Whether I/O waits for overlapping I/O in flight.
    pub serialize_overlap: bool,
}

/// `zonemode=strided`, in bytes. After the bytes of a zone are moved, the next zone begins
/// `skip` after its end. After the end of the region, the first zone follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// Bytes moved in a zone before the next; at least 1.
    pub moved: u64,
    /// Length of a zone; at least 1.
    pub range: u64,
    /// Gap between two zones.
    pub skip: u64,
}

/// The blocks that `sprandom` writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// For each region in order, the number of its blocks that are rewritten `lag` regions later.
    /// It is 0 if there is no such region.
    pub stale: Vec<u64>,
    /// Total blocks written, including rewritten ones.
    pub writes: u64,
    /// Number of regions until blocks are rewritten; at least 1.
    pub lag: u64,
}
