//! hdparm's names for fathom's options.

use record::Term::{Absent, Flag, Setting};
use record::Terminology;

/// hdparm's flags for fathom's options.
pub const TERMINOLOGY: Terminology = Terminology {
    terms: &[
        &[
            Setting("direct", "1", "--direct"),
            Flag("offset", "--offset"),
            Flag("cpus_allowed", "the CPUs (taskset)"),
            Absent("bs"),
            Absent("invalidate"),
            Absent("randrepeat"),
            Absent("refill_buffers"),
            Absent("rw"),
            Absent("size"),
        ],
        crate::ONE_AT_A_TIME,
    ],
    elsewhere: Some(crate::ELSEWHERE),
};
