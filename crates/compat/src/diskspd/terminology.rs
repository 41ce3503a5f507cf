//! DISKSPD's names for fathom's options.

use record::Term::{Absent, Flag, Setting};
use record::Terminology;

/// DISKSPD's flags for fathom's options.
pub const TERMINOLOGY: Terminology = Terminology {
    terms: &[
        &[
            Setting("direct", "1", "-Su"),
            Setting("sync", "dsync", "-Sw"),
            Setting("randrepeat", "0", "-z"),
            Setting("refill_buffers", "1", "-Zr"),
            Setting("zero_buffers", "1", "-Z"),
            Setting("buffer_pattern", "1", "-Z"),
            Setting("rw", "write", "-w100"),
            Flag("iodepth", "-o"),
            Flag("numjobs", "-t or -F"),
            Flag("bs", "-b"),
            Flag("offset", "-B"),
            Flag("offset_increment", "-T"),
            Flag("size", "-c"),
            Flag("runtime", "-d"),
            Flag("ramp_time", "-W"),
            Flag("rate_iops", "-g"),
            Flag("thinktime", "-j"),
            Flag("cpus_allowed", "-a"),
            Flag("filename", "target"),
            Absent("cpus_allowed_policy"),
            Absent("end_fsync"),
            Absent("fdatasync"),
            Absent("fsync"),
            Absent("invalidate"),
            Absent("time_based"),
        ],
        crate::NO_ENGINES,
    ],
    elsewhere: Some(crate::ELSEWHERE),
};
