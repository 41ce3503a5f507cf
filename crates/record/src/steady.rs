//! Results of the steady state detection, and of the search for the depth at a target latency.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// The result of the steady state detection over the workers of a report (`steadystate`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyResult {
    /// The criterion, as written: "iops", "bw_slope" and so on.
    pub criterion: String,
    /// The limit, in the figure's own unit or in per cent of its mean.
    pub limit: f64,
    /// Whether `limit` and `value` are per cent of the mean.
    pub percent: bool,
    /// Length of the window that must be steady.
    pub duration: Nanos,
    /// Time of each sample.
    pub interval: Nanos,
    /// Whether a whole window was steady, which ended the workers.
    pub attained: bool,
    /// The figure of the last whole window that is compared with the limit; 0 without one.
    pub value: f64,
    /// Maximum distance of a sample from the mean; 0 for slopes.
    pub deviation: f64,
    /// Slope per sample; 0 for distances.
    pub slope: f64,
    /// Samples of the last whole window; without one, of the incomplete window.
    pub samples: Vec<SteadySample>,
}

/// One sample of all workers of a report together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadySample {
    /// I/Os per second.
    pub iops: f64,
    /// Bytes per second.
    pub bytes_per_second: f64,
    /// Mean completion latency, in nanoseconds; 0 if the criterion is about another figure.
    pub latency_ns: f64,
}

/// The result of the search for the depth at a target latency (`latency_target`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyDepth {
    /// The target latency.
    pub target: Nanos,
    /// Time for which each depth is tried.
    pub window: Nanos,
    /// Share of I/Os that must meet the target, in per cent.
    pub percentile: f64,
    /// The depth at the end.
    pub depth: u32,
    /// Whether a whole window at that depth met the target.
    pub met: bool,
}
