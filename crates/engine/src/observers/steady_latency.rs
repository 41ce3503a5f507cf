//! Completion latencies for the steady state of a worker.

use super::IoObserver;
use crate::hot::op::{Fault, Op};
use crate::live::LiveWorker;
use crate::meter::Stamps;
use plan::{SteadyFigure, Worker};
use std::sync::Arc;

/// Adds completion latencies to the live figures.
pub(crate) struct SteadyLatency {
    live: Arc<[LiveWorker]>,
    index: usize,
}

impl SteadyLatency {
    /// `None` unless the worker's steady state is that of its latency.
    pub fn new(worker: &Worker, live: &Arc<[LiveWorker]>, index: usize) -> Option<SteadyLatency> {
        let by_latency = worker.limits.steady?.criterion.figure == SteadyFigure::Latency;
        by_latency.then(|| SteadyLatency { live: Arc::clone(live), index })
    }
}

impl IoObserver for SteadyLatency {
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        if op.kind.direction().is_some() {
            self.live[self.index].add_latency(now.saturating_sub(stamps.issued));
        }
        Ok(())
    }
}
