//! The sources whose content is verified.

use crate::hot::op::Op;
use crate::sources::RecordSource;
use crate::sources::workload::Workload;
use crate::zones::{ZonedTargets, ZonedWork};
use plan::Worker;

/// A source whose content is verified.
pub(super) trait VerifiedWork: RecordSource {
    /// A copy that issues the same I/O again; `None` if that depends on more than the source.
    fn replay(&self) -> Option<Box<Workload>> {
        None
    }

    /// A zone that was emptied by the last step. Call it until it returns `None`.
    fn take_emptied_zone(&mut self) -> Option<Op> {
        None
    }
}

impl VerifiedWork for Workload {
    fn replay(&self) -> Option<Box<Workload>> {
        Some(Box::new(self.clone()))
    }
}

impl VerifiedWork for ZonedWork {
    fn take_emptied_zone(&mut self) -> Option<Op> {
        self.emptied()
    }
}

pub(super) fn work(worker: &Worker, zones: &ZonedTargets) -> Box<dyn VerifiedWork> {
    match &worker.zbd {
        None => Box::new(Workload::new(worker)),
        Some(plan) => Box::new(ZonedWork::new(worker, plan, zones)),
    }
}
