//! Figures of the search for steadiness.

use record::{SteadyResult, SteadySample};

/// What was found, with the means of the last window. Until a whole window was seen, every figure is
/// 0, as with fio.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyMetrics {
    /// What was found.
    pub found: SteadyResult,
    /// Samples a window has.
    pub window: usize,
    /// Mean I/Os a second.
    pub iops: f64,
    /// Mean bytes a second.
    pub bytes_per_second: f64,
    /// Mean completion latency, in nanoseconds; 0 where the criterion is about another figure.
    pub latency_ns: f64,
}

impl SteadyMetrics {
    pub(super) fn of(found: &SteadyResult) -> SteadyMetrics {
        let window = (found.duration.0 / found.interval.0.max(1)) as usize;
        let whole = found.samples.len() == window && window > 0;
        let mean = |of: fn(&SteadySample) -> f64| {
            if whole { found.samples.iter().map(of).sum::<f64>() / window as f64 } else { 0.0 }
        };
        SteadyMetrics {
            window,
            iops: mean(|sample| sample.iops),
            bytes_per_second: mean(|sample| sample.bytes_per_second),
            latency_ns: mean(|sample| sample.latency_ns),
            found: found.clone(),
        }
    }

    /// The samples of the window, zeros where it is not full.
    pub fn samples(&self) -> Vec<SteadySample> {
        let mut all = self.found.samples.clone();
        all.resize(self.window, SteadySample::default());
        all
    }

    /// Whether the criterion is about latency.
    pub fn is_latency(&self) -> bool {
        self.found.criterion.starts_with("lat")
    }
}
