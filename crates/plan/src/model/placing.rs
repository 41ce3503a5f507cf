//! Where I/O goes beyond plain sequential and random order.

use super::blocks::BlockPlan;
use job::Distribution;
use record::PerDirection;

/// What makes places differ from plain sequential or evenly random ones. The default changes
/// nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placing {
    /// How the offsets of random I/O are spread, per direction. Sizes and block numbers count from
    /// the beginning of each file's region.
    pub spread: PerDirection<Distribution>,
    /// A sequence moves on by its length each time.
    pub sequence_stride: bool,
    /// Share of I/O in sequence in a random pattern, per cent of the I/Os of each direction.
    pub sequential_share: PerDirection<u8>,
    /// Sizes of that I/O in sequence, where they are not those of its direction (`bs_is_seq_rand`).
    pub sequential_blocks: Option<BlockPlan>,
    /// Zones it goes through, whatever its order within them.
    pub strides: Option<Strides>,
    /// What `sprandom` writes.
    pub renewal: Option<Renewal>,
    /// I/O waits for I/O in flight on the same bytes.
    pub serialize_overlap: bool,
}

/// `zonemode=strided`, in bytes: so much is moved in a zone of such a range, then the next one begins
/// `skip` behind its end. Behind the end of the region it goes back to the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strides {
    /// Moved before the next zone's turn; at least 1.
    pub moved: u64,
    /// Length of a zone; at least 1.
    pub range: u64,
    /// Between two zones.
    pub skip: u64,
}

/// What is written, in blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renewal {
    /// For each region in order, how many of the blocks written in it are written again `lag`
    /// regions later. Those with no such region have 0.
    pub stale: Vec<u64>,
    /// Blocks written in all, those written again included.
    pub writes: u64,
    /// How many regions later blocks are written again, 1 at least.
    pub lag: u64,
}
