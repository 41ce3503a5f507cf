//! Sums of the times at which I/Os began and ended, from which their mean times to moments in the
//! kernel follow.

use super::IoObserver;
use crate::hot::op::{Fault, Op};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use plan::Worker;
use record::{PerDirection, StampSums};

/// Adds up stamps.
pub(crate) struct StampSummer(PerDirection<StampSums>);

impl StampSummer {
    /// `None` if nobody asks for the sums.
    pub fn new(worker: &Worker) -> Option<StampSummer> {
        worker.measuring.stamp_sums.then(|| StampSummer(PerDirection::default()))
    }
}

impl IoObserver for StampSummer {
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        if let Some(direction) = op.kind.direction() {
            let sums = &mut self.0[direction];
            sums.ios += 1;
            sums.started = sums.started.wrapping_add(stamps.ready);
            sums.ended = sums.ended.wrapping_add(now);
        }
        Ok(())
    }

    fn window_started(&mut self, _: u64) {
        self.0 = PerDirection::default();
    }

    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        builder.job.stamp_sums = Some(self.0);
    }
}
