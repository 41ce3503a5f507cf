//! What IOzone calls fathom's options.

use record::Term::{Absent, Flag, Setting};
use record::Terminology;

/// IOzone's flags for fathom's options.
pub const TERMINOLOGY: Terminology = Terminology {
    terms: &[
        &[
            Setting("direct", "1", "-I"),
            Setting("end_fsync", "1", "-e"),
            Setting("sync", "dsync", "-+D"),
            Setting("sync", "sync", "-o"),
            Setting("invalidate", "1", "-U"),
            Setting("rw", "write", "-i 0"),
            Setting("verify", "pattern", "-V"),
            Setting("cpus_allowed_policy", "split", "-P"),
            Flag("cpus_allowed", "-P"),
            Flag("iodepth", "-k "),
            Flag("numjobs", "-t "),
            Flag("bs", "-r "),
            Flag("size", "-s "),
            Flag("filename", "-f "),
            Flag("thinktime", "-J "),
            Flag("buffer_compress_percentage", "-+a "),
            Flag("dedupe_percentage", "-+w "),
            Absent("fsync"),
            Absent("fdatasync"),
            Absent("randrepeat"),
            Absent("refill_buffers"),
        ],
        crate::NO_ENGINES,
    ],
    elsewhere: Some(crate::ELSEWHERE),
};
