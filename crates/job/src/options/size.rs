//! Amounts: of data, of files, of I/Os.

use super::Group::{Pattern, Size, Target};
use super::field::field;
use super::row::{
    NO_MAX, PASSTHROUGH, boolean, choice, choice_with, int, ints, same, size, text, value,
};
use super::{Choice, OptionDef, set};
use crate::model::FileServiceOrder;

const GENERATORS: &[Choice] = &[
    value("tausworthe", "a keyed permutation of the blocks"),
    value("lfsr", "the same as tausworthe, also beside norandommap where all blocks have one size"),
    value("tausworthe64", "the same as tausworthe"),
];

const DISTRIBUTIONS: &[Choice] = &[
    value("random", "every block alike"),
    value("zipf", "few hot blocks: zipf:theta[:center]"),
    value("pareto", "few hot blocks: pareto:power[:center]"),
    value("normal", "a bell: normal:deviation[:center]"),
    value("zoned", "shares of the I/O for shares of the target: zoned:60/10:40/90"),
    value("zoned_abs", "shares of the I/O for sizes: zoned_abs:60/20g:40/100g"),
    value("sequence", "a list of blocks, repeated: sequence:3:0:2"),
];

const SERVICES: &[Choice] = &[
    value("random", "a file drawn evenly"),
    value("zipf", "a file by Zipf's law"),
    value("pareto", "a file by Pareto's law"),
    value("normal", "a file by the normal law"),
    same("gauss", "normal"),
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
        .sets(field!(target.size)),
    size(Size, "io_size", true, true, "Amount of I/O, apart from the region")
        .alias(&["io_limit"])
        .long(
            "Less than size: the job ends before it has covered the region. More: it goes over \
             the region again until the amount is done.",
        )
        .sets(field!(target.io_size)),
    boolean(Size, "fill_device", "Write until the device is full")
        .alias(&["fill_fs"])
        .long(
            "Running out of space, or of quota, is then the regular end of the job, not an error. \
             Without a size, sequential writes go on in one file to the end; other jobs get files as \
             large as what is free, less a sixty-fourth for the filesystem's own.",
        )
        .sets(field!(target.fill_device)),
    text(Size, "filesize", "Size of each file, or a range to draw it from")
        .long(
            "filesize=1m-4m draws a size for each file. With it, size is no longer about files: \
             it is only the default of io_size.",
        )
        .sets_with(set::filesize),
    boolean(Target, "file_append", "Work behind the present end of each file").long(
        "The region begins where the file ends now, as if offset were the file's size. \
             Void on devices.",
    )
    .sets(field!(target.file_append)),
    size(Target, "offset", true, true, "Where the region begins")
        .alias(&["fileoffset"])
        .default("0")
        .long(
            "Bytes, per cent of the target, or zones. What lies before is not touched. A \
             percentage is aligned by offset_align.",
        )
        .sets(field!(target.offset)),
    size(Target, "offset_increment", true, true, "Distance between the regions of two clones")
        .default("0")
        .long(
            "Clone number n, counted from 0, begins at offset + n × offset_increment, so clones \
             can share a device without sharing blocks.",
        )
        .sets(field!(target.offset_increment)),
    int(Target, "offset_align", 0, NO_MAX, "Boundary to which a percentage offset is rounded up")
        .default("0")
        .long("0 stands for the smallest block size.")
        .sets(field!(target.offset_align)),
    int(Size, "number_ios", 0, NO_MAX, "End after this many I/Os")
        .default("0")
        .long("Only shortens a job: the other limits hold as well. 0 is no limit.")
        .sets(field!(pattern.number_ios or none)),
    int(Size, "num_range", 0, 256, "Ranges in one trim command")
        .default("1")
        .long("For io_uring_cmd; each range is as long as bs. Newer than fio 3.33.")
        .needs(PASSTHROUGH),
    choice(Pattern, "random_generator", GENERATORS, "Generator of random offsets")
        .default("tausworthe")
        .long(
            "With a random map offsets come from a permutation, without one from a generator with \
             a period of 2^64 or more; neither needs choosing by the size of the target. lfsr covers \
             every block also where norandommap is given, as fio's shift register does, as long as \
             all blocks have one size.",
        )
        .sets(field!(pattern.generator)),
    choice_with(Pattern, "random_distribution", DISTRIBUTIONS, "How random offsets are spread")
        .long(
            "Real load favours some blocks, and caches thrive on that. With anything but \
             random the map is off, since hot blocks repeat. zipf and pareto rank the blocks and \
             strew the ranks over the target, each block once; center, from 0 to 1, says where the \
             hottest one lies, and makes all jobs strew alike. normal draws the mean of twelve even \
             draws, moved evenly by up to half of deviation per cent to either side, so that its \
             standard deviation is 8.3 per cent of the target for a deviation of 0, 8.8 for 10 and \
             10.1 for 20, as fio's is; its middle is at center, 0.5 unless given. Zones take their \
             shares one after the other from the beginning; those without a size share what is \
             left. A sequence names blocks by number. Up to three distributions, split by commas: \
             reads, writes, trims.",
        )
        .default("random")
        .sets_with(set::random_distribution),
    boolean(Pattern, "random_sequence_stride", "A sequence moves on by its length each time")
        .long(
            "For random_distribution=sequence: its numbers count from the beginning of a group as \
             long as the list; each time round, the next group's turn has come. Newer than fio \
             3.33.",
        )
        .sets(field!(pattern.sequence_stride)),
    ints(
        Pattern,
        "percentage_random",
        0,
        100,
        "Share of random offsets in a random load, per cent",
    )
    .default("100,100,100")
    .long(
        "The rest goes on where the last I/O of its direction ended, whatever of that was done \
         before. Up to three values: reads, writes, trims.",
    )
    .sets(field!(pattern.percentage_random)),
    int(Target, "nrfiles", 0, NO_MAX, "Files of each clone")
        .alias(&["nr_files"])
        .default("1")
        .long("size is divided among them unless filesize is given. filename makes it void.")
        .sets(field!(target.nrfiles)),
    choice_with(Target, "file_service_type", SERVICES, "Order in which files get their I/O")
        .default("roundrobin")
        .long(
            "A suffix is the number of I/Os before another file is taken (a plain number): \
             roundrobin:8. sequential takes the next file when one is done. zipf, pareto and \
             normal draw a file for each I/O; their suffix is as in random_distribution, over the \
             files in their order: zipf:1.2:0 has the first file hottest.",
        )
        .sets_with(set::file_service)
        .recorded_as("file_service_type", |job| match &job.target.file_service.order {
            FileServiceOrder::Drawn(distribution) => Some(format!("{distribution:?}")),
            _ => None,
        }),
    int(Target, "openfiles", 0, NO_MAX, "Files kept open at once by each clone")
        .long("By default all. A smaller number opens and closes files during the run.")
        .sets(field!(target.openfiles)),
];
