//! Making, preparing and removing files; CPUs and memory nodes.

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
    value("short", "soon overwritten"),
    value("medium", "in between"),
    value("long", "kept for long"),
    value("extreme", "kept for very long"),
];

const SPLITS: &[Choice] =
    &[value("shared", "all clones use all of them"), value("split", "each clone gets one in turn")];

pub(super) const ROWS: &[OptionDef] = &[
    boolean(Target, "invalidate", "Drop a file's cached pages before the run")
        .default("1")
        .long("Void with pre_read. Pages that are dirty or mapped by others stay.")
        .sets(field!(layout.invalidate))
        .recorded(),
    choice(Target, "sync", SYNC, "Make each write durable before it completes")
        .long(
            "Each write waits for the medium, where fsync waits once for many. Most devices \
             report far lower figures; those are what a database log gets.",
        )
        .default("none")
        .sets(field!(syncing.mode))
        .recorded(),
    choice(Target, "write_hint", HINTS, "Expected lifetime of written data")
        .long(
            "Lets devices with streams or zones keep data of one age together. none says that \
             no lifetime is known; without the option the kernel is told nothing.",
        )
        .default("none")
        .sets(field!(layout.write_hint)),
    boolean(Target, "create_serialize", "Lay out files of one worker at a time")
        .default("1")
        .long("Keeps the files of different workers from being interleaved on the medium.")
        .sets(field!(layout.serialize)),
    boolean(Target, "create_fsync", "Make files durable after laying them out")
        .long(
            "Without it, data of the layout may still be written back during the run and \
             disturb it.",
        )
        .default("1")
        .sets(field!(layout.fsync)),
    boolean(Target, "create_on_open", "Make files when they are first used, not before the run")
        .long("The cost of making and extending files becomes part of what is measured.")
        .sets(field!(layout.on_open)),
    boolean(Target, "create_only", "Lay out files and stop")
        .long("Prepares files for later runs; no figures are reported.")
        .sets(field!(layout.only)),
    boolean(Target, "allow_file_create", "Files that are missing may be made")
        .default("1")
        .long("With 0 a missing file is an error.")
        .sets(field!(layout.allow_create)),
    boolean(Target, "allow_mounted_write", "Write to a device that is mounted")
        .long(
            "Called as fio, this lifts the refusal, as it does in fio. Otherwise a device that \
             holds data is only written if --allow-destroy names it.",
        )
        .sets(field!(target.allow_mounted_write)),
    boolean(Target, "pre_read", "Read files into the page cache before the run")
        .long("Makes invalidate void.")
        .sets(field!(layout.pre_read))
        .recorded(),
    int(Process, "cpumask", 0, NO_MAX, "CPUs the workers may use, as a mask")
        .long("Bit 0 is CPU 0: 0x5 allows CPUs 0 and 2. cpus_allowed has no such limit.")
        .sets_with(set::cpu_mask),
    text(Process, "cpus_allowed", "CPUs the workers may use, as a list")
        .long("Numbers and ranges split by commas: 0,5,8-15.")
        .sets(field!(process.cpus_allowed)),
    choice(Process, "cpus_allowed_policy", SPLITS, "How clones share the CPUs allowed")
        .long("split deals out the CPUs round robin when there are fewer of them than clones.")
        .default("shared")
        .sets(field!(process.cpus_policy)),
    text(Process, "numa_cpu_nodes", "Memory nodes whose CPUs the workers may use")
        .long("Numbers and ranges split by commas, or 'all'.")
        .sets_with(|job, v| {
            job.process.numa_cpu_nodes = set::nodes(v.text())?;
            Ok(())
        }),
    text(Process, "numa_mem_policy", "Memory nodes that buffers come from")
        .long(
            "default, local, prefer:NODE, bind:NODES or interleave:NODES, where NODES is a list \
             as for cpus_allowed or 'all'.",
        )
        .sets_with(set::numa_memory),
    boolean(Target, "end_fsync", "fsync when the job is done writing")
        .long("Its time is part of the run.")
        .sets(field!(syncing.end_fsync))
        .recorded(),
    boolean(Target, "fsync_on_close", "fsync before a written file is closed")
        .long(
            "Counts files closed during the run because of openfiles as well as those closed \
             at its end.",
        )
        .sets(field!(syncing.fsync_on_close))
        .recorded(),
    boolean(Target, "end_syncfs", "syncfs when the job is done writing")
        .long(
            "As end_fsync, with one syncfs(2) for each filesystem of the files. Newer than fio \
             3.33.",
        )
        .sets(field!(syncing.end_syncfs))
        .recorded(),
    boolean(Target, "unlink", "Remove the files when the job is done")
        .long("Devices are never removed.")
        .sets(field!(target.unlink)),
    boolean(Target, "unlink_each_loop", "Remove the files after each of loops")
        .long("With loops, each pass makes its files anew.")
        .sets(field!(target.unlink_each_loop)),
];
