//! The indicators that the rules of a verdict use: numbers from the evidence about a job.

use crate::case::{Case, DeviceUse, Part};
use crate::layers::timed_disk_share;
use crate::metrics::window::common_ns;
use record::{Direction, DiskSample, Engine, JobRecord, Nanos, Sample};

/// A worker that runs for less of the time between two samples sleeps.
const ASLEEP: f64 = 0.1;

/// The indicators of a job. Shares are of the time of its workers, 0 to 1.
pub(super) struct Indicators {
    /// I/Os that completed.
    pub(super) ios: u64,
    /// Length of its window.
    pub(super) window: Nanos,
    /// Share of time on a CPU, mean over the workers.
    pub(super) on_cpu: f64,
    /// Share of time in user mode.
    pub(super) user: f64,
    /// Share of time waiting for a CPU, mean over the workers; 0 if the kernel does not count it.
    pub(super) run_delay: f64,
    /// Stolen time of the CPUs over their running time.
    pub(super) stolen_per_run: f64,
    /// I/Os and synchronisations in flight, mean over the window.
    pub(super) in_flight: f64,
    /// The direction with the largest total latency.
    pub(super) direction: Direction,
    /// Mean latency over all directions, in nanoseconds.
    pub(super) latency_ns: f64,
    /// Share of synchronisations in the total latency.
    pub(super) syncing: f64,
    /// The lowest devices under its files.
    pub(super) disks: Option<DiskIndicators>,
}

/// Indicators of the lowest devices under a job in its window, summed.
pub(super) struct DiskIndicators {
    /// Bytes moved by the devices in the part's main direction, over the bytes the part moved.
    pub(super) moved: f64,
    /// I/Os in flight at the devices, mean over the window: at the lowest devices, or at the topmost
    /// ones where more wait there.
    pub(super) in_flight: f64,
    /// Share of the time in which the busiest of the lowest devices had I/O in flight, 0 to 1.
    pub(super) busy: f64,
    /// I/Os in flight of all jobs on the devices, mean over the window.
    pub(super) asked_in_flight: f64,
    /// Other parts used the devices in the window.
    pub(super) shared: bool,
    /// Share of the time in which the topmost devices were idle while the workers slept: what is above
    /// the devices held their I/Os back.
    pub(super) held: f64,
    /// Share of the latency spent at the devices, as the kernel timed each I/O (`--layers`).
    pub(super) timed: Option<f64>,
}

impl DiskIndicators {
    /// Share of the latency spent at the devices: as the kernel timed it, else by Little's law.
    pub(super) fn share(&self) -> f64 {
        match (self.timed, self.asked_in_flight > 0.0) {
            (Some(timed), _) => timed,
            (None, true) => (self.in_flight / self.asked_in_flight).min(1.0),
            (None, false) => 0.0,
        }
    }

    /// Share of the I/Os in flight at the devices that none of the jobs asked for.
    pub(super) fn foreign_share(&self) -> f64 {
        match self.in_flight > 0.0 {
            true => (1.0 - self.asked_in_flight / self.in_flight).max(0.0),
            false => 0.0,
        }
    }
}

impl Indicators {
    /// The indicators of a part.
    pub(super) fn from_part(case: &Case, part: &Part) -> Indicators {
        let window = part.length();
        let share = |pick: fn(&JobRecord) -> u64| -> f64 {
            let ran: u64 = part.workers.iter().map(|job| (job.ended - job.started).0).sum();
            let picked: u64 = part.workers.iter().map(|job| pick(job)).sum();
            if ran == 0 { 0.0 } else { picked as f64 / ran as f64 }
        };
        let sum =
            |d: Direction| part.workers.iter().map(|job| total_latency_ns(job, d)).sum::<u64>();
        let syncs: u64 = part.workers.iter().map(|job| job.sync.latency.sum()).sum();
        let direction = Direction::ALL
            .into_iter()
            .max_by_key(|d| {
                let own = sum(*d) + if *d == Direction::Write { syncs } else { 0 };
                (own, part.bytes(*d))
            })
            .unwrap_or(Direction::Read);
        let total = Direction::ALL.into_iter().map(sum).sum::<u64>() + syncs;
        Indicators {
            ios: part.all_ios(),
            window,
            on_cpu: share(|job| job.cpu.user.0 + job.cpu.system.0),
            user: share(|job| job.cpu.user.0),
            run_delay: share(|job| job.cpu.run_delay.unwrap_or_default().0),
            stolen_per_run: case.stolen_per_run(part.from, part.to),
            in_flight: in_flight(part, part.from, part.to),
            direction,
            latency_ns: part.mean_latency().unwrap_or(0.0),
            syncing: syncs as f64 / total.max(1) as f64,
            disks: disks(case, part, direction),
        }
    }

    /// Share of the workers' time in which they ran or waited for a CPU. Time stolen from a running
    /// thread is in neither of its times, so it is added.
    pub(super) fn wanted_cpu(&self) -> f64 {
        self.on_cpu * (1.0 + self.stolen_per_run) + self.run_delay
    }

    /// Share of the workers' time in which they slept.
    pub(super) fn waiting(&self) -> f64 {
        (1.0 - self.wanted_cpu()).max(0.0)
    }

    /// Share of the latency spent at the devices; `None` without sampled devices.
    pub(super) fn at_device(&self) -> Option<f64> {
        self.disks.as_ref().map(DiskIndicators::share)
    }

    /// Share of the main direction's bytes that the devices moved; `None` if other parts used them.
    pub(super) fn moved_by_device(&self) -> Option<f64> {
        self.disks.as_ref().filter(|disks| !disks.shared).map(|disks| disks.moved)
    }
}

/// Total completion latency of a worker in a direction, in nanoseconds.
fn total_latency_ns(job: &JobRecord, direction: Direction) -> u64 {
    job.results[direction].latency.clat.as_ref().map_or(0, |histogram| histogram.sum())
}

/// I/Os and synchronisations of a part in flight, mean over a window.
fn in_flight(part: &Part, from: Nanos, to: Nanos) -> f64 {
    let length = (to - from).0.max(1) as f64;
    let latency_within = |job: &&JobRecord| {
        let own = (job.ended - job.started).0.max(1) as f64;
        let within = common_ns(&[(job.started.0, job.ended.0), (from.0, to.0)]) as f64;
        let latencies: u64 = Direction::ALL.into_iter().map(|d| total_latency_ns(job, d)).sum();
        // Without recorded latencies, the mean depth gives the same integral.
        let during = match latencies {
            0 => job.depth.achieved_mean * own,
            _ => latencies as f64,
        };
        (during + job.sync.latency.sum() as f64) * within / own
    };
    let all = part.workers.iter().map(latency_within).sum::<f64>() / length;
    if part.submits_one_by_one() { all.min(part.workers.len() as f64) } else { all }
}

fn disks(case: &Case, part: &Part, direction: Direction) -> Option<DiskIndicators> {
    // The block layer does not count these commands.
    if part.has_engine(Engine::sends_commands) {
        return None;
    }
    let disks = case.disks_of(part);
    let uses: Option<Vec<_>> = disks.iter().map(|d| case.device_use(part, &d.name)).collect();
    let uses = uses.filter(|uses| !uses.is_empty())?;
    let users: Vec<&Part> = case
        .parts
        .iter()
        .filter(|other| disks.iter().any(|disk| other.devices.contains(&disk.name.as_str())))
        .filter(|other| other.from < part.to && part.from < other.to)
        .collect();
    let moved: u64 = uses
        .iter()
        .map(|device| match direction {
            Direction::Read => device.counters.read_bytes,
            Direction::Write => device.counters.write_bytes,
            Direction::Trim => device.counters.discard_bytes,
        })
        .sum();
    let window_ms = part.length().0.max(1) as f64 / 1e6;
    let queued = |device: &DeviceUse| queued_ms(&device.counters) / window_ms;
    let at_top = case.top_devices_of(part).into_iter().filter_map(|d| case.device_use(part, d));
    let at_top: f64 = at_top.map(|device| queued(&device)).sum();
    let jobs = part.workers.iter().map(|worker| worker.name.as_str());
    let layers = case.record.evidence.layers.as_ref();
    // Synchronisations are timed by the job alone.
    let timed = layers.filter(|_| part.workers.iter().all(|job| job.sync.latency.is_empty()));
    let timed = timed.and_then(|layers| timed_disk_share(layers, jobs));
    let ranks = users_per_own(case);
    let busy = uses.iter().map(|device| device.counters.busy_ms as f64 / window_ms);
    Some(DiskIndicators {
        moved: moved as f64 / ranks / part.bytes(direction).max(1) as f64,
        in_flight: uses.iter().map(queued).sum::<f64>().max(at_top),
        busy: busy.fold(0.0, f64::max).min(1.0),
        asked_in_flight: ranks
            * users.iter().map(|other| in_flight(other, part.from, part.to)).sum::<f64>(),
        shared: users.len() > 1,
        held: stalled_share(case, part),
        timed,
    })
}

/// Share of a part's window between samples in which the topmost devices had and completed no I/O and the
/// workers slept.
fn stalled_share(case: &Case, part: &Part) -> f64 {
    let top = case.top_devices_of(part);
    let is_idle = |before: &Sample, after: &Sample, name: &str| {
        let counters = before.disks.get(name).zip(after.disks.get(name));
        counters.is_some_and(|(before, after)| {
            let did = after.since(before);
            did.queue_ms == 0 && did.read_ios + did.write_ios + did.discard_ios == 0
        })
    };
    let ran = |before: &Sample, after: &Sample| -> u64 {
        let run_ns = |sample: &Sample, job: &JobRecord| Some(sample.workers.get(&job.tid)?.run_ns);
        let of_job =
            |job: &&JobRecord| Some(run_ns(after, job)?.saturating_sub(run_ns(before, job)?));
        part.workers.iter().filter_map(of_job).sum()
    };
    let samples: Vec<&Sample> = case.samples(part.from, part.to).collect();
    let is_held = |pair: &&[&Sample]| {
        let workers_ns = (pair[1].at - pair[0].at).0 * part.workers.len() as u64;
        let idle = top.iter().all(|name| is_idle(pair[0], pair[1], name));
        idle && (ran(pair[0], pair[1]) as f64) < ASLEEP * workers_ns as f64
    };
    let held: u64 =
        samples.windows(2).filter(is_held).map(|pair| (pair[1].at - pair[0].at).0).sum();
    held as f64 / part.length().0.max(1) as f64
}

/// What this rank and those beside it moved, as a multiple of what this one moved: they ask the same of the
/// same disks.
fn users_per_own(case: &Case) -> f64 {
    let Some(beside) = case.record.evidence.ranks_beside else { return 1.0 };
    let own: u64 = case
        .parts
        .iter()
        .map(|part| part.bytes(Direction::Read) + part.bytes(Direction::Write))
        .sum();
    1.0 + (beside.read.0 + beside.written.0) as f64 / own.max(1) as f64
}

/// I/Os in flight at a device, integrated over time, in milliseconds. The kernel counts requests; merges
/// show how many I/Os a request consists of.
fn queued_ms(counters: &DiskSample) -> f64 {
    let requests = counters.read_ios + counters.write_ios;
    let merged = counters.read_merges + counters.write_merges;
    counters.queue_ms as f64 * (1.0 + merged as f64 / requests.max(1) as f64)
}
