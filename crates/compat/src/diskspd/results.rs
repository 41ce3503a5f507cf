//! The figures of a timespan from its record: a row for each thread and target, and the CPUs.

use super::jobs::{cell_name, layout, path_list};
use super::profile::{Profile, TimeSpan};
use record::{
    CpuSample, Direction, Histogram, Interval, JobRecord, Nanos, RecordSet, RunRecord, Sample, date,
};
use std::collections::BTreeMap;

/// A timespan that was measured.
pub(super) struct Measured<'a> {
    pub index: usize,
    pub span: &'a TimeSpan,
    pub record: &'a RunRecord,
    /// Length of the measured window, in seconds.
    pub seconds: f64,
    pub threads: u64,
    /// In order of the threads.
    pub rows: Vec<Row>,
    pub cpus: Vec<Cpu>,
}

/// The figures of one thread on one target, or of all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    pub thread: u64,
    pub path: String,
    /// Bytes of the whole file or device.
    pub file_size: u64,
    pub read: Flow,
    pub write: Flow,
    /// I/Os by interval: (reads, writes).
    pub buckets: BTreeMap<u64, Bucket>,
}

/// One direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Flow {
    pub bytes: u64,
    pub ios: u64,
    pub latency: Histogram,
}

/// One complete interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bucket {
    pub read: Part,
    pub write: Part,
}

/// One direction of an interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    pub ios: u64,
    pub latency_ns_sum: u64,
    pub latency_ns_max: u64,
}

/// Use of a CPU, per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Cpu {
    pub number: u32,
    pub usage: f64,
    pub user: f64,
    pub kernel: f64,
    pub idle: f64,
}

/// The directions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Total,
    Read,
    Write,
}

impl Flow {
    fn add(&mut self, other: &Flow) {
        self.bytes += other.bytes;
        self.ios += other.ios;
        self.latency.merge(&other.latency);
    }
}

impl Part {
    fn add(&mut self, other: Part) {
        self.ios += other.ios;
        self.latency_ns_sum += other.latency_ns_sum;
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
    }
}

impl Row {
    /// One side of it; both sides merged for the total.
    pub fn side(&self, side: Side) -> Flow {
        match side {
            Side::Read => self.read.clone(),
            Side::Write => self.write.clone(),
            Side::Total => {
                let mut flow = self.read.clone();
                flow.add(&self.write);
                flow
            }
        }
    }

    fn add(&mut self, other: &Row) {
        self.read.add(&other.read);
        self.write.add(&other.write);
        for (start, bucket) in &other.buckets {
            let mine = self.buckets.entry(*start).or_default();
            mine.read.add(bucket.read);
            mine.write.add(bucket.write);
        }
    }

    /// Deviation of its I/Os a second over whole intervals of `ms` milliseconds.
    pub fn iops_deviation(&self, side: Side, ms: u64) -> f64 {
        let count = |bucket: &Bucket| match side {
            Side::Read => bucket.read.ios,
            Side::Write => bucket.write.ios,
            Side::Total => bucket.read.ios + bucket.write.ios,
        };
        let rates: Vec<f64> =
            self.buckets.values().map(|b| count(b) as f64 * 1000.0 / ms.max(1) as f64).collect();
        let n = rates.len().max(1) as f64;
        let mean = rates.iter().sum::<f64>() / n;
        (rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>() / n).sqrt()
    }
}

/// Population standard deviation, in milliseconds. The histogram returns that of a sample.
pub(super) fn deviation_ms(latency: &Histogram) -> f64 {
    let count = latency.count() as f64;
    if count < 2.0 { 0.0 } else { latency.stddev() * ((count - 1.0) / count).sqrt() / 1e6 }
}

/// Mean, in milliseconds.
pub(super) fn mean_ms(latency: &Histogram) -> f64 {
    latency.mean() / 1e6
}

/// All rows together.
pub(super) fn sum<'a>(rows: impl Iterator<Item = &'a Row>) -> Row {
    rows.fold(Row::default(), |mut all, row| {
        all.add(row);
        all
    })
}

/// Each timespan with its record; `None` where it has none with anything measured.
pub(super) fn measured<'a>(profile: &'a Profile, set: &'a RecordSet) -> Vec<Option<Measured<'a>>> {
    let spans = profile.spans.iter().enumerate();
    spans.map(|(index, span)| measure_span(index, span, record_of(index, set)?)).collect()
}

/// The last run of a timespan: an earlier run only showed which engine works.
pub(super) fn record_of(index: usize, set: &RecordSet) -> Option<&RunRecord> {
    let name = cell_name(index);
    set.runs.iter().rfind(|run| run.cell.as_ref().is_some_and(|cell| cell.name == name))
}

fn measure_span<'a>(
    index: usize,
    span: &'a TimeSpan,
    record: &'a RunRecord,
) -> Option<Measured<'a>> {
    let worked = || record.jobs.iter().filter(|job| job.ended > job.started);
    let started = worked().map(|job| job.started).min()?;
    let ended = worked().map(|job| job.ended).max()?;
    // I/O during the warm-up is not a result if a signal ended the timespan by then.
    let warm_up = Nanos::from_millis(span.warmup_s.saturating_mul(1000));
    let cold = record.interrupted_by.is_some() && worked().all(|job| job.elapsed < warm_up);
    if cold || record.jobs.iter().all(JobRecord::did_nothing) {
        return None;
    }
    let rows = rows(span, record);
    let mut threads: Vec<u64> = rows.iter().map(|row| row.thread).collect();
    threads.dedup();
    Some(Measured {
        index,
        span,
        record,
        seconds: (ended - started).seconds(),
        threads: threads.len() as u64,
        cpus: cpus(&record.timeline.samples, started, ended),
        rows,
    })
}

fn rows(span: &TimeSpan, record: &RunRecord) -> Vec<Row> {
    let mut rows: BTreeMap<(u64, usize), Row> = BTreeMap::new();
    let all = layout(span);
    for job in &record.jobs {
        let Some(clones) = all.get(job.job as usize) else { continue };
        let thread = clones.first + u64::from(job.clone) / clones.streams.max(1);
        let row = rows.entry((thread, clones.target.unwrap_or(0))).or_insert_with(|| Row {
            thread,
            path: match clones.target {
                Some(target) => span.targets[target].path.clone(),
                None => path_list(&span.targets),
            },
            file_size: file_size(span, clones.target, record),
            ..Row::default()
        });
        row.add(&row_of_worker(job));
    }
    rows.into_values().collect()
}

/// Size of a target during the run, or of all of them together.
fn file_size(span: &TimeSpan, target: Option<usize>, record: &RunRecord) -> u64 {
    let targets = match target {
        Some(target) => &span.targets[target..=target],
        None => &span.targets[..],
    };
    let size = |target: &super::Target| {
        let found = record.facts.targets.get(&target.path).map_or(0, |facts| facts.size.0);
        target.create.unwrap_or(found).max(found)
    };
    targets.iter().fold(0, |sum, target| sum.saturating_add(size(target)))
}

fn row_of_worker(job: &JobRecord) -> Row {
    let flow = |direction| {
        let result = &job.results[direction];
        Flow {
            bytes: result.bytes.0,
            ios: result.ios,
            // DISKSPD measures from before the call that submits the I/O.
            latency: result.lat().cloned().unwrap_or_default(),
        }
    };
    Row {
        read: flow(Direction::Read),
        write: flow(Direction::Write),
        buckets: job.intervals.iter().filter_map(|one| bucket(job, one)).collect(),
        ..Row::default()
    }
}

/// A complete interval.
fn bucket(job: &JobRecord, interval: &Interval) -> Option<(u64, Bucket)> {
    let step = job.interval_step.0;
    let part = |direction| Part {
        ios: interval.ios[direction],
        latency_ns_sum: interval.clat_ns_sum[direction],
        latency_ns_max: interval.clat_ns_max[direction],
    };
    let whole = step > 0 && interval.length.0 >= step - step / 100;
    let bucket = Bucket { read: part(Direction::Read), write: part(Direction::Write) };
    whole.then_some((interval.start.0 / step.max(1), bucket))
}

/// Use of each CPU between the samples nearest to both ends of the window.
fn cpus(samples: &[Sample], started: Nanos, ended: Nanos) -> Vec<Cpu> {
    let nearest = |at: Nanos| samples.iter().min_by_key(|sample| sample.at.0.abs_diff(at.0));
    let (Some(first), Some(last)) = (nearest(started), nearest(ended)) else { return Vec::new() };
    let pairs = (0..).zip(first.cpus.iter().zip(&last.cpus));
    pairs.filter_map(|(number, (a, b))| cpu(number, &b.zip(a, u64::saturating_sub))).collect()
}

fn cpu(number: u32, passed: &CpuSample) -> Option<Cpu> {
    let idle = passed.idle_ms + passed.iowait_ms;
    let kernel = passed.system_ms + passed.irq_ms + passed.softirq_ms;
    let all = passed.user_ms + kernel + idle + passed.steal_ms;
    let share = |part: u64| part as f64 * 100.0 / all as f64;
    // An offline CPU has no times.
    (all > 0).then(|| Cpu {
        number,
        usage: 100.0 - share(idle),
        user: share(passed.user_ms),
        kernel: share(kernel),
        idle: share(idle),
    })
}

/// Mean over CPUs.
pub(super) fn average(cpus: &[Cpu]) -> Cpu {
    let n = cpus.len().max(1) as f64;
    let mean = |of: fn(&Cpu) -> f64| cpus.iter().map(of).sum::<f64>() / n;
    Cpu {
        number: 0,
        usage: mean(|cpu| cpu.usage),
        user: mean(|cpu| cpu.user),
        kernel: mean(|cpu| cpu.kernel),
        idle: mean(|cpu| cpu.idle),
    }
}

/// "2024/06/03 10:11:12 UTC".
pub(super) fn utc(unix_ms: u64) -> String {
    let day = date::day(unix_ms, 0).replace('-', "/");
    format!("{day} {} UTC", date::time_of_day(unix_ms, 0, true))
}
