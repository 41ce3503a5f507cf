//! Operations without offset or length, of engines that only pass time or run programs.

use super::RecordSource;
use crate::hot::op::{Next, Op, OpKind, Source};
use plan::Worker;

/// Issues one operation after the other.
pub(crate) struct Cycles {
    kind: OpKind,
    left: u64,
}

impl Cycles {
    /// A program is run once, and time-based work then only waits for its end. Other operations end by
    /// time or by their number.
    pub fn new(worker: &Worker) -> Cycles {
        let rw = worker.pattern.rw;
        let kind = if rw.writes() && !rw.reads() { OpKind::Write } else { OpKind::Read };
        let once = worker.queue.engine.runs_program() && !worker.stop.time_based;
        Cycles { kind, left: if once { 1 } else { worker.stop.ios.unwrap_or(u64::MAX) } }
    }
}

impl Source for Cycles {
    fn next(&mut self) -> Next {
        let Some(left) = self.left.checked_sub(1) else { return Next::End };
        self.left = left;
        Next::Io(Op { kind: self.kind, file: 0, offset: 0, length: 0, tag: 0 })
    }
}

impl RecordSource for Cycles {}
