//! Figures as logarithms, and the interval of their ratio.

use super::operation::ComparedOperation;
use crate::gate::condition::Metric;
use crate::gate::figures::RepeatedJob;
use crate::metrics::exchange;
use crate::metrics::series::{Slot, slots, too_few};
use crate::metrics::window::{moved, per_second};
use crate::operation::Operation;
use crate::stats::{
    ERRORS, Estimate, MISS, mean, percentile_interval, resolution, samples_needed, students_t,
    supports, variance, welch_freedom,
};
use record::{Bytes, Direction, Histogram, JobRecord};

/// Spread from run to run (standard deviation of the logarithm) of rates, means and medians that is
/// assumed where one run cannot show it: so much that pairs of runs of 2 s on an idle virtual machine
/// are called equal.
pub const ASSUMED_SPREAD: f64 = 0.15;

/// The same of percentiles above the median, which a few stalls decide.
pub const ASSUMED_SPREAD_OF_TAILS: f64 = 0.5;

pub(super) fn is_rate(metric: Metric) -> bool {
    matches!(metric, Metric::Iops | Metric::Bandwidth)
}

/// The assumed spread between runs of a figure.
fn assumed_spread(metric: Metric) -> f64 {
    match metric {
        // What decides failures are a few bad moments as well.
        Metric::Failed => ASSUMED_SPREAD_OF_TAILS,
        Metric::Percentile(percentile) if percentile > 50.0 => ASSUMED_SPREAD_OF_TAILS,
        _ => ASSUMED_SPREAD,
    }
}

/// The logarithm of a figure on one side.
pub(super) struct Log {
    /// Its mean over the runs.
    pub(super) mean: f64,
    /// The figure over the runs as it is shown.
    pub(super) shown: f64,
    /// Variance of that mean.
    variance: f64,
    /// Degrees of freedom of that variance; infinite where it is assumed.
    freedom: f64,
    /// One run: what it cannot show is assumed.
    pub(super) is_single: bool,
}

/// One [`ComparedOperation`] of a job on one side.
pub(super) struct Side<'a> {
    member: &'a RepeatedJob<'a>,
    kind: ComparedOperation,
    /// The latencies of each run; `None` where one run recorded no latency.
    pub(super) latencies: Option<Vec<Histogram>>,
}

impl<'a> Side<'a> {
    pub(super) fn new(member: &'a RepeatedJob<'a>, kind: &ComparedOperation) -> Side<'a> {
        let latencies = member.runs.iter().map(|run| kind.histogram(run)).collect();
        Side { member, kind: kind.clone(), latencies }
    }

    /// Whether a request of this kind failed in any run.
    pub(super) fn has_failed(&self) -> bool {
        self.failed().iter().any(|(failed, _)| *failed > 0)
    }

    /// Requests of each run: how many failed, and how many were sent.
    fn failed(&self) -> Vec<(u64, u64)> {
        let request = self.kind.operation.name();
        self.member.runs.iter().map(|run| exchange::failed(run, request)).collect()
    }

    /// The logarithm of the share of requests that failed. Half a failure is added to every run, so
    /// that none has a logarithm too (Haldane 1956). Requests that fail together say less than so many
    /// by themselves, so runs are not believed to agree better than those would.
    fn failures(&self) -> Log {
        let runs: Vec<(f64, f64)> =
            self.failed().iter().map(|(failed, sent)| (*failed as f64, *sent as f64)).collect();
        let count = runs.len() as f64;
        let logs: Vec<f64> = runs.iter().map(|(k, n)| ((k + 0.5) / (n + 1.0)).ln()).collect();
        let own: Vec<f64> = runs.iter().map(|(k, n)| 1.0 / (k + 0.5) - 1.0 / (n + 1.0)).collect();
        let is_single = runs.len() == 1;
        let between = match is_single {
            true => assumed_spread(Metric::Failed).powi(2) + own[0],
            false => variance(&logs).max(mean(&own)),
        };
        let shares: Vec<f64> = runs.iter().map(|(k, n)| 100.0 * k / n.max(1.0)).collect();
        Log {
            mean: mean(&logs),
            shown: mean(&shares),
            variance: between / count,
            freedom: if is_single { f64::INFINITY } else { count - 1.0 },
            is_single,
        }
    }

    /// The logarithm of a figure over the runs, or why there is none.
    pub(super) fn logarithm(&self, metric: Metric) -> Result<Log, String> {
        if metric == Metric::Failed {
            return Ok(self.failures());
        }
        let logarithms = (0..self.member.runs.len())
            .map(|run| match self.figure(run, metric)? {
                value if value > 0.0 => Ok(value.ln()),
                _ => Err("it is 0 in one run".into()),
            })
            .collect::<Result<Vec<f64>, String>>()?;
        let mean = mean(&logarithms);
        let shown = mean.exp();
        Ok(match logarithms.len() {
            1 => Log {
                mean,
                shown,
                variance: self.variance_of_one(metric)?,
                freedom: f64::INFINITY,
                is_single: true,
            },
            runs => Log {
                mean,
                shown,
                variance: variance(&logarithms) / runs as f64,
                freedom: (runs - 1) as f64,
                is_single: false,
            },
        })
    }

    /// The figure of one run.
    fn figure(&self, run: usize, metric: Metric) -> Result<f64, String> {
        match metric {
            Metric::Iops => self.rate(run, |(ios, _)| ios),
            Metric::Bandwidth => self.rate(run, |(_, bytes)| bytes.0),
            Metric::Percentile(percentile) => {
                let all = self.latencies(run)?;
                let value = all.known_percentile(percentile);
                match supports(all.count(), percentile) {
                    true => Ok(value.ok_or("the other program did not print it")? as f64),
                    false => Err(format!(
                        "too few values: {} of {} needed",
                        all.count(),
                        samples_needed(percentile)
                    )),
                }
            }
            _ => Ok(self.latencies(run)?.mean()),
        }
    }

    fn rate(&self, run: usize, amount: fn((u64, Bytes)) -> u64) -> Result<f64, String> {
        let direction = self.kind.operation.direction().ok_or("only I/Os have a rate")?;
        let workers = &self.member.runs[run];
        let (amount, window) = moved(workers, &[direction], |_, _, counted| amount(counted));
        Ok(per_second(amount, window))
    }

    fn latencies(&self, run: usize) -> Result<&Histogram, String> {
        let runs = self.latencies.as_ref().ok_or("one run recorded no latency")?;
        Ok(&runs[run])
    }

    /// The variance of the logarithm of a figure that one run alone shows: what differs from run to
    /// run is assumed, and not to be less than what differs from interval to interval, for noise of
    /// machines is of all time scales and does not average out (1/f noise; Keshner 1982).
    fn variance_of_one(&self, metric: Metric) -> Result<f64, String> {
        let own = match metric {
            // Of what another program measured order statistics are not known; the spread assumed for
            // tails is larger than theirs.
            Metric::Percentile(_) if !self.latencies(0)?.is_binned() => 0.0,
            Metric::Percentile(percentile) => {
                let interval = percentile_interval(self.latencies(0)?, percentile);
                let (low, high) = interval.unwrap_or((1, u64::MAX));
                (high.max(1) as f64 / low.max(1) as f64).ln() / (2.0 * ERRORS)
            }
            _ => 0.0,
        };
        let course = course(&self.member.runs[0], &self.kind.operation, metric)?;
        Ok(own.powi(2) + course.powi(2).max(assumed_spread(metric).powi(2)))
    }
}

/// The standard deviation of the logarithm of a figure from interval to interval, raised as Student's
/// t is where few intervals tell it. The level of latencies is seen in their means, that of
/// synchronisations and requests, which have no series, in the I/Os of their time.
fn course(workers: &[&JobRecord], operation: &Operation, metric: Metric) -> Result<f64, String> {
    // A series was not kept: what other programs print has none.
    if workers.iter().all(|job| job.interval_step.0 == 0) {
        return Ok(0.0);
    }
    let direction = operation.direction();
    let directions = direction.map_or(Direction::ALL.to_vec(), |direction| vec![direction]);
    let level = |slot: &Slot| match is_rate(metric) || direction.is_none() {
        // An interval without I/O has no logarithm; one I/O does.
        true => Some((slot.ios.max(1) as f64 / slot.length as f64).ln()),
        false => slot.latency().filter(|latency| *latency > 0.0).map(f64::ln),
    };
    let levels: Vec<f64> = slots(workers, &directions).iter().filter_map(level).collect();
    match levels.len() {
        0 | 1 => Err(format!(
            "{}, or repeat the runs on both sides (--repeat=5, or several records each, A1,A2)",
            too_few(workers)
        )),
        count => Ok(variance(&levels).sqrt() * students_t((count - 1) as f64, MISS) / ERRORS),
    }
}

/// A difference is to be seen in 9 of 10 comparisons: of a t distribution, 10 % lie beyond one end.
const NOT_SEEN: f64 = 0.2;
/// More runs than this are not advised.
const RUNS_MAX: u32 = 1000;

/// The number of runs of each side with which a difference of this share is seen in 9 of 10 comparisons,
/// by the spread of these runs. Student's t of these runs allows for how few tell the spread (Stein 1945,
/// a two-sample test whose power is independent of the variance). `None` for a side with a single run, and
/// where no number up to [`RUNS_MAX`] is enough.
pub(super) fn runs_needed(
    old: &Log,
    new: &Log,
    miss: f64,
    share: f64,
    is_percentile: bool,
) -> Option<u32> {
    if old.is_single || new.is_single {
        return None;
    }
    let bucket = if is_percentile { resolution(old.mean, new.mean) } else { 0.0 };
    let freedom = welch_freedom((old.variance, old.freedom), (new.variance, new.freedom));
    let least = (1.0 + share).ln() - bucket;
    let t = students_t(freedom, miss) + students_t(freedom, NOT_SEEN);
    // Of one run.
    let variance = [old, new].map(|side| side.variance * (side.freedom + 1.0)).iter().sum::<f64>();
    let runs = (variance * (t / least).powi(2)).ceil().max(2.0);
    (least > 0.0 && runs <= f64::from(RUNS_MAX)).then_some(runs as u32)
}

/// New over old with the interval that misses with probability `miss`, by Welch's test. Percentiles
/// are known to a bucket of the histogram, or to a nanosecond, and no better, however well the runs
/// agree.
pub(super) fn interval(old: &Log, new: &Log, miss: f64, is_percentile: bool) -> Estimate {
    let difference = new.mean - old.mean;
    let variance = old.variance + new.variance;
    let bucket = if is_percentile { resolution(old.mean, new.mean) } else { 0.0 };
    let half = match variance > 0.0 {
        true => {
            students_t(
                welch_freedom((old.variance, old.freedom), (new.variance, new.freedom)),
                miss,
            ) * variance.sqrt()
                + bucket
        }
        false => bucket,
    };
    Estimate {
        value: difference.exp(),
        low: (difference - half).exp(),
        high: (difference + half).exp(),
    }
}
