//! A record arranged for the checks: parts of the run, and what the machine did during each.

use crate::metrics::{UnitMetrics, unit, window};
use record::{
    CpuSample, DeviceFacts, Direction, DiskSample, Engine, FilesystemFacts, JobRecord, Medium,
    Nanos, RunRecord, Sample, distinct,
};
use std::collections::{BTreeMap, BTreeSet};

/// /proc/stat counts in hundredths of a second.
const CPU_TIMES_MIN_NS: u64 = 500_000_000;

/// A run, arranged for the checks.
pub struct Case<'a> {
    /// The record.
    pub record: &'a RunRecord,
    /// One for each job section that did or tried anything, in order.
    pub parts: Vec<Part<'a>>,
}

/// All workers of one job section.
pub struct Part<'a> {
    /// Name of the job.
    pub name: &'a str,
    /// Its workers; at least one.
    pub workers: Vec<&'a JobRecord>,
    /// Their figures together.
    pub metrics: UnitMetrics,
    /// From the start of the first measured window to the end of the last.
    pub from: Nanos,
    /// See [`Part::from`].
    pub to: Nanos,
    /// Kernel names of the devices under its files, each before those below it.
    pub devices: Vec<&'a str>,
}

/// The I/O of one device in a window, and the bytes that jobs requested from it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceUse {
    /// Counters over the window; `in_flight` is that at its end.
    pub counters: DiskSample,
    /// Length of the window.
    pub window: Nanos,
    /// Bytes the jobs that lie on it read in the window.
    pub read_asked: u64,
    /// Bytes the jobs that lie on it wrote in the window.
    pub write_asked: u64,
}

impl<'a> Case<'a> {
    /// Arranges a record.
    pub fn from_record(record: &'a RunRecord) -> Case<'a> {
        let mut by_job: BTreeMap<u32, Vec<&JobRecord>> = BTreeMap::new();
        for job in record.jobs.iter().filter(|job| job.elapsed.0 > 0) {
            by_job.entry(job.job).or_default().push(job);
        }
        let parts = by_job.into_values().map(|workers| part(record, workers)).collect();
        Case { record, parts }
    }

    /// The parts that move data of files or devices.
    pub fn data_parts(&self) -> impl Iterator<Item = &Part<'a>> {
        self.parts.iter().filter(|part| part.medium() == Medium::Data)
    }

    /// Facts of a device by kernel name.
    pub fn device(&self, name: &str) -> Option<&'a DeviceFacts> {
        self.record.facts.devices.get(name)
    }

    /// The lowest devices under a part: those with nothing below them.
    pub fn disks_of(&self, part: &Part<'a>) -> Vec<&'a DeviceFacts> {
        let devices = part.devices.iter().filter_map(|name| self.device(name));
        devices.filter(|device| device.below.is_empty()).collect()
    }

    /// The topmost devices under a part: those below no other of its devices.
    pub fn top_devices_of(&self, part: &Part<'a>) -> Vec<&'a str> {
        let below: Vec<&str> = part
            .devices
            .iter()
            .filter_map(|name| self.device(name))
            .flat_map(|device| device.below.iter().map(String::as_str))
            .collect();
        part.devices.iter().copied().filter(|name| !below.contains(name)).collect()
    }

    /// A loop device under a part that goes through the page cache of its file.
    pub fn buffered_loop_under(&self, part: &Part<'a>) -> Option<&'a str> {
        let through_cache = |name: &&str| self.device(name)?.loop_direct_io.map(|direct| !direct);
        part.devices.iter().copied().find(|name| through_cache(name) == Some(true))
    }

    /// The filesystems under a part, each once.
    pub fn filesystems_of(&self, part: &Part<'a>) -> Vec<&'a FilesystemFacts> {
        let targets = part.places().filter_map(|place| self.record.facts.targets.get(place));
        distinct(targets.filter_map(|target| target.filesystem.as_ref()))
    }

    /// The machine at both ends of a window. Counters are interpolated between the samples around each
    /// end. If no worker was active between an end and one of these samples, that sample is used as it is.
    /// `None` without samples or when the window is empty.
    pub fn ends(&self, from: Nanos, to: Nanos) -> Option<(At<'a>, At<'a>)> {
        (from < to).then_some(())?;
        Some((self.at(from)?, self.at(to)?))
    }

    fn at(&self, moment: Nanos) -> Option<At<'a>> {
        let timeline = &self.record.timeline;
        let samples = || timeline.samples.iter().chain(&timeline.phase_starts);
        let before = samples().filter(|sample| sample.at <= moment).max_by_key(|sample| sample.at);
        let after = samples().filter(|sample| sample.at >= moment).min_by_key(|sample| sample.at);
        let (before, after) = (before.or(after)?, after.or(before)?);
        let step = after.at.0.saturating_sub(before.at.0);
        let share = match step {
            0 => 1.0,
            _ if !self.is_active(before.at, moment) => 0.0,
            _ if !self.is_active(moment, after.at) => 1.0,
            step => (moment.0 - before.at.0) as f64 / step as f64,
        };
        Some(At { before, after, share })
    }

    /// Whether a worker was active in a window, ramps included.
    fn is_active(&self, from: Nanos, to: Nanos) -> bool {
        let mut workers = self.parts.iter().flat_map(|part| &part.workers);
        workers.any(|job| {
            let began = job.started.0.saturating_sub(job.workload.ramp.0);
            job.ended > from && began < to.0
        })
    }

    /// What a device did while a part ran; `None` when it was not sampled.
    pub fn device_use(&self, part: &Part<'a>, device: &str) -> Option<DeviceUse> {
        self.device_use_in(device, part.from, part.to)
    }

    /// What a device did in a window; `None` when it was not sampled.
    pub fn device_use_in(&self, device: &str, from: Nanos, to: Nanos) -> Option<DeviceUse> {
        let (first, last) = self.ends(from, to)?;
        let counters = last.disk(device)?.since(&first.disk(device)?);
        let on_it = self.parts.iter().filter(|part| part.devices.contains(&device));
        let workers: Vec<&JobRecord> = on_it.flat_map(|part| part.workers.clone()).collect();
        Some(DeviceUse {
            counters,
            window: to - from,
            read_asked: moved(&workers, Direction::Read, from, to),
            write_asked: moved(&workers, Direction::Write, from, to),
        })
    }

    /// Share of the window, 0 to 1, that each CPU spent in each state; offline ones are left out.
    pub fn cpu_use(&self, from: Nanos, to: Nanos) -> Vec<(usize, CpuShare)> {
        let Some((first, last)) = self.ends(from, to) else { return Vec::new() };
        let shares =
            |cpu: usize| Some((cpu, CpuShare::between(&first.cpu(cpu)?, &last.cpu(cpu)?)?));
        (0..last.after.cpus.len()).filter_map(shares).collect()
    }

    /// Time that the hypervisor took from the CPUs in a window over the time they had: so much was
    /// stolen, on average, for each nanosecond that a thread was on one. 0 where it cannot be told.
    pub fn stolen_per_run(&self, from: Nanos, to: Nanos) -> f64 {
        if (to - from).0 < CPU_TIMES_MIN_NS {
            return 0.0;
        }
        let cpus = self.cpu_use(from, to);
        let stolen: f64 = cpus.iter().map(|(_, share)| share.steal).sum();
        let had: f64 = cpus.iter().map(|(_, s)| s.user + s.system + s.interrupts).sum();
        if had > 0.0 { stolen / had } else { 0.0 }
    }

    /// The samples within a window.
    pub fn samples(&self, from: Nanos, to: Nanos) -> impl Iterator<Item = &'a Sample> {
        let samples = self.record.timeline.samples.iter();
        samples.filter(move |sample| (from..=to).contains(&sample.at))
    }
}

fn part<'a>(record: &'a RunRecord, workers: Vec<&'a JobRecord>) -> Part<'a> {
    let places = workers.iter().flat_map(|job| places(job));
    let devices = distinct(places.flat_map(|place| record.facts.stack_under(place)));
    let from = workers.iter().map(|job| job.started).min().unwrap_or_default();
    let to = workers.iter().map(|job| job.ended).max().unwrap_or_default();
    let (from, to) = narrowed(record, from, to);
    let metrics = unit::measure(&workers);
    Part { name: &workers[0].name, metrics, from, to, devices, workers }
}

/// Where a worker works: its files or, of a program, the directory it was given.
fn places(job: &JobRecord) -> impl Iterator<Item = &str> {
    let directory = job.workload.settings.get("directory");
    job.workload.files.iter().chain(directory).map(String::as_str)
}

/// Leaves out what a program did before and after the work that it reported.
fn narrowed(record: &RunRecord, from: Nanos, to: Nanos) -> (Nanos, Nanos) {
    match record.work.as_ref().and_then(record::Work::window) {
        Some((first, last)) if from + first < to => (from + first, to.min(from + last)),
        _ => (from, to),
    }
}

/// Bytes moved within a window; an interval that is half inside counts by half.
fn moved(workers: &[&JobRecord], direction: Direction, from: Nanos, to: Nanos) -> u64 {
    let mut bytes = 0.0;
    for job in workers {
        let whole = job.started >= from && job.ended <= to;
        if whole || job.intervals.is_empty() {
            let overlap = window::common_ns(&[(job.started.0, job.ended.0), (from.0, to.0)]);
            let length = (job.ended - job.started).0.max(1);
            bytes += job.results[direction].bytes.0 as f64 * overlap as f64 / length as f64;
            continue;
        }
        for interval in &job.intervals {
            let end = interval.start.0 + interval.length.0;
            let overlap = window::common_ns(&[(interval.start.0, end), (from.0, to.0)]);
            let share = overlap as f64 / interval.length.0.max(1) as f64;
            bytes += interval.bytes[direction] as f64 * share;
        }
    }
    bytes as u64
}

impl<'a> Part<'a> {
    /// The files of all workers, repeats included.
    pub fn files(&self) -> impl Iterator<Item = &'a str> {
        self.workers.iter().copied().flat_map(|job| job.workload.files.iter().map(String::as_str))
    }

    /// Its files or, of a program, the directory it works in; repeats included.
    pub fn places(&self) -> impl Iterator<Item = &'a str> {
        self.workers.iter().copied().flat_map(places)
    }

    /// The medium of its I/O. Older records have only the name of the engine.
    pub fn medium(&self) -> Medium {
        let recorded = self.first().workload.medium;
        if self.has_engine(Engine::moves_nothing) { Medium::Memory } else { recorded }
    }

    /// Whether its engine has a trait. An imported result may name an engine that fathom does not know: it has none.
    pub fn has_engine(&self, has_trait: fn(Engine) -> bool) -> bool {
        Engine::named(&self.first().workload.ioengine).is_some_and(has_trait)
    }

    /// The first worker: clones differ in their files and seeds only.
    pub fn first(&self) -> &'a JobRecord {
        self.workers[0]
    }

    /// The different files of all workers.
    pub fn different_files(&self) -> BTreeSet<&'a str> {
        self.files().collect()
    }

    /// I/Os a second in all directions.
    pub fn iops(&self) -> f64 {
        self.metrics.directions.iter().map(|(_, direction)| direction.iops).sum()
    }

    /// I/Os that completed in any direction.
    pub fn all_ios(&self) -> u64 {
        self.workers.iter().map(|job| job.ios()).sum()
    }

    /// Whether its offsets are random.
    pub fn is_random(&self) -> bool {
        self.first().workload.rw.contains("rand")
    }

    /// Whether the job limits its rate.
    pub fn has_rate(&self) -> bool {
        let workload = &self.first().workload;
        let limits =
            |d: &Direction| workload.rate[*d].is_some() || workload.rate_iops[*d].is_some();
        Direction::ALL.iter().any(limits)
    }

    /// Bytes that completed in a direction.
    pub fn bytes(&self, direction: Direction) -> u64 {
        self.workers.iter().map(|job| job.results[direction].bytes.0).sum()
    }

    /// I/Os that completed in a direction.
    pub fn ios(&self, direction: Direction) -> u64 {
        self.workers.iter().map(|job| job.results[direction].ios).sum()
    }

    /// Mean completion latency of all directions, in nanoseconds; `None` when none was recorded.
    pub fn mean_latency(&self) -> Option<f64> {
        let results = self.workers.iter().flat_map(|job| job.results.iter());
        let recorded: Vec<_> = results.filter_map(|(_, r)| r.latency.clat.as_ref()).collect();
        let count: u64 = recorded.iter().map(|histogram| histogram.count()).sum();
        let sum: u64 = recorded.iter().map(|histogram| histogram.sum()).sum();
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Mean time that a worker waited for something it asked for, in nanoseconds: completion latency
    /// and that of synchronisations. `None` when no completion latency was recorded.
    pub fn mean_wait(&self) -> Option<f64> {
        let of_ios = self.mean_latency()?;
        let ios = self.all_ios();
        let syncs = || self.workers.iter().map(|job| &job.sync.latency);
        let count: u64 = syncs().map(|histogram| histogram.count()).sum();
        let sum: u64 = syncs().map(|histogram| histogram.sum()).sum();
        let waits = (ios + count) as f64;
        (waits > 0.0).then(|| (of_ios * ios as f64 + sum as f64) / waits)
    }

    /// Length of its window.
    pub fn length(&self) -> Nanos {
        self.to - self.from
    }

    /// A setting of the workload, when it is not fio's default.
    pub fn setting(&self, name: &str) -> Option<&'a str> {
        self.first().workload.settings.get(name).map(String::as_str)
    }

    /// Whether its I/Os begin at random times (`rate_process=poisson`).
    pub fn has_random_arrivals(&self) -> bool {
        self.setting("rate_process").is_some()
    }

    /// Whether it goes through the page cache: neither O_DIRECT nor an engine without files.
    pub fn is_buffered(&self) -> bool {
        !self.first().workload.direct && self.has_files()
    }

    /// The same of its I/O of a direction.
    pub fn is_buffered_in(&self, direction: Direction) -> bool {
        !self.first().workload.is_direct_in(direction) && self.has_files()
    }

    /// Whether its I/Os wait inside the submitting call, one behind another, and only look as if they were in flight.
    pub fn submits_one_by_one(&self) -> bool {
        self.is_buffered() && self.has_engine(Engine::queues_direct_only)
    }

    fn has_files(&self) -> bool {
        !self.first().workload.files.is_empty()
            && !matches!(self.medium(), Medium::Objects | Medium::Store)
    }
}

/// The machine at a moment between two samples.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The sample at or before it.
    pub before: &'a Sample,
    /// The sample at or after it.
    pub after: &'a Sample,
    share: f64,
}

impl At<'_> {
    /// A counter at this moment.
    pub fn between(&self, before: u64, after: u64) -> u64 {
        before + (after.saturating_sub(before) as f64 * self.share) as u64
    }

    /// The counters of a device.
    pub fn disk(&self, name: &str) -> Option<DiskSample> {
        let (before, after) = (self.before.disks.get(name)?, self.after.disks.get(name)?);
        Some(before.zip(after, |b, a| self.between(b, a)))
    }

    /// CPU time of this process so far, in nanoseconds.
    pub fn own_cpu_ns(&self) -> Option<u64> {
        let ms = (self.before.own_cpu_ms?, self.after.own_cpu_ms?);
        Some(self.between(ms.0 * 1_000_000, ms.1 * 1_000_000))
    }

    /// The times of a CPU.
    pub fn cpu(&self, number: usize) -> Option<CpuSample> {
        let (before, after) = (self.before.cpus.get(number)?, self.after.cpus.get(number)?);
        Some(before.zip(after, |b, a| self.between(b, a)))
    }
}

/// Shares of a window that a CPU spent in each state, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuShare {
    /// User mode.
    pub user: f64,
    /// Kernel.
    pub system: f64,
    /// Interrupts, soft ones included.
    pub interrupts: f64,
    /// Idle, waiting for I/O included.
    pub idle: f64,
    /// Taken by the hypervisor.
    pub steal: f64,
}

impl CpuShare {
    /// `None` for a CPU without counted time.
    fn between(first: &CpuSample, last: &CpuSample) -> Option<CpuShare> {
        let d = last.zip(first, u64::saturating_sub);
        let total = d.user_ms + d.system_ms + d.idle_ms + d.iowait_ms;
        let total = total + d.irq_ms + d.softirq_ms + d.steal_ms;
        let share = |ms: u64| ms as f64 / total as f64;
        (total > 0).then(|| CpuShare {
            user: share(d.user_ms),
            system: share(d.system_ms),
            interrupts: share(d.irq_ms + d.softirq_ms),
            idle: share(d.idle_ms + d.iowait_ms),
            steal: share(d.steal_ms),
        })
    }
}
