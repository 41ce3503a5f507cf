//! Completion latencies for those who watch a worker for steadiness by them.

use super::Chore;
use crate::live::LiveWorker;
use crate::meter::Stamps;
use crate::ops::{Fault, Op};
use crate::worker::Builder;
use plan::{SteadyFigure, Worker};
use std::sync::Arc;

/// Adds up completion latencies where the watcher reads them.
pub(super) struct SteadyLatency {
    live: Arc<[LiveWorker]>,
    index: usize,
}

impl SteadyLatency {
    /// `None` when nobody watches the worker's latency.
    pub fn new(worker: &Worker, live: &Arc<[LiveWorker]>, index: usize) -> Option<SteadyLatency> {
        let watched = worker.limits.steady?.criterion.figure == SteadyFigure::Latency;
        watched.then(|| SteadyLatency { live: Arc::clone(live), index })
    }
}

impl Chore for SteadyLatency {
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        if op.kind.direction().is_some() {
            self.live[self.index].add_latency(now.saturating_sub(stamps.issued));
        }
        Ok(())
    }

    fn gather(self: Box<Self>, _: u64, _: &mut Builder<'_>) {}
}
