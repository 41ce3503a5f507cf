//! The operands of dd for fathom's options.

use super::DdCommand;
use record::Term::{Absent, Flag, Setting};
use record::{Term, Terminology};

/// Terms that do not depend on input and output.
const OPERANDS: &[Term] = &[
    // Errors about targets name the option that holds the I/O of the copy.
    Flag("read_iolog", "dd"),
    Flag("bs", "bs="),
    Flag("size", "count="),
    Flag("offset", "skip= or seek="),
    Flag("cpus_allowed", "the CPUs (taskset)"),
    Setting("invalidate", "1", "iflag=nocache"),
    Setting("sync", "dsync", "oflag=dsync"),
    Setting("end_fsync", "1", "conv=fsync"),
    Setting("refill_buffers", "1", "if=/dev/urandom"),
    Setting("zero_buffers", "1", "if=/dev/zero"),
    Absent("fsync"),
    Absent("fdatasync"),
    Absent("randrepeat"),
    Absent("replay_align"),
    Absent("rw"),
];

impl DdCommand {
    /// dd's operands for fathom's options. The operand for O_DIRECT depends on which of input and
    /// output is a file.
    pub fn terminology(&self) -> Terminology {
        let terms: &'static [&'static [Term]] = match (self.read(), self.written()) {
            (Some(_), Some(_)) => &[
                &[Setting("direct", "1", "iflag=direct oflag=direct")],
                OPERANDS,
                crate::ONE_AT_A_TIME,
            ],
            (None, Some(_)) => {
                &[&[Setting("direct", "1", "oflag=direct")], OPERANDS, crate::ONE_AT_A_TIME]
            }
            (_, None) => {
                &[&[Setting("direct", "1", "iflag=direct")], OPERANDS, crate::ONE_AT_A_TIME]
            }
        };
        Terminology { terms, elsewhere: Some(crate::ELSEWHERE) }
    }
}
