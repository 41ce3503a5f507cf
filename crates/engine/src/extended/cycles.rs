//! I/O that has neither place nor length: what is counted and timed is that it happened.

use crate::ops::{Next, Op, OpKind};
use plan::{Engine, Worker};

/// One such I/O after the other.
pub(super) struct Cycles {
    kind: OpKind,
    left: u64,
}

impl Cycles {
    /// Those of `worker`. A program is run once, and what follows in time based work is only the
    /// wait for its end; other cycles end by time, unless they are counted.
    pub fn new(worker: &Worker) -> Cycles {
        let rw = worker.pattern.rw;
        let kind = if rw.writes() && !rw.reads() { OpKind::Write } else { OpKind::Read };
        let once = worker.queue.engine == Engine::Exec && !worker.stop.time_based;
        Cycles { kind, left: if once { 1 } else { worker.stop.ios.unwrap_or(u64::MAX) } }
    }

    /// The next one.
    pub fn next(&mut self) -> Next {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Next::Io(Op { kind: self.kind, file: 0, offset: 0, length: 0, tag: 0 })
            }
            None => Next::End,
        }
    }
}
