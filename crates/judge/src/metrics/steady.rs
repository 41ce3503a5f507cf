//! Figures of the search for steadiness.

use record::{SteadyResult, SteadySample};

/// The result of `steadystate`, with the means of the last window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyMetrics {
    /// What was found.
    pub found: SteadyResult,
    /// Samples a window has.
    pub window: usize,
    /// Means of the samples there are.
    pub mean: SteadySample,
    /// fio's means: those of the window, with 0 for each sample that it lacks. They differ from
    /// `mean` where the job ended before its first window did.
    pub mean_of_window: SteadySample,
}

impl SteadyMetrics {
    pub(super) fn from_result(found: &SteadyResult) -> SteadyMetrics {
        let window = (found.duration.0 / found.interval.0.max(1)) as usize;
        SteadyMetrics {
            window,
            mean: mean(&found.samples, found.samples.len()),
            mean_of_window: mean(&found.samples, window),
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

/// Sums of samples divided by `count`; 0 without samples.
fn mean(samples: &[SteadySample], count: usize) -> SteadySample {
    let mean = |figure: fn(&SteadySample) -> f64| {
        samples.iter().map(figure).sum::<f64>() / count.max(1) as f64
    };
    SteadySample {
        iops: mean(|sample| sample.iops),
        bytes_per_second: mean(|sample| sample.bytes_per_second),
        latency_ns: mean(|sample| sample.latency_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Nanos;

    #[test]
    fn a_window_that_is_not_full_has_two_means() {
        let sample = |iops| SteadySample { iops, bytes_per_second: 512.0 * iops, latency_ns: 9.0 };
        let found = SteadyResult {
            duration: Nanos(4_000_000_000),
            interval: Nanos(1_000_000_000),
            samples: vec![sample(100.0), sample(300.0)],
            ..SteadyResult::default()
        };
        let metrics = SteadyMetrics::from_result(&found);
        assert_eq!((metrics.mean.iops, metrics.mean_of_window.iops), (200.0, 100.0));
        assert_eq!(metrics.mean_of_window.bytes_per_second, 512.0 * 100.0);
        let none = SteadyMetrics::from_result(&SteadyResult { samples: Vec::new(), ..found });
        assert_eq!((none.mean.iops, none.mean_of_window.iops), (0.0, 0.0));
    }
}
