//! Options for making, preparing and removing files, and for CPUs and memory nodes.

use super::Group::{Process, Target};
use super::field::field;
use super::row::{NO_MAX, boolean, choice, int, same, text, value};
use super::{Choice, OptionDef, set};

const SYNC: &[Choice] = &[
    value("none", "neither flag"),
    same("0", "none"),
    value("sync", "O_SYNC: data and metadata durable at completion"),
    same("1", "sync"),
    value("dsync", "O_DSYNC: data durable at completion"),
];

const HINTS: &[Choice] = &[
    value("none", "no hint"),
    value("short", "short lifetime"),
    value("medium", "medium lifetime"),
    value("long", "long lifetime"),
    value("extreme", "very long lifetime"),
];

const SPLITS: &[Choice] =
    &[value("shared", "each clone may use all CPUs"), value("split", "each clone gets one CPU")];

pub(super) const ROWS: &[OptionDef] = &[
    boolean(Target, "invalidate", "Drop a file's cached pages before the run")
        .default("1")
        .long("No effect with pre_read. Dirty pages and pages mapped by other processes stay.")
        .sets(field!(layout.invalidate))
        .recorded(),
    choice(Target, "sync", SYNC, "Make each write durable before it completes")
        .long(
            "Each write waits for the medium, while one fsync covers many writes. Most devices \
             are much slower this way; a database log has this pattern.",
        )
        .default("none")
        .sets(field!(syncing.mode))
        .recorded(),
    choice(Target, "write_hint", HINTS, "Expected lifetime of written data")
        .long(
            "Lets devices with streams or zones group data by lifetime. none declares that the \
             lifetime is unknown; without the option no hint is set.",
        )
        .default("none")
        .sets(field!(layout.write_hint)),
    boolean(Target, "create_serialize", "Lay out the files of one worker at a time")
        .default("1")
        .long("Keeps the files of different workers from being interleaved on the medium.")
        .sets(field!(layout.serialize)),
    boolean(Target, "create_fsync", "fsync files after laying them out")
        .long(
            "Without it, writeback of the layout may continue during the run and distort the \
             results.",
        )
        .default("1")
        .sets(field!(layout.fsync)),
    boolean(
        Target,
        "create_on_open",
        "Create files when they are first opened, not before the run",
    )
    .long("The results then include the cost of creating and extending files.")
    .sets(field!(layout.on_open)),
    boolean(Target, "create_only", "Lay out files and stop")
        .long("Prepares files for later runs; nothing is measured.")
        .sets(field!(layout.only)),
    boolean(Target, "allow_file_create", "Allow missing files to be created")
        .default("1")
        .long("With 0 a missing file is an error.")
        .sets(field!(layout.allow_create)),
    boolean(Target, "allow_mounted_write", "Write to a device that is mounted")
        .long(
            "Only effective under the name fio. Otherwise fathom writes to a device in use only \
             if --allow-destroy names it.",
        )
        .sets(field!(target.allow_mounted_write)),
    boolean(Target, "pre_read", "Read files into the page cache before the run")
        .long("Disables invalidate.")
        .sets(field!(layout.pre_read))
        .recorded(),
    int(Process, "cpumask", 0, NO_MAX, "CPUs the workers may use, as a mask")
        .long("Bit 0 is CPU 0: 0x5 allows CPUs 0 and 2. Use cpus_allowed for CPUs above 63.")
        .sets_with(set::cpu_mask),
    text(Process, "cpus_allowed", "CPUs the workers may use, as a list")
        .long("Numbers and ranges separated by commas: 0,5,8-15.")
        .sets(field!(process.cpus_allowed)),
    choice(Process, "cpus_allowed_policy", SPLITS, "How clones share the allowed CPUs")
        .long("split assigns CPUs round robin if there are fewer CPUs than clones.")
        .default("shared")
        .sets(field!(process.cpus_policy)),
    text(Process, "numa_cpu_nodes", "NUMA nodes whose CPUs the workers may use")
        .long("Numbers and ranges separated by commas, or 'all'.")
        .sets_with(|job, v| {
            job.process.numa_cpu_nodes = set::nodes(v.text())?;
            Ok(())
        }),
    text(Process, "numa_mem_policy", "NUMA memory policy of buffers")
        .long(
            "default, local, prefer:NODE, bind:NODES or interleave:NODES, where NODES is a list \
             as for cpus_allowed or 'all'.",
        )
        .sets_with(set::numa_memory),
    boolean(Target, "end_fsync", "fsync files when the job ends")
        .long("The run includes its time.")
        .sets(field!(syncing.end_fsync))
        .recorded(),
    boolean(Target, "fsync_on_close", "fsync before a written file is closed")
        .long("Applies to files closed during the run (openfiles) and at its end.")
        .sets(field!(syncing.fsync_on_close))
        .recorded(),
    boolean(Target, "end_syncfs", "syncfs filesystems when the job ends")
        .long(
            "Like end_fsync, with one syncfs(2) for each filesystem of the files. Newer than fio \
             3.33.",
        )
        .sets(field!(syncing.end_syncfs))
        .recorded(),
    boolean(Target, "unlink", "Remove the files when the job ends")
        .long("Devices are never removed.")
        .sets(field!(target.unlink)),
    boolean(Target, "unlink_each_loop", "Remove the files after each of loops")
        .long("With loops, each pass creates its files again.")
        .sets(field!(target.unlink_each_loop)),
];
