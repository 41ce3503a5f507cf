//! Live figures: each worker writes its own cache lines, anyone may read. Single-writer relaxed
//! atomics, so keeping them costs the worker two plain additions an I/O.

use crate::trace::Trace;
use record::{Direction, Nanos, PerDirection, WorkerState, WorkerStatus};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Live figures of one worker. Aligned so that no two workers share a cache line, nor the pair of
/// lines a processor fetches together.
#[repr(align(128))]
#[derive(Default)]
pub struct LiveWorker {
    ios: [AtomicU64; 3],
    bytes: [AtomicU64; 3],
    state: AtomicU8,
    tid: AtomicU32,
    open_files: AtomicU32,
    // Nanoseconds from the origin, plus one; 0: not yet.
    started: AtomicU64,
    // When the measured window began, plus one; 0: not yet.
    running_since: AtomicU64,
    // Sum of completion latencies, for those who are watched by it.
    latency: AtomicU64,
    /// This worker is to end: another's `exitall`, or its own deadline.
    stop: AtomicBool,
    /// The same, for those who wait outside of the loop and need one of their own.
    told: Arc<AtomicBool>,
    /// Where changes of state are told, when they are traced.
    trace: OnceLock<Arc<Trace>>,
}

/// How far a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// When its measured window began, in nanoseconds from the origin; `None`: not yet.
    pub running_since: Option<u64>,
    /// It does no more I/O, or is asked to end.
    pub is_over: bool,
}

const STATES: [WorkerState; 13] = [
    WorkerState::NotStarted,
    WorkerState::Created,
    WorkerState::Initialized,
    WorkerState::PreReading,
    WorkerState::Ramp,
    WorkerState::Running,
    WorkerState::Fsyncing,
    WorkerState::Verifying,
    WorkerState::Finishing,
    WorkerState::Exited,
    WorkerState::Reaped,
    WorkerState::Failed,
    WorkerState::Killed,
];

#[inline(always)]
fn add(counter: &AtomicU64, amount: u64) {
    // Only the worker itself writes, so a plain load and store cannot lose an update.
    counter.store(counter.load(Ordering::Relaxed) + amount, Ordering::Relaxed);
}

impl LiveWorker {
    /// Counts one completed I/O.
    #[inline(always)]
    pub fn count(&self, direction: Direction, bytes: u64) {
        add(&self.ios[direction as usize], 1);
        add(&self.bytes[direction as usize], bytes);
    }

    /// Counts the bytes of an I/O that moved only a part.
    pub fn count_part(&self, direction: Direction, bytes: u64) {
        add(&self.bytes[direction as usize], bytes);
    }

    /// I/Os completed so far in one direction, ramp included.
    pub fn ios(&self, direction: Direction) -> u64 {
        self.ios[direction as usize].load(Ordering::Relaxed)
    }

    /// Bytes moved so far in one direction, ramp included.
    pub fn bytes(&self, direction: Direction) -> u64 {
        self.bytes[direction as usize].load(Ordering::Relaxed)
    }

    /// Whether it is asked to stop, for one who outlives the borrow.
    pub fn told_to_stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.told)
    }

    /// Says where the worker is.
    pub fn set_state(&self, state: WorkerState) {
        let before = self.state.swap(state as u8, Ordering::Relaxed);
        if let Some(trace) = self.trace.get() {
            trace.state(self.tid(), STATES[usize::from(before)], state);
        }
    }

    /// From now on changes of state are told.
    pub fn tell(&self, trace: &Arc<Trace>) {
        // Told once; a second time would be to the same.
        let _ = self.trace.set(Arc::clone(trace));
    }

    /// Where the worker is.
    pub fn state(&self) -> WorkerState {
        STATES.get(usize::from(self.state.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// Says which thread the worker is.
    pub fn set_tid(&self, tid: u32) {
        self.tid.store(tid, Ordering::Relaxed);
    }

    /// The worker's thread while it lives; 0 before and after.
    pub fn tid(&self) -> u32 {
        self.tid.load(Ordering::Relaxed)
    }

    /// Says how many files are open.
    pub fn set_open_files(&self, count: u32) {
        self.open_files.store(count, Ordering::Relaxed);
    }

    /// Says when the first I/O was issued, in nanoseconds from the origin.
    pub fn set_started(&self, at: u64) {
        self.started.store(at + 1, Ordering::Relaxed);
    }

    /// Says when the measured window began, in nanoseconds from the origin.
    pub fn set_running_since(&self, at: u64) {
        self.running_since.store(at + 1, Ordering::Relaxed);
    }

    /// Adds the completion latency of an I/O, in nanoseconds.
    pub fn add_latency(&self, nanoseconds: u64) {
        add(&self.latency, nanoseconds);
    }

    /// Sum of the completion latencies that were added, in nanoseconds.
    pub fn latency(&self) -> u64 {
        self.latency.load(Ordering::Relaxed)
    }

    /// How far the worker is.
    pub fn progress(&self) -> Progress {
        let state = self.state();
        Progress {
            running_since: self.running_since.load(Ordering::Relaxed).checked_sub(1),
            is_over: state as u8 > WorkerState::Verifying as u8 || self.asked_to_stop(),
        }
    }

    /// Asks the worker to end.
    pub fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.told.store(true, Ordering::Relaxed);
    }

    /// Whether the worker was asked to end.
    #[inline(always)]
    pub fn asked_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// A copy of the live figures, upon what the plan says of the worker.
    pub fn status(&self, plan: &plan::Worker) -> WorkerStatus {
        let load = |counters: &[AtomicU64; 3]| {
            PerDirection::from_fn(|d| counters[d as usize].load(Ordering::Relaxed))
        };
        WorkerStatus {
            state: self.state(),
            open_files: self.open_files.load(Ordering::Relaxed),
            ios: load(&self.ios),
            bytes: load(&self.bytes),
            started: self.started.load(Ordering::Relaxed).checked_sub(1).map(Nanos),
            ..planned_status(plan)
        }
    }
}

fn planned_status(plan: &plan::Worker) -> WorkerStatus {
    let own = || plan.pacing.limit.iter().filter(|(direction, _)| plan.has(*direction));
    let limits = || own().filter_map(|(_, limit)| *limit);
    let sum = |rates: Vec<u64>| (!rates.is_empty()).then(|| rates.iter().sum());
    WorkerStatus {
        letter: letter(plan.pattern.rw),
        directions: PerDirection::from_fn(|d| plan.has(d)),
        start_delay: plan.start.delay,
        phase: plan.start.phase,
        group: plan.group.group,
        goal_bytes: plan.stop.bytes.map(|b| b.saturating_mul(plan.stop.loops)),
        runtime: plan.stop.runtime,
        time_based: plan.stop.time_based,
        ramp: plan.stop.ramp,
        rate_bytes: sum(limits()
            .filter_map(|l| if let plan::RateLimit::Bytes(b) = l { Some(b) } else { None })
            .collect()),
        rate_iops: sum(limits()
            .filter_map(|l| if let plan::RateLimit::Iops(i) = l { Some(i) } else { None })
            .collect()),
        ..WorkerStatus::default()
    }
}

/// fio's letter for a running worker of this pattern.
fn letter(rw: plan::ReadWrite) -> char {
    let upper = match (rw.reads(), rw.writes(), rw.trims()) {
        (true, false, _) => 'R',
        (true, true, _) => 'M',
        (_, _, true) => 'D',
        _ => 'W',
    };
    if rw.is_random() { upper.to_ascii_lowercase() } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_state_survives_its_way_through_a_byte() {
        let live = LiveWorker::default();
        for (value, state) in STATES.into_iter().enumerate() {
            assert_eq!(state as usize, value);
            live.set_state(state);
            assert_eq!(live.state(), state);
        }
    }
}
