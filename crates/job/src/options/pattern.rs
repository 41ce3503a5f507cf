//! Kind, size and place of each I/O.

use super::Group::{Block, Engine, Error, Pattern};
use super::field::field;
use super::row::{
    NO_MAX, boolean, choice, choice_with, flag, floats, int, ints, ranges, rows, same, text, value,
};
use super::{Choice, OptionDef, set};
use crate::model::SequentialOrder;

const RW: &[Choice] = &[
    value("read", "reads in sequence"),
    value("write", "writes in sequence"),
    value("trim", "trims in sequence"),
    value("randread", "reads at random"),
    value("randwrite", "writes at random"),
    value("randtrim", "trims at random"),
    value("rw", "reads and writes, each in sequence"),
    same("readwrite", "rw"),
    value("randrw", "reads and writes at random"),
    value("trimwrite", "each block trimmed, then written, in sequence"),
    value("randtrimwrite", "each block trimmed, then written, at random"),
];

const ORDERS: &[Choice] = &[
    value("ascending", "from the beginning to the end"),
    value("descending", "from the last block to the first"),
    value("interleaved", "every Nth block, then the same from the next block on: interleaved:17"),
];

const SEQUENCERS: &[Choice] = &[
    value("sequential", "continue sequentially until the next random offset"),
    value("identical", "repeat the offset until the next random offset"),
];

const SUBMIT_MODES: &[Choice] = &[
    value("inline", "the worker submits its own I/O"),
    value("offload", "separate threads submit, one for each I/O in flight"),
];

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Kind of I/O: direction and order
    ///
    /// A suffix changes the offsets. For sequential kinds it is a size that is added to each next
    /// offset: rw=write:4k leaves a hole of 4 KiB behind every write; a negative size steps back.
    /// For random kinds it is the number of I/Os for each random offset (a plain number):
    /// randread:8 reads eight blocks at each offset; rw_sequencer sets how they follow each other.
    /// Mixed kinds follow rwmixread. The trim kinds need a target that can discard.
    "rw" => choice_with(Pattern, RW).alias(&["readwrite"]).default("read").sets_with(set::rw),

    /// Bytes moved by each I/O
    ///
    /// One value applies to reads, writes and trims. Commas separate the three: 'bs=8k,32k' means 8
    /// KiB for reads and 32 KiB for writes and trims, 'bs=,8k,' changes only writes. The last value
    /// without a comma after it applies to the rest. Under direct=1 it must be a multiple of the
    /// device's logical block.
    "bs" => ints(Block, 1, NO_MAX).alias(&["blocksize"]).default("4096").sets(field!(blocks.size)),

    /// Alignment of random offsets
    ///
    /// By default offsets are multiples of the block size. With another alignment blocks can
    /// overlap, so random I/O no longer covers each block exactly once.
    "ba" => ints(Block, 1, NO_MAX).alias(&["blockalign"]).sets(field!(blocks.align)),

    /// Range of random block sizes
    ///
    /// bsrange=1k-4k draws each size uniformly from the multiples of the lower bound. Commas or
    /// slashes separate ranges for reads, writes and trims. Replaces bs.
    "bsrange" => ranges(Block).alias(&["blocksize_range"]).sets(field!(blocks.range)),

    /// Block sizes and the percentage of I/Os for each
    ///
    /// Entries 'size/percent' split by colons: 4k/10:64k/50:32k/40. Entries without a percentage
    /// share the rest evenly. Commas separate the lists for reads, writes and trims. The
    /// percentages count I/Os, not bytes, and must not exceed 100 in total.
    "bssplit" => text(Block).sets_with(set::bssplit),

    /// Sizes of a range need not be multiples of its lower bound
    ///
    /// Direct I/O to most devices cannot work with such sizes.
    "bs_unaligned" => flag(Block).alias(&["blocksize_unaligned"]).sets(field!(blocks.unaligned)),

    /// bs gives the sizes of sequential and random I/O
    ///
    /// The first value of bs then applies to sequential I/O and the second to random I/O, not to reads
    /// and writes.
    "bs_is_seq_rand" => boolean(Block).sets(field!(blocks.is_seq_rand)),

    /// Make every random choice the same in every run
    ///
    /// With 0 each run draws a new seed. The record holds the seed, so the run can be repeated with
    /// randseed.
    "randrepeat" => boolean(Pattern)
        .alias(&["allrandrepeat"])
        .default("1")
        .sets(field!(pattern.randrepeat)),

    /// Seed of all random choices
    ///
    /// The same seed gives the same I/O. The sequence differs from that of fio because the
    /// generator is different.
    "randseed" => int(Pattern, 0, NO_MAX).default("0x89").sets(field!(pattern.randseed)),

    /// Allow random offsets to repeat
    ///
    /// By default random I/O covers every block once before it repeats one; this needs no memory.
    /// Set norandommap to model applications that access blocks repeatedly.
    "norandommap" => flag(Pattern).sets(field!(pattern.norandommap)),

    /// Continue without a random map if memory is short
    ///
    /// fio keeps a bitmap of the blocks accessed and can run without it.
    "softrandommap" => flag(Pattern)
        .accepted_as("covering each block once needs no memory here", field!(pattern.softrandommap)),

    /// Precondition to the random steady state in one pass
    ///
    /// Writes the whole physical capacity (the visible capacity plus spr_op) once, in
    /// spr_num_regions equal regions. The share of each region that a long random write load would
    /// invalidate is written again in the next region. Needs rw=randwrite, norandommap=1, one block
    /// size and one file or device; random_generator may only be lfsr. Newer than fio 3.33.
    "sprandom" => boolean(Pattern).sets(field!(pattern.sprandom)).recorded(),

    /// Overprovisioning of the device, for sprandom
    ///
    /// Physical capacity beyond the visible capacity, as a fraction of the visible capacity: above
    /// 0, at most 1. Newer than fio 3.33.
    "spr_op" => floats(Pattern, 0.0, 1.0).default("0.15").sets_with(|job, v| match v.floats()[..] {
        [share] if share > 0.0 && share <= 1.0 => {
            job.pattern.flash.spare = share;
            Ok(())
        }
        _ => Err("expected one number above 0 and up to 1, such as 0.07".into()),
    }),

    /// Number of regions of sprandom
    ///
    /// More regions follow the steady state more closely and need less memory: eight bytes for each
    /// block of one or two regions. Newer than fio 3.33.
    "spr_num_regions" => int(Pattern, 1, 1 << 20)
        .default("100")
        .sets(field!(pattern.flash.regions)),

    /// Write cache of the device in bytes, for sprandom
    ///
    /// A block that is overwritten while still in the device's cache invalidates nothing on flash.
    /// Blocks are therefore rewritten later by at least this many bytes, rounded up to whole
    /// regions. Newer than fio 3.33.
    "spr_cs" => int(Pattern, 0, NO_MAX).default("0").sets(field!(pattern.flash.cache)),

    /// Errors that do not end the job
    ///
    /// Three lists separated by commas, for reads, writes and verification. Errors in a list are
    /// names or numbers separated by colons: EAGAIN,ENOSPC:122. Ignored errors are still counted
    /// and reported.
    "ignore_error" => text(Error).sets_with(set::ignore_error),

    /// Clones share one position in their files
    ///
    /// Each clone takes the next block that no clone has taken, so one pass covers every block once
    /// whatever numjobs is. Without it, each sequential clone covers the whole file and finds
    /// blocks that another clone has just cached. size and io_size apply to all clones together.
    /// For rw=read, write and trim with one block size. Not an option of fio.
    "shared_cursor" => boolean(Pattern).sets(field!(pattern.shared_cursor)).recorded(),

    /// Order of the blocks of sequential I/O
    ///
    /// The orders of IOzone's backward and stride reads. descending begins with the last block; a
    /// negative suffix of rw begins with the first block, as in fio. interleaved:N accesses every
    /// Nth block, then every Nth from the next block on, and ends after as many I/Os as there are
    /// blocks. Needs one block size and no suffix of rw. Not an option of fio.
    "sequential_order" => choice_with(Pattern, ORDERS)
        .default("ascending")
        .sets_with(set::sequential_order)
        .recorded_as("sequential_order", |job| match job.pattern.order {
            SequentialOrder::Ascending => None,
            SequentialOrder::Descending => Some("descending".into()),
            SequentialOrder::Interleaved(blocks) => Some(format!("interleaved:{blocks}")),
        }),

    /// Offsets between two new random offsets
    ///
    /// Only used with a suffix of rw, such as rw=randread:8.
    "rw_sequencer" => choice(Pattern, SEQUENCERS)
        .default("sequential")
        .sets(field!(pattern.sequencer))
        .recorded(),

    /// I/O engine: how I/O is issued
    ///
    /// Synchronous engines (sync, psync, pvsync, pvsync2, mmap) do one I/O at a time whatever
    /// iodepth is. io_uring and libaio keep iodepth I/Os in flight; libaio needs direct=1 for this
    /// because buffered submission blocks. null moves no data and measures fathom itself.
    "ioengine" => choice_with(Engine, set::engines::CHOICES)
        .default("psync")
        .sets_with(set::engine),

    /// I/Os in flight for each worker
    ///
    /// Only asynchronous engines exceed 1. The report shows the requested depth and the mean depth
    /// reached; if they differ, the figures do not describe the requested depth.
    "iodepth" => int(super::Group::Depth, 1, NO_MAX).default("1").sets(field!(queue.iodepth)),

    /// Maximum number of I/Os submitted at once
    ///
    /// 0 means iodepth. By default fathom chooses a value for the engine that keeps the device
    /// busy.
    "iodepth_batch" => int(super::Group::Depth, 0, NO_MAX)
        .alias(&["iodepth_batch_submit"])
        .default("1")
        .sets(field!(queue.batch_submit)),

    /// Minimum number of completions to wait for
    ///
    /// Large values save system calls, but completed I/Os wait for later ones: latency rises and
    /// the queue may run empty. 0 polls.
    "iodepth_batch_complete_min" => int(super::Group::Depth, 0, NO_MAX)
        .alias(&["iodepth_batch_complete"])
        .default("1")
        .sets(field!(queue.batch_complete_min)),

    /// Maximum number of completions fetched at once
    ///
    /// By default the same as iodepth_batch_complete_min; when neither is given, fathom takes an
    /// eighth of iodepth, 32 at most.
    "iodepth_batch_complete_max" => int(super::Group::Depth, 0, NO_MAX)
        .sets(field!(queue.batch_complete_max)),

    /// Depth at which submission resumes
    ///
    /// A full queue drains to this depth before new I/O is submitted. The default, iodepth, keeps
    /// the queue full.
    "iodepth_low" => int(super::Group::Depth, 0, NO_MAX).sets(field!(queue.low)),

    /// Do not overlap with I/O in flight
    ///
    /// An I/O waits for I/Os in flight on the same blocks. Each worker checks its own I/O; with
    /// io_submit_mode=offload, the I/O of all workers that set both options.
    "serialize_overlap" => boolean(Pattern).sets(field!(pattern.serialize_overlap)).recorded(),

    /// Which thread submits I/O
    ///
    /// With offload the worker hands each I/O to one of iodepth threads, each with its own engine
    /// at depth 1. A blocking call then does not delay later I/Os, and synchronous engines reach
    /// iodepth. Submission latency includes the handover. Works with every engine that does I/O to
    /// files; iodepth_batch and iodepth_low are ignored.
    "io_submit_mode" => choice(Engine, SUBMIT_MODES)
        .default("inline")
        .sets(field!(queue.offload = "offload"))
        .recorded(),
};
