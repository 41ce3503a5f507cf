//! Kind, size and place of each I/O.

use super::Group::{Block, Engine, Error, Pattern};
use super::field::field;
use super::row::{
    NO_MAX, boolean, choice, choice_with, flag, floats, int, ints, ranges, same, text, value,
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

pub(super) const ROWS: &[OptionDef] = &[
    choice_with(Pattern, "rw", RW, "Kind of I/O: direction and order")
        .alias(&["readwrite"])
        .default("read")
        .long(
            "A suffix changes the offsets. For sequential kinds it is a size that is added to \
             each next offset: rw=write:4k leaves a hole of 4 KiB behind every write; a negative \
             size steps back. For random kinds it is the number of I/Os for each random offset \
             (a plain number): randread:8 reads eight blocks at each offset; rw_sequencer sets \
             how they follow each other. Mixed kinds follow rwmixread. The trim kinds need a \
             target that can discard.",
        )
        .sets_with(set::rw),
    ints(Block, "bs", 1, NO_MAX, "Bytes moved by each I/O")
        .alias(&["blocksize"])
        .default("4096")
        .long(
            "One value applies to reads, writes and trims. Commas separate the three: \
             'bs=8k,32k' means 8 KiB for reads and 32 KiB for writes and trims, 'bs=,8k,' \
             changes only writes. The last value without a comma after it applies to the rest. \
             Under direct=1 it must be a multiple of the device's logical block.",
        )
        .sets(field!(blocks.size)),
    ints(Block, "ba", 1, NO_MAX, "Alignment of random offsets")
        .alias(&["blockalign"])
        .long(
            "By default offsets are multiples of the block size. With another alignment blocks \
             can overlap, so random I/O no longer covers each block exactly once.",
        )
        .sets(field!(blocks.align)),
    ranges(Block, "bsrange", "Range of random block sizes")
        .alias(&["blocksize_range"])
        .long(
            "bsrange=1k-4k draws each size uniformly from the multiples of the lower bound. \
             Commas or slashes separate ranges for reads, writes and trims. Replaces bs.",
        )
        .sets(field!(blocks.range)),
    text(Block, "bssplit", "Block sizes and the percentage of I/Os for each")
        .long(
            "Entries 'size/percent' split by colons: 4k/10:64k/50:32k/40. Entries without a \
             percentage share the rest evenly. Commas separate the lists for reads, writes and \
             trims. The percentages count I/Os, not bytes, and must not exceed 100 in total.",
        )
        .sets_with(set::bssplit),
    flag(Block, "bs_unaligned", "Sizes of a range need not be multiples of its lower bound")
        .alias(&["blocksize_unaligned"])
        .long("Direct I/O to most devices cannot work with such sizes.")
        .sets(field!(blocks.unaligned)),
    boolean(Block, "bs_is_seq_rand", "bs gives the sizes of sequential and random I/O")
        .long(
            "The value for reads is then used by every sequential I/O and the value for writes by \
             every random one, whatever its direction.",
        )
        .sets(field!(blocks.is_seq_rand)),
    boolean(Pattern, "randrepeat", "Use the same random offsets in every run")
        .default("1")
        .long(
            "With 0 each run draws a new seed. The record holds the seed, so the run can be \
             repeated with randseed.",
        )
        .sets(field!(pattern.randrepeat)),
    boolean(Pattern, "allrandrepeat", "Make every random choice the same in every run")
        .long("Includes block sizes, the mix of reads and writes, think time and buffer content.")
        .sets(field!(pattern.allrandrepeat)),
    int(Pattern, "randseed", 0, NO_MAX, "Seed of all random choices")
        .default("0x89")
        .long(
            "The same seed gives the same I/O. The sequence differs from that of fio because the \
             generator is different.",
        )
        .sets(field!(pattern.randseed)),
    flag(Pattern, "norandommap", "Allow random offsets to repeat")
        .long(
            "By default random I/O covers every block once before it repeats one; this needs no \
             memory. Set norandommap to model applications that access blocks repeatedly.",
        )
        .sets(field!(pattern.norandommap)),
    flag(Pattern, "softrandommap", "Continue without a random map if memory is short")
        .long("fio keeps a bitmap of the blocks accessed and can run without it.")
        .accepted_as(
            "covering each block once needs no memory here",
            field!(pattern.softrandommap),
        ),
    boolean(Pattern, "sprandom", "Precondition to the random steady state in one pass")
        .long(
            "Writes the whole physical capacity (the visible capacity plus spr_op) once, in \
             spr_num_regions equal regions. The share of each region that a long random write \
             load would invalidate is written again in the next region. Needs rw=randwrite, one \
             block size and one file or device; random_generator may only be lfsr. Newer than \
             fio 3.33.",
        )
        .sets(field!(pattern.sprandom))
        .recorded(),
    floats(Pattern, "spr_op", 0.0, 1.0, "Overprovisioning of the device, for sprandom")
        .long(
            "Physical capacity beyond the visible capacity, as a fraction of the visible \
             capacity: above 0 and below 1. Newer than fio 3.33.",
        )
        .default("0.15")
        .sets_with(|job, v| match v.floats()[..] {
            [share] if share > 0.0 && share < 1.0 => {
                job.pattern.flash.spare = share;
                Ok(())
            }
            _ => Err("expected one number between 0 and 1, such as 0.07".into()),
        }),
    int(Pattern, "spr_num_regions", 1, 1 << 20, "Number of regions of sprandom")
        .long(
            "More regions follow the steady state more closely and need less memory: eight bytes \
             for each block of one or two regions. Newer than fio 3.33.",
        )
        .default("100")
        .sets(field!(pattern.flash.regions)),
    int(Pattern, "spr_cs", 0, NO_MAX, "Write cache of the device in bytes, for sprandom")
        .long(
            "A block that is overwritten while still in the device's cache invalidates nothing \
             on flash. Blocks are therefore rewritten later by at least this many bytes, rounded \
             up to whole regions. Newer than fio 3.33.",
        )
        .default("0")
        .sets(field!(pattern.flash.cache)),
    text(Error, "ignore_error", "Errors that do not end the job")
        .long(
            "Three lists separated by commas, for reads, writes and verification. Errors in a \
             list are names or numbers separated by colons: EAGAIN,ENOSPC:122. Ignored errors \
             are still counted and reported.",
        )
        .sets_with(set::ignore_error),
    boolean(Pattern, "shared_cursor", "Clones share one position in their files")
        .long(
            "Each clone takes the next block that no clone has taken, so one pass covers every \
             block once whatever numjobs is. Without it, each sequential clone covers the whole \
             file and finds blocks that another clone has just cached. size and io_size apply to \
             all clones together. For rw=read, write and trim with one block size. Not an option \
             of fio.",
        )
        .sets(field!(pattern.shared_cursor))
        .recorded(),
    choice_with(Pattern, "sequential_order", ORDERS, "Order of the blocks of sequential I/O")
        .default("ascending")
        .long(
            "The orders of IOzone's backward and stride reads. descending begins with the last \
             block; a negative suffix of rw begins with the first block, as in fio. \
             interleaved:N accesses every Nth block, then every Nth from the next block on, and \
             ends after as many I/Os as there are blocks. Needs one block size and no suffix of \
             rw. Not an option of fio.",
        )
        .sets_with(set::sequential_order)
        .recorded_as("sequential_order", |job| match job.pattern.order {
            SequentialOrder::Ascending => None,
            SequentialOrder::Descending => Some("descending".into()),
            SequentialOrder::Interleaved(blocks) => Some(format!("interleaved:{blocks}")),
        }),
    choice(Pattern, "rw_sequencer", SEQUENCERS, "Offsets between two new random offsets")
        .default("sequential")
        .long("Only used with a suffix of rw, such as rw=randread:8.")
        .sets(field!(pattern.sequencer))
        .recorded(),
    choice_with(Engine, "ioengine", set::engines::CHOICES, "I/O engine: how I/O is issued")
        .default("psync")
        .long(
            "Synchronous engines (sync, psync, pvsync, pvsync2, mmap) do one I/O at a time \
             whatever iodepth is. io_uring and libaio keep iodepth I/Os in flight; libaio needs \
             direct=1 for this because buffered submission blocks. null moves no data and \
             measures fathom itself.",
        )
        .sets_with(set::engine),
    int(super::Group::Depth, "iodepth", 1, NO_MAX, "I/Os in flight for each worker")
        .default("1")
        .long(
            "Only asynchronous engines exceed 1. The report shows the requested depth and the \
             mean depth reached; if they differ, the figures do not describe the requested \
             depth.",
        )
        .sets(field!(queue.iodepth)),
    int(
        super::Group::Depth,
        "iodepth_batch",
        0,
        NO_MAX,
        "Maximum number of I/Os submitted at once",
    )
    .alias(&["iodepth_batch_submit"])
    .default("1")
    .long(
        "0 means iodepth. By default fathom chooses a value for the engine that keeps the \
             device busy.",
    )
    .sets(field!(queue.batch_submit)),
    int(
        super::Group::Depth,
        "iodepth_batch_complete_min",
        0,
        NO_MAX,
        "Minimum number of completions to wait for",
    )
    .alias(&["iodepth_batch_complete"])
    .default("1")
    .long(
        "Large values save system calls, but completed I/Os wait for later ones: latency \
             rises and the queue may run empty. 0 polls.",
    )
    .sets(field!(queue.batch_complete_min)),
    int(
        super::Group::Depth,
        "iodepth_batch_complete_max",
        0,
        NO_MAX,
        "Maximum number of completions fetched at once",
    )
    .long(
        "By default the same as iodepth_batch_complete_min; when neither is given, fathom takes \
         an eighth of iodepth, 32 at most.",
    )
    .sets(field!(queue.batch_complete_max)),
    int(super::Group::Depth, "iodepth_low", 0, NO_MAX, "Depth at which submission resumes")
        .long(
            "A full queue drains to this depth before new I/O is submitted. The default, \
             iodepth, keeps the queue full.",
        )
        .sets(field!(queue.low)),
    boolean(Pattern, "serialize_overlap", "Do not overlap with I/O in flight")
        .long(
            "An I/O waits for I/Os in flight on the same blocks. Each worker checks its own I/O; \
             with io_submit_mode=offload, the I/O of all workers that set both options.",
        )
        .sets(field!(pattern.serialize_overlap))
        .recorded(),
    choice(Engine, "io_submit_mode", SUBMIT_MODES, "Which thread submits I/O")
        .default("inline")
        .long(
            "With offload the worker hands each I/O to one of iodepth threads, each with its own \
             engine at depth 1. A blocking call then does not delay later I/Os, and synchronous \
             engines reach iodepth. Submission latency includes the handover. Works with every \
             engine that does I/O to files; iodepth_batch and iodepth_low are ignored.",
        )
        .sets(field!(queue.offload = "offload"))
        .recorded(),
];
