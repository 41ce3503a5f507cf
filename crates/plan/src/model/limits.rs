//! Limits on the results of a worker: flow, latency, steady state.

use job::{SteadyCriterion, SteadyLimit};
use record::{Nanos, PerDirection};

/// Limits on the results of a worker. They end it or control its depth and rate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Its share of a flow.
    pub flow: Option<FlowPart>,
    /// Maximum latency, per direction. A longer I/O ends the worker.
    pub max_latency: PerDirection<Option<Nanos>>,
    /// Search for the depth that meets a latency target.
    pub latency: Option<LatencySearch>,
    /// Condition of the steady state.
    pub steady: Option<SteadyWatch>,
}

/// The share of a worker in a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowPart {
    /// Workers with the same id share a flow.
    pub id: u64,
    /// Its weight within the flow; at least 1.
    pub weight: u64,
    /// Pause when it is ahead; 0 to retry at once.
    pub sleep: Nanos,
}

/// The search for the greatest depth that meets a latency target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencySearch {
    /// The target.
    pub target: Nanos,
    /// Duration of each trial of a depth.
    pub window: Nanos,
    /// Share of I/Os that must meet the target, in per cent.
    pub percentile: f64,
    /// Whether the worker continues at the depth found. Otherwise it ends.
    pub run: bool,
}

/// The condition under which the workers of a report are steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyWatch {
    /// The figure, and how it is evaluated.
    pub criterion: SteadyCriterion,
    /// Maximum deviation.
    pub limit: SteadyLimit,
    /// Samples in a window; at least 2.
    pub samples: usize,
    /// Duration of a sample.
    pub interval: Nanos,
    /// Time before the first window.
    pub ramp: Nanos,
}

impl SteadyWatch {
    /// Length of the window.
    pub fn duration(&self) -> Nanos {
        Nanos(self.interval.0.saturating_mul(self.samples as u64))
    }
}
