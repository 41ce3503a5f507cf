//! Start and end of a job, and its rate limits.

use super::LatencyGoal;
use super::named::named;
use record::{Bytes, Nanos, PerDirection};

/// Start and end of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// `runtime`.
    pub runtime: Option<Nanos>,
    /// `time_based`.
    pub time_based: bool,
    /// `ramp_time`.
    pub ramp_time: Option<Nanos>,
    /// `ramp_size`.
    pub ramp_size: Option<Bytes>,
    /// `startdelay`: fixed, or drawn from a range.
    pub startdelay: Option<DelayRange>,
    /// `loops`.
    pub loops: Option<u64>,
}

/// `startdelay=low-high`; one value is both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayRange {
    /// Shortest.
    pub low: Nanos,
    /// Longest.
    pub high: Nanos,
}

/// Rate limits of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rate {
    /// `rate`, bytes a second.
    pub bandwidth: PerDirection<Option<Bytes>>,
    /// `rate_min`, bytes a second.
    pub bandwidth_min: PerDirection<Option<Bytes>>,
    /// `rate_iops`, I/Os a second.
    pub iops: PerDirection<Option<u64>>,
    /// `rate_iops_min`, I/Os a second.
    pub iops_min: PerDirection<Option<u64>>,
    /// `rate_process`.
    pub process: RateProcess,
    /// `rate_cycle`; default 1 s.
    pub cycle: Option<Nanos>,
    /// `rate_ignore_thinktime`.
    pub ignore_thinktime: bool,
    /// `thinktime` and its companions.
    pub think: ThinkTime,
    /// `latency_target` and its companions.
    pub latency: LatencyGoal,
    /// `max_latency`.
    pub max_latency: PerDirection<Option<Nanos>>,
    /// `flow`, `flow_id`, `flow_sleep`.
    pub flow: Flow,
}

/// `rate_process`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateProcess {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Exponential gaps.
    Poisson,
}

/// `thinktime` and its companions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThinkTime {
    /// `thinktime`.
    pub time: Option<Nanos>,
    /// `thinktime_spin`: how much of it is spent busy.
    pub spin: Nanos,
    /// `thinkcycles`.
    pub cycles: u64,
    /// `thinktime_blocks`; default 1.
    pub blocks: Option<u64>,
    /// `thinktime_blocks_type=issue` (else complete).
    pub count_issued: bool,
    /// `thinktime_iotime`.
    pub iotime: Option<Nanos>,
}

/// `flow` and its companions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// `flow_id`.
    pub id: u64,
    /// `flow`.
    pub weight: u64,
    /// `flow_sleep`.
    pub sleep: Nanos,
}

named!(RateProcess: Linear "linear", Poisson "poisson");

impl From<(Nanos, Nanos)> for DelayRange {
    fn from((low, high): (Nanos, Nanos)) -> Self {
        DelayRange { low, high }
    }
}
