//! mdtest's names of fathom's options.

use record::Term::{Absent, Flag, Setting};
use record::Terminology;

/// The options of mdtest that stand for options of fathom.
pub const TERMINOLOGY: Terminology = Terminology {
    terms: &[
        &[
            Setting("fsync", "1", "-y"),
            Flag("numjobs", "--tasks="),
            Flag("nrfiles", "-n "),
            Flag("bs", "-w "),
            Flag("filesize", "-w "),
            Flag("size", "-n "),
            Flag("filename", "-d "),
            Absent("allow_file_create"),
            Flag("directory", "-d "),
            Absent("direct"),
            Absent("end_fsync"),
            Absent("fdatasync"),
            Absent("randrepeat"),
            Absent("invalidate"),
            Absent("runtime"),
            Absent("refill_buffers"),
        ],
        crate::ONE_AT_A_TIME,
    ],
    elsewhere: Some(crate::ELSEWHERE),
};
