//! Rows of result tables with confidence intervals, and latency curves, of one run or of repeats.

use crate::case::Case;
use crate::gate::condition::{LatencyKind, Metric};
use crate::gate::figures::{
    RepeatedJob, classes_of_request, figures, histogram, latency_name, repeated_jobs,
};
use crate::metrics::exchange;
use crate::operation::Operation;
use crate::stats::{Estimate, MISS, percentile_interval, supports};
use record::{Direction, Histogram, JobRecord, RecordSet};

/// One job in one direction, its synchronisations, or one kind of its requests.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    /// Its name, with that of its cell where several things were run in turn.
    pub job: String,
    /// How many runs repeat each other here.
    pub runs: usize,
    /// What it did.
    pub operation: Operation,
    /// How many completed, in all runs.
    pub count: u64,
    /// Which latency: "response" where there is a schedule, otherwise "completion", "total" where
    /// those were not recorded, or "synchronisation"; of requests "first byte" or "whole".
    pub latency: &'static str,
    /// Its figures, in the order of tables.
    pub figures: Vec<TableFigure>,
}

/// A figure with its confidence interval.
#[derive(Clone, Debug, PartialEq)]
pub struct TableFigure {
    /// "IOPS", "bandwidth", "mean", "p50" …, "max".
    pub name: &'static str,
    /// "IOPS", "bytes/s" or "ns".
    pub unit: &'static str,
    /// Its value; of several runs the mean of theirs.
    pub value: f64,
    /// The 95 % confidence interval; `None` when it is unknown.
    pub interval: Option<(f64, f64)>,
    /// Why it is unknown.
    pub reason: Option<String>,
}

/// How the latencies of a job in one direction, or of one kind of request, were distributed, over all
/// its runs.
#[derive(Clone, Debug, PartialEq)]
pub struct LatencyCurve {
    /// As [`TableRow::job`].
    pub job: String,
    /// As [`TableRow::operation`].
    pub operation: Operation,
    /// As [`TableRow::latency`].
    pub latency: &'static str,
    /// How many there are.
    pub count: u64,
    /// (percentile, nanoseconds), rising, as far as there are enough values beyond.
    pub points: Vec<(f64, f64)>,
    /// The largest percentile that this number of values supports.
    pub end: f64,
    /// (percentile, its interval) at the usual percentiles.
    pub intervals: Vec<(f64, Estimate)>,
}

const FIGURES: [(&str, &str, Metric); 7] = [
    ("IOPS", "IOPS", Metric::Iops),
    ("bandwidth", "bytes/s", Metric::Bandwidth),
    ("mean", "ns", Metric::Mean),
    ("p50", "ns", Metric::Percentile(50.0)),
    ("p99", "ns", Metric::Percentile(99.0)),
    ("p99.9", "ns", Metric::Percentile(99.9)),
    ("max", "ns", Metric::Max),
];

/// The figures of every job of a set in each direction, in order of their first appearance.
pub fn table_rows(set: &RecordSet) -> Vec<TableRow> {
    let cases: Vec<Case> = set.runs.iter().map(Case::from_record).collect();
    let repeated_jobs = repeated_jobs(&cases);
    repeated_jobs.iter().flat_map(|member| job_rows(member, set.seed)).collect()
}

fn job_rows(member: &RepeatedJob, seed: u64) -> Vec<TableRow> {
    let row = |(operation, class): (Operation, LatencyKind)| {
        let figure = |(name, unit, metric): (&'static str, &'static str, Metric)| {
            let measured = figures(member, Some(&operation), class, metric, seed).pop()?;
            let Estimate { value, low, high } = measured.estimate;
            let is_known = measured.reason.is_none() && low.is_finite() && high.is_finite();
            // A maximum does not predict the maximum of the next run.
            let interval = (is_known && metric != Metric::Max).then_some((low.max(0.0), high));
            Some(TableFigure { name, unit, value, interval, reason: measured.reason })
        };
        TableRow {
            job: member.name.clone(),
            runs: member.runs.len(),
            count: count(member, &operation),
            latency: latency_name(&operation, class),
            figures: FIGURES.into_iter().filter_map(figure).collect(),
            operation,
        }
    };
    operations(member).into_iter().map(row).collect()
}

/// How many of them completed, in all runs.
fn count(member: &RepeatedJob, operation: &Operation) -> u64 {
    let jobs: Vec<&JobRecord> = member.runs.iter().flatten().copied().collect();
    match operation {
        Operation::Io(direction) => jobs.iter().map(|job| job.results[*direction].ios).sum(),
        Operation::Sync => exchange::syncs(&jobs).map(|sync| sync.count).sum(),
        Operation::Request(request) => {
            let (failed, sent) = exchange::failed(&jobs, request);
            sent - failed
        }
    }
}

/// What a job did, with the latencies that count of it.
fn operations(member: &RepeatedJob) -> Vec<(Operation, LatencyKind)> {
    let jobs: Vec<&JobRecord> = member.runs.iter().flatten().copied().collect();
    let mut kinds = Vec::new();
    for direction in Direction::ALL {
        if jobs.iter().all(|job| job.results[direction].ios == 0) {
            continue;
        }
        let operation = Operation::Io(direction);
        let has = |class: &LatencyKind| {
            let recorded = |run: &Vec<&JobRecord>| histogram(run, &operation, *class).is_some();
            member.runs.iter().any(recorded)
        };
        let class = [LatencyKind::Response, LatencyKind::Clat]
            .into_iter()
            .find(has)
            .unwrap_or(LatencyKind::Lat);
        kinds.push((operation, class));
    }
    if exchange::syncs(&jobs).any(|sync| !sync.latency.is_empty()) {
        kinds.push((Operation::Sync, LatencyKind::Sync));
    }
    let requests = exchange::kinds(&jobs);
    for request in &requests {
        let operation = Operation::Request(request.clone());
        let answered = |class: &LatencyKind| histogram(&jobs, &operation, *class).is_some();
        let classes = classes_of_request(request, &requests).into_iter().filter(answered);
        kinds.extend(classes.map(|class| (operation.clone(), class)));
    }
    kinds
}

/// The curve of every job of a set in each direction that recorded latencies.
pub fn latency_curves(set: &RecordSet) -> Vec<LatencyCurve> {
    let cases: Vec<Case> = set.runs.iter().map(Case::from_record).collect();
    let curves = |member: &RepeatedJob| -> Vec<LatencyCurve> {
        let all: Vec<&JobRecord> = member.runs.iter().flatten().copied().collect();
        let curve = |(operation, class): (Operation, LatencyKind)| {
            let histogram = histogram(&all, &operation, class)?;
            Some(LatencyCurve {
                job: member.name.clone(),
                latency: latency_name(&operation, class),
                operation,
                count: histogram.count(),
                end: max_supported_percentile(histogram.count()),
                points: points(&histogram),
                intervals: intervals(&histogram),
            })
        };
        operations(member).into_iter().filter_map(curve).collect()
    };
    repeated_jobs(&cases).iter().flat_map(curves).collect()
}

/// The largest percentile that `count` values support: one of them is beyond it with enough
/// certainty ([`supports`]).
fn max_supported_percentile(count: u64) -> f64 {
    if count == 0 { 0.0 } else { 100.0 * (MISS / 2.0).powf(1.0 / count as f64) }
}

/// Least distance of points on the percentile axis, in powers of ten of the share beyond.
const APART: f64 = 0.01;
/// Where curves begin.
const FIRST: f64 = 1.0;

fn points(histogram: &Histogram) -> Vec<(f64, f64)> {
    let (count, end) = (histogram.count() as f64, max_supported_percentile(histogram.count()));
    let place = |percentile: f64| -(1.0 - percentile / 100.0).log10();
    let mut points: Vec<(f64, f64)> = Vec::new();
    let (mut seen, mut begun) = (0, f64::NEG_INFINITY);
    for (low, width, number) in histogram.bins() {
        seen += number;
        let percentile = 100.0 * seen as f64 / count;
        let value = (low + width - 1).min(histogram.max()) as f64;
        if percentile >= end {
            points.push((end, histogram.percentile(end) as f64));
            break;
        }
        // The fastest I/Os would take half of the scale.
        if percentile < FIRST {
            continue;
        }
        match points.last_mut() {
            Some(last) if place(percentile) - begun < APART => *last = (percentile, value),
            _ => {
                begun = place(percentile);
                points.push((percentile, value));
            }
        }
    }
    points
}

fn intervals(histogram: &Histogram) -> Vec<(f64, Estimate)> {
    let usual = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];
    let interval = |percentile: f64| {
        let (low, high) = percentile_interval(histogram, percentile)?;
        let value = histogram.percentile(percentile) as f64;
        Some((percentile, Estimate { value, low: low as f64, high: high as f64 }))
    };
    usual.into_iter().filter(|p| supports(histogram.count(), *p)).filter_map(interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{IOPS, LATENCY, asking, job, record};
    use record::RunRecord;

    fn set(runs: Vec<RunRecord>) -> RecordSet {
        RecordSet { kind: "repeat".into(), runs, ..RecordSet::default() }
    }

    fn figure<'a>(row: &'a TableRow, name: &str) -> &'a TableFigure {
        row.figures.iter().find(|figure| figure.name == name).unwrap()
    }

    #[test]
    fn one_run_has_intervals_from_its_own_course() {
        let rows = table_rows(&set(vec![record(vec![job("read", Direction::Read, 10)])]));
        assert_eq!(rows.len(), 1);
        let iops = figure(&rows[0], "IOPS");
        let (low, high) = iops.interval.unwrap();
        assert!((low..=high).contains(&(IOPS as f64)) && (iops.value - IOPS as f64).abs() < 1.0);
        assert_eq!(rows[0].latency, "completion");
        assert_eq!(figure(&rows[0], "max").interval, None);
    }

    #[test]
    fn a_percentile_of_too_few_values_says_why_it_has_no_interval() {
        let run = record(vec![job("read", Direction::Read, 1)]);
        let rows = table_rows(&set(vec![run]));
        let tail = figure(&rows[0], "p99.9");
        assert!(tail.interval.is_none() && tail.reason.as_deref().unwrap().contains("too few"));
    }

    #[test]
    fn requests_have_rows_of_their_own() {
        let mut run = asking("GET", 4000, 503);
        let rows = table_rows(&set(vec![run.clone()]));
        let told = |rows: &[TableRow]| -> Vec<(String, &'static str, u64)> {
            rows.iter().map(|row| (row.operation.name().into(), row.latency, row.count)).collect()
        };
        let ios = run.jobs[0].results.read.ios;
        let read = ("read".to_owned(), "completion", ios);
        assert_eq!(told(&rows), [read.clone(), ("GET".into(), "first byte", 3600)]);
        assert_eq!(rows[1].figures.iter().map(|f| f.name).next(), Some("mean"), "no rates");
        // HEADs among other requests are in the place of synchronisations.
        run.jobs[0].sync.latency.record_n(LATENCY, 50);
        let exchange = run.jobs[0].exchange.as_mut().unwrap();
        let mut head = exchange.requests[0].clone();
        head.request = "HEAD".into();
        exchange.requests.push(head);
        let head = |latency| ("HEAD".to_owned(), latency, 3600);
        let get = ("GET".into(), "first byte", 3600);
        let rows = table_rows(&set(vec![run]));
        assert_eq!(told(&rows), [read, get, head("first byte"), head("whole")]);
    }

    #[test]
    fn several_runs_are_one_row() {
        let runs = [5, 5, 5].map(|seconds| record(vec![job("read", Direction::Read, seconds)]));
        let rows = table_rows(&set(runs.into()));
        assert_eq!((rows.len(), rows[0].runs, rows[0].count), (1, 3, 15 * IOPS));
    }

    #[test]
    fn curves_end_where_the_sample_does() {
        let mut run = record(vec![job("read", Direction::Read, 10)]);
        let mut latency = Histogram::new();
        (1..=4000_u64).for_each(|value| latency.record(value * 1000));
        run.jobs[0].results.read.latency.clat = Some(latency);
        let curve = latency_curves(&set(vec![run])).remove(0);
        assert!(
            supports(4000, curve.end - 0.01) && !supports(4000, curve.end + 0.01),
            "{}",
            curve.end
        );
        let (last, value) = *curve.points.last().unwrap();
        assert!((last - curve.end).abs() < 1e-9 && value < 4_000_000.0);
        assert!(curve.points.windows(2).all(|p| p[0].0 < p[1].0 && p[0].1 <= p[1].1));
        assert!(curve.points.len() < 400);
        assert_eq!(curve.intervals.last().unwrap().0, 99.9);
    }

    #[test]
    fn constant_latency_is_a_curve_too() {
        let run = record(vec![job("read", Direction::Read, 10)]);
        let curve = latency_curves(&set(vec![run])).remove(0);
        assert!(curve.points.iter().all(|(_, value)| (value / LATENCY as f64 - 1.0).abs() < 0.01));
    }
}
