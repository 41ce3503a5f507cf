//! Figures of a job and how far they can be trusted.

use super::condition::{Class, Metric};
use crate::case::Case;
use crate::metrics::latency::merged;
use crate::metrics::series::{Slot, slots, too_few};
use crate::metrics::window::{busy, per_second, union_ns};
use crate::stats::{Estimate, mean_of_series, percentile_interval, samples_needed, summary};
use record::{Direction, Histogram, JobRecord};

/// One job in all runs that repeat each other.
pub(crate) struct Member<'a> {
    /// Its name, with that of its cell where several were run in turn.
    pub(crate) name: String,
    /// Its workers in each run.
    pub(crate) runs: Vec<Vec<&'a JobRecord>>,
}

/// A figure in one direction.
pub(crate) struct Measured {
    pub(crate) direction: Option<Direction>,
    pub(crate) estimate: Estimate,
    /// Why the interval has no end.
    pub(crate) reason: Option<String>,
}

/// The jobs of some runs, in order.
pub(crate) fn members<'a>(cases: &[Case<'a>]) -> Vec<Member<'a>> {
    let cell = |case: &Case<'a>| case.record.cell.as_ref().map_or("", |cell| cell.name.as_str());
    let several = cases.iter().any(|case| cell(case) != cell(&cases[0]));
    let mut members: Vec<Member> = Vec::new();
    for case in cases {
        // Sections of one name in one run are one job.
        let mut own: Vec<(String, Vec<&JobRecord>)> = Vec::new();
        for part in &case.parts {
            let name = match several && part.name != cell(case) {
                true => format!("{}: {}", cell(case), part.name),
                false => part.name.to_owned(),
            };
            match own.iter_mut().find(|(known, _)| *known == name) {
                Some((_, workers)) => workers.extend(&part.workers),
                None => own.push((name, part.workers.clone())),
            }
        }
        for (name, workers) in own {
            match members.iter_mut().find(|member| member.name == name) {
                Some(member) => member.runs.push(workers),
                None => members.push(Member { name, runs: vec![workers] }),
            }
        }
    }
    members
}

/// A figure of a job in each direction it has it in, or in the one asked for.
pub(crate) fn figures(
    member: &Member,
    direction: Option<Direction>,
    class: Class,
    metric: Metric,
    seed: u64,
) -> Vec<Measured> {
    let directions: Vec<Option<Direction>> = match (class, direction) {
        (Class::Sync, _) => vec![None],
        (_, Some(one)) => vec![Some(one)],
        (_, None) => Direction::ALL.into_iter().map(Some).collect(),
    };
    let of = |direction| {
        let values: Vec<(Estimate, Option<String>)> = member
            .runs
            .iter()
            .filter_map(|workers| single(workers, direction, class, metric, seed))
            .collect();
        let (estimate, reason) = combined(values, metric, seed)?;
        Some(Measured { direction, estimate, reason })
    };
    directions.into_iter().filter_map(of).collect()
}

/// The figure of one run, or of several: extremes are those of all runs, other figures the mean of
/// the runs', whose interval then comes from how the runs differ.
fn combined(
    mut values: Vec<(Estimate, Option<String>)>,
    metric: Metric,
    seed: u64,
) -> Option<(Estimate, Option<String>)> {
    if values.len() < 2 {
        return values.pop();
    }
    let values: Vec<f64> = values.into_iter().map(|(estimate, _)| estimate.value).collect();
    let estimate = match metric {
        Metric::Min => Estimate::exact(values.iter().copied().fold(f64::INFINITY, f64::min)),
        Metric::Max => Estimate::exact(values.iter().copied().fold(0.0, f64::max)),
        _ => summary(&values, seed).mean,
    };
    Some((estimate, None))
}

/// IOPS of each run of a job, all directions together.
pub(super) fn rounds(member: &Member) -> Vec<f64> {
    let of = |workers: &Vec<&JobRecord>| {
        let ios = workers.iter().map(|job| job.ios()).sum();
        per_second(ios, union_ns(&busy(workers, &Direction::ALL)))
    };
    member.runs.iter().map(of).collect()
}

/// Whole intervals of the job in the run that has fewest.
pub(super) fn intervals(member: &Member) -> usize {
    let of = |workers: &Vec<&JobRecord>| slots(workers, &Direction::ALL).len();
    member.runs.iter().map(of).min().unwrap_or(0)
}

/// The figure of one run; with a reason where its interval has no end.
pub(crate) fn single(
    workers: &[&JobRecord],
    direction: Option<Direction>,
    class: Class,
    metric: Metric,
    seed: u64,
) -> Option<(Estimate, Option<String>)> {
    match (metric, direction) {
        (Metric::Iops, Some(direction)) => {
            let ios: u64 = workers.iter().map(|job| job.results[direction].ios).sum();
            rate(workers, direction, ios, seed, Slot::iops)
        }
        (Metric::Bandwidth, Some(direction)) => {
            let bytes: u64 = workers.iter().map(|job| job.results[direction].bytes.0).sum();
            rate(workers, direction, bytes, seed, |slot| per_second(slot.bytes, slot.length))
        }
        _ => latency(workers, direction, class, metric, seed),
    }
}

/// A rate over the whole window, as uncertain as its course over the intervals shows.
fn rate(
    workers: &[&JobRecord],
    direction: Direction,
    amount: u64,
    seed: u64,
    of: fn(&Slot) -> f64,
) -> Option<(Estimate, Option<String>)> {
    let window = union_ns(&busy(workers, &[direction]));
    if window == 0 {
        return None;
    }
    let values: Vec<f64> = slots(workers, &[direction]).iter().map(of).collect();
    Some(around(workers, per_second(amount, window), &values, seed))
}

/// A value with the interval of the mean of a series around it.
fn around(
    workers: &[&JobRecord],
    value: f64,
    series: &[f64],
    seed: u64,
) -> (Estimate, Option<String>) {
    let mean = mean_of_series(series, seed);
    let estimate = Estimate {
        value,
        low: (value - (mean.value - mean.low)).max(0.0),
        high: value + (mean.high - mean.value),
    };
    (estimate, (series.len() < 2).then(|| too_few(workers)))
}

fn latency(
    workers: &[&JobRecord],
    direction: Option<Direction>,
    class: Class,
    metric: Metric,
    seed: u64,
) -> Option<(Estimate, Option<String>)> {
    let all = histogram(workers, direction, class)?;
    match (metric, direction, class) {
        (Metric::Min, ..) | (Metric::Percentile(0.0), ..) => Some(exact(all.min())),
        (Metric::Max, ..) | (Metric::Percentile(100.0), ..) => Some(exact(all.max())),
        (Metric::Percentile(percentile), ..) => Some(self::percentile(&all, percentile)),
        (_, Some(direction), Class::Clat) => {
            let series: Vec<f64> =
                slots(workers, &[direction]).iter().filter_map(Slot::latency).collect();
            Some(around(workers, all.mean(), &series, seed))
        }
        _ => Some(mean(&all)),
    }
}

/// The latencies of one run of a job; of its synchronisations without a direction.
pub(crate) fn histogram(
    workers: &[&JobRecord],
    direction: Option<Direction>,
    class: Class,
) -> Option<Histogram> {
    let of = |job: &&'_ JobRecord| -> Option<Histogram> {
        let Some(direction) = direction else { return Some(job.sync.latency.clone()) };
        let result = &job.results[direction];
        match class {
            Class::Clat => result.latency.clat.clone(),
            Class::Lat => result.lat().cloned(),
            Class::Slat => result.latency.slat.clone(),
            Class::Response => result.latency.response.clone(),
            Class::Sync => None,
        }
    };
    let parts: Vec<Histogram> = workers.iter().filter_map(of).collect();
    merged(parts.iter())
}

fn exact(value: u64) -> (Estimate, Option<String>) {
    (Estimate::exact(value as f64), None)
}

fn percentile(all: &Histogram, percentile: f64) -> (Estimate, Option<String>) {
    let Some(value) = all.known_percentile(percentile).map(|value| value as f64) else {
        let reason = format!("p{percentile} is not among the percentiles that were printed");
        return (Estimate { value: 0.0, low: 0.0, high: f64::INFINITY }, Some(reason));
    };
    match percentile_interval(all, percentile) {
        Some((low, high)) => (Estimate { value, low: low as f64, high: high as f64 }, None),
        None => {
            let reason = format!(
                "too few values for p{percentile}: {} of {} needed",
                all.count(),
                samples_needed(percentile)
            );
            (Estimate { value, low: 0.0, high: f64::INFINITY }, Some(reason))
        }
    }
}

/// A mean whose course was not kept: by the central limit theorem, as if the values were
/// independent.
fn mean(all: &Histogram) -> (Estimate, Option<String>) {
    let value = all.mean();
    if all.count() < 30 {
        let reason = format!("too few values for a mean: {} of 30 needed", all.count());
        return (Estimate { value, low: 0.0, high: f64::INFINITY }, Some(reason));
    }
    let half = 1.96 * all.stddev() / (all.count() as f64).sqrt();
    (Estimate { value, low: value - half, high: value + half }, None)
}
