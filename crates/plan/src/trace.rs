//! What of a worker is traced (`--debug`).

use job::debug::Debug;
pub use job::debug::line;

/// What of a worker is traced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Each I/O, as it is issued and as it ends.
    pub io: bool,
    /// Seeds and random offsets.
    pub random: bool,
    /// What state it is in.
    pub process: bool,
    /// Files opened and closed.
    pub file: bool,
    /// Memory of its buffers.
    pub mem: bool,
}

impl Trace {
    /// What is asked for about worker `number`.
    pub fn of(asked: &Debug, number: u32) -> Trace {
        let covers = |area| asked.covers(area) && asked.follows(number);
        Trace {
            io: covers("io"),
            random: covers("random"),
            process: covers("process"),
            file: covers("file"),
            mem: covers("mem"),
        }
    }
}
