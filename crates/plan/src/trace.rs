//! Events of a worker to trace (`--debug`).

use job::debug::Debug;
pub use job::debug::line;

/// Events of a worker to trace.
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
    /// Blocks that are checked.
    pub verify: bool,
    /// What its rate and its depth are drawn and searched by.
    pub rate: bool,
    /// Which zones it uses.
    pub zbd: bool,
    /// How its logs are packed.
    pub compress: bool,
    /// How steady it is.
    pub steadystate: bool,
}

impl Trace {
    /// What is asked for about worker `number`.
    pub fn for_worker(asked: &Debug, number: u32) -> Trace {
        let covers = |area| asked.covers(area) && asked.traces(number);
        Trace {
            io: covers("io"),
            random: covers("random"),
            process: covers("process"),
            file: covers("file"),
            mem: covers("mem"),
            verify: covers("verify"),
            rate: covers("rate"),
            zbd: covers("zbd"),
            compress: covers("compress"),
            steadystate: covers("steadystate"),
        }
    }
}
