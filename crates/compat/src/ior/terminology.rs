//! What IOR calls fathom's options.

use record::Term::{Absent, Flag, Setting};
use record::Terminology;

/// IOR's options for fathom's.
pub const TERMINOLOGY: Terminology = Terminology {
    terms: &[
        &[
            Setting("direct", "1", "--posix.odirect"),
            Setting("end_fsync", "1", "-e"),
            Setting("fsync", "1", "-Y"),
            Setting("refill_buffers", "1", "-l r"),
            Flag("iodepth", "--aio.max-pending "),
            Flag("numjobs", "-N "),
            Flag("bs", "-t "),
            Flag("size", "-b "),
            Flag("filename", "-o "),
            Flag("runtime", "-D "),
            Absent("fdatasync"),
            Absent("randrepeat"),
            Absent("invalidate"),
        ],
        crate::ONE_AT_A_TIME,
    ],
    elsewhere: Some(crate::ELSEWHERE),
};
