//! Times the layers of a run's I/Os in the kernel, and adds what only the engine knows: when the I/Os
//! began and ended.

mod history;

pub(crate) use history::HistoryReader;

use layers::{Collected, Collector, Path, Settings, Unavailable, WatchedDevice, monotonic_ns};
use live::run::LayerSums;
use plan::Plan;
use record::{Direction, Facts, JobRecord, Layers, Nanos, StampSums};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

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
}

/// Times layers until it is finished.
pub(crate) struct LayerTimer {
    timing: Mutex<Result<Timing, Unavailable>>,
    /// Names of the jobs, by group.
    groups: Vec<String>,
    /// Disks below other disks of the run.
    members: Vec<String>,
}

impl LayerTimer {
    /// Loads the programs. The workers of the plan then use the kernel's clock, and add up their
    /// stamps. A failure is kept until the end.
    pub fn start(plan: &mut Plan, facts: &Facts) -> LayerTimer {
        let device = |disk: &plan::DiskWatch| {
            let number = facts.devices.get(&disk.name)?.dev.clone();
            Some(WatchedDevice { name: disk.name.clone(), number })
        };
        let devices = plan.disks.iter().filter_map(device).collect();
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
        let timing = Collector::start(Settings { devices, groups: groups.len() });
        let timing = timing.map(|collector| {
            if !collector.keeps_groups_apart(groups.len()) {
                groups = vec![String::new()];
                workers.iter_mut().for_each(|worker| worker.group = 0);
            }
            plan.clocksource = Some("clock_gettime".into());
            plan.workers.iter_mut().for_each(|worker| worker.measuring.stamp_sums = true);
            Timing { collector, workers }
        });
        let members = plan.disks.iter().flat_map(|disk| disk.members.clone()).collect();
        LayerTimer { timing: Mutex::new(timing), groups, members }
    }

    /// The workers with these thread ids are about to begin their I/O.
    pub fn phase_starts(&self, tids: &[u32]) {
        let mut timing = self.timing.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(Timing { collector, workers }) = &mut *timing else { return };
        let mut added = collector.attach();
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
    pub fn follow(self: &Arc<Self>, origin: Instant) -> Option<HistoryReader> {
        let timer = Arc::clone(self);
        HistoryReader::start(move || timer.paths(), origin)
    }

    /// Sums of the I/Os so far.
    pub fn so_far(&self) -> Vec<LayerSums> {
        let sums = |Path { group, path, .. }: Path| LayerSums {
            job: self.groups[group].clone(),
            spans: path.spans(),
            device: path.device_name,
            direction: path.direction,
            ios: path.ios,
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
        let history = reader.map(HistoryReader::finish).unwrap_or_default();
        let LayerTimer { timing, groups, members } = self;
        let mut timing = timing.lock().unwrap_or_else(PoisonError::into_inner);
        let Timing { collector, .. } = std::mem::replace(&mut *timing, Err(Unavailable::Ended))?;
        let Collected { mut paths, others, lost, unseen, metadata, unnamed } =
            collector.finish()?;
        history.finish(&mut paths);
        let origin = monotonic_ns().saturating_sub(origin.elapsed().as_nanos() as u64);
        for Path { group, path, .. } in &mut paths {
            path.job.clone_from(&groups[*group]);
            path.is_member = members.contains(&path.device_name);
            for io in &mut path.slowest {
                io.at = Nanos(io.at.0.saturating_sub(origin));
            }
        }
        for (group, name) in groups.iter().enumerate() {
            for direction in Direction::ALL {
                let of_group = jobs.iter().filter(|job| name.is_empty() || job.name == *name);
                let sums = of_group.filter_map(|job| Some(job.stamp_sums?[direction]));
                let is_ours = |path: &&mut Path| {
                    path.group == group
                        && path.path.direction == Some(direction)
                        && !path.path.is_member
                };
                let mut ours: Vec<&mut Path> = paths.iter_mut().filter(is_ours).collect();
                add_engine_times(&mut ours, sums.fold(StampSums::default(), add), origin);
            }
        }
        let paths = paths.into_iter().map(|path| path.path).collect();
        Ok(Layers { paths, others, lost, unseen, metadata, unnamed })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use record::LayerPath;

    fn path(ios: u64, entered: u64, left: u64) -> Path {
        let path = LayerPath { ios, ..LayerPath::default() };
        Path { group: 0, path, entered, left }
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
