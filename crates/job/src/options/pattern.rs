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
    value("interleaved", "every so many blocks, then from one further on: interleaved:17"),
];

const SEQUENCERS: &[Choice] = &[
    value("sequential", "go on in sequence until the next new offset"),
    value("identical", "repeat the same offset until the next new one"),
];

const SUBMIT_MODES: &[Choice] = &[
    value("inline", "the worker submits its own I/O"),
    value("offload", "threads submit for it, one for each I/O in flight"),
];

pub(super) const ROWS: &[OptionDef] = &[
    choice_with(Pattern, "rw", RW, "Kind of I/O")
        .alias(&["readwrite"])
        .default("read")
        .long(
            "A suffix changes the offsets. For sequential kinds it is a size that is added to \
             each next offset: rw=write:4k leaves a hole of 4 KiB behind every write; a negative \
             size steps back. For random kinds it is the number of I/Os until a new random offset \
             is drawn (a plain number): randread:8 reads eight blocks from each place; what \
             happens between two new offsets is set by rw_sequencer. Mixed kinds follow \
             rwmixread. The trim kinds need a target that can discard.",
        )
        .sets_with(set::rw),
    ints(Block, "bs", 1, NO_MAX, "Bytes moved by each I/O")
        .alias(&["blocksize"])
        .default("4096")
        .long(
            "One value holds for reads, writes and trims. With commas each kind gets its own: \
             'bs=8k,32k' gives reads 8 KiB and the others 32 KiB, 'bs=,8k,' changes only writes. \
             What has no comma behind it holds for the kinds that follow. Under direct=1 it must \
             be a multiple of the device's logical block.",
        )
        .sets(field!(blocks.size)),
    ints(Block, "ba", 1, NO_MAX, "Boundary on which random offsets lie")
        .alias(&["blockalign"])
        .long(
            "By default offsets are multiples of the block size. Another boundary lets blocks \
             overlap, so it switches off the promise that random I/O covers each block once.",
        )
        .sets(field!(blocks.align)),
    ranges(Block, "bsrange", "Range from which block sizes are drawn")
        .alias(&["blocksize_range"])
        .long(
            "bsrange=1k-4k draws each size evenly from the multiples of the lower bound. Commas \
             or slashes give reads, writes and trims their own range. It replaces bs.",
        )
        .sets(field!(blocks.range)),
    text(Block, "bssplit", "Block sizes with their shares")
        .long(
            "Entries 'size/percent' split by colons: 4k/10:64k/50:32k/40. Entries without a \
             percentage share evenly what the others leave. A comma begins the list of writes, \
             another that of trims. Shares beyond 100 in sum are refused. The shares count I/Os, \
             not bytes.",
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
    boolean(Pattern, "randrepeat", "The same offsets in every run")
        .default("1")
        .long(
            "With 0 a fresh seed is drawn for each run; it is kept in the record, so even that \
             run can be repeated with randseed.",
        )
        .sets(field!(pattern.randrepeat)),
    boolean(Pattern, "allrandrepeat", "Every random choice the same in every run")
        .long("Beyond offsets: block sizes, the mix of reads and writes, think time, content.")
        .sets(field!(pattern.allrandrepeat)),
    int(Pattern, "randseed", 0, NO_MAX, "Seed of all random choices")
        .default("0x89")
        .long(
            "The same seed gives the same I/O. It is not the same sequence as fio's for that \
             seed: the generator is another one.",
        )
        .sets(field!(pattern.randseed)),
    flag(Pattern, "norandommap", "Random offsets may repeat")
        .long(
            "By default random I/O touches every block once before it touches one again. That \
             costs no memory here, so the reason to set this is the load itself: real random load \
             repeats itself, and a device may answer repeated reads from its cache.",
        )
        .sets(field!(pattern.norandommap)),
    flag(Pattern, "softrandommap", "Go on without a random map if memory is short")
        .long("fio keeps a bitmap of what random I/O has touched and can do without it.")
        .accepted_as(
            "coverage without repetition needs no memory, so it never has to be given up",
            field!(pattern.softrandommap),
        ),
    boolean(Pattern, "sprandom", "Precondition to the random steady state in one pass").long(
        "The whole physical capacity, which is more than what the device shows by spr_op, is written \
         once in spr_num_regions equal regions, and of each region what a long random load would \
         leave invalid is written again in the next one. For rw=randwrite with blocks of one size \
         over one device or file; the order is its own, so random_generator may only be lfsr. Newer \
         than fio 3.33.",
    )
    .sets(field!(pattern.sprandom))
        .recorded(),
    floats(Pattern, "spr_op", 0.0, 1.0, "Spare flash of the device, for sprandom")
        .long(
            "Flash beyond what the device shows, as a share of that: between 0 and 1, both left \
             out. Newer than fio 3.33.",
        )
        .default("0.15")
        .sets_with(|job, v| match v.floats()[..] {
            [share] if share > 0.0 && share < 1.0 => {
                job.pattern.flash.spare = share;
                Ok(())
            }
            _ => Err("expected one number between 0 and 1, such as 0.07".into()),
        }),
    int(Pattern, "spr_num_regions", 1, 1 << 20, "Regions in which sprandom writes")
        .long(
            "More of them follow the steady state more closely and need less memory: eight bytes \
             for each block of a region or two. Newer than fio 3.33.",
        )
        .default("100")
        .sets(field!(pattern.flash.regions)),
    int(Pattern, "spr_cs", 0, NO_MAX, "Write cache of the device, for sprandom")
        .long(
            "A block written again while its first write is still in the device's cache leaves \
             nothing invalid on the flash: with a cache of this size blocks are written again that \
             much later, by whole regions. Newer than fio 3.33.",
        )
        .default("0")
        .sets(field!(pattern.flash.cache)),
    text(Error, "ignore_error", "Errors that do not end the job")
        .long(
            "Three lists split by commas, for reads, writes and verification; in a list errors \
             are split by colons and given by name or number: EAGAIN,ENOSPC:122. Ignored errors \
             are counted and reported all the same.",
        )
        .sets_with(set::ignore_error),
    boolean(Pattern, "shared_cursor", "Clones go through their files together, each block once")
        .long(
            "With numjobs above 1 and a filename, sequential clones would each go through the whole \
             file and meet blocks that another has just brought into the cache. With a shared \
             cursor each takes the next block that none has taken, so a pass touches every block \
             once whatever numjobs is; size and io_size are those of all clones together. For \
             rw=read, write and trim with one block size. Not an option of fio.",
        )
        .sets(field!(pattern.shared_cursor))
        .recorded(),
    choice_with(Pattern, "sequential_order", ORDERS, "Order of the blocks of sequential I/O")
        .default("ascending")
        .long(
            "IOzone's backward and stride reads. Descending begins with the last block, where a \
             negative suffix of rw, as in fio, begins with the first and leaves the last out. \
             Interleaved goes to every so-many-th block, then to those one further on, and ends as \
             soon as it did as many I/Os as there are blocks: the first of them twice, some at the \
             end not at all. For one block size, without a suffix of rw. Not an option of fio.",
        )
        .sets_with(set::sequential_order)
        .recorded_as("sequential_order", |job| match job.pattern.order {
            SequentialOrder::Ascending => None,
            SequentialOrder::Descending => Some("descending".into()),
            SequentialOrder::Interleaved(blocks) => Some(format!("interleaved:{blocks}")),
        }),
    choice(Pattern, "rw_sequencer", SEQUENCERS, "What happens between two new random offsets")
        .default("sequential")
        .long("Has a meaning only with a suffix of rw, such as rw=randread:8.")
        .sets(field!(pattern.sequencer))
        .recorded(),
    choice_with(Engine, "ioengine", set::engines::CHOICES, "How I/O reaches the kernel")
        .default("psync")
        .long(
            "The synchronous engines (sync, psync, vsync, pvsync, pvsync2, mmap) do one I/O at a \
             time whatever iodepth says. io_uring and libaio keep iodepth of them in flight; \
             libaio needs direct=1 for that, since buffered submission blocks. null moves nothing \
             and measures the tool itself.",
        )
        .sets_with(set::engine),
    int(super::Group::Depth, "iodepth", 1, NO_MAX, "I/Os kept in flight by each worker")
        .default("1")
        .long(
            "Only asynchronous engines go beyond 1. The depth asked for and the depth reached, \
             weighted by time, are both in the report: where they differ the figures are not \
             those of the depth asked for.",
        )
        .sets(field!(queue.iodepth)),
    int(super::Group::Depth, "iodepth_batch", 0, NO_MAX, "I/Os submitted at once, at most")
        .alias(&["iodepth_batch_submit"])
        .default("1")
        .long(
            "0 stands for the whole of iodepth. When it is not given, fathom chooses by engine \
             what keeps the device busiest.",
        )
        .sets(field!(queue.batch_submit)),
    int(
        super::Group::Depth,
        "iodepth_batch_complete_min",
        0,
        NO_MAX,
        "Completions waited for at once, at least",
    )
    .alias(&["iodepth_batch_complete"])
    .default("1")
    .long(
        "Large values save system calls and make early completions wait for late ones: latency \
         grows by it and the device may run dry. 0 polls.",
    )
    .sets(field!(queue.batch_complete_min)),
    int(
        super::Group::Depth,
        "iodepth_batch_complete_max",
        0,
        NO_MAX,
        "Completions fetched at once, at most",
    )
    .long(
        "By default the same as iodepth_batch_complete_min; when neither is given, fathom takes \
         an eighth of iodepth, 32 at most.",
    )
    .sets(field!(queue.batch_complete_max)),
    int(super::Group::Depth, "iodepth_low", 0, NO_MAX, "Depth at which the queue is filled again")
        .long(
            "Once full, the queue is let drain to this depth before new I/O is submitted. By \
             default the same as iodepth: it is kept full.",
        )
        .sets(field!(queue.low)),
    boolean(Pattern, "serialize_overlap", "Wait for I/O in flight on the same blocks")
        .long(
            "Without it, I/Os in flight on the same blocks may take effect in any order. Each \
             worker looks at its own I/O; with io_submit_mode=offload, at that of all workers that \
             have both.",
        )
        .sets(field!(pattern.serialize_overlap))
        .recorded(),
    choice(Engine, "io_submit_mode", SUBMIT_MODES, "Who submits I/O")
        .default("inline")
        .long(
            "With offload the worker hands each I/O to one of iodepth threads, each with an engine \
             of its own at depth 1: a call that blocks holds back none that is due later, and \
             synchronous engines reach iodepth. The way to the thread is submission latency, lat \
             begins with the worker. Any engine that does I/O to files can be offloaded; \
             iodepth_batch and iodepth_low have no meaning with it.",
        )
        .sets(field!(queue.offload = "offload"))
        .recorded(),
];
