//! What repeats of a measurement say together: means with their intervals, spread and variation.

use crate::case::{Case, Part};
use crate::gate::condition::LatencyKind;
use crate::gate::figures::{classes_of_request, histogram, latency_name};
use crate::metrics::exchange;
use crate::metrics::latency::merged;
use crate::operation::Operation;
use crate::stats::{Summary, summary};
use record::{Direction, Histogram, RecordSet, RunRecord};

/// Figures of one job in one direction, or of one kind of its requests, over all its repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct Repeated {
    /// Name of the cell it belongs to.
    pub cell: String,
    /// Name of the job.
    pub job: String,
    /// What it did.
    pub operation: Operation,
    /// Which latency of requests: "first byte" or "whole"; `None` for other operations.
    pub latency: Option<&'static str>,
    /// Its figures, those that every repeat has.
    pub figures: Vec<RepeatedFigure>,
}

/// One figure over all repeats.
#[derive(Clone, Debug, PartialEq)]
pub struct RepeatedFigure {
    /// "IOPS", "bandwidth", "mean", "p50", "p99", "p99.9"; latencies are response latencies for jobs
    /// with a rate and completion latencies for others.
    pub name: &'static str,
    /// "IOPS", "bytes/s" or "ns".
    pub unit: &'static str,
    /// What the repeats say of it.
    pub summary: Summary,
}

const PERCENTILES: [(f64, &str); 3] = [(50.0, "p50"), (99.0, "p99"), (99.9, "p99.9")];

/// The figures of every job of a set, in order of their first appearance.
pub fn repeats(set: &RecordSet) -> Vec<Repeated> {
    let mut found: Vec<(Key, Vec<Values>)> = Vec::new();
    for run in &set.runs {
        for (key, values) in values_of(run) {
            match found.iter_mut().find(|(known, _)| *known == key) {
                Some((_, rounds)) => rounds.push(values),
                None => found.push((key, vec![values])),
            }
        }
    }
    let repeated = |(key, rounds): (Key, Vec<Values>)| Repeated {
        cell: key.cell,
        job: key.job,
        operation: key.operation,
        latency: key.latency,
        figures: figures(&rounds, set.seed),
    };
    found.into_iter().map(repeated).collect()
}

#[derive(PartialEq)]
struct Key {
    cell: String,
    job: String,
    operation: Operation,
    latency: Option<&'static str>,
}

/// Figures of one run: name, unit, value.
type Values = Vec<(&'static str, &'static str, f64)>;

fn values_of(run: &RunRecord) -> Vec<(Key, Values)> {
    let cell = run.cell.as_ref().map(|cell| cell.name.clone()).unwrap_or_default();
    let mut found = Vec::new();
    for part in &Case::from_record(run).parts {
        let key = |operation, latency| {
            let (cell, job) = (cell.clone(), part.name.into());
            Key { cell, job, operation, latency }
        };
        for direction in Direction::ALL {
            if !part.metrics.directions[direction].is_idle() {
                let key = key(Operation::Io(direction), None);
                found.push((key, direction_values(part, direction)));
            }
        }
        if let Some(latency) = histogram(&part.workers, &Operation::Sync, LatencyKind::Sync) {
            found.push((key(Operation::Sync, None), latency_values(&latency)));
        }
        let requests = exchange::kinds(&part.workers);
        for request in &requests {
            for class in classes_of_request(request, &requests) {
                let operation = Operation::Request(request.clone());
                if let Some(latency) = histogram(&part.workers, &operation, class) {
                    let name = latency_name(&operation, class);
                    found.push((key(operation, Some(name)), latency_values(&latency)));
                }
            }
        }
    }
    found
}

fn direction_values(part: &Part, direction: Direction) -> Values {
    let metrics = &part.metrics.directions[direction];
    let mut values =
        vec![("IOPS", "IOPS", metrics.iops), ("bandwidth", "bytes/s", metrics.bytes_per_second)];
    let latencies = || part.workers.iter().map(|job| &job.results[direction].latency);
    let response = merged(latencies().filter_map(|latency| latency.response.as_ref()));
    let latency = response.or_else(|| merged(latencies().filter_map(|l| l.clat.as_ref())));
    values.extend(latency.iter().flat_map(latency_values));
    values
}

fn latency_values(latency: &Histogram) -> Values {
    let percentile = |(p, name)| Some((name, "ns", latency.known_percentile(p)? as f64));
    let percentiles = PERCENTILES.into_iter().filter_map(percentile);
    std::iter::once(("mean", "ns", latency.mean())).chain(percentiles).collect()
}

fn figures(rounds: &[Values], seed: u64) -> Vec<RepeatedFigure> {
    let values_of = |name: &str| -> Option<Vec<f64>> {
        let value = |values: &Values| Some(values.iter().find(|(n, ..)| *n == name)?.2);
        rounds.iter().map(value).collect()
    };
    let Some(first) = rounds.first() else { return Vec::new() };
    let figure = |(name, unit, _): &(&'static str, &'static str, f64)| {
        Some(RepeatedFigure { name, unit, summary: summary(&values_of(name)?, seed) })
    };
    first.iter().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{job, record};
    use record::Cell;

    #[test]
    fn repeats_of_a_job_are_summed_up_and_cells_are_kept_apart() {
        let run = |cell: &str, round, seconds| {
            let mut run = record(vec![job("scan", Direction::Read, seconds)]);
            run.cell = Some(Cell { name: cell.into(), round, ..Cell::default() });
            run
        };
        let mut runs = vec![run("a", 0, 10), run("b", 0, 10), run("a", 1, 10)];
        runs[2].jobs[0].results.read.ios = 12_000;
        let set = RecordSet { runs, ..RecordSet::default() };
        let found = repeats(&set);
        assert_eq!(found.len(), 2);
        let iops = &found[0].figures[0];
        assert_eq!((found[0].cell.as_str(), iops.name), ("a", "IOPS"));
        assert_eq!((iops.summary.count, iops.summary.mean.value), (2, 1100.0));
        let names: Vec<_> = found[0].figures.iter().map(|figure| figure.name).collect();
        assert_eq!(names, ["IOPS", "bandwidth", "mean", "p50", "p99", "p99.9"]);
        assert_eq!(found[1].figures[0].summary.count, 1);
    }
}
