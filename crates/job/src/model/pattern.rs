//! Directions, offsets and sizes of I/O.

use super::Size;
use super::named::named;
use record::{Bytes, PerDirection, with_defaults};

/// `rw` without its suffix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadWrite {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random trims.
    RandTrim,
    /// Sequential reads and writes.
    Rw,
    /// Random reads and writes.
    RandRw,
    /// Each block trimmed, then written, in sequence.
    TrimWrite,
    /// Each block trimmed, then written, at random.
    RandTrimWrite,
    /// The I/O of a log (`read_iolog`). It cannot be typed.
    Replay {
        /// The log has reads.
        reads: bool,
        /// The log has writes.
        writes: bool,
        /// The log has trims.
        trims: bool,
    },
}

impl ReadWrite {
    /// All kinds that can be typed.
    pub const ALL: [ReadWrite; 10] = [
        ReadWrite::Read,
        ReadWrite::Write,
        ReadWrite::Trim,
        ReadWrite::RandRead,
        ReadWrite::RandWrite,
        ReadWrite::RandTrim,
        ReadWrite::Rw,
        ReadWrite::RandRw,
        ReadWrite::TrimWrite,
        ReadWrite::RandTrimWrite,
    ];

    /// fio's name; "replay" for the I/O of a log.
    pub const fn name(self) -> &'static str {
        match self {
            ReadWrite::Read => "read",
            ReadWrite::Write => "write",
            ReadWrite::Trim => "trim",
            ReadWrite::RandRead => "randread",
            ReadWrite::RandWrite => "randwrite",
            ReadWrite::RandTrim => "randtrim",
            ReadWrite::Rw => "rw",
            ReadWrite::RandRw => "randrw",
            ReadWrite::TrimWrite => "trimwrite",
            ReadWrite::RandTrimWrite => "randtrimwrite",
            ReadWrite::Replay { .. } => "replay",
        }
    }

    /// Offsets are random.
    pub const fn is_random(self) -> bool {
        matches!(
            self,
            ReadWrite::RandRead
                | ReadWrite::RandWrite
                | ReadWrite::RandTrim
                | ReadWrite::RandRw
                | ReadWrite::RandTrimWrite
        )
    }

    /// Reads occur.
    pub const fn reads(self) -> bool {
        matches!(
            self,
            ReadWrite::Read
                | ReadWrite::RandRead
                | ReadWrite::Rw
                | ReadWrite::RandRw
                | ReadWrite::Replay { reads: true, .. }
        )
    }

    /// Writes occur.
    pub const fn writes(self) -> bool {
        matches!(
            self,
            ReadWrite::Write
                | ReadWrite::RandWrite
                | ReadWrite::Rw
                | ReadWrite::RandRw
                | ReadWrite::TrimWrite
                | ReadWrite::RandTrimWrite
                | ReadWrite::Replay { writes: true, .. }
        )
    }

    /// Trims occur.
    pub const fn trims(self) -> bool {
        matches!(
            self,
            ReadWrite::Trim
                | ReadWrite::RandTrim
                | ReadWrite::TrimWrite
                | ReadWrite::RandTrimWrite
                | ReadWrite::Replay { trims: true, .. }
        )
    }
}

with_defaults! {
    /// Directions and offsets of I/O.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Pattern {
        /// `rw`.
        pub rw: ReadWrite = ReadWrite::Read,
        /// `rw=write:4k`: bytes added to each sequential offset (may be negative).
        pub skip: Option<i64>,
        /// `rw=randread:8`: I/Os before a new random offset.
        pub run_length: Option<u64>,
        /// `sequential_order`.
        pub order: SequentialOrder = SequentialOrder::Ascending,
        /// `rw_sequencer`.
        pub sequencer: Sequencer = Sequencer::Sequential,
        /// `rwmixread`, per cent.
        pub mix_read: Option<u8>,
        /// `percentage_random`, per direction.
        pub percentage_random: PerDirection<u8> = PerDirection::all(100),
        /// `norandommap`.
        pub norandommap: bool,
        /// `softrandommap` has no effect here: the map costs no memory.
        pub softrandommap: bool,
        /// `random_generator`: "tausworthe", "lfsr", or "tausworthe64", as which an unset one counts.
        pub generator: String = "tausworthe64".into(),
        /// `random_distribution`, per direction.
        pub distribution: PerDirection<Distribution> = PerDirection::all(Distribution::Uniform),
        /// `random_sequence_stride`: each pass of a sequence begins where the one before ended.
        pub sequence_stride: bool,
        /// `sprandom`.
        pub sprandom: bool,
        /// The flash device that `sprandom` assumes.
        pub flash: Flash,
        /// `randrepeat`.
        pub randrepeat: bool = true,
        /// `randseed`; `None`: fio's default seed or, without randrepeat, a fresh one.
        pub randseed: Option<u64>,
        /// `number_ios`.
        pub number_ios: Option<u64>,
        /// `shared_cursor`.
        pub shared_cursor: bool,
        /// `serialize_overlap`.
        pub serialize_overlap: bool,
    }
}

/// The flash device that `sprandom` assumes. The defaults are fio's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flash {
    /// `spr_op`: hidden capacity as a share of the visible capacity.
    pub spare: f64,
    /// `spr_num_regions`: number of equal regions in which it is written.
    pub regions: u64,
    /// `spr_cs`: size of the cache in which a repeated write replaces the earlier one.
    pub cache: Bytes,
}

impl Default for Flash {
    fn default() -> Self {
        Flash { spare: 0.15, regions: 100, cache: Bytes(0) }
    }
}

/// `sequential_order`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SequentialOrder {
    /// From the beginning to the end.
    #[default]
    Ascending,
    /// From the last block to the first.
    Descending,
    /// Every Nth block, then the same starting one block later, until each block was accessed once.
    Interleaved(u64),
}

/// `rw_sequencer`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// Sequential until the next random offset.
    #[default]
    Sequential,
    /// The same offset until the next random offset.
    Identical,
}

/// `random_distribution`, and the distributions of `file_service_type`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Every block is equally likely.
    #[default]
    Uniform,
    /// The block of rank k is hit in proportion to k to the power of -theta.
    Zipf {
        /// Exponent, at least 0 and not 1.
        theta: f64,
        /// Where the hottest block lies, from 0 to 1; `None`: drawn.
        center: Option<f64>,
    },
    /// A share `power` of the blocks gets the rest, 1 - `power`, of the I/O; the same holds within
    /// each part.
    Pareto {
        /// Between 0 and 1.
        power: f64,
        /// Where the hottest block lies, from 0 to 1; `None`: drawn.
        center: Option<f64>,
    },
    /// A normal distribution.
    Normal {
        /// Its standard deviation in per cent of the target; from 0 to 100.
        deviation: f64,
        /// Its mean, from 0 to 1; `None`: the middle.
        center: Option<f64>,
    },
    /// Shares of the I/O for consecutive parts of the target. The accesses add up to 100.
    Zoned(Vec<ZoneShare>),
    /// These blocks in order, repeatedly.
    Sequence(Vec<u64>),
}

/// One entry of a zoned distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ZoneShare {
    /// Share of the I/O, per cent.
    pub access: u32,
    /// The size of the part: per cent of the target (`zoned`), or bytes (`zoned_abs`).
    pub size: Size,
}

/// Block sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockSizes {
    /// `bs`, as given per direction; default 4096.
    pub size: PerDirection<Option<Bytes>>,
    /// `bsrange`: (smallest, largest).
    pub range: PerDirection<Option<(Bytes, Bytes)>>,
    /// `bssplit`; empty: none.
    pub split: PerDirection<Vec<SplitEntry>>,
    /// `blockalign`.
    pub align: PerDirection<Option<Bytes>>,
    /// `bs_unaligned`: sizes of a range need not be multiples of its minimum.
    pub unaligned: bool,
    /// `bs_is_seq_rand`: read's size is for sequential, write's for random I/O.
    pub is_seq_rand: bool,
}

/// One entry of `bssplit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitEntry {
    /// Block size.
    pub size: Bytes,
    /// Its share, per cent; `None`: an equal part of the rest.
    pub percent: Option<u32>,
}

named!(Sequencer: Sequential "sequential", Identical "identical");
