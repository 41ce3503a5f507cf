//! Repeats in a few figures.

use super::elementary::{Estimate, MISS, mean, median, students_t, variance};
use super::resample::bootstrap_t;

/// What repeats of a measurement say together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many.
    pub count: usize,
    /// Their mean; its interval is as wide as everything when there is one value only.
    pub mean: Estimate,
    /// Their median.
    pub median: f64,
    /// Sample standard deviation.
    pub stddev: f64,
    /// Coefficient of variation: standard deviation over mean.
    pub cv: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
}

/// From this number of repeats, intervals by resampling have their nominal coverage. Fewer repeats use
/// Student's t (1908).
const RESAMPLED_MIN: usize = 10;

/// Sums up repeats. The interval of the mean is by bootstrap-t (Efron and Tibshirani, An Introduction
/// to the Bootstrap, section 12.5), by Student's t for fewer than ten; the same seed gives the same.
pub fn summary(values: &[f64], seed: u64) -> Summary {
    if values.is_empty() {
        return Summary::default();
    }
    let (mean, variance) = (mean(values), variance(values));
    let stddev = variance.sqrt();
    Summary {
        count: values.len(),
        mean: if values.len() < RESAMPLED_MIN {
            by_students_t(values.len(), mean, variance)
        } else {
            bootstrap_t(values, seed)
        },
        median: median(values),
        stddev,
        cv: if mean == 0.0 { 0.0 } else { stddev / mean.abs() },
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    }
}

fn by_students_t(count: usize, mean: f64, variance: f64) -> Estimate {
    if count < 2 {
        return Estimate { value: mean, low: f64::NEG_INFINITY, high: f64::INFINITY };
    }
    let half = students_t((count - 1) as f64, MISS) * (variance / count as f64).sqrt();
    Estimate { value: mean, low: mean - half, high: mean + half }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    #[test]
    fn figures_of_repeats() {
        let seen = summary(&[10.0, 12.0, 11.0, 13.0], 1);
        assert_eq!((seen.count, seen.median, seen.min, seen.max), (4, 11.5, 10.0, 13.0));
        assert!((seen.mean.value - 11.5).abs() < 1e-9 && (seen.stddev - 1.290_994).abs() < 1e-6);
        assert!((seen.mean.low - 9.4457).abs() < 1e-3, "{seen:?}");
        assert_eq!(summary(&[5.0], 1).mean.high, f64::INFINITY, "one says nothing of others");
        assert_eq!(summary(&[], 1), Summary::default());
        let many: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(summary(&many, 7), summary(&many, 7));
    }

    #[test]
    fn intervals_of_means_cover_what_they_claim() {
        for (count, skewed) in [(3, false), (5, false), (8, true), (10, false), (15, true)] {
            let mut random = Random::new(count as u64 * 77);
            // Log-normal with a spread of 15 %, as throughput over runs is.
            let mut draw = || match skewed {
                true => (0.15 * random.normal()).exp() / (0.15_f64.powi(2) / 2.0).exp(),
                false => 1.0 + 0.1 * random.normal(),
            };
            let mut held = 0;
            for seed in 0..1000 {
                let values: Vec<f64> = (0..count).map(|_| draw()).collect();
                let mean = summary(&values, seed).mean;
                held += u32::from((mean.low..=mean.high).contains(&1.0));
            }
            assert!(held >= 930, "{count} values, skewed: {skewed}: {held} of 1000");
        }
    }
}
