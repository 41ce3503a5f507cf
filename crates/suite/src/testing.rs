//! Simulated disks and the records of runs on them.

use crate::{Step, Suite};
use record::{
    Bytes, Cell, DirectionResult, ErrorCount, Histogram, Interval, Invocation, JobRecord,
    LatencyResult, Nanos, PerDirection, RunRecord, SyncResult, Workload,
};

/// A disk that serves `width` random I/Os side by side, each in the same time.
#[derive(Clone, Copy)]
pub(crate) struct SimulatedDisk {
    pub width: f64,
    pub read_ns: f64,
    pub write_ns: f64,
    /// Bandwidth of large transfers, in bytes per second.
    pub bandwidth: f64,
    pub flush_ns: u64,
    /// The slowdown of random writes after each run.
    pub wears: f64,
    pub stalled: bool,
}

impl SimulatedDisk {
    pub(crate) fn fast() -> SimulatedDisk {
        SimulatedDisk {
            width: 8.0,
            read_ns: 500_000.0,
            write_ns: 250_000.0,
            bandwidth: 500e6,
            flush_ns: 1_000_000,
            wears: 1.0,
            stalled: false,
        }
    }

    /// A rotational disk.
    pub(crate) fn slow() -> SimulatedDisk {
        let slow = SimulatedDisk {
            width: 1.0,
            read_ns: 8e6,
            write_ns: 6e6,
            bandwidth: 3e6,
            ..SimulatedDisk::fast()
        };
        SimulatedDisk { flush_ns: 20_000_000, ..slow }
    }

    /// Runs a step.
    pub(crate) fn run(&self, step: &Step) -> RunRecord {
        let value = |name: &str| {
            let prefix = format!("--{name}=");
            step.arguments.iter().find_map(|a| a.strip_prefix(&prefix)).map(str::to_owned)
        };
        let number = |name: &str| value(name).map(|v| v.parse::<f64>().unwrap());
        let time = |name: &str| {
            value(name).map(|v| v.trim_end_matches("ms").parse::<f64>().unwrap() * 1e6)
        };
        let (rw, block) = (value("rw").unwrap(), number("bs").unwrap());
        let depth = number("iodepth").unwrap();
        let (size, runtime) = (number("size").unwrap(), time("runtime"));
        let one = |is_read: bool| {
            let random = if is_read { self.read_ns } else { self.write_ns * self.wears };
            let each = if rw.contains("rand") { random } else { block / self.bandwidth * 1e9 };
            let side_by_side = if rw.contains("rand") { depth.min(self.width) } else { 1.0 };
            each / side_by_side
        };
        let flush = if value("fsync").is_some() { self.flush_ns as f64 } else { 0.0 };
        let of_time = |each: f64| runtime.unwrap_or(f64::MAX) / (each + flush);
        let timed = value("time_based").is_some();
        let count = |each: f64| {
            let whole = if timed { f64::MAX } else { size / block };
            if self.stalled { 0 } else { of_time(each).min(whole) as u64 }
        };
        let mut job = JobRecord { name: step.cell.name.clone(), ..JobRecord::default() };
        let mixed = rw == "randrw";
        for (direction, share) in [(record::Direction::Read, 0.7), (record::Direction::Write, 0.3)]
        {
            let is_read = direction == record::Direction::Read;
            if !mixed && rw.contains("read") != is_read {
                continue;
            }
            let each = one(is_read) / if mixed { share } else { 1.0 };
            let ios = count(each);
            let window = if timed { runtime.unwrap() } else { ios as f64 * each };
            job.results[direction] = result(ios, block, depth * each, window);
            job.ended = job.ended.max(Nanos(window as u64));
        }
        job.elapsed = job.ended + Nanos::from_millis(1);
        if flush > 0.0 {
            let count = job.results[record::Direction::Write].ios;
            job.sync = SyncResult { count, latency: histogram(count, flush) };
        }
        job.intervals = vec![Interval { length: job.ended, ..Interval::default() }];
        job.interval_step = Nanos::SECOND;
        job.workload = Workload {
            rw,
            block_size: PerDirection::from_fn(|_| (Bytes(block as u64), Bytes(block as u64))),
            iodepth: depth as u32,
            direct: value("direct").as_deref() == Some("1"),
            region: Bytes(size as u64),
            files: value("filename").into_iter().collect(),
            ..Workload::default()
        };
        record_of(step.cell.clone(), job)
    }

    /// Runs a suite to its end, or for `most` steps. Returns its steps, records and lines.
    pub(crate) fn drive(&mut self, suite: &mut impl Suite, most: usize) -> Driven {
        let mut driven = Driven::default();
        while driven.steps.len() < most
            && let Some(step) = suite.next()
        {
            let record = self.run(&step);
            if step.arguments.iter().any(|a| a == "--rw=randwrite") {
                self.wears = 1.0 + (self.wears - 1.0) * 0.3;
            }
            driven.lines.extend(suite.completed(&record));
            driven.records.push(record);
            driven.steps.push(step);
        }
        driven
    }
}

/// The result of driving a suite.
#[derive(Default)]
pub(crate) struct Driven {
    pub steps: Vec<Step>,
    pub records: Vec<RunRecord>,
    pub lines: Vec<String>,
}

impl Driven {
    pub(crate) fn names(&self) -> Vec<&str> {
        self.steps.iter().map(|step| step.cell.name.as_str()).collect()
    }
}

fn histogram(count: u64, mean_ns: f64) -> Histogram {
    let mut out = Histogram::new();
    // Uniform within a tenth of the mean.
    (0..count).for_each(|i| out.record((mean_ns * (0.9 + 0.02 * (i % 11) as f64)) as u64));
    out
}

fn result(ios: u64, block: f64, latency_ns: f64, window: f64) -> DirectionResult {
    let clat = (ios > 0).then(|| histogram(ios, latency_ns));
    DirectionResult {
        ios_issued: ios,
        ios,
        bytes: Bytes(ios * block as u64),
        runtime: Nanos(window as u64),
        latency: LatencyResult { clat, ..LatencyResult::default() },
        ..DirectionResult::default()
    }
}

fn record_of(cell: Cell, job: JobRecord) -> RunRecord {
    let invocation = Invocation { ended_unix_ms: job.ended.0 / 1_000_000, ..Invocation::default() };
    RunRecord { invocation, jobs: vec![job], cell: Some(cell), ..RunRecord::default() }
}

/// A run that failed with an error.
pub(crate) fn failed(cell: &str, operation: &str, errno: i32) -> RunRecord {
    let error = ErrorCount {
        errno,
        text: format!("errno {errno}"),
        operation: operation.into(),
        count: 1,
        first_file: "x".into(),
        first_offset: None,
        first_length: None,
    };
    let job = JobRecord {
        name: cell.into(),
        error: errno,
        errors: vec![error],
        elapsed: Nanos::from_millis(1),
        ..JobRecord::default()
    };
    record_of(Cell { name: cell.into(), round: 0, ..Cell::default() }, job)
}

/// A single run of this many milliseconds.
pub(crate) fn step(rw: &str, block: u64, depth: u32, millis: u64) -> Step {
    let arguments = [
        format!("--rw={rw}"),
        format!("--bs={block}"),
        format!("--iodepth={depth}"),
        "--size=1073741824".into(),
        "--time_based=1".into(),
        format!("--runtime={millis}ms"),
    ];
    let cell = Cell { name: rw.into(), round: 0, ..Cell::default() };
    Step { cell, arguments: arguments.into(), ..Step::default() }
}
