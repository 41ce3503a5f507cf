//! Two measurements compared: what differs between them, and how sure that is.
//!
//! Runs on each side that repeat each other are compared by Welch's t test (1947) on logarithms. A
//! side of one run shows how it varied within, and not how another would have differed; for that
//! [`ASSUMED_SPREAD`] is taken. All intervals of a comparison together miss in 5 of 100 cases at
//! most (Bonferroni), so that two equal measurements are called equal throughout in the others.

mod distribution;
mod ratio;
mod workload;

pub use distribution::{Distance, Shift};

use crate::case::Case;
use crate::checks::{Difference, environment_differences};
use crate::gate::condition::Metric;
use crate::gate::measure::{Member, members};
use crate::stats::{Estimate, MISS};
use ratio::{Log, logarithm};
use record::{Direction, RecordSet};

/// Run-to-run spread (coefficient of variation) assumed where one run cannot show it.
pub const ASSUMED_SPREAD: f64 = 0.05;

/// What the later measurement has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Better: more I/Os a second, or less latency.
    Faster,
    /// Worse.
    Slower,
    /// The interval of the ratio holds 1: there may be a difference, but these runs do not show it.
    NoDifferenceShown,
    /// See [`MetricComparison::reason`].
    NotComparable,
}

impl Call {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Call::Faster => "faster",
            Call::Slower => "slower",
            Call::NoDifferenceShown => "no difference shown",
            Call::NotComparable => "not comparable",
        }
    }
}

/// One figure on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricComparison {
    /// "iops", "bandwidth", "mean", "p50", "p99" or "p99.9".
    pub name: &'static str,
    /// "IOPS", "bytes/s" or "ns".
    pub unit: &'static str,
    /// The geometric mean over the earlier runs.
    pub before: f64,
    /// The same of the later ones.
    pub after: f64,
    /// Later over earlier, with its interval; `None` when they are not comparable.
    pub ratio: Option<Estimate>,
    /// What that says.
    pub call: Call,
    /// Slower by more than the tolerance: all of the interval lies beyond it.
    pub is_beyond_tolerance: bool,
    /// Why it is not comparable.
    pub reason: Option<String>,
}

/// One direction of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionComparison {
    /// Which.
    pub direction: Direction,
    /// Its figures; latencies are those of completion.
    pub metrics: Vec<MetricComparison>,
    /// How the distributions of latency differ; `None` when a side recorded none.
    pub distance: Option<Distance>,
}

/// One job on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct JobComparison {
    /// Its name, with that of its cell where several things ran in turn.
    pub name: String,
    /// Runs on the earlier and the later side.
    pub rounds: (usize, usize),
    /// In what the workloads differ; such jobs are not compared.
    pub not_comparable: Vec<Difference>,
    /// The directions in which both sides did I/O.
    pub directions: Vec<DirectionComparison>,
}

/// Two measurements compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// In what the circumstances differ, what changes figures first.
    pub environment: Vec<Difference>,
    /// Jobs of both, in the order of the earlier.
    pub jobs: Vec<JobComparison>,
    /// Jobs only the earlier has.
    pub only_before: Vec<String>,
    /// Jobs only the later has.
    pub only_after: Vec<String>,
    /// How much slower is too slow, as a share (0.05).
    pub tolerance: f64,
    /// Probability that the interval of one figure misses: 5 % over the number of figures.
    pub miss: f64,
    /// [`ASSUMED_SPREAD`] was needed.
    pub is_spread_assumed: bool,
}

impl Comparison {
    /// Every figure compared.
    pub fn metrics(&self) -> impl Iterator<Item = &MetricComparison> {
        self.jobs.iter().flat_map(|job| &job.directions).flat_map(|d| &d.metrics)
    }

    /// Whether a figure is slower by more than the tolerance.
    pub fn is_slower(&self) -> bool {
        self.metrics().any(|metric| metric.is_beyond_tolerance)
    }
}

/// (name, unit, figure) of each figure compared.
const METRICS: [(&str, &str, Metric); 6] = [
    ("iops", "IOPS", Metric::Iops),
    ("bandwidth", "bytes/s", Metric::Bandwidth),
    ("mean", "ns", Metric::Mean),
    ("p50", "ns", Metric::Percentile(50.0)),
    ("p99", "ns", Metric::Percentile(99.0)),
    ("p99.9", "ns", Metric::Percentile(99.9)),
];

/// A figure on both sides, before the number of figures, and so the level, is known.
struct Pending {
    name: &'static str,
    unit: &'static str,
    metric: Metric,
    sides: Result<(Log, Log), String>,
}

/// Compares `after` with `before`. `tolerance` is the share by which a figure may be slower (0.05)
/// before [`Comparison::is_slower`] says so. The same sets always compare the same.
pub fn compare(before: &RecordSet, after: &RecordSet, tolerance: f64) -> Comparison {
    let (earlier, later) = (cases(before), cases(after));
    let (olds, news) = (members(&earlier), members(&later));
    let environment = match (before.runs.first(), after.runs.first()) {
        (Some(old), Some(new)) => environment_differences(old, new),
        _ => Vec::new(),
    };
    let mut matched = Vec::new();
    for old in &olds {
        if let Some(new) = news.iter().find(|new| new.name == old.name) {
            matched.push((old, new, workload::differences(old, new)));
        }
    }
    let pending: Vec<Vec<(Direction, Vec<Pending>)>> = matched
        .iter()
        .map(|(old, new, differences)| match differences.is_empty() {
            true => directions(old, new, before.seed),
            false => Vec::new(),
        })
        .collect();
    let compared = || pending.iter().flatten().flat_map(|(_, metrics)| metrics);
    let count = compared().filter(|metric| metric.sides.is_ok()).count();
    let miss = MISS / count.max(1) as f64;
    let is_spread_assumed =
        compared().any(|m| m.sides.as_ref().is_ok_and(|(a, b)| a.is_single || b.is_single));
    let jobs = matched
        .iter()
        .zip(&pending)
        .map(|((old, new, differences), directions)| JobComparison {
            name: old.name.clone(),
            rounds: (old.runs.len(), new.runs.len()),
            not_comparable: differences.clone(),
            directions: directions
                .iter()
                .map(|(direction, metrics)| DirectionComparison {
                    direction: *direction,
                    metrics: metrics.iter().map(|m| decided(m, miss, tolerance)).collect(),
                    distance: distribution::distance(old, new, *direction),
                })
                .collect(),
        })
        .collect();
    Comparison {
        environment,
        jobs,
        only_before: missing(&olds, &news),
        only_after: missing(&news, &olds),
        tolerance,
        miss,
        is_spread_assumed,
    }
}

fn cases(set: &RecordSet) -> Vec<Case<'_>> {
    set.runs.iter().map(Case::of).collect()
}

/// Names of the members that the others lack.
fn missing(members: &[Member], others: &[Member]) -> Vec<String> {
    let lacks = |member: &&Member| others.iter().all(|other| other.name != member.name);
    members.iter().filter(lacks).map(|member| member.name.clone()).collect()
}

fn directions(old: &Member, new: &Member, seed: u64) -> Vec<(Direction, Vec<Pending>)> {
    let does = |member: &Member, direction: Direction| {
        member.runs.iter().flatten().any(|job| job.results[direction].ios > 0)
    };
    let of = |direction: Direction| {
        let pending = |(name, unit, metric)| Pending {
            name,
            unit,
            metric,
            sides: logarithm(old, direction, metric, seed)
                .and_then(|a| Ok((a, logarithm(new, direction, metric, seed)?))),
        };
        (direction, METRICS.map(pending).into())
    };
    let both = |direction: &Direction| does(old, *direction) && does(new, *direction);
    Direction::ALL.into_iter().filter(both).map(of).collect()
}

/// The ratio with its interval at this level, and what it says.
fn decided(pending: &Pending, miss: f64, tolerance: f64) -> MetricComparison {
    let mut out = MetricComparison {
        name: pending.name,
        unit: pending.unit,
        before: 0.0,
        after: 0.0,
        ratio: None,
        call: Call::NotComparable,
        is_beyond_tolerance: false,
        reason: None,
    };
    let (old, new) = match &pending.sides {
        Ok(sides) => sides,
        Err(reason) => return MetricComparison { reason: Some(reason.clone()), ..out },
    };
    let is_percentile = matches!(pending.metric, Metric::Percentile(_));
    let ratio = ratio::interval(old, new, miss, is_percentile);
    let is_rate = matches!(pending.metric, Metric::Iops | Metric::Bandwidth);
    let (more, less) = match is_rate {
        true => (Call::Faster, Call::Slower),
        false => (Call::Slower, Call::Faster),
    };
    out.call = match ratio {
        ratio if ratio.low > 1.0 => more,
        ratio if ratio.high < 1.0 => less,
        _ => Call::NoDifferenceShown,
    };
    out.is_beyond_tolerance = out.call == Call::Slower
        && if is_rate { ratio.high < 1.0 - tolerance } else { ratio.low > 1.0 + tolerance };
    (out.before, out.after, out.ratio) = (old.mean.exp(), new.mean.exp(), Some(ratio));
    out
}

#[cfg(test)]
mod tests;
