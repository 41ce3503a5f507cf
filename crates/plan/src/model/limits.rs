//! What ends a worker by its figures, or steers it: flow, latency, steadiness.

use job::{SteadyCriterion, SteadyLimit};
use record::{Nanos, PerDirection};

/// What ends a worker by its figures, or steers it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Its part in a flow, if it has one.
    pub flow: Option<FlowPart>,
    /// An I/O that takes longer ends it, per direction.
    pub max_latency: PerDirection<Option<Nanos>>,
    /// The latency its depth is to keep.
    pub latency: Option<LatencySearch>,
    /// When it is steady.
    pub steady: Option<SteadyWatch>,
}

/// A part in a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowPart {
    /// Workers of one id share a flow.
    pub id: u64,
    /// Its share against theirs; at least 1.
    pub weight: u64,
    /// Pause when it is ahead; 0: it tries again at once.
    pub sleep: Nanos,
}

/// The search for the greatest depth that keeps a latency.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LatencySearch {
    /// The latency to keep.
    pub target: Nanos,
    /// Time each depth is tried for.
    pub window: Nanos,
    /// Share of I/Os that must keep it, in per cent.
    pub percentile: f64,
    /// Goes on at the depth found, rather than ending.
    pub run: bool,
}

/// When workers of a report count as steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteadyWatch {
    /// What is watched, and how.
    pub criterion: SteadyCriterion,
    /// How far it may be off.
    pub limit: SteadyLimit,
    /// Samples in a window; at least 2.
    pub samples: usize,
    /// Time of a sample.
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
