//! Elementary statistics: estimates, mean, variance, quantiles.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::statistics::{Data, OrderStatistics};

/// An estimate and the interval that holds the true value in 95 of 100 cases.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Estimate {
    /// A value known exactly.
    pub fn exact(value: f64) -> Estimate {
        Estimate { value, low: value, high: value }
    }
}

/// Probability that an interval misses the true value.
pub(crate) const MISS: f64 = 0.05;

/// Standard errors from the centre of a 95 % interval to its ends, for a normal distribution.
pub(crate) const ERRORS: f64 = 1.96;

/// The two-sided quantile of Student's t distribution: a value lies outside of ± the quantile with
/// probability `beyond`. `freedom`: degrees of freedom, above 0.
pub(crate) fn students_t(freedom: f64, beyond: f64) -> f64 {
    // Without a distribution (parameters out of range) nothing is known.
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - beyond / 2.0))
}

/// The mean; 0 without values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// The sample variance; 0 for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// The median; 0 without values.
pub fn median(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { Data::new(values.to_vec()).median() }
}

/// Degrees of freedom of the difference of two means, each with its variance and degrees of freedom
/// (Welch 1947, Satterthwaite 1946). At the maximum, Student's distribution is the normal one.
pub(crate) fn welch_freedom(one: (f64, f64), other: (f64, f64)) -> f64 {
    const FREEDOM_MAX: f64 = 1e6;
    let part = |(variance, freedom): (f64, f64)| variance * variance / freedom;
    let parts = part(one) + part(other);
    if parts > 0.0 { ((one.0 + other.0).powi(2) / parts).min(FREEDOM_MAX) } else { FREEDOM_MAX }
}

/// The uncertainty, as a logarithm, of the ratio of two values from histograms: one bucket, or 1 ns for
/// small values. `one` and `other` are the logarithms of the values.
pub(crate) fn resolution(one: f64, other: f64) -> f64 {
    (1.0 / record::SUB_BUCKETS as f64).max((-one.min(other)).exp()).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_published_tables() {
        for (freedom, expected) in [(1.0, 12.706), (4.0, 2.776), (30.0, 2.042)] {
            assert!((students_t(freedom, 0.05) - expected).abs() < 1e-3, "{freedom}");
        }
        assert_eq!(students_t(0.0, 0.05), f64::INFINITY);
    }
}
