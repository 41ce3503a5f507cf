//! How files are opened and made durable, and how long a job runs.

use super::Group::{Buffer, Job, Measure, Target, Time};
use super::field::field;
use super::row::{
    NO_MAX, SECOND, boolean, choice, choice_with, flag, int, rows, same, text, time, time_range,
    value,
};
use super::{Choice, OptionDef, set};

const FALLOCATE: &[Choice] = &[
    value("none", "no space is reserved"),
    value("native", "fallocate where the filesystem can, else none"),
    value("posix", "posix_fallocate"),
    value("keep", "fallocate that leaves the size alone"),
    value("truncate", "the size is set, no space is reserved"),
    same("0", "none"),
    same("1", "posix"),
];

const FADVISE: &[Choice] = &[
    value("0", "no advice"),
    value("1", "advice by the kind of I/O"),
    value("random", "POSIX_FADV_RANDOM"),
    value("sequential", "POSIX_FADV_SEQUENTIAL"),
    value("noreuse", "POSIX_FADV_NOREUSE"),
];

const CLOCKS: &[Choice] = &[
    value("gettimeofday", "the wall clock, in microseconds"),
    value("clock_gettime", "CLOCK_MONOTONIC"),
    value("cpu", "the time stamp counter, calibrated and checked"),
];

const MEMORY: &[Choice] = &[
    value("malloc", "the allocator"),
    value("shm", "a shared memory segment"),
    value("shmhuge", "a shared memory segment of huge pages"),
    value("mmap", "a mapping, anonymous or of the file behind the colon"),
    value("mmapshared", "a shared mapping"),
    value("mmaphuge", "a mapping of huge pages"),
];

pub(super) const ROWS: &[OptionDef] = rows! {
    /// How space is reserved before a file is written
    ///
    /// Reads of space that is only reserved return zeros without accessing the device. A file that
    /// is laid out for reading is therefore always filled with data.
    "fallocate" => choice(Target, FALLOCATE).default("native").sets(field!(layout.fallocate)),

    /// Advice to the kernel about the I/O to come
    ///
    /// Affects readahead of buffered I/O, not direct I/O.
    "fadvise_hint" => choice(Target, FADVISE).default("1").sets(field!(layout.fadvise_hint)),

    /// Writes between two fsyncs
    ///
    /// 0 means none. Each fsync waits until data and metadata are durable; the report shows its
    /// latency separately.
    "fsync" => int(Target, 0, NO_MAX).default("0").sets(field!(syncing.fsync)).recorded(),

    /// Writes between two fdatasyncs
    ///
    /// Like fsync, but without metadata that is not needed to read the data.
    "fdatasync" => int(Target, 0, NO_MAX).default("0").sets(field!(syncing.fdatasync)).recorded(),

    /// Writes between two barriers
    ///
    /// After this many writes the queue drains and the device's cache is flushed before the next
    /// write. 0 means none.
    "write_barrier" => int(Target, 0, NO_MAX).default("0").sets(field!(syncing.write_barrier)),

    /// Writes between two sync_file_range calls, with flags
    ///
    /// One or more of wait_before, write and wait_after split by commas, then ':' and the number of
    /// writes, 1 if it is left out: wait_before,write:8. The call starts writeback; it does not
    /// make data durable.
    "sync_file_range" => text(Target)
        .sets_with(set::sync_file_range)
        .recorded_as("sync_file_range", |job| {
            job.syncing.file_range.map(|range| range.writes.to_string())
        }),

    /// Bypass the page cache (O_DIRECT)
    ///
    /// Without it, writes measure memory until the page cache is full, and reads of recently
    /// written data never reach the device. The opposite of buffered.
    "direct" => boolean(Target).sets(field!(queue.direct)),

    /// Atomic writes, not torn by a power loss (RWF_ATOMIC)
    ///
    /// Implies direct=1. Needs the engine pvsync2, libaio or io_uring, Linux 6.11 and a device or
    /// filesystem whose atomic write limits fit the block sizes.
    "atomic" => boolean(Target).sets_with(|job, v| {
        job.queue.atomic = v.flag();
        job.queue.direct |= v.flag();
        Ok(())
    }),

    /// Use the page cache
    ///
    /// The opposite of direct; the later option wins.
    "buffered" => boolean(Target).default("1").sets(field!(!queue.direct)),

    /// Lay files out before writing to them
    ///
    /// Writes then replace existing data, so space allocation is not measured.
    "overwrite" => boolean(Target).sets(field!(layout.overwrite)),

    /// Number of times the job runs
    ///
    /// The job repeats all its I/O this many times. time_based repeats until runtime instead.
    "loops" => int(Time, 0, NO_MAX).default("1").sets(field!(timing.loops)),

    /// Clones of the job
    ///
    /// Each clone is a separate worker with its own files, or shared files if filename is given.
    /// group_reporting reports clones as one.
    "numjobs" => int(Job, 0, NO_MAX).default("1").sets(field!(identity.numjobs)),

    /// Wait before the job starts
    ///
    /// In seconds without a unit. With a range such as 5s-10s each clone draws its delay.
    "startdelay" => time_range(Time, SECOND).default("0").sets(field!(timing.startdelay)),

    /// End after this time
    ///
    /// In seconds without a unit. A job that finishes its I/O earlier ends earlier, unless
    /// time_based is given. 0 means no limit. Combinations such as 1m30s are an error; fio reads
    /// 1m30s as one microsecond.
    "runtime" => time(Time, SECOND)
        .alias(&["timeout"])
        .default("0")
        .sets(field!(timing.runtime or none)),

    /// Run until runtime is over
    ///
    /// The job starts over as often as needed.
    "time_based" => flag(Time).sets(field!(timing.time_based)),

    /// Check what an earlier run wrote
    ///
    /// Nothing is written: the run reads the same offsets and checks the data. Use the same seed,
    /// sizes and verify method as the run that wrote.
    "verify_only" => flag(super::Group::Verify).sets(field!(verify.only)),

    /// Warm-up time before measuring
    ///
    /// In seconds without a unit; runtime begins after it. Use it to let caches, CPU frequencies
    /// and queues settle.
    "ramp_time" => time(Time, SECOND).sets(field!(timing.ramp_time)),

    /// Warm-up amount before measuring, in bytes
    ///
    /// Like ramp_time, but measuring begins once the job (with group_reporting, the group) has
    /// moved this many bytes. With both options the later one counts. Newer than fio 3.33.
    "ramp_size" => int(Time, 1, NO_MAX).sets(field!(timing.ramp_size or none)),

    /// Clock for timestamps of I/O
    ///
    /// By default the time stamp counter if it is invariant and agrees with CLOCK_MONOTONIC, else
    /// clock_gettime.
    "clocksource" => choice(Measure, CLOCKS).sets(field!(measure.clocksource)),

    /// Memory for buffers
    ///
    /// A file may follow the mappings: mmaphuge:/dev/hugepages/buf. Huge pages must be reserved in
    /// /proc/sys/vm/nr_hugepages.
    "mem" => choice_with(Buffer, MEMORY).alias(&["iomem"]).default("malloc").sets_with(set::memory),

    /// Alignment of buffers
    ///
    /// In bytes; 0 means the page size. Applies to the first buffer of a worker.
    "iomem_align" => int(Buffer, 0, NO_MAX)
        .alias(&["mem_align"])
        .default("0")
        .sets(field!(buffers.align or none)),
};
