//! Figures as logarithms, and the interval of their ratio.

use super::ASSUMED_SPREAD;
use crate::gate::condition::{Class, Metric};
use crate::gate::measure::{Member, single};
use crate::stats::{Estimate, mean, students_t, variance};
use record::{Direction, SUB_BUCKETS};

/// Standard errors on each side of a 95 % interval.
const ERRORS: f64 = 1.96;

/// The logarithm of a figure on one side.
pub(super) struct Log {
    /// Its mean over the runs.
    pub(super) mean: f64,
    /// Variance of that mean.
    variance: f64,
    /// Degrees of freedom of that variance; infinite where it is assumed.
    freedom: f64,
    /// One run: what it cannot show is assumed.
    pub(super) is_single: bool,
}

/// The logarithm of a figure over the runs of a job, or why there is none.
pub(super) fn logarithm(
    member: &Member,
    direction: Direction,
    metric: Metric,
    seed: u64,
) -> Result<Log, String> {
    let mut estimates = Vec::new();
    for workers in &member.runs {
        let of = |class| single(workers, Some(direction), class, metric, seed);
        let Some((estimate, reason)) = of(Class::Clat).or_else(|| of(Class::Lat)) else {
            return Err("a run recorded none".into());
        };
        // The course within a run matters only where there is one run.
        let is_percentile = matches!(metric, Metric::Percentile(_));
        match reason {
            Some(reason) if is_percentile || member.runs.len() < 2 => return Err(reason),
            _ if estimate.value <= 0.0 => return Err("it is 0 in a run".into()),
            _ => estimates.push(estimate),
        }
    }
    let logarithms: Vec<f64> = estimates.iter().map(|e| e.value.ln()).collect();
    let mean = mean(&logarithms);
    Ok(match estimates.as_slice() {
        [one] => {
            let own = relative_error(one).powi(2);
            let variance = own + course(member, direction, metric, seed)? + ASSUMED_SPREAD.powi(2);
            Log { mean, variance, freedom: f64::INFINITY, is_single: true }
        }
        _ => Log {
            mean,
            variance: variance(&logarithms) / logarithms.len() as f64,
            freedom: (logarithms.len() - 1) as f64,
            is_single: false,
        },
    })
}

/// The standard error of an estimate as a share of it.
fn relative_error(estimate: &Estimate) -> f64 {
    (estimate.high - estimate.low) / (2.0 * ERRORS * estimate.value)
}

/// What the course of one run adds to the variance of a percentile: its interval takes the I/Os as
/// independent, but the level they lie around wanders; how much, the mean latency shows.
fn course(member: &Member, direction: Direction, metric: Metric, seed: u64) -> Result<f64, String> {
    if !matches!(metric, Metric::Percentile(_)) {
        return Ok(0.0);
    }
    let of = |workers: &Vec<_>| single(workers, Some(direction), Class::Clat, Metric::Mean, seed);
    match member.runs.first().and_then(of) {
        Some((_, Some(reason))) => Err(reason),
        Some((mean, None)) if mean.value > 0.0 => Ok(relative_error(&mean).powi(2)),
        _ => Ok(0.0),
    }
}

/// New over old with the interval that misses with probability `miss`, by Welch's test. Percentiles
/// are known to a bucket of the histogram and no better, however well the runs agree.
pub(super) fn interval(old: &Log, new: &Log, miss: f64, is_percentile: bool) -> Estimate {
    let difference = new.mean - old.mean;
    let variance = old.variance + new.variance;
    let bucket = if is_percentile { (1.0 / SUB_BUCKETS as f64).ln_1p() } else { 0.0 };
    let half = match variance > 0.0 {
        true => students_t(freedom(old, new), miss) * variance.sqrt() + bucket,
        false => bucket,
    };
    Estimate {
        value: difference.exp(),
        low: (difference - half).exp(),
        high: (difference + half).exp(),
    }
}

/// Degrees of freedom after Welch and Satterthwaite.
fn freedom(old: &Log, new: &Log) -> f64 {
    let part = |log: &Log| log.variance.powi(2) / log.freedom;
    let parts = part(old) + part(new);
    // Student's distribution with so many is the normal one.
    const NORMAL: f64 = 1e6;
    if parts > 0.0 { ((old.variance + new.variance).powi(2) / parts).min(NORMAL) } else { NORMAL }
}
