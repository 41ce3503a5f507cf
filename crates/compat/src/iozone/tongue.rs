//! What findings name, as flags of IOzone.

use crate::Tongue;
use crate::tongue::{EVERYWHERE, Words};

const PHRASES: &[Words] = &[
    (
        "add --fsync=1, --fdatasync=1 or --sync=dsync as the program does; --end_fsync=1 for a copy \
         that is made durable once",
        "add -o or -+D as a program does that synchronises each write; -e counts what it takes to \
         make a file durable once",
    ),
    ("drop --invalidate=0, add --direct=1", "add -I"),
    ("a --size above the memory", "-s above the memory"),
    (
        "spread the load over more workers (numjobs), or make each I/O cheaper: ioengine=io_uring \
         with fixedbufs=1 and registerfiles=1, a larger bs",
        "spread the load over more processes (-t), or take larger records (-r)",
    ),
    ("more workers (numjobs) show", "more processes (-t) show"),
    ("more workers (numjobs)", "more processes (-t)"),
    ("(numjobs, cpus_allowed_policy=split)", "(-t, -P)"),
    (
        "spread the workers with cpus_allowed and cpus_allowed_policy=split",
        "spread processes with -P",
    ),
    ("cpus_allowed with cpus_allowed_policy=split", "-P"),
    (
        "(numjobs), with a deeper queue each (iodepth with ioengine=io_uring), or allow more CPUs \
         (cpus_allowed)",
        "(-t), with more I/Os each (-k)",
    ),
    ("cpus_allowed on CPUs the others do not use", "-P, from a CPU on that the others do not use"),
    ("for each worker (cpus_allowed)", "for each process (-P)"),
    (
        "use --ioengine=io_uring or libaio, or as many jobs as I/Os are wanted (--numjobs)",
        "use -k, or as many processes as I/Os are wanted (-t)",
    ),
    (
        "drop zero_buffers, buffer_pattern, buffer_compress_percentage and dedupe_percentage; add \
         refill_buffers=1",
        "leave -V, -+a and -+w away",
    ),
    ("buffer_compress_percentage=", "-+a "),
    ("dedupe_percentage=", "-+w "),
    (
        "measure without verify and verify in a run of its own, or take verify=crc32c",
        "leave -V away",
    ),
    ("(rw=write, refill_buffers=1) before", "(-i 0) before"),
    ("a job with rw=write, or fathom precondition", "-i 0 does"),
    (
        "add --randrepeat=0, and drop the cache before (leave --invalidate at 1) or use --direct=1",
        "drop the cache before each test (-U), or use -I",
    ),
    ("(drop --filename), or its own part (--offset_increment)", "(leave -+V away)"),
    ("leave the burst out with ramp_time, and run long enough", "take files large enough"),
    (
        "set --runtime=30 --time_based and --ramp_time=5",
        "take larger files (-s), for 30 s and more",
    ),
    ("make room, or lower size, numjobs or nrfiles", "make room, or lower -s, -g or -t"),
    ("lower size=", "lower -s or -g"),
    ("lower size", "lower -s or -g"),
    ("Lower size= (or nrfiles=)", "Lower -s or -g"),
    ("make bs, offset and size multiples", "make -r and -s multiples"),
    ("use --bs and --offset in multiples", "use -r in multiples"),
    ("or leave direct=1 out", "or leave -I out"),
    ("or set direct=0", "or leave -I out"),
    ("use direct=0", "leave -I out"),
    ("lower iodepth, bs or numjobs", "lower -k, -r or -t"),
    ("lower iodepth or numjobs", "lower -k or -t"),
    ("raise ulimit -n, or lower nrfiles or openfiles", "raise ulimit -n, or lower -t"),
    ("or let the job create it", "or begin with -i 0"),
    ("use --iodepth=", "use -k "),
    ("of iodepth=", "of -k "),
];

/// IOzone's flags for fathom's options.
pub(super) const TONGUE: Tongue = Tongue {
    phrases: &[PHRASES, EVERYWHERE],
    flags: &[&[
        ("direct=1", "-I"),
        ("end_fsync=1", "-e"),
        ("iodepth", "-k"),
        ("numjobs", "-t"),
        ("--bs", "-r"),
        ("--size", "-s"),
        ("--filename", "-f"),
        ("cpus_allowed", "-P"),
        ("thinktime", "-J"),
        ("sync=dsync", "-+D"),
        ("sync=sync", "-o"),
    ]],
    elsewhere: Some("fathom run"),
};
