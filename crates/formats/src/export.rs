//! Records as tables for other programs: intervals of the time series, and percentiles of latency, as
//! CSV or Parquet. docs/RUNS.md lists the columns.

mod parquet;
mod table;

pub use parquet::ParquetError;
pub use table::{Column, Table, Values};

use judge::stats::percentile_interval;
use record::{Direction, Histogram, JobRecord, REQUESTS, RunRecord};
use std::collections::BTreeMap;

/// A run and its name in tables.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// Its id, or the file it is from.
    pub name: &'a str,
    /// The run.
    pub record: &'a RunRecord,
}

/// The columns of a row besides its figures.
#[derive(Default)]
struct Keys {
    run: Vec<String>,
    started_ms: Vec<Option<u64>>,
    cell: Vec<String>,
    round: Vec<Option<u64>>,
    job: Vec<String>,
}

impl Keys {
    fn push(&mut self, run: &Named, job: &str) {
        let cell = run.record.cell.as_ref();
        self.run.push(run.name.to_owned());
        self.started_ms.push(Some(run.record.invocation.started_unix_ms));
        self.cell.push(cell.map(|cell| cell.name.clone()).unwrap_or_default());
        self.round.push(cell.map(|cell| cell.round.into()));
        self.job.push(job.to_owned());
    }

    fn columns(self) -> Vec<Column> {
        vec![
            Column::text("run", self.run),
            Column::whole("started_unix_ms", self.started_ms),
            Column::text("cell", self.cell),
            Column::whole("round", self.round),
            Column::text("job", self.job),
        ]
    }
}

/// A row for each interval, worker and direction with I/O, in the order of runs, workers and time.
/// Rates are over the interval's own length. A worker that stalled has rows of zeros, and latencies
/// are empty if nothing completed.
pub fn intervals(runs: &[Named]) -> Table {
    let mut keys = Keys::default();
    let (mut worker, mut direction) = (Vec::new(), Vec::new());
    let [mut start, mut length, mut iops, mut rate] = [const { Vec::new() }; 4];
    let [mut ios, mut bytes, mut max, mut lag] = [const { Vec::new() }; 4];
    let mut mean = Vec::new();
    for run in runs {
        for job in &run.record.jobs {
            for d in Direction::ALL.into_iter().filter(|d| job.results[*d].ios > 0) {
                for interval in &job.intervals {
                    keys.push(run, &job.name);
                    worker.push(Some(job.worker.into()));
                    direction.push(d.name().to_owned());
                    start.push(Some(interval.start.seconds()));
                    length.push(Some(interval.length.seconds()));
                    let a_second = |amount: u64| {
                        (interval.length.0 > 0).then(|| amount as f64 / interval.length.seconds())
                    };
                    let done = interval.ios[d];
                    iops.push(a_second(done));
                    rate.push(a_second(interval.bytes[d]));
                    ios.push(Some(done));
                    bytes.push(Some(interval.bytes[d]));
                    mean.push((done > 0).then(|| interval.clat_ns_sum[d] as f64 / done as f64));
                    max.push((done > 0).then_some(interval.clat_ns_max[d]));
                    lag.push(Some(interval.lag_ns_max));
                }
            }
        }
    }
    let mut columns = keys.columns();
    columns.extend([
        Column::whole("worker", worker),
        Column::text("direction", direction),
        Column::real("start_s", start),
        Column::real("length_s", length),
        Column::real("iops", iops),
        Column::real("bytes_per_s", rate),
        Column::whole("ios", ios),
        Column::whole("bytes", bytes),
        Column::real("clat_mean_ns", mean),
        Column::whole("clat_max_ns", max),
        Column::whole("lag_max_ns", lag),
    ]);
    Table { columns }
}

/// Common percentiles, besides those of the job.
const PERCENTILES: [f64; 12] =
    [1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 99.999];

/// A kind of latency: its name and its getter.
type Kind = (&'static str, fn(&JobRecord, Direction) -> Option<&Histogram>);

const KINDS: [Kind; 4] = [
    ("completion", |job, direction| job.results[direction].latency.clat.as_ref()),
    ("total", |job, direction| job.results[direction].latency.lat.as_ref()),
    ("submission", |job, direction| job.results[direction].latency.slat.as_ref()),
    ("response", |job, direction| job.results[direction].latency.response.as_ref()),
];

/// A row for each percentile of each kind of latency, merged over all workers of a job: for each
/// direction, for synchronisations, and for requests and connections to an object store. Percentile
/// 0 is the smallest value, 100 the largest. The ends of the interval are empty if there are too
/// few values.
pub fn percentiles(runs: &[Named]) -> Table {
    let mut rows = Percentiles::default();
    for run in runs {
        let mut by_job: BTreeMap<u32, Vec<&JobRecord>> = BTreeMap::new();
        for job in &run.record.jobs {
            by_job.entry(job.job).or_default().push(job);
        }
        for workers in by_job.values() {
            for direction in Direction::ALL {
                for (kind, of) in KINDS {
                    let parts = workers.iter().filter_map(|job| of(job, direction));
                    rows.push(run, workers, (direction.name(), kind), parts);
                }
            }
            // Jobs with object stores count HEADs instead of synchronisations.
            let synced = workers.iter().filter(|job| job.exchange.is_none());
            let syncs = synced.map(|job| &job.sync.latency);
            rows.push(run, workers, ("sync", "completion"), syncs);
            rows.push_requests(run, workers);
        }
    }
    rows.table()
}

#[derive(Default)]
struct Percentiles {
    keys: Keys,
    direction: Vec<String>,
    kind: Vec<String>,
    percentile: Vec<Option<f64>>,
    value: Vec<Option<u64>>,
    low: Vec<Option<u64>>,
    high: Vec<Option<u64>>,
    count: Vec<Option<u64>>,
}

impl Percentiles {
    fn push<'a>(
        &mut self,
        run: &Named,
        workers: &[&JobRecord],
        (direction, kind): (&str, &str),
        parts: impl Iterator<Item = &'a Histogram>,
    ) {
        let mut all = Histogram::new();
        parts.for_each(|part| all.merge(part));
        let Some(first) = workers.first().filter(|_| !all.is_empty()) else { return };
        let mut wanted = [&first.percentiles[..], &PERCENTILES, &[0.0, 100.0]].concat();
        wanted.sort_by(f64::total_cmp);
        wanted.dedup();
        for percentile in wanted {
            let Some(value) = all.known_percentile(percentile) else { continue };
            let interval = percentile_interval(&all, percentile);
            self.keys.push(run, &first.name);
            self.direction.push(direction.to_owned());
            self.kind.push(kind.to_owned());
            self.percentile.push(Some(percentile));
            self.value.push(Some(value));
            self.low.push(interval.map(|ends| ends.0));
            self.high.push(interval.map(|ends| ends.1));
            self.count.push(Some(all.count()));
        }
    }

    fn push_requests(&mut self, run: &Named, workers: &[&JobRecord]) {
        let asked = || workers.iter().filter_map(|job| job.exchange.as_ref());
        for request in REQUESTS {
            let results = || asked().filter_map(|exchange| exchange.of_kind(request));
            let [first_byte, whole] = [(request, "first byte"), (request, "whole")];
            self.push(run, workers, first_byte, results().map(|one| &one.first_byte));
            self.push(run, workers, whole, results().map(|one| &one.whole));
        }
        self.push(run, workers, ("connection", "connect"), asked().map(|one| &one.connect));
        self.push(run, workers, ("connection", "TLS"), asked().map(|one| &one.handshake));
    }

    fn table(self) -> Table {
        let mut columns = self.keys.columns();
        columns.extend([
            Column::text("direction", self.direction),
            Column::text("latency", self.kind),
            Column::real("percentile", self.percentile),
            Column::whole("value_ns", self.value),
            Column::whole("low_ns", self.low),
            Column::whole("high_ns", self.high),
            Column::whole("count", self.count),
        ]);
        Table { columns }
    }
}

#[cfg(test)]
mod tests;
