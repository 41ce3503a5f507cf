//! Intervals by resampling.

use super::elementary::{Estimate, MISS, mean, students_t, variance};
use super::random::Random;
use super::series::{autocorrelation, effective_count};

const RESAMPLES: usize = 1000;

/// The mean by bootstrap-t: resamples show how the mean varies in units of its own standard error.
pub(super) fn bootstrap_t(values: &[f64], seed: u64) -> Estimate {
    let value = mean(values);
    let error = (variance(values) / values.len() as f64).sqrt();
    if error == 0.0 {
        return Estimate::exact(value);
    }
    let mut random = Random::new(seed);
    let mut studentized: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let draw = |_| values[random.below(values.len())];
            let resample: Vec<f64> = (0..values.len()).map(draw).collect();
            let own = (variance(&resample) / resample.len() as f64).sqrt();
            // A resample of one value over and over has no error of its own.
            (mean(&resample) - value) / own.max(error * 0.1)
        })
        .collect();
    studentized.sort_by(f64::total_cmp);
    let at = |share: f64| studentized[((RESAMPLES - 1) as f64 * share).round() as usize];
    Estimate {
        value,
        low: value - at(1.0 - MISS / 2.0) * error,
        high: value - at(MISS / 2.0) * error,
    }
}

/// The mean of a correlated time series, and its interval: stationary
/// bootstrap (Politis and Romano 1994) with blocks of the mean length Politis and White (2004) give
/// for a process of order 1; widened as Student's t is for the number of independent values.
///
/// With fewer than two values the interval is as wide as everything.
pub fn mean_of_series(values: &[f64], seed: u64) -> Estimate {
    let count = values.len();
    let value = mean(values);
    if count < 2 {
        return Estimate { value, low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let phi = autocorrelation(values);
    let block = ((2.0 * phi / (1.0 - phi * phi)).powf(2.0 / 3.0) * (count as f64).cbrt()).max(1.0);
    let mut random = Random::new(seed);
    let means: Vec<f64> =
        (0..RESAMPLES).map(|_| mean(&stationary(values, block, &mut random))).collect();
    let independent = effective_count(count, phi);
    // Resampling sees the variance around the mean of the sample, which is too small by this much.
    let small = (independent / (independent - 1.0)).sqrt();
    // Blocks of a short series are too few to show all of its correlation; theory fills in.
    let expected = (variance(values) / independent).sqrt();
    let error = (variance(&means).sqrt() * small).max(expected);
    let half = students_t(independent - 1.0, MISS) * error;
    Estimate { value, low: value - half, high: value + half }
}

/// Blocks that begin anywhere and end with the same chance after each value.
fn stationary(values: &[f64], block: f64, random: &mut Random) -> Vec<f64> {
    let mut at = random.below(values.len());
    let mut out = Vec::with_capacity(values.len());
    while out.len() < values.len() {
        out.push(values[at]);
        at = match random.unit() < 1.0 / block {
            true => random.below(values.len()),
            false => (at + 1) % values.len(),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::random::invented::series;
    use super::*;

    #[test]
    fn means_of_correlated_series_are_as_uncertain_as_they_are() {
        for (count, phi, least) in [(20, 0.0, 930), (60, 0.0, 930), (60, 0.5, 900), (200, 0.7, 900)]
        {
            let mut random = Random::new(count as u64);
            let holds = |seed: &u64| {
                let values = series(&mut random, count, 100.0, 0.1, phi);
                let mean = mean_of_series(&values, *seed);
                (mean.low..=mean.high).contains(&100.0)
            };
            let held = (0..1000).filter(holds).count();
            assert!(held >= least, "{count} values, phi {phi}: {held} of 1000");
        }
        assert_eq!(mean_of_series(&[3.0], 1).high, f64::INFINITY);
        assert_eq!(mean_of_series(&[3.0; 9], 1), Estimate::exact(3.0));
    }
}
