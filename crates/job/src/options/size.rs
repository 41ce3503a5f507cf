//! Amounts: of data, of files, of I/Os.

use super::Group::{Pattern, Size, Target};
use super::row::{
    NO_MAX, PASSTHROUGH, boolean, choice, choice_with, int, ints, later, size, text, to, value,
};
use super::{Choice, OptionDef, set};

const GENERATORS: &[Choice] = &[
    value("tausworthe", "a keyed permutation of the blocks"),
    later("lfsr", "a shift register over the blocks"),
    value("tausworthe64", "the same as tausworthe"),
];

const DISTRIBUTIONS: &[Choice] = &[
    value("random", "every block alike"),
    later("zipf", "few hot blocks (theta)"),
    later("pareto", "few hot blocks (power)"),
    later("normal", "around the middle (deviation)"),
    later("zoned", "shares of the I/O for shares of the target"),
    later("zoned_abs", "shares of the I/O for sizes of the target"),
    later("sequence", "a list of blocks, repeated"),
];

const SERVICES: &[Choice] = &[
    value("random", "a file drawn evenly"),
    later("zipf", "a file by Zipf's law"),
    later("pareto", "a file by Pareto's law"),
    later("normal", "a file by the normal law"),
    later("gauss", "the same as normal"),
    value("roundrobin", "files in turn"),
    value("sequential", "one file to its end, then the next"),
];

pub(super) const ROWS: &[OptionDef] = &[
    size(Size, "size", true, true, "Region to work on, per clone")
        .long(
            "Bytes, per cent of the target, or zones (3z). It is divided among the files of a \
             clone unless filesize is given. It bounds both the region and the amount of I/O; \
             io_size sets the amount alone. Without it, existing files and devices are used \
             whole; files that do not exist need it.",
        )
        .sets(to!(target.size = Some(size))),
    size(Size, "io_size", true, true, "Amount of I/O, apart from the region")
        .alias(&["io_limit"])
        .long(
            "Less than size: the job ends before it has covered the region. More: it goes over \
             the region again until the amount is done.",
        )
        .sets(to!(target.io_size = Some(size))),
    boolean(Size, "fill_device", "Write until the device is full")
        .alias(&["fill_fs"])
        .long("Running out of space is then the regular end of the job, not an error."),
    text(Size, "filesize", "Size of each file, or a range to draw it from")
        .long(
            "filesize=1m-4m draws a size for each file. With it, size is no longer about files: \
             it is only the default of io_size.",
        )
        .sets(set::filesize),
    boolean(Target, "file_append", "Work behind the present end of each file").long(
        "The region begins where the file ends now, as if offset were the file's size. \
             Void on devices.",
    ),
    size(Target, "offset", true, true, "Where the region begins")
        .alias(&["fileoffset"])
        .default("0")
        .long(
            "Bytes, per cent of the target, or zones. What lies before is not touched. A \
             percentage is aligned by offset_align.",
        )
        .sets(to!(target.offset = Some(size))),
    size(Target, "offset_increment", true, true, "Distance between the regions of two clones")
        .default("0")
        .long(
            "Clone number n, counted from 0, begins at offset + n × offset_increment, so clones \
             can share a device without sharing blocks.",
        )
        .sets(to!(target.offset_increment = Some(size))),
    int(Target, "offset_align", 0, NO_MAX, "Boundary to which a percentage offset is rounded up")
        .default("0")
        .long("0 stands for the smallest block size.")
        .sets(to!(target.offset_align = bytes)),
    int(Size, "number_ios", 0, NO_MAX, "End after this many I/Os")
        .default("0")
        .long("Only shortens a job: the other limits hold as well. 0 is no limit.")
        .sets(|job, v| {
            job.pattern.number_ios = Some(v.count()).filter(|count| *count > 0);
            Ok(())
        }),
    int(Size, "num_range", 0, 256, "Ranges in one trim command")
        .default("1")
        .long("For io_uring_cmd; each range is as long as bs. Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    choice(Pattern, "random_generator", GENERATORS, "Generator of random offsets")
        .default("tausworthe")
        .long(
            "With a random map offsets come from a permutation, without one from a generator with \
             a period of 2^64 or more; neither needs choosing by the size of the target.",
        )
        .sets(to!(pattern.generator = string)),
    choice_with(Pattern, "random_distribution", DISTRIBUTIONS, "How random offsets are spread")
        .long(
            "Real load favours some blocks, and caches thrive on that. With anything but \
             random the map is off, since hot blocks repeat.",
        )
        .default("random"),
    boolean(Pattern, "random_sequence_stride", "A sequence moves on by its length each time")
        .long("For random_distribution=sequence. Newer than fio 3.33."),
    ints(
        Pattern,
        "percentage_random",
        0,
        100,
        "Share of random offsets in a random load, per cent",
    )
    .default("100,100,100")
    .long("The rest goes on in sequence. Up to three values: reads, writes, trims."),
    int(Target, "nrfiles", 0, NO_MAX, "Files of each clone")
        .alias(&["nr_files"])
        .default("1")
        .long("size is divided among them unless filesize is given. filename makes it void.")
        .sets(to!(target.nrfiles = Some(count))),
    choice_with(Target, "file_service_type", SERVICES, "Order in which files get their I/O")
        .default("roundrobin")
        .long(
            "A suffix is the number of I/Os before another file is taken (a plain number): \
             roundrobin:8. sequential takes the next file when one is done.",
        )
        .sets(set::file_service),
    int(Target, "openfiles", 0, NO_MAX, "Files kept open at once by each clone")
        .long("By default all. A smaller number opens and closes files during the run.")
        .sets(to!(target.openfiles = Some(count))),
];
