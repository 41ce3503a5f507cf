//! Intervals of percentiles that assume nothing about the distribution: the number of values below a
//! percentile is binomial, so two order statistics enclose it (David and Nagaraja, Order Statistics,
//! 3rd edition, section 7.1).

use super::elementary::MISS;
use record::Histogram;
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

/// With at least this many expected values on both sides of the percentile, the normal distribution
/// approximates the binomial one. With fewer, the binomial distribution is too skewed.
const NORMAL_MIN: f64 = 1000.0;

/// The 95 % interval of the `percentile` (0 to 100); `None` for too few values, and for imported
/// percentiles without values.
pub fn percentile_interval(histogram: &Histogram, percentile: f64) -> Option<(u64, u64)> {
    if !histogram.is_binned() {
        return None;
    }
    let (low, high) = ranks(histogram.count(), percentile)?;
    Some((value_at(histogram, low), value_at(histogram, high)))
}

/// Whether `count` values support an interval of this percentile.
pub fn supports(count: u64, percentile: f64) -> bool {
    ranks(count, percentile).is_some()
}

/// The number of values from which on at least one is beyond the percentile with enough certainty.
pub fn samples_needed(percentile: f64) -> u64 {
    let share = share(percentile);
    let rarer = share.max(1.0 - share);
    ((MISS / 2.0).ln() / rarer.ln()).ceil() as u64
}

fn share(percentile: f64) -> f64 {
    (percentile / 100.0).clamp(0.0, 1.0)
}

/// Ranks, from 1, of the values that enclose the percentile.
fn ranks(count: u64, percentile: f64) -> Option<(u64, u64)> {
    let share = share(percentile);
    if count == 0 || share <= 0.0 || share >= 1.0 || count < samples_needed(percentile) {
        return None;
    }
    let (below, above) =
        (quantile(count, share, MISS / 2.0), quantile(count, share, 1.0 - MISS / 2.0));
    // The value of rank r is at most the percentile if at least r values are.
    let (low, high) = (below.max(1), above + 1);
    (high <= count).then_some((low, high))
}

/// The number of values below the percentile, at this quantile of the binomial distribution.
fn quantile(count: u64, share: f64, chance: f64) -> u64 {
    let mean = count as f64 * share;
    if mean.min(count as f64 - mean) < NORMAL_MIN
        && let Ok(binomial) = Binomial::new(share, count)
    {
        return binomial.inverse_cdf(chance);
    }
    let spread = (mean * (1.0 - share)).sqrt();
    let z = Normal::standard().inverse_cdf(chance);
    (mean + z * spread).round().max(0.0) as u64
}

/// The value of this rank. A histogram finds it by the share of values up to it; half a rank less keeps
/// rounding from reaching the next value.
fn value_at(histogram: &Histogram, rank: u64) -> u64 {
    histogram.percentile((rank as f64 - 0.5) * 100.0 / histogram.count() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Random;

    #[test]
    fn a_percentile_needs_values_beyond_it() {
        for (percentile, needed) in [(50.0, 6), (99.0, 368), (99.9, 3688), (99.99, 36_888)] {
            assert!(samples_needed(percentile).abs_diff(needed) <= 1, "{percentile}");
            assert!(!supports(samples_needed(percentile) - 1, percentile));
            assert!(supports(samples_needed(percentile), percentile), "{percentile}");
        }
        for count in (0..200_000).step_by(617) {
            for percentile in [50.0, 99.0, 99.9, 99.99] {
                let needed = samples_needed(percentile);
                assert_eq!(supports(count, percentile), count >= needed, "{count} p{percentile}");
            }
        }
        assert!(!supports(0, 50.0) && !supports(1000, 0.0) && !supports(1000, 100.0));
    }

    #[test]
    fn ranks_of_many_values_are_those_of_the_binomial_distribution() {
        for count in [20_000, 40_000, 100_000, 1_000_000, 1_000_000_000] {
            for percentile in [50.0, 99.0, 99.9, 99.99, 99.9999] {
                let Some((low, high)) = ranks(count, percentile) else { continue };
                let binomial = Binomial::new(share(percentile), count).unwrap();
                // At least `low` and fewer than `high` values lie at or below the percentile.
                let holds = binomial.cdf(high - 1) - binomial.cdf(low - 1);
                assert!((0.949..0.98).contains(&holds), "{count} values, p{percentile}: {holds}");
            }
        }
    }

    /// Of many samples of one distribution, the share whose interval holds the true percentile.
    fn coverage(count: usize, percentile: f64) -> f64 {
        let mut random = Random::new(count as u64);
        // Exponential: the percentile is known.
        let truth = -1e6 * (1.0 - percentile / 100.0_f64).ln();
        let holds = |_: &u32| {
            let mut histogram = Histogram::new();
            (0..count).for_each(|_| histogram.record((-1e6 * (1.0 - random.unit()).ln()) as u64));
            let (low, high) = percentile_interval(&histogram, percentile).unwrap();
            // A bucket is 0.8 % wide.
            (low as f64) <= truth * 1.008 && truth <= high as f64 * 1.008
        };
        f64::from((0..1000).filter(holds).count() as u32) / 1000.0
    }

    #[test]
    fn intervals_hold_the_percentile_as_often_as_they_say() {
        for (count, percentile) in [(30, 50.0), (800, 99.0), (5_000, 99.9), (12_000, 99.0)] {
            let coverage = coverage(count, percentile);
            assert!(coverage >= 0.94, "{count} values, p{percentile}: {coverage}");
        }
    }
}
