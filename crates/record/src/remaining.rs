//! The remaining time of a run.

use crate::{Nanos, Snapshot, WorkerState, WorkerStatus};
use std::collections::BTreeMap;

impl Snapshot {
    /// Seconds until the last worker ends; `None` if unknown. Workers of a phase run at the same time,
    /// phases one after the other.
    pub fn remaining_seconds(&self) -> Option<f64> {
        let mut phases: BTreeMap<u32, f64> = BTreeMap::new();
        let speed = mean_speed(self);
        for worker in &self.workers {
            let seconds = remaining(worker, self, speed)?;
            let phase = phases.entry(worker.phase).or_default();
            *phase = phase.max(seconds);
        }
        Some(phases.values().sum())
    }
}

/// Seconds until `worker` ends.
fn remaining(worker: &WorkerStatus, now: &Snapshot, speed: Option<f64>) -> Option<f64> {
    use WorkerState::*;
    if matches!(worker.state, Finishing | Exited | Reaped | Failed | Killed) {
        return Some(0.0);
    }
    let Some(started) = worker.started else {
        let delay = (worker.start_delay - phase_age(worker.phase, now)).seconds();
        return planned(worker, speed).map(|seconds| delay + seconds);
    };
    let elapsed = (now.at - started).seconds();
    let by_time = worker
        .runtime
        .map(|runtime| (worker.ramp.seconds() + runtime.seconds() - elapsed).max(0.0));
    let by_bytes = || {
        let done: u64 = worker.bytes.iter().map(|(_, bytes)| *bytes).sum();
        let own = (done > 0 && elapsed > 0.0).then(|| done as f64 / elapsed);
        let left = worker.goal_bytes?.saturating_sub(done) as f64;
        Some(left / own.or(worker.rate_bytes.map(|rate| rate as f64)).or(speed)?)
    };
    sooner(by_time, if worker.time_based { None } else { by_bytes() })
}

/// Seconds that a worker will take that has not started.
fn planned(worker: &WorkerStatus, speed: Option<f64>) -> Option<f64> {
    let by_time = worker.runtime.map(|runtime| runtime.seconds() + worker.ramp.seconds());
    let by_bytes = || {
        let speed = worker.rate_bytes.map(|rate| rate as f64).or(speed)?;
        Some(worker.goal_bytes? as f64 / speed)
    };
    sooner(by_time, if worker.time_based { None } else { by_bytes() })
}

fn sooner(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The mean bandwidth of the running workers, expected of those that have not started.
fn mean_speed(now: &Snapshot) -> Option<f64> {
    let (mut bytes, mut seconds) = (0, 0.0);
    let running = |w: &&WorkerStatus| {
        matches!(w.state, WorkerState::Running | WorkerState::Ramp | WorkerState::Fsyncing)
    };
    for worker in now.workers.iter().filter(running) {
        if let Some(started) = worker.started {
            bytes += worker.bytes.iter().map(|(_, bytes)| *bytes).sum::<u64>();
            seconds += (now.at - started).seconds();
        }
    }
    (bytes > 0 && seconds > 0.0).then(|| bytes as f64 / seconds)
}

/// The time since a phase began; 0 if none of its workers has started.
fn phase_age(phase: u32, now: &Snapshot) -> Nanos {
    let begin = now
        .workers
        .iter()
        .filter(|worker| worker.phase == phase)
        .filter_map(|worker| worker.started.map(|started| started - worker.start_delay))
        .min();
    // The first phase begins with the run.
    match (begin, phase) {
        (Some(begin), _) => now.at - begin,
        (None, 0) => now.at,
        (None, _) => Nanos(0),
    }
}
