//! Figures over several rounds, with the interval that contains the true value in 95 of 100 cases.

use judge::stats::{Estimate, mean_of_series, percentile_interval, summary};
use record::{Direction, Histogram, JobRecord};

/// A figure and its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimated {
    /// The figure.
    pub value: f64,
    /// Lower and upper end; `None` if the measurement does not bound it.
    pub interval: Option<(f64, f64)>,
}

impl Estimated {
    pub(crate) fn new(value: f64, estimate: Estimate) -> Estimated {
        let bounded = estimate.low.is_finite() && estimate.high.is_finite();
        // Rates and times are never negative.
        let interval = bounded.then_some((estimate.low.max(0.0), estimate.high));
        Estimated { value, interval }
    }

    /// A figure that nothing bounds.
    pub(crate) fn unbounded(value: f64) -> Option<Estimated> {
        Some(Estimated { value, interval: None })
    }

    /// The same in another unit.
    pub(crate) fn times(self, factor: f64) -> Estimated {
        let interval = self.interval.map(|(low, high)| (low * factor, high * factor));
        Estimated { value: self.value * factor, interval }
    }
}

/// The mean of values as a multiple of the mean of others; `None` if that is not above 0.
///
/// The interval comes from the difference of the means of the logarithms, with the interval
/// of each (MOVER: Donner and Zou, "Closed-form confidence intervals for functions
/// of the normal mean and standard deviation", Statistical Methods in Medical Research 21, 2012).
pub(crate) fn ratio(values: &[f64], reference: &[f64], seed: u64) -> Option<Estimated> {
    if values.is_empty() || reference.is_empty() {
        return None;
    }
    let base = summary(reference, seed).mean.value;
    let value = (base > 0.0).then(|| summary(values, seed).mean.value / base)?;
    if !values.iter().chain(reference).all(|value| *value > 0.0) {
        return Estimated::unbounded(value);
    }
    let logarithm = |all: &[f64]| {
        let all: Vec<f64> = all.iter().map(|value| value.ln()).collect();
        summary(&all, seed).mean
    };
    let (new, old) = (logarithm(values), logarithm(reference));
    let difference = new.value - old.value;
    let low = difference - (new.value - new.low).hypot(old.high - old.value);
    let high = difference + (new.high - new.value).hypot(old.value - old.low);
    Some(Estimated::new(value, Estimate { value, low: low.exp(), high: high.exp() }))
}

/// IOPS over the rounds. The interval comes from their variation between rounds, which includes
/// more influences than one round can show. A single round is judged by its course.
pub(crate) fn iops_estimate(rounds: &[f64], course: &[f64], seed: u64) -> Estimated {
    match rounds {
        [one] => Estimated::new(*one, mean_of_series(course, seed)),
        rounds => {
            let mean = summary(rounds, seed).mean;
            Estimated::new(mean.value, mean)
        }
    }
}

/// IOPS over time in one direction.
pub(crate) fn course(job: &JobRecord, direction: Direction) -> Vec<f64> {
    let whole = job.intervals.iter().filter(|interval| interval.length >= job.interval_step);
    whole.map(|i| i.ios[direction] as f64 / i.length.seconds()).collect()
}

/// The mean over all rounds, with an interval from the means of the rounds. A single round has no
/// interval, because its I/Os are not independent of each other.
pub(crate) fn mean_estimate(rounds: &[&Histogram], seed: u64) -> Estimated {
    let mut all = Histogram::new();
    rounds.iter().for_each(|histogram| all.merge(histogram));
    let own = rounds.iter().map(|round| round.mean().max(1.0).ln());
    let mean = summary(&own.collect::<Vec<_>>(), seed).mean;
    let value = all.mean();
    // The interval is that of the geometric mean, which differs slightly from the value.
    let (low, high) = (mean.low.exp().min(value), mean.high.exp().max(value));
    let interval = (rounds.len() > 1).then_some((low, high));
    Estimated { value, interval }
}

/// A percentile over all rounds. Its interval contains that of the latencies (order statistics) and
/// that of the rounds' percentiles around their mean.
pub(crate) fn percentile_estimate(rounds: &[&Histogram], p: f64, seed: u64) -> Estimated {
    let mut all = Histogram::new();
    rounds.iter().for_each(|histogram| all.merge(histogram));
    let value = all.percentile(p) as f64;
    let Some((low, high)) = percentile_interval(&all, p) else {
        return Estimated { value, interval: None };
    };
    let (mut low, mut high) = (low as f64, high as f64);
    if rounds.len() > 1 {
        // From their logarithms: latencies vary by factors, and are never negative.
        let own = rounds.iter().map(|round| (round.percentile(p).max(1) as f64).ln());
        let mean = summary(&own.collect::<Vec<_>>(), seed).mean;
        (low, high) = (low.min(mean.low.exp()), high.max(mean.high.exp()));
    }
    // No percentile is below the smallest latency.
    Estimated { value, interval: Some((low.max(all.min() as f64), high)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(low: u64, count: u64) -> Histogram {
        let mut histogram = Histogram::new();
        (0..count).for_each(|i| histogram.record(low + i * 10));
        histogram
    }

    #[test]
    fn one_round_is_judged_by_its_course_and_several_by_each_other() {
        let even: Vec<f64> = (0..10).map(|i| 1000.0 + f64::from(i % 3)).collect();
        let (low, high) = iops_estimate(&[1001.0], &even, 1).interval.unwrap();
        assert!(low > 990.0 && high < 1012.0, "{low} {high}");
        assert_eq!(iops_estimate(&[1001.0], &[1001.0], 1).interval, None, "one point is no course");
        let rounds = iops_estimate(&[900.0, 1000.0, 1100.0], &even, 1);
        let (low, high) = rounds.interval.unwrap();
        assert!((rounds.value - 1000.0).abs() < 1e-9 && low < 800.0 && high > 1200.0);
        let (low, high) = rounds.times(4096.0).interval.unwrap();
        assert!(low < 800.0 * 4096.0 && high > 1200.0 * 4096.0);
    }

    #[test]
    fn a_percentile_is_as_unsure_as_its_rounds_differ() {
        let alike = [&spread(10_000, 5000), &spread(10_000, 5000)];
        let (low, high) = percentile_estimate(&alike, 50.0, 1).interval.unwrap();
        assert!(high - low < 2_500.0, "{low} {high}");
        let apart = [&spread(10_000, 5000), &spread(60_000, 5000)];
        let unsure = percentile_estimate(&apart, 50.0, 1);
        let (low, high) = unsure.interval.unwrap();
        assert!(low <= 10_000.0 && high > 85_000.0, "{low} {high}");
        assert!((low..=high).contains(&unsure.value));
        assert_eq!(percentile_estimate(&[&spread(1, 100)], 99.9, 1).interval, None, "too few");
        let mean = mean_estimate(&apart, 1);
        let (low, high) = mean.interval.unwrap();
        assert!((mean.value - 60_000.0).abs() < 1000.0 && low < 40_000.0 && high > 80_000.0);
        assert_eq!(mean_estimate(&[&spread(1, 100)], 1).interval, None, "one round");
    }
}
