//! Statistics of measurements: intervals, change points, steady state. Each names its source.

mod best;
mod changes;
mod percentile;
mod random;
mod resample;
mod series;
mod steady;
mod summary;
mod trend;

pub use best::{Contest, Standing, standings};
pub use changes::change_points;
pub use percentile::{percentile_interval, samples_needed, supports};
pub use random::Random;
pub use resample::mean_of_series;
pub use steady::{STEADY_ROUNDS, SteadyState, steady_state};
pub use summary::{Summary, summary};
pub use trend::{Trend, trend};

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

/// Probability that an interval misses.
pub(crate) const MISS: f64 = 0.05;

/// Standard errors on each side of an interval that misses so often, of what is spread normally.
pub(crate) const ERRORS: f64 = 1.96;

/// The two-sided quantile of Student's t distribution: what is beyond it on both sides together has
/// probability `beyond`. `freedom`: degrees of freedom, above 0.
pub(crate) fn students_t(freedom: f64, beyond: f64) -> f64 {
    // Parameters out of range give no distribution: nothing is known then.
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::INFINITY, |t| t.inverse_cdf(1.0 - beyond / 2.0))
}

/// Mean of values; 0 of none.
pub(crate) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Sample variance; 0 of fewer than two values.
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

/// How exactly a histogram knows the ratio of two values with these logarithms, as a logarithm: to
/// one bucket, and to 1 ns.
pub(crate) fn resolution(one: f64, other: f64) -> f64 {
    (1.0 / record::SUB_BUCKETS as f64).max((-one.min(other)).exp()).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [(1.0, 12.706), (4.0, 2.776), (30.0, 2.042)] {
            assert!((students_t(freedom, 0.05) - expected).abs() < 1e-3, "{freedom}");
        }
        assert_eq!(students_t(0.0, 0.05), f64::INFINITY);
    }
}
