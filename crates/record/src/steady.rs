//! What was found of steadiness, and of the depth a latency allows.

use crate::Nanos;
use serde::{Deserialize, Serialize};

/// What watching a report's workers for steadiness gave (`steadystate`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadyResult {
    /// As typed: "iops", "bw_slope" and so on.
    pub criterion: String,
    /// The limit, in the figure's own unit or in per cent of its mean.
    pub limit: f64,
    /// `limit` and `value` are per cent of the mean.
    pub percent: bool,
    /// The window that must be steady.
    pub duration: Nanos,
    /// Time of each sample.
    pub interval: Nanos,
    /// A whole window was steady, and ended the workers.
    pub attained: bool,
    /// What is held against the limit, of the last whole window; 0 without one.
    pub value: f64,
    /// Greatest distance of a sample from the mean; 0 for slopes.
    pub deviation: f64,
    /// Slope a sample; 0 for distances.
    pub slope: f64,
    /// Samples of the last whole window, or, without one, of what there was of it.
    pub samples: Vec<SteadySample>,
}

/// One sample of all workers of a report together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SteadySample {
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Mean completion latency, in nanoseconds; 0 where the criterion is about another figure.
    pub latency_ns: f64,
}

/// What the search for the depth a latency allows gave (`latency_target`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyDepth {
    /// The latency to keep.
    pub target: Nanos,
    /// Time each depth is tried for.
    pub window: Nanos,
    /// Share of I/Os that must keep it, in per cent.
    pub percentile: f64,
    /// The depth at the end.
    pub depth: u32,
    /// Whether a whole window at that depth kept the target.
    pub met: bool,
}
