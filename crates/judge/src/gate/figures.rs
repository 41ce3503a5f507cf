//! Figures of a job with their confidence intervals.

use super::condition::{LatencyKind, Metric};
use crate::case::Case;
use crate::metrics::exchange;
use crate::metrics::latency::merged;
use crate::metrics::series::{Slot, slots, too_few};
use crate::metrics::window::{busy, common_window, moved, per_second, union_ns};
use crate::operation::Operation;
use crate::stats::{
    ERRORS, Estimate, mean_of_series, percentile_interval, samples_needed, summary,
};
use record::{Direction, Histogram, JobRecord};

/// One job in all runs that repeat each other.
pub(crate) struct RepeatedJob<'a> {
    /// Its name, with that of its cell where several were run in turn.
    pub(crate) name: String,
    /// Its workers in each run.
    pub(crate) runs: Vec<Vec<&'a JobRecord>>,
}

/// A figure of one kind of operation.
pub(crate) struct Measured {
    pub(crate) operation: Operation,
    pub(crate) estimate: Estimate,
    /// Why the interval is unbounded or assumed.
    pub(crate) reason: Option<String>,
}

/// The jobs of some runs, in order.
pub(crate) fn repeated_jobs<'a>(cases: &[Case<'a>]) -> Vec<RepeatedJob<'a>> {
    let cell = |case: &Case<'a>| case.record.cell_name();
    let several = cases.iter().any(|case| cell(case) != cell(&cases[0]));
    let mut repeated_jobs: Vec<RepeatedJob> = Vec::new();
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
            match repeated_jobs.iter_mut().find(|member| member.name == name) {
                Some(member) => member.runs.push(workers),
                None => repeated_jobs.push(RepeatedJob { name, runs: vec![workers] }),
            }
        }
    }
    repeated_jobs
}

/// A figure of a job for each direction, or for each kind of request; or only for the requested
/// operation.
pub(crate) fn figures(
    member: &RepeatedJob,
    asked: Option<&Operation>,
    class: LatencyKind,
    metric: Metric,
    seed: u64,
) -> Vec<Measured> {
    let operations: Vec<Operation> = match (asked, class, metric) {
        (Some(one), ..) => vec![one.clone()],
        (None, LatencyKind::Sync, _) => vec![Operation::Sync],
        (None, LatencyKind::FirstByte, _) | (None, _, Metric::Failed) => {
            let all: Vec<&JobRecord> = member.runs.iter().flatten().copied().collect();
            exchange::kinds(&all).into_iter().map(Operation::Request).collect()
        }
        _ => Direction::ALL.map(Operation::Io).into(),
    };
    let figure = |operation: Operation| {
        let values: Vec<(Estimate, Option<String>)> = member
            .runs
            .iter()
            .filter_map(|workers| figure_of_run(workers, &operation, class, metric, seed))
            .collect();
        let (estimate, reason) = combine_runs(values, metric, seed)?;
        Some(Measured { operation, estimate, reason })
    };
    operations.into_iter().filter_map(figure).collect()
}

/// The figure of one run or of several. Extremes are taken over all runs. Other figures are the mean of
/// the runs, with an interval from the differences between runs.
fn combine_runs(
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
pub(super) fn rounds(member: &RepeatedJob) -> Vec<f64> {
    let run_figure = |workers: &Vec<&JobRecord>| {
        let (ios, window) = moved(workers, &Direction::ALL, |_, _, (ios, _)| ios);
        per_second(ios, window)
    };
    member.runs.iter().map(run_figure).collect()
}

/// Whole intervals of the job in the run that has fewest.
pub(super) fn intervals(member: &RepeatedJob) -> usize {
    let slot_count = |workers: &Vec<&JobRecord>| slots(workers, &Direction::ALL).len();
    member.runs.iter().map(slot_count).min().unwrap_or(0)
}

/// The figure of one run; with a reason where its interval has no end.
fn figure_of_run(
    workers: &[&JobRecord],
    operation: &Operation,
    class: LatencyKind,
    metric: Metric,
    seed: u64,
) -> Option<(Estimate, Option<String>)> {
    match (metric, operation) {
        (Metric::Iops, Operation::Io(direction)) => {
            let amount = moved(workers, &[*direction], |_, _, (ios, _)| ios);
            rate(workers, *direction, amount, seed, Slot::iops)
        }
        (Metric::Bandwidth, Operation::Io(direction)) => {
            let amount = moved(workers, &[*direction], |_, _, (_, bytes)| bytes.0);
            rate(workers, *direction, amount, seed, |slot| per_second(slot.bytes, slot.length))
        }
        (Metric::Failed, Operation::Request(request)) => failed(workers, request),
        (Metric::Iops | Metric::Bandwidth | Metric::Failed, _) => None,
        _ => latency(workers, operation, class, metric, seed),
    }
}

/// The share of requests that failed, in percent, with Wilson's interval (1927): as if each failed by
/// itself.
fn failed(workers: &[&JobRecord], request: &str) -> Option<(Estimate, Option<String>)> {
    let (failed, sent) = exchange::failed(workers, request);
    if sent == 0 {
        return None;
    }
    let (count, share) = (sent as f64, failed as f64 / sent as f64);
    let middle = (share + ERRORS.powi(2) / (2.0 * count)) / (1.0 + ERRORS.powi(2) / count);
    let spread = share * (1.0 - share) / count + (ERRORS / (2.0 * count)).powi(2);
    let half = ERRORS * spread.sqrt() / (1.0 + ERRORS.powi(2) / count);
    let (low, high) = ((middle - half).max(0.0), (middle + half).min(1.0));
    Some((Estimate { value: 100.0 * share, low: 100.0 * low, high: 100.0 * high }, None))
}

/// An amount over its time, as uncertain as its course over the intervals shows.
fn rate(
    workers: &[&JobRecord],
    direction: Direction,
    (amount, window): (u64, u64),
    seed: u64,
    figure: fn(&Slot) -> f64,
) -> Option<(Estimate, Option<String>)> {
    if window == 0 {
        return None;
    }
    let common = common_window(workers, &[direction]);
    let is_common = |slot: &&Slot| {
        common.is_none_or(|(start, end)| slot.start >= start && slot.start + slot.length <= end)
    };
    let slots = slots(workers, &[direction]);
    let values: Vec<f64> = slots.iter().filter(is_common).map(figure).collect();
    Some(with_series_interval(workers, per_second(amount, window), &values, seed))
}

/// So much time shows a level, though not how it changes.
const LEVEL_MIN_NS: u64 = 500_000_000;
/// The factor by which the true value may be off where a run is too short for an interval: beyond what
/// warming up, and the spread from run to run, change in a level.
const FAR: f64 = 5.0;

/// A value with the interval of the mean of a series around it. Where there is no series, but half a
/// second of work, the value is taken to be right within a factor of [`FAR`], which decides conditions
/// that are far from it.
fn with_series_interval(
    workers: &[&JobRecord],
    value: f64,
    series: &[f64],
    seed: u64,
) -> (Estimate, Option<String>) {
    let window = union_ns(&busy(workers, &Direction::ALL));
    if series.len() < 2 && window >= LEVEL_MIN_NS {
        let reason = format!("taken as right within a factor of {FAR}; {}", too_few(workers));
        return (Estimate { value, low: value / FAR, high: value * FAR }, Some(reason));
    }
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
    operation: &Operation,
    class: LatencyKind,
    metric: Metric,
    seed: u64,
) -> Option<(Estimate, Option<String>)> {
    let all = histogram(workers, operation, class)?;
    match (metric, operation, class) {
        (Metric::Min, ..) | (Metric::Percentile(0.0), ..) => Some(exact(all.min())),
        (Metric::Max, ..) | (Metric::Percentile(100.0), ..) => Some(exact(all.max())),
        (Metric::Percentile(percentile), ..) => Some(self::percentile(&all, percentile)),
        (_, Operation::Io(direction), LatencyKind::Clat) => {
            let series: Vec<f64> =
                slots(workers, &[*direction]).iter().filter_map(Slot::latency).collect();
            Some(with_series_interval(workers, all.mean(), &series, seed))
        }
        _ => Some(mean(&all)),
    }
}

/// The latencies to show for a kind of request: to the first byte; and whole, unless the I/Os of a
/// direction are exactly these requests.
pub(crate) fn classes_of_request(request: &str, all: &[String]) -> Vec<LatencyKind> {
    let are_ios = match request {
        "GET" | "DELETE" => true,
        "PUT" => !all.iter().any(|other| other == "UploadPart"),
        // Alone they count as reads.
        _ => all.len() == 1,
    };
    let whole = (!are_ios).then_some(LatencyKind::Lat);
    [LatencyKind::FirstByte].into_iter().chain(whole).collect()
}

/// The name of a latency.
pub(crate) fn latency_name(operation: &Operation, class: LatencyKind) -> &'static str {
    match (operation, class) {
        (_, LatencyKind::FirstByte) => "first byte",
        (Operation::Request(_), _) => "whole",
        (Operation::Sync, _) | (_, LatencyKind::Sync) => "synchronisation",
        (_, LatencyKind::Response) => "response",
        (_, LatencyKind::Clat) => "completion",
        (_, LatencyKind::Lat | LatencyKind::Slat) => "total",
    }
}

/// The latencies of one run of a job. Requests have latencies to the first byte and whole latencies.
pub(crate) fn histogram(
    workers: &[&JobRecord],
    operation: &Operation,
    class: LatencyKind,
) -> Option<Histogram> {
    let direction = match operation {
        Operation::Io(direction) => *direction,
        Operation::Sync => return merged(exchange::syncs(workers).map(|sync| &sync.latency)),
        Operation::Request(request) => {
            let request = Some(request.as_str());
            return match class {
                LatencyKind::FirstByte => exchange::times(workers, request, |one| &one.first_byte),
                _ => exchange::times(workers, request, |one| &one.whole),
            };
        }
    };
    let latencies = |job: &&'_ JobRecord| -> Option<Histogram> {
        let result = &job.results[direction];
        match class {
            LatencyKind::Clat => result.latency.clat.clone(),
            LatencyKind::Lat => result.lat().cloned(),
            LatencyKind::Slat => result.latency.slat.clone(),
            LatencyKind::Response => result.latency.response.clone(),
            LatencyKind::Sync | LatencyKind::FirstByte => None,
        }
    };
    let parts: Vec<Histogram> = workers.iter().filter_map(latencies).collect();
    merged(parts.iter())
}

fn exact(value: u64) -> (Estimate, Option<String>) {
    (Estimate::exact(value as f64), None)
}

fn percentile(all: &Histogram, percentile: f64) -> (Estimate, Option<String>) {
    let Some(value) = all.known_percentile(percentile).map(|value| value as f64) else {
        let reason = format!("p{percentile} was not printed by the other program");
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

/// A mean without a recorded series: by the central limit theorem, as if the values were independent.
fn mean(all: &Histogram) -> (Estimate, Option<String>) {
    let value = all.mean();
    if all.count() < 30 {
        let reason = format!("too few values for a mean: {} of 30 needed", all.count());
        return (Estimate { value, low: 0.0, high: f64::INFINITY }, Some(reason));
    }
    let half = ERRORS * all.stddev() / (all.count() as f64).sqrt();
    (Estimate { value, low: value - half, high: value + half }, None)
}
