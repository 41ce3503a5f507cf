//! How files are opened and made durable, and how long a job runs.

use super::Group::{Buffer, Job, Measure, Target, Time};
use super::field::field;
use super::row::{
    NO_MAX, SECOND, boolean, choice, choice_with, flag, int, same, text, time, time_range, value,
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

pub(super) const ROWS: &[OptionDef] = &[
    choice(Target, "fallocate", FALLOCATE, "How space is reserved before a file is written")
        .default("native")
        .long(
            "Reads of space that is only reserved return zeros without accessing the device. A \
             file that is laid out for reading is therefore always filled with data.",
        )
        .sets(field!(layout.fallocate)),
    choice(Target, "fadvise_hint", FADVISE, "Advice to the kernel about the I/O to come")
        .default("1")
        .long("Affects readahead of buffered I/O, not direct I/O.")
        .sets(field!(layout.fadvise_hint)),
    int(Target, "fsync", 0, NO_MAX, "Writes between two fsyncs")
        .default("0")
        .long(
            "0 means none. Each fsync waits until data and metadata are durable; the report \
             shows its latency separately.",
        )
        .sets(field!(syncing.fsync))
        .recorded(),
    int(Target, "fdatasync", 0, NO_MAX, "Writes between two fdatasyncs")
        .default("0")
        .long("Like fsync, but without metadata that is not needed to read the data.")
        .sets(field!(syncing.fdatasync))
        .recorded(),
    int(Target, "write_barrier", 0, NO_MAX, "Writes between two barriers")
        .long(
            "After this many writes the queue drains and the device's cache is flushed before \
             the next write. 0 means none.",
        )
        .default("0")
        .sets(field!(syncing.write_barrier)),
    text(Target, "sync_file_range", "Writes between two sync_file_range calls, with flags")
        .long(
            "One or more of wait_before, write and wait_after split by commas, then ':' and the \
             number of writes, 1 if it is left out: wait_before,write:8. The call starts \
             writeback; it does not make data durable.",
        )
        .sets_with(set::sync_file_range)
        .recorded_as("sync_file_range", |job| {
            job.syncing.file_range.map(|range| range.writes.to_string())
        }),
    boolean(Target, "direct", "Bypass the page cache (O_DIRECT)")
        .long(
            "Without it, writes measure memory until the page cache is full, and reads of \
             recently written data never reach the device. The opposite of buffered.",
        )
        .sets(field!(queue.direct)),
    boolean(Target, "atomic", "Atomic writes, not torn by a power loss (RWF_ATOMIC)")
        .long(
            "Implies direct=1. Needs the engine pvsync2, libaio or io_uring, Linux 6.11 and a \
             device or filesystem whose atomic write limits fit the block sizes.",
        )
        .sets_with(|job, v| {
            job.queue.atomic = v.flag();
            job.queue.direct |= v.flag();
            Ok(())
        }),
    boolean(Target, "buffered", "Use the page cache")
        .default("1")
        .long("The opposite of direct; the later option wins.")
        .sets(field!(!queue.direct)),
    boolean(Target, "overwrite", "Lay files out before writing to them")
        .long("Writes then replace existing data, so space allocation is not measured.")
        .sets(field!(layout.overwrite)),
    int(Time, "loops", 0, NO_MAX, "Number of times the job runs")
        .long(
            "The job repeats all its I/O this many times. time_based repeats until runtime \
             instead.",
        )
        .default("1")
        .sets(field!(timing.loops)),
    int(Job, "numjobs", 0, NO_MAX, "Clones of the job")
        .default("1")
        .long(
            "Each clone is a separate worker with its own files, or shared files if filename is \
             given. group_reporting reports clones as one.",
        )
        .sets(field!(identity.numjobs)),
    time_range(Time, "startdelay", SECOND, "Wait before the job starts")
        .default("0")
        .long("In seconds without a unit. With a range such as 5s-10s each clone draws its delay.")
        .sets(field!(timing.startdelay)),
    time(Time, "runtime", SECOND, "End after this time")
        .alias(&["timeout"])
        .default("0")
        .long(
            "In seconds without a unit. A job that finishes its I/O earlier ends earlier, unless \
             time_based is given. 0 means no limit. Combinations such as 1m30s are an error; fio \
             reads 1m30s as one microsecond.",
        )
        .sets(field!(timing.runtime or none)),
    flag(Time, "time_based", "Run until runtime is over")
        .long("The job starts over as often as needed.")
        .sets(field!(timing.time_based)),
    flag(super::Group::Verify, "verify_only", "Check what an earlier run wrote")
        .long(
            "Nothing is written: the run reads the same offsets and checks the data. Use the \
             same seed, sizes and verify method as the run that wrote.",
        )
        .sets(field!(verify.only)),
    time(Time, "ramp_time", SECOND, "Warm-up time before measuring")
        .long(
            "In seconds without a unit; runtime begins after it. Use it to let caches, CPU \
             frequencies and queues settle.",
        )
        .sets(field!(timing.ramp_time)),
    int(Time, "ramp_size", 1, NO_MAX, "Warm-up amount before measuring, in bytes")
        .long(
            "Like ramp_time, but measuring begins once the job (with group_reporting, the group) \
             has moved this many bytes. With both options the later one counts. Newer than fio \
             3.33.",
        )
        .sets(field!(timing.ramp_size or none)),
    choice(Measure, "clocksource", CLOCKS, "Clock for timestamps of I/O")
        .long(
            "By default the time stamp counter if it is invariant and agrees with \
             CLOCK_MONOTONIC, else clock_gettime.",
        )
        .sets(field!(measure.clocksource)),
    choice_with(Buffer, "mem", MEMORY, "Memory for buffers")
        .alias(&["iomem"])
        .default("malloc")
        .long(
            "A file may follow the mappings: mmaphuge:/dev/hugepages/buf. Huge pages must be \
             reserved in /proc/sys/vm/nr_hugepages.",
        )
        .sets_with(set::memory),
    int(Buffer, "iomem_align", 0, NO_MAX, "Alignment of buffers")
        .alias(&["mem_align"])
        .default("0")
        .long("In bytes; 0 means the page size. Applies to the first buffer of a worker.")
        .sets(field!(buffers.align or none)),
];
