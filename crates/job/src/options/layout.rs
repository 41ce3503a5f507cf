//! Options for making, preparing and removing files, and for CPUs and memory nodes.

use super::Group::{Process, Target};
use super::field::field;
use super::row::{NO_MAX, boolean, choice, int, rows, same, text, value};
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

pub(super) const ROWS: &[OptionDef] = rows! {
    /// Drop a file's cached pages before the run
    ///
    /// No effect with pre_read. Dirty pages and pages mapped by other processes stay.
    "invalidate" => boolean(Target).default("1").sets(field!(layout.invalidate)).recorded(),

    /// Make each write durable before it completes
    ///
    /// Each write waits for the medium, while one fsync covers many writes. Most devices are much
    /// slower this way; a database log has this pattern.
    "sync" => choice(Target, SYNC).default("none").sets(field!(syncing.mode)).recorded(),

    /// Expected lifetime of written data
    ///
    /// Lets devices with streams or zones group data by lifetime. none declares that the lifetime
    /// is unknown; without the option no hint is set.
    "write_hint" => choice(Target, HINTS).default("none").sets(field!(layout.write_hint)),

    /// Lay out the files of one worker at a time
    ///
    /// Keeps the files of different workers from being interleaved on the medium.
    "create_serialize" => boolean(Target).default("1").sets(field!(layout.serialize)),

    /// fsync files after laying them out
    ///
    /// Without it, writeback of the layout may continue during the run and distort the results.
    "create_fsync" => boolean(Target).default("1").sets(field!(layout.fsync)),

    /// Create files when they are first opened, not before the run
    ///
    /// The results then include the cost of creating and extending files.
    "create_on_open" => boolean(Target).sets(field!(layout.on_open)),

    /// Lay out files and stop
    ///
    /// Prepares files for later runs; nothing is measured.
    "create_only" => boolean(Target).sets(field!(layout.only)),

    /// Allow missing files to be created
    ///
    /// With 0 a missing file is an error.
    "allow_file_create" => boolean(Target).default("1").sets(field!(layout.allow_create)),

    /// Write to a device that is mounted
    ///
    /// Only effective under the name fio. Otherwise fathom writes to a device in use only if
    /// --allow-destroy names it.
    "allow_mounted_write" => boolean(Target).sets(field!(target.allow_mounted_write)),

    /// Read files into the page cache before the run
    ///
    /// Disables invalidate.
    "pre_read" => boolean(Target).sets(field!(layout.pre_read)).recorded(),

    /// CPUs the workers may use, as a mask
    ///
    /// Bit 0 is CPU 0: 0x5 allows CPUs 0 and 2. Use cpus_allowed for CPUs above 63.
    "cpumask" => int(Process, 0, NO_MAX).sets_with(set::cpu_mask),

    /// CPUs the workers may use, as a list
    ///
    /// Numbers and ranges separated by commas: 0,5,8-15.
    "cpus_allowed" => text(Process).sets(field!(process.cpus_allowed)),

    /// How clones share the allowed CPUs
    ///
    /// split assigns CPUs round robin if there are fewer CPUs than clones.
    "cpus_allowed_policy" => choice(Process, SPLITS)
        .default("shared")
        .sets(field!(process.cpus_policy)),

    /// NUMA nodes whose CPUs the workers may use
    ///
    /// Numbers and ranges separated by commas, or 'all'.
    "numa_cpu_nodes" => text(Process).sets_with(|job, v| {
        job.process.numa_cpu_nodes = set::nodes(v.text())?;
        Ok(())
    }),

    /// NUMA memory policy of buffers
    ///
    /// default, local, prefer:NODE, bind:NODES or interleave:NODES, where NODES is a list as for
    /// cpus_allowed or 'all'.
    "numa_mem_policy" => text(Process).sets_with(set::numa_memory),

    /// fsync files when the job ends
    ///
    /// The run includes its time.
    "end_fsync" => boolean(Target).sets(field!(syncing.end_fsync)).recorded(),

    /// fsync before a written file is closed
    ///
    /// Applies to files closed during the run (openfiles) and at its end.
    "fsync_on_close" => boolean(Target).sets(field!(syncing.fsync_on_close)).recorded(),

    /// syncfs filesystems when the job ends
    ///
    /// Like end_fsync, with one syncfs(2) for each filesystem of the files. Newer than fio 3.33.
    "end_syncfs" => boolean(Target).sets(field!(syncing.end_syncfs)).recorded(),

    /// Remove the files when the job ends
    ///
    /// Devices are never removed.
    "unlink" => boolean(Target).sets(field!(target.unlink)),

    /// Remove the files after each of loops
    ///
    /// With loops, each pass creates its files again.
    "unlink_each_loop" => boolean(Target).sets(field!(target.unlink_each_loop)),
};
