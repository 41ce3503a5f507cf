//! Times the layers of a run's I/Os in the kernel, and adds what only the engine knows: when the I/Os
//! began and ended.

mod history;
mod rate;

pub(crate) use history::HistoryReader;
use history::TimedPaths;

use engine::Watcher;
use host::Host;
use job::LayerTiming;
use layers::{
    Collected, Collector, Others, Path, Scope, Settings, Unavailable, WatchedDevice, measure_cost,
    monotonic_ns,
};
use plan::{Pattern, Plan};
use rate::RateProbe;
use record::{
    Direction, Facts, JobRecord, LayerSums, Layers, Nanos, OtherRequests, PerDirection, StampSums,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Loading the programs takes a fifth of a second; shorter runs do so only if they are asked to.
const RUNTIME_MIN: Nanos = Nanos(3_000_000_000);

/// How long the kernel measures what the programs cost.
const COST_MEASURED: Duration = Duration::from_millis(50);

/// What a worker had done when timing began.
struct JobProgress {
    group: usize,
    ios: PerDirection<u64>,
    /// Whether its results count just these.
    is_exact: bool,
}

/// A worker of the run.
struct TimedWorker {
    group: usize,
    ramp: Nanos,
    added: bool,
}

/// What changes while the run goes on.
struct Timing {
    collector: Collector,
    workers: Vec<TimedWorker>,
    stage: Stage,
}

/// How far timing is.
enum Stage {
    /// From the next phase on, I/Os are timed.
    Asked,
    /// Nobody asked; the rate of the I/Os decides.
    Undecided(RateProbe),
    /// I/Os are timed.
    Timed(Since),
}

/// Since when I/Os are timed.
enum Since {
    FirstIo,
    /// A moment in the run, and what the jobs had done by then.
    Later(Instant, Vec<JobProgress>),
}

/// Times layers until it is finished.
pub(crate) struct LayerTimer {
    timing: Mutex<Result<Timing, Unavailable>>,
    host: Host,
    /// Names of the jobs, by group.
    groups: Vec<String>,
    /// Kernel names of the disks.
    disks: Vec<String>,
    /// Disks below other disks of the run.
    members: Vec<String>,
}

impl LayerTimer {
    /// Loads the programs; `None` if nobody asked for it and the run is too short for it. If somebody did, the
    /// workers of the plan use the kernel's clock, and add up their stamps. A failure is kept until the
    /// end.
    pub fn start(
        plan: &mut Plan,
        facts: &Facts,
        host: &Host,
        when: LayerTiming,
    ) -> Option<LayerTimer> {
        let runtimes = plan.workers.iter().filter_map(|worker| worker.stop.runtime);
        let stage = match when {
            LayerTiming::Off => return None,
            LayerTiming::Full => Stage::Asked,
            LayerTiming::IfCheap if runtimes.max().is_some_and(|time| time >= RUNTIME_MIN) => {
                Stage::Undecided(RateProbe::default())
            }
            LayerTiming::IfCheap => return None,
        };
        let device = |disk: &plan::DiskWatch| {
            let number = facts.devices.get(&disk.name)?.dev.clone();
            Some(WatchedDevice { name: disk.name.clone(), number })
        };
        let devices: Vec<WatchedDevice> = plan.disks.iter().filter_map(device).collect();
        if devices.is_empty() && when == LayerTiming::IfCheap {
            return None;
        }
        let disks = devices.iter().map(|device| device.name.clone()).collect();
        let (mut groups, mut workers) = grouped(plan);
        let timing = Collector::start(Settings {
            devices,
            scope: Scope::Groups(groups.len()),
            sizes_apart: plan.workers.iter().any(|worker| has_several_sizes(&worker.pattern)),
        });
        let timing = timing.map(|collector| {
            if !collector.keeps_groups_apart(groups.len()) {
                groups = vec![String::new()];
                workers.iter_mut().for_each(|worker| worker.group = 0);
            }
            if when == LayerTiming::Full {
                plan.clocksource = Some("clock_gettime".into());
                plan.workers.iter_mut().for_each(|worker| worker.measuring.stamp_sums = true);
            }
            Timing { collector, workers, stage }
        });
        let members = plan.disks.iter().flat_map(|disk| disk.members.clone()).collect();
        Some(LayerTimer { timing: Mutex::new(timing), host: host.clone(), groups, disks, members })
    }

    /// The workers with these thread ids are about to begin their I/O.
    pub fn phase_starts(&self, tids: &[u32]) {
        let mut timing = self.timing.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(Timing { collector, workers, stage }) = &mut *timing else { return };
        let mut added = Ok(());
        match stage {
            Stage::Asked => {
                added = collector.attach();
                *stage = Stage::Timed(Since::FirstIo);
            }
            Stage::Undecided(probe) => probe.start(&self.host, &self.disks),
            Stage::Timed(_) => {}
        }
        let now = monotonic_ns();
        for (worker, tid) in workers.iter_mut().zip(tids).filter(|(_, tid)| **tid != 0) {
            if !std::mem::replace(&mut worker.added, true) {
                added = added.and(collector.add_worker(*tid, worker.group, now + worker.ramp.0));
            }
        }
        if let Err(error) = added {
            *timing = Err(error);
        }
    }

    /// Begins a step of the run's history.
    fn begin_step(&self, number: u64) {
        let mut timing = self.timing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Timing { collector, .. }) = &mut *timing {
            // What fails here fails again at the end, where it is reported.
            let _ = collector.begin_step(number);
        }
    }

    /// Whether it is known that I/Os are timed, or that they are not. Where nobody asked for it, they are
    /// timed from now on if their rate is known and allows it.
    fn is_decided(&self, watcher: &Watcher) -> bool {
        let mut timing = self.timing.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(Timing { collector, workers, stage }) = &mut *timing else { return true };
        let Stage::Undecided(probe) = stage else { return true };
        let Some(rate) = probe.rate(&self.host, &self.disks) else { return false };
        let attached = rate.check(watcher.tids().len()).and_then(|()| collector.attach());
        let elapsed = Nanos(rate.elapsed.as_nanos() as u64);
        let progress = workers.iter().zip(watcher.ios()).map(|(worker, ios)| JobProgress {
            group: worker.group,
            // I/Os of the ramp count nowhere.
            ios: if worker.ramp > elapsed { PerDirection::default() } else { ios },
            is_exact: worker.ramp.0 == 0 || worker.ramp > elapsed,
        });
        match attached {
            Ok(()) => *stage = Stage::Timed(Since::Later(Instant::now(), progress.collect())),
            Err(error) => *timing = Err(error),
        }
        true
    }

    /// What the programs cost each I/O in nanoseconds, over a moment; `None` if that is not known.
    fn cost_ns(&self) -> Option<f64> {
        let cost = || {
            let timing = self.timing.lock().unwrap_or_else(PoisonError::into_inner);
            timing.as_ref().ok()?.collector.cost()
        };
        let _measuring = measure_cost()?;
        let before = cost()?;
        std::thread::sleep(COST_MEASURED);
        let after = cost()?;
        let ios = after.ios - before.ios;
        (ios > 0).then(|| (after.time - before.time).as_nanos() as f64 / ios as f64)
    }

    /// The I/Os so far on disks that are below no other one; empty if nothing is timed.
    fn paths(&self) -> Vec<Path> {
        let timing = self.timing.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(Timing { collector, .. }) = &*timing else { return Vec::new() };
        // What fails here fails again at the end, where it is reported.
        let mut paths = collector.paths().unwrap_or_default();
        paths.retain(|path| !self.members.contains(&path.path.device_name));
        paths
    }

    /// Reads the times over the run until the reader is given to [`Self::finish`]; `None` if there can be
    /// no thread.
    pub fn follow(self: &Arc<Self>, origin: Instant, watcher: Watcher) -> Option<HistoryReader> {
        HistoryReader::start(Followed { timer: Arc::clone(self), watcher }, origin)
    }

    /// Sums of the I/Os so far.
    pub fn so_far(&self) -> Vec<LayerSums> {
        let sums = |path: Path| {
            let job = self.groups[path.group].clone();
            path.into_sums(job)
        };
        self.paths().into_iter().map(sums).collect()
    }

    /// Ends the programs. `origin` is the moment that the stamps of `jobs` count from; `reader` has
    /// followed the run.
    pub fn finish(
        &self,
        jobs: &[JobRecord],
        origin: Instant,
        reader: Option<HistoryReader>,
    ) -> Result<Layers, Unavailable> {
        let (history, cost_ns) = reader.map(HistoryReader::finish).unwrap_or_default();
        let mut timing = self.timing.lock().unwrap_or_else(PoisonError::into_inner);
        let Timing { collector, stage, .. } =
            std::mem::replace(&mut *timing, Err(Unavailable::Ended))?;
        let since = match stage {
            Stage::Asked => Since::FirstIo,
            Stage::Undecided(_) => return Err(Unavailable::TooShort),
            Stage::Timed(since) => since,
        };
        let Collected { mut paths, others, journals, flushes, lost, unseen, metadata, unnamed } =
            collector.finish()?;
        history.finish(&mut paths);
        let origin_ns = monotonic_ns().saturating_sub(origin.elapsed().as_nanos() as u64);
        for Path { group, path, .. } in &mut paths {
            path.job.clone_from(&self.groups[*group]);
            path.is_member = self.members.contains(&path.device_name);
            for io in path.slowest.iter_mut().chain(&mut path.slowest_of_steps) {
                io.at = Nanos(io.at.0.saturating_sub(origin_ns));
            }
        }
        self.add_latencies(&mut paths, jobs, &since, origin_ns);
        let begun = match &since {
            Since::FirstIo => Nanos(0),
            Since::Later(at, _) => Nanos(at.saturating_duration_since(origin).as_nanos() as u64),
        };
        Ok(Layers {
            is_default: matches!(since, Since::Later(..)),
            since: begun,
            cost_ns,
            paths: paths.into_iter().map(|path| path.path).collect(),
            others: self.named(others),
            journals,
            flushes,
            lost,
            // What was under way when timing began is no gap.
            unseen: if begun.0 > 0 { 0 } else { unseen },
            metadata,
            unnamed,
        })
    }

    /// Adds to each path what only the engine knows: the latency of its job, and the times around the block
    /// layer.
    fn add_latencies(&self, paths: &mut [Path], jobs: &[JobRecord], since: &Since, origin: u64) {
        for (group, name) in self.groups.iter().enumerate() {
            let of_group = || jobs.iter().filter(|job| name.is_empty() || job.name == *name);
            for direction in Direction::ALL {
                let is_ours = |path: &&mut Path| {
                    path.group == group
                        && path.path.direction == Some(direction)
                        && !path.path.is_member
                };
                let mut ours: Vec<&mut Path> = paths.iter_mut().filter(is_ours).collect();
                match since {
                    Since::FirstIo => {
                        let sums = of_group().filter_map(|job| Some(job.stamp_sums?[direction]));
                        add_engine_times(&mut ours, sums.fold(StampSums::default(), add), origin);
                    }
                    Since::Later(_, progress) => {
                        let before = progress.iter().filter(|job| job.group == group);
                        add_mean_latency(&mut ours, of_group(), before, direction);
                    }
                }
            }
        }
    }

    /// Requests of others with the paths of their cgroups.
    fn named(&self, others: Vec<Others>) -> Vec<OtherRequests> {
        let cgroups = if others.is_empty() { BTreeMap::new() } else { self.host.io_cgroups() };
        others.into_iter().map(|other| other.with_cgroup(&cgroups)).collect()
    }
}

/// A timer whose times are read over the run.
struct Followed {
    timer: Arc<LayerTimer>,
    watcher: Watcher,
}

impl TimedPaths for Followed {
    fn is_decided(&self) -> bool {
        self.timer.is_decided(&self.watcher)
    }

    fn begin_step(&self, number: u64) {
        self.timer.begin_step(number);
    }

    fn paths(&self) -> Vec<Path> {
        self.timer.paths()
    }

    fn cost_ns(&self) -> Option<f64> {
        self.timer.cost_ns()
    }
}

/// Whether the I/Os of a pattern differ in size.
fn has_several_sizes(pattern: &Pattern) -> bool {
    let blocks = Direction::ALL.map(|direction| &pattern.blocks[direction]);
    blocks.into_iter().any(|blocks| blocks.min() != blocks.max())
}

/// The names of the jobs, and the workers of each.
fn grouped(plan: &Plan) -> (Vec<String>, Vec<TimedWorker>) {
    let mut groups: Vec<String> = Vec::new();
    let mut workers = Vec::new();
    for worker in &plan.workers {
        let known = groups.iter().position(|name| *name == worker.name);
        let group = known.unwrap_or_else(|| {
            groups.push(worker.name.clone());
            groups.len() - 1
        });
        workers.push(TimedWorker { group, ramp: worker.stop.ramp, added: false });
    }
    (groups, workers)
}

fn add(a: StampSums, b: StampSums) -> StampSums {
    StampSums {
        ios: a.ios + b.ios,
        started: a.started.wrapping_add(b.started),
        ended: a.ended.wrapping_add(b.ended),
    }
}

/// Adds the mean latency of a job to its path in one direction, and the mean times before and after the
/// block layer where each of its I/Os is one I/O there. I/Os on several disks have no common path.
fn add_engine_times(paths: &mut [&mut Path], job: StampSums, origin: u64) {
    let [Path { path, entered, left, .. }] = paths else { return };
    if job.ios == 0 {
        return;
    }
    let mean = |sum: u64| sum.cast_signed() as f64 / job.ios as f64;
    let shift = origin.wrapping_mul(job.ios);
    let before = entered.wrapping_sub(job.started).wrapping_sub(shift);
    let after = job.ended.wrapping_add(shift).wrapping_sub(*left);
    let (before, after) = (mean(before), mean(after));
    let latency = mean(job.ended.wrapping_sub(job.started));
    // Equal numbers of different I/Os give sums that cannot be.
    let possible = [before, after].iter().all(|time| (0.0..=latency).contains(time));
    let exact = path.ios == job.ios && path.parts == 0 && possible;
    path.job_ios = job.ios;
    path.job_latency_ns = Some(latency);
    path.submission_ns = exact.then_some(before);
    path.completion_ns = exact.then_some(after);
}

/// Adds the mean latency of a job to its path in one direction, and the number of its I/Os since timing
/// began, where that is known. I/Os on several disks have no common path.
fn add_mean_latency<'a>(
    paths: &mut [&mut Path],
    jobs: impl Iterator<Item = &'a JobRecord>,
    before: impl Iterator<Item = &'a JobProgress>,
    direction: Direction,
) {
    let [Path { path, .. }] = paths else { return };
    let (mut done, mut is_exact) = (0, true);
    for job in before {
        done += job.ios[direction];
        is_exact &= job.is_exact;
    }
    let (mut ios, mut count, mut sum) = (0, 0, 0);
    for job in jobs {
        let result = &job.results[direction];
        ios += result.ios;
        if let Some(latency) = result.latency.lat.as_ref().or(result.latency.clat.as_ref()) {
            count += latency.count();
            sum += latency.sum();
        }
    }
    if is_exact && count > 0 {
        path.job_ios = ios.saturating_sub(done);
        path.job_latency_ns = Some(sum as f64 / count as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::LayerPath;

    fn path(ios: u64, entered: u64, left: u64) -> Path {
        let path = LayerPath { ios, ..LayerPath::default() };
        Path { group: 0, path, entered, left, slowest_of_steps: BTreeMap::new() }
    }

    #[test]
    fn times_around_the_block_layer_follow_from_sums() {
        // Two I/Os from 10 to 110 and from 20 to 140 after an origin of 1000.
        let job = StampSums { ios: 2, started: 30, ended: 250 };
        let mut both = path(2, 1013 + 1025, 1100 + 1134);
        add_engine_times(&mut [&mut both], job, 1000);
        let LayerPath { job_latency_ns, submission_ns, completion_ns, .. } = both.path;
        assert_eq!((job_latency_ns, submission_ns), (Some(110.0), Some(4.0)));
        assert_eq!(completion_ns, Some(8.0));
        let mut one = path(1, 1013, 1100);
        add_engine_times(&mut [&mut one], job, 1000);
        assert_eq!((one.path.job_latency_ns, one.path.submission_ns), (Some(110.0), None));
        let (mut here, mut there) = (path(1, 1013, 1100), path(1, 1025, 1134));
        add_engine_times(&mut [&mut here, &mut there], job, 1000);
        assert_eq!((here.path.job_latency_ns, there.path.job_latency_ns), (None, None));
    }
}
