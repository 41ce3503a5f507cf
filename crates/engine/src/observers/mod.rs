//! Observers: they see each I/O as it is issued and as it ends.

pub(crate) mod blocks;
pub(crate) mod ftr;
pub(crate) mod iolog;
pub(crate) mod latency;
pub(crate) mod logs;
pub(crate) mod priorities;
pub(crate) mod read_consumer;
pub(crate) mod stamp_sums;
pub(crate) mod steady_latency;
pub(crate) mod tracer;

use crate::hot::op::{Fault, Next, Op, QueuePolicy};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;

/// Sees each I/O of a worker. Its time adds to the gap between I/Os, not to their latency; it should
/// neither lock nor call the system.
pub(crate) trait IoObserver {
    /// The ring has accepted an I/O.
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        let _ = (op, stamps);
    }

    /// A file is about to be opened or closed, or a loop has ended.
    fn file_step(&mut self, step: Next) {
        let _ = step;
    }

    /// An I/O or synchronisation ended well and in full.
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        let _ = (op, stamps, now);
        Ok(())
    }

    /// The worker starts; nothing was issued yet.
    fn started(&mut self, now: u64) {
        let _ = now;
    }

    /// An I/O moved only a part, or nothing.
    fn short(&mut self, op: &Op, moved: u64) {
        let _ = (op, moved);
    }

    /// The ramp is over: earlier results do not count.
    fn window_started(&mut self, now: u64) {
        let _ = now;
    }

    /// Called at the requested time or earlier, first before the first I/O. Returns the next
    /// requested time, from the run's origin. A fault ends the worker.
    fn tick(&mut self, policy: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        let _ = (policy, now);
        Ok(u64::MAX)
    }

    /// The worker ended at `now`: adds results to its record.
    fn record(&mut self, now: u64, builder: &mut JobRecordBuilder<'_>) {
        let _ = (now, builder);
    }
}
