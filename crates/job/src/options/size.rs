//! Amounts: of data, of files, of I/Os.

use super::Group::{Pattern, Size, Target};
use super::field::field;
use super::row::{NO_MAX, boolean, choice, choice_with, int, ints, rows, same, size, text, value};
use super::{Choice, OptionDef, set};
use crate::model::FileServiceOrder;

const GENERATORS: &[Choice] = &[
    value("tausworthe", "a keyed permutation of the blocks"),
    value(
        "lfsr",
        "like tausworthe; covers every block once even with norandommap if all blocks have \
             one size",
    ),
    value("tausworthe64", "like tausworthe, always with 64 bits for a draw"),
];

const DISTRIBUTIONS: &[Choice] = &[
    value("random", "all blocks equally likely"),
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

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Size of the region, for each clone
    ///
    /// Bytes, per cent of the target, or zones (3z). It is divided among the files of a clone
    /// unless filesize is given. It limits both the region and the amount of I/O; io_size sets only
    /// the amount. Without size, existing files and devices are used as a whole; a file that does
    /// not exist needs size.
    "size" => size(Size, true, true).sets(field!(target.size)),

    /// Amount of I/O, if it differs from size
    ///
    /// Below size, the job ends before it has covered the region. Above size, it covers the region
    /// repeatedly.
    "io_size" => size(Size, true, true).alias(&["io_limit"]).sets(field!(target.io_size)),

    /// Write until the device is full
    ///
    /// Running out of space or quota then ends the job without an error. Without size, sequential
    /// writes extend one file until the device is full; other jobs get files of the free space less
    /// 1/64 for filesystem metadata.
    "fill_device" => boolean(Size).alias(&["fill_fs"]).sets(field!(target.fill_device)),

    /// Size of each file, or a range to draw it from
    ///
    /// filesize=1m-4m draws a size for each file. size then only sets the default of io_size.
    "filesize" => text(Size).sets_with(set::filesize),

    /// Begin at the end of each file
    ///
    /// The region begins where the file ends now. No effect on devices.
    "file_append" => boolean(Target).sets(field!(target.file_append)),

    /// Where the region begins
    ///
    /// Bytes, per cent of the target, or zones. Data before the offset is not accessed. A
    /// percentage is aligned by offset_align.
    "offset" => size(Target, true, true)
        .alias(&["fileoffset"])
        .default("0")
        .sets(field!(target.offset)),

    /// Distance between the regions of two clones
    ///
    /// Clone n (from 0) begins at offset + n × offset_increment, so clones can share a device
    /// without sharing blocks.
    "offset_increment" => size(Target, true, true)
        .default("0")
        .sets(field!(target.offset_increment)),

    /// Alignment of an offset in per cent
    ///
    /// A percentage is rounded up to a multiple of this. 0 means the smallest block size.
    "offset_align" => int(Target, 0, NO_MAX).default("0").sets(field!(target.offset_align)),

    /// End after this many I/Os
    ///
    /// The other limits still apply. 0 means no limit.
    "number_ios" => int(Size, 0, NO_MAX).default("0").sets(field!(pattern.number_ios or none)),

    /// Ranges in one trim command
    ///
    /// For io_uring_cmd; each range is as long as bs and counts as an I/O, so that iodepth commands are
    /// iodepth times num_range I/Os in flight. Newer than fio 3.33.
    "num_range" => int(Size, 0, 256).default("1").sets(field!(queue.options.nvme.ranges)),

    /// Generator of random offsets
    ///
    /// With a random map, offsets are a permutation of the blocks; without one, they come from a
    /// generator with a period of at least 2^64. Both work for every target size. If
    /// tausworthe is set and a target has more than 2^32 blocks, draws without a map have 32 bits,
    /// as in fio. With lfsr, as in fio, random I/O of one block size covers every block once even with norandommap.
    "random_generator" => choice(Pattern, GENERATORS)
        .default("tausworthe")
        .sets(field!(pattern.generator)),

    /// Distribution of random offsets
    ///
    /// Applications access some blocks more often than others, and caches benefit. Every
    /// distribution but random disables the random map because hot blocks repeat. zipf and pareto
    /// rank the blocks and scatter the ranks over the target; center, from 0 to 1, sets the
    /// position of the hottest block, and all jobs with it scatter the ranks the same way. normal
    /// has a standard deviation of 8.3 per cent of the target for a deviation of 0, 8.8 for 10 and
    /// 10.1 for 20, as in fio; its mean is at center, by default 0.5. zoned divides the target into
    /// consecutive zones; zones without a size share the rest. sequence lists block numbers. Up to
    /// three distributions, split by commas: reads, writes, trims.
    "random_distribution" => choice_with(Pattern, DISTRIBUTIONS)
        .default("random")
        .sets_with(set::random_distribution),

    /// Move a sequence forward by its length each time
    ///
    /// For random_distribution=sequence: the target is divided into groups as long as the list,
    /// block numbers count within a group, and each repetition uses the next group. Newer than fio
    /// 3.33.
    "random_sequence_stride" => boolean(Pattern).sets(field!(pattern.sequence_stride)),

    /// Share of random offsets in a random load, per cent
    ///
    /// The rest is sequential: it continues where the last I/O of its direction ended, even over
    /// blocks already accessed. Up to three values: reads, writes, trims.
    "percentage_random" => ints(Pattern, 0, 100)
        .default("100,100,100")
        .sets(field!(pattern.percentage_random)),

    /// Files of each clone
    ///
    /// size is divided among them unless filesize is given. Ignored with filename.
    "nrfiles" => int(Target, 0, NO_MAX)
        .alias(&["nr_files"])
        .default("1")
        .sets(field!(target.nrfiles)),

    /// Order in which files get their I/O
    ///
    /// A suffix sets the number of I/Os for each turn (a plain number): roundrobin:8. sequential
    /// finishes one file before it begins the next. zipf, pareto and normal draw a file for each
    /// I/O; their suffix is that of random_distribution: with zipf:1.2:0 the first file is the
    /// hottest.
    "file_service_type" => choice_with(Target, SERVICES)
        .default("roundrobin")
        .sets_with(set::file_service)
        .recorded_as("file_service_type", |job| match &job.target.file_service.order {
            FileServiceOrder::Drawn(distribution) => Some(format!("{distribution:?}")),
            _ => None,
        }),

    /// Maximum number of open files for each clone
    ///
    /// By default all files. With a smaller number files are opened and closed during the run.
    "openfiles" => int(Target, 0, NO_MAX).sets(field!(target.openfiles)),
};
