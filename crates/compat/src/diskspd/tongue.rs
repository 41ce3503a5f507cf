//! What findings name, as flags of DISKSPD.

use crate::Tongue;

/// DISKSPD's flags for fathom's options.
pub(super) const TONGUE: Tongue = Tongue {
    phrases: &[&[
        (
            "add --fsync=1, --fdatasync=1 or --sync=dsync as the program does; --end_fsync=1 for a \
             copy that is made durable once",
            "add -Sw, or -Sh to pass the page cache by as well",
        ),
        ("--direct=1, or --end_fsync=1 so that", "-Su or -Sw, so that"),
        ("drop --invalidate=0, add --direct=1", "add -Su"),
        (
            "add --randrepeat=0, and drop the cache before (leave --invalidate at 1) or use \
             --direct=1",
            "add -z for other offsets each time, and drop the cache before, or use -Su",
        ),
        ("add --direct=1, or use --ioengine=io_uring", "add -Su"),
        (
            "use --ioengine=io_uring or libaio, or as many jobs as I/Os are wanted (--numjobs)",
            "use as many threads as I/Os are wanted (-t or -F)",
        ),
        ("more jobs (--numjobs)", "more threads (-t or -F)"),
        (
            "ioengine=io_uring with fixedbufs=1 and registerfiles=1, a larger bs",
            "with larger blocks (-b)",
        ),
        ("(numjobs, cpus_allowed_policy=split)", "(-t or -F)"),
        ("cpus_allowed and cpus_allowed_policy=split", "-a"),
        ("cpus_allowed with cpus_allowed_policy=split", "leave -n away"),
        ("lower nrfiles or openfiles", "name fewer targets"),
        ("iodepth with ioengine=io_uring", "-o"),
        (
            "drop zero_buffers, buffer_pattern, buffer_compress_percentage and dedupe_percentage; add \
             refill_buffers=1",
            "use -Zr, new random bytes for each write",
        ),
        ("rw=write, refill_buffers=1", "-w100 -Zr"),
        (
            "leave refill_buffers out: buffers are made different for each write anyhow \
             (scramble_buffers); or",
            "leave -Zr out, or",
        ),
        ("a job with rw=write", "a run with -w100"),
        (
            "(drop --filename), or its own part (--offset_increment)",
            "or its own part (-T, in sequence)",
        ),
        ("make room, or lower size, numjobs or nrfiles", "make room, or lower -c"),
        ("--runtime=30 --time_based", "-d30"),
        ("--runtime=10m", "-d600"),
        ("with iomem=mmaphuge or shmhuge set", "with -l set"),
        ("buffer_pattern=1", "writes carry bytes that repeat"),
        ("zero_buffers=1", "writes carry zeros"),
        (" (--repeat)", ""),
        ("lower numjobs or raise --max-jobs", "lower -t or -F"),
        ("or set direct=0", "or leave -Su and -Sh away"),
        ("Lower size= (or nrfiles=)", "Lower -c"),
        ("lower size=", "lower -c"),
    ]],
    flags: &[&[
        ("direct=1", "-Su"),
        ("iodepth", "-o"),
        ("numjobs", "-t or -F"),
        ("bs", "-b"),
        ("--offset", "-B"),
        ("--size", "-c"),
        ("--runtime", "-d"),
        ("ramp_time", "-W"),
        ("rate_iops", "-g"),
        ("thinktime", "-j"),
        ("cpus_allowed", "-a"),
        ("refill_buffers", "-Zr"),
        ("buffer_pattern", "-Z"),
        ("--filename", "target"),
    ]],
    elsewhere: None,
};
