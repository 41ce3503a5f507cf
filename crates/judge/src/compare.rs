//! Comparison of two measurements: which figures differ, and with which certainty.
//!
//! Repeated runs are compared by Welch's t test (1947) on logarithms. A single run shows its variation
//! over time, but not the variation from run to run, so that is assumed. In at least 95 of 100
//! comparisons all intervals hold the true ratios (Bonferroni), so equal measurements are then called
//! equal in every figure.

mod distribution;
mod operation;
mod ratio;
mod workload;

pub use distribution::{Distance, Shift};
pub use ratio::{ASSUMED_SPREAD, ASSUMED_SPREAD_OF_TAILS};

use crate::case::Case;
use crate::checks::{Difference, environment_differences};
use crate::finding::Finding;
use crate::gate::condition::Metric;
use crate::gate::figures::{RepeatedJob, repeated_jobs};
use crate::judge_set::judge_set;
use crate::judged::{Judged, judge};
use crate::operation::Operation;
use crate::stats::{Estimate, MISS};
use distribution::Distribution;
use operation::ComparedOperation;
use ratio::{Log, Side, is_rate};
use record::{RecordSet, Severity, named};

/// How the later measurement differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Better: more I/Os a second, less latency, or fewer failures.
    Faster,
    /// Worse.
    Slower,
    /// The interval of the ratio contains 1 and lies within the tolerance both ways: a difference that
    /// matters would have been seen.
    NoDifference,
    /// The interval of the ratio contains 1 and differences beyond the tolerance: too few or too
    /// different runs to tell.
    Inconclusive,
    /// See [`MetricComparison::reason`].
    NotComparable,
}

named! {
    Change: Faster "faster", Slower "slower", NoDifference "no difference",
        Inconclusive "inconclusive", NotComparable "not comparable"
}

/// A figure of both measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparison {
    /// One of [`METRICS`].
    pub name: &'static str,
    /// "IOPS", "bytes/s", "ns", or "percent" of the requests that failed.
    pub unit: &'static str,
    /// The geometric mean over the earlier runs; the arithmetic mean for failures.
    pub before: f64,
    /// The mean over the later runs.
    pub after: f64,
    /// Later over earlier, with its interval; `None` when they are not comparable.
    pub ratio: Option<Estimate>,
    /// The conclusion from the ratio.
    pub change: Change,
    /// Slower by more than the tolerance: the whole interval is beyond it.
    pub is_beyond_tolerance: bool,
    /// Runs of each side with which a difference as large as the tolerance is seen in 9 of 10
    /// comparisons; `None` where that is unknown, or more than 1000.
    pub runs_needed: Option<u32>,
    /// Why it is not comparable.
    pub reason: Option<String>,
}

impl MetricComparison {
    /// The change in words that suit the figure: [`Change::name`], or "fails more".
    pub fn change_name(&self) -> &'static str {
        match (self.is_failures(), self.change) {
            (true, Change::Faster) => "fails less",
            (true, Change::Slower) => "fails more",
            _ => self.change.name(),
        }
    }

    /// The smallest change that these runs could have shown, as a share (0.1): a ratio this far from 1
    /// is at the end of the interval. `None` when they are not comparable.
    pub fn smallest_difference(&self) -> Option<f64> {
        self.ratio.map(|ratio| ratio.high / ratio.value - 1.0)
    }

    /// Whether it is the share of failed requests, which is neither fast nor slow.
    pub fn is_failures(&self) -> bool {
        self.name == FAILED
    }
}

/// One direction of a job, its synchronisations, or one kind of its requests.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionComparison {
    /// The operation.
    pub operation: Operation,
    /// The latency compared: "response" with a schedule, otherwise "completion", or "total" if completion
    /// latencies were not recorded; "synchronisation" for syncs; "first byte" or "whole" for requests.
    pub latency: &'static str,
    /// Its figures.
    pub metrics: Vec<MetricComparison>,
    /// The difference of the latency distributions; `None` if a side recorded none.
    pub distance: Option<Distance>,
}

impl DirectionComparison {
    /// Its figures, one a line; figures that cannot be compared for the same reason share a line.
    pub fn lines(&self) -> impl Iterator<Item = &[MetricComparison]> {
        self.metrics.chunk_by(|a, b| a.ratio.is_none() && b.ratio.is_none() && a.reason == b.reason)
    }
}

/// A job of both measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct JobComparison {
    /// Its name, with the name of its cell if the measurement has several cells.
    pub name: String,
    /// The number of earlier and of later runs.
    pub rounds: (usize, usize),
    /// The differences of the workloads. With differences, the jobs are not compared.
    pub not_comparable: Vec<Difference>,
    /// The operations of both sides: directions with I/O, synchronisations, and kinds of requests.
    pub directions: Vec<DirectionComparison>,
}

/// The comparison of two measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the earlier and the later runs are for; empty if nobody said.
    pub intents: (String, String),
    /// The differences of the environment, the most influential ones first.
    pub environment: Vec<Difference>,
    /// No side recorded its environment, so differences are unknown.
    pub environment_unknown: bool,
    /// Warnings and errors found in the earlier and in the later runs: reasons to doubt their figures.
    pub doubts: (Vec<Finding>, Vec<Finding>),
    /// The jobs of both sides, in the order of the earlier one.
    pub jobs: Vec<JobComparison>,
    /// Jobs that only the earlier side has.
    pub only_before: Vec<String>,
    /// Jobs that only the later side has.
    pub only_after: Vec<String>,
    /// The share by which a figure may be slower (0.05).
    pub tolerance: f64,
    /// Probability that the interval of one figure misses: 5 % over the number of figures.
    pub miss: f64,
    /// [`ASSUMED_SPREAD`] was used, since a side has a single run.
    pub is_spread_assumed: bool,
}

impl Comparison {
    /// The operations of all jobs.
    pub fn directions(&self) -> impl Iterator<Item = &DirectionComparison> {
        self.jobs.iter().flat_map(|job| &job.directions)
    }

    /// The figures of all jobs.
    pub fn metrics(&self) -> impl Iterator<Item = &MetricComparison> {
        self.directions().flat_map(|direction| &direction.metrics)
    }

    /// Whether a figure or a distribution differs by more than chance.
    pub fn is_different(&self) -> bool {
        let differs = |call| matches!(call, Change::Faster | Change::Slower);
        self.metrics().any(|metric| differs(metric.change))
            || self.directions().filter_map(|d| d.distance.as_ref()).any(|d| d.is_shown)
    }

    /// Why no figure could be compared, and what to do; `None` if one was compared.
    pub fn obstacle(&self) -> Option<String> {
        if self.metrics().any(|metric| metric.ratio.is_some()) {
            return None;
        }
        // The most frequent reason.
        let reasons: Vec<&str> = self.metrics().filter_map(|m| m.reason.as_deref()).collect();
        let often = |reason: &str| reasons.iter().filter(|other| **other == reason).count();
        if let Some(most) = reasons.iter().rev().max_by_key(|reason| often(reason)) {
            return Some((*most).to_owned());
        }
        Some(match self.jobs.iter().find(|job| !job.not_comparable.is_empty()) {
            Some(job) => {
                let what: Vec<&str> = job.not_comparable.iter().map(|d| d.what.as_str()).collect();
                format!("the workloads differ ({}: {})", job.name, what.join(", "))
            }
            None if self.jobs.is_empty() => "no job has the same name on both sides".into(),
            None => "no job did the same kind of I/O on both sides".into(),
        })
    }

    /// How many figures have this outcome.
    pub fn count(&self, change: Change) -> usize {
        self.metrics().filter(|metric| metric.change == change).count()
    }

    /// The figures with the smallest and with the largest change that would have been seen.
    pub fn sensitivity(&self) -> Option<[(&MetricComparison, f64); 2]> {
        let seen = || self.metrics().filter_map(|one| Some((one, one.smallest_difference()?)));
        let least = seen().min_by(|a, b| a.1.total_cmp(&b.1))?;
        Some([least, seen().max_by(|a, b| a.1.total_cmp(&b.1))?])
    }

    /// Whether a figure is slower by more than the tolerance.
    pub fn is_slower(&self) -> bool {
        self.metrics().any(|metric| metric.is_beyond_tolerance)
    }
}

/// Names of the figures that can be compared.
pub const METRICS: [&str; 10] =
    ["iops", "bandwidth", "mean", "p50", "p90", "p95", "p99", "p99.9", "p99.99", FAILED];

/// The share of failed requests to an object store; compared if any failed.
const FAILED: &str = "failed";

/// The figures compared by default. Each further figure widens all intervals.
const USUAL: [&str; 7] = ["iops", "bandwidth", "mean", "p50", "p99", "p99.9", FAILED];

/// The figures to compare, and the tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// The share by which a figure may be slower (0.05) before [`Comparison::is_slower`] says so.
    pub tolerance: f64,
    /// The figures to compare, of [`METRICS`]; empty: the default ones.
    pub metrics: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options { tolerance: 0.05, metrics: Vec::new() }
    }
}

impl Options {
    fn wanted(&self) -> Vec<&'static str> {
        let named = |name: &&'static str| self.metrics.iter().any(|metric| metric == name);
        match self.metrics.is_empty() {
            true => USUAL.into(),
            false => METRICS.into_iter().filter(named).collect(),
        }
    }
}

/// The figure of this name and its unit.
pub(crate) fn metric(name: &str) -> (Metric, &'static str) {
    match name {
        "iops" => (Metric::Iops, "IOPS"),
        "bandwidth" => (Metric::Bandwidth, "bytes/s"),
        "mean" => (Metric::Mean, "ns"),
        FAILED => (Metric::Failed, "percent"),
        percentile => {
            let number = percentile.trim_start_matches('p').parse();
            (Metric::Percentile(number.unwrap_or(50.0)), "ns")
        }
    }
}

/// A figure of both sides before the level of its interval is known, which depends on the number of
/// figures.
struct PendingMetric {
    name: &'static str,
    unit: &'static str,
    metric: Metric,
    sides: Result<(Log, Log), String>,
}

/// One [`ComparedOperation`] of a job on both sides, before the level is known.
struct PendingOperation {
    kind: ComparedOperation,
    metrics: Vec<PendingMetric>,
    distribution: Option<Distribution>,
}

/// Compares `after` with `before`. The result is deterministic.
pub fn compare(before: &RecordSet, after: &RecordSet, options: &Options) -> Comparison {
    let (earlier, later) = (cases(before), cases(after));
    let (olds, news) = (repeated_jobs(&earlier), repeated_jobs(&later));
    let (environment, environment_unknown) = match (before.runs.first(), after.runs.first()) {
        (Some(old), Some(new)) => {
            (environment_differences(old, new), old.origin.is_some() && new.origin.is_some())
        }
        _ => (Vec::new(), false),
    };
    let is_imported = are_imported(before, after);
    let mut matched = Vec::new();
    for old in &olds {
        if let Some(new) = news.iter().find(|new| new.name == old.name) {
            let differences = workload::differences(old, new, is_imported);
            let kinds = match differences.is_empty() {
                true => pending(old, new, options),
                false => Vec::new(),
            };
            matched.push((old, new, differences, kinds));
        }
    }
    let kinds = || matched.iter().flat_map(|(.., kinds)| kinds);
    let sides = || kinds().flat_map(|kind| &kind.metrics).filter_map(|m| m.sides.as_ref().ok());
    let tests =
        kinds().filter(|kind| kind.distribution.as_ref().is_some_and(Distribution::is_tested));
    let miss = MISS / (sides().count() + tests.count()).max(1) as f64;
    let is_spread_assumed = sides().any(|(old, new)| old.is_single || new.is_single);
    let job = |(old, new, not_comparable, kinds): (
        &RepeatedJob,
        &RepeatedJob,
        _,
        Vec<PendingOperation>,
    )| {
        let decided = |kind: PendingOperation| decided_kind(&kind, miss, options.tolerance);
        JobComparison {
            name: old.name.clone(),
            rounds: (old.runs.len(), new.runs.len()),
            not_comparable,
            directions: kinds.into_iter().map(decided).collect(),
        }
    };
    Comparison {
        intents: (before.intent(), after.intent()),
        environment,
        environment_unknown,
        doubts: (doubts(before), doubts(after)),
        jobs: matched.into_iter().map(job).collect(),
        only_before: missing(&olds, &news),
        only_after: missing(&news, &olds),
        tolerance: options.tolerance,
        miss,
        is_spread_assumed,
    }
}

/// The difference of a set from another one that it should repeat: in its jobs or in a workload.
/// `None`: no difference.
pub fn unlike(one: &RecordSet, other: &RecordSet) -> Option<String> {
    let (earlier, later) = (cases(one), cases(other));
    let (olds, news) = (repeated_jobs(&earlier), repeated_jobs(&later));
    if let Some(name) = missing(&olds, &news).first() {
        return Some(format!("it has no job {name}"));
    }
    if let Some(name) = missing(&news, &olds).first() {
        return Some(format!("only it has a job {name}"));
    }
    let is_imported = are_imported(one, other);
    olds.iter().find_map(|old| {
        let new = news.iter().find(|new| new.name == old.name)?;
        let first = workload::differences(old, new, is_imported).into_iter().next()?;
        Some(format!("{} of job {} is {}, not {}", first.what, old.name, first.after, first.before))
    })
}

/// Whether any run of two sets was imported.
fn are_imported(one: &RecordSet, other: &RecordSet) -> bool {
    one.runs.iter().chain(&other.runs).any(|run| run.origin.is_some())
}

fn doubts(set: &RecordSet) -> Vec<Finding> {
    let judged: Vec<Judged> = set.runs.iter().map(judge).collect();
    let mut findings = judge_set(set, &judged).findings;
    findings.retain(|finding| finding.severity >= Severity::Warning);
    findings
}

fn cases(set: &RecordSet) -> Vec<Case<'_>> {
    set.runs.iter().map(Case::from_record).collect()
}

/// Names of the jobs that the others lack.
fn missing(repeated_jobs: &[RepeatedJob], others: &[RepeatedJob]) -> Vec<String> {
    let lacks = |member: &&RepeatedJob| others.iter().all(|other| other.name != member.name);
    repeated_jobs.iter().filter(lacks).map(|member| member.name.clone()).collect()
}

fn pending(old: &RepeatedJob, new: &RepeatedJob, options: &Options) -> Vec<PendingOperation> {
    let wanted = options.wanted();
    let comparison = |kind: ComparedOperation| {
        let (old, new) = (Side::new(old, &kind), Side::new(new, &kind));
        let figures = wanted.iter().map(|name| (*name, metric(name)));
        let has_failures = kind.has_failures() && (old.has_failed() || new.has_failed());
        let is_io = kind.operation.direction().is_some();
        let applies = |metric: Metric| match metric {
            Metric::Failed => has_failures,
            metric => is_io || !is_rate(metric),
        };
        let metrics = figures
            .filter(|(_, (metric, _))| applies(*metric))
            .map(|(name, (metric, unit))| PendingMetric {
                name,
                unit,
                metric,
                sides: old.logarithm(metric).and_then(|a| Ok((a, new.logarithm(metric)?))),
            })
            .collect();
        let distribution = Distribution::compare(&old, &new);
        PendingOperation { kind, metrics, distribution }
    };
    ComparedOperation::common(old, new).into_iter().map(comparison).collect()
}

fn decided_kind(pending: &PendingOperation, miss: f64, tolerance: f64) -> DirectionComparison {
    DirectionComparison {
        operation: pending.kind.operation.clone(),
        latency: pending.kind.latency(),
        metrics: pending.metrics.iter().map(|metric| decided(metric, miss, tolerance)).collect(),
        distance: pending.distribution.as_ref().map(|both| both.distance(miss)),
    }
}

/// The ratio with its interval at this level, and the conclusion.
fn decided(pending: &PendingMetric, miss: f64, tolerance: f64) -> MetricComparison {
    let mut out = MetricComparison {
        name: pending.name,
        unit: pending.unit,
        before: 0.0,
        after: 0.0,
        ratio: None,
        change: Change::NotComparable,
        is_beyond_tolerance: false,
        runs_needed: None,
        reason: None,
    };
    let (old, new) = match &pending.sides {
        Ok(sides) => sides,
        Err(reason) => return MetricComparison { reason: Some(reason.clone()), ..out },
    };
    let is_percentile = matches!(pending.metric, Metric::Percentile(_));
    let ratio = ratio::interval(old, new, miss, is_percentile);
    let is_rate = is_rate(pending.metric);
    let (more, less) = match is_rate {
        true => (Change::Faster, Change::Slower),
        false => (Change::Slower, Change::Faster),
    };
    out.change = match ratio {
        ratio if ratio.low > 1.0 => more,
        ratio if ratio.high < 1.0 => less,
        ratio if ratio.low >= 1.0 - tolerance && ratio.high <= 1.0 + tolerance => {
            Change::NoDifference
        }
        _ => Change::Inconclusive,
    };
    out.is_beyond_tolerance = out.change == Change::Slower
        && if is_rate { ratio.high < 1.0 - tolerance } else { ratio.low > 1.0 + tolerance };
    (out.before, out.after, out.ratio) = (old.shown, new.shown, Some(ratio));
    out.runs_needed = ratio::runs_needed(old, new, miss, tolerance, is_percentile);
    out
}

#[cfg(test)]
mod tests;
