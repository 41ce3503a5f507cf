//! Live figures: each worker writes its own cache lines, anyone may read. With single-writer relaxed
//! atomics they cost the worker two plain additions per I/O.

use crate::trace::Trace;
use record::{Direction, Nanos, PerDirection, WorkerState, WorkerStatus};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Live figures of one worker. Aligned so that two workers share neither a cache line nor the pair of
/// lines that a processor prefetches together.
#[repr(align(128))]
#[derive(Default)]
pub struct LiveWorker {
    ios: [AtomicU64; 3],
    bytes: [AtomicU64; 3],
    state: AtomicU8,
    tid: AtomicU32,
    open_files: AtomicU32,
    // Start, in nanoseconds from the origin, plus one; 0: not yet.
    started: AtomicU64,
    // Start of the measured window, plus one; 0: not yet.
    running_since: AtomicU64,
    // Sum of completion latencies, for a steady state of latency.
    latency: AtomicU64,
    /// The worker was asked to end.
    stop: AtomicBool,
    /// A copy of `stop` for code that outlives the worker.
    stop_shared: Arc<AtomicBool>,
    /// Set if changes of state are traced.
    trace: OnceLock<Arc<Trace>>,
}

/// Progress of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Start of its measured window, in nanoseconds from the origin; `None`: not yet.
    pub running_since: Option<u64>,
    /// It issues no more I/O, or was asked to end.
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

    /// A stop flag that outlives the worker.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop_shared)
    }

    /// Sets the state of the worker.
    pub fn set_state(&self, state: WorkerState) {
        let before = self.state.swap(state as u8, Ordering::Relaxed);
        if let Some(trace) = self.trace.get() {
            trace.state(self.tid(), STATES[usize::from(before)], state);
        }
    }

    /// From now on, traces changes of state.
    pub fn trace_states(&self, trace: &Arc<Trace>) {
        // A second call would set the same trace.
        let _ = self.trace.set(Arc::clone(trace));
    }

    /// The state of the worker.
    pub fn state(&self) -> WorkerState {
        STATES.get(usize::from(self.state.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// Sets the id of the worker's thread.
    pub fn set_tid(&self, tid: u32) {
        self.tid.store(tid, Ordering::Relaxed);
    }

    /// The id of the worker's thread; 0 before it starts and after it ends.
    pub fn tid(&self) -> u32 {
        self.tid.load(Ordering::Relaxed)
    }

    /// Sets the number of open files.
    pub fn set_open_files(&self, count: u32) {
        self.open_files.store(count, Ordering::Relaxed);
    }

    /// Sets the start of the worker, in nanoseconds from the origin.
    pub fn set_started(&self, at: u64) {
        self.started.store(at + 1, Ordering::Relaxed);
    }

    /// Sets the start of the measured window, in nanoseconds from the origin.
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

    /// The progress of the worker.
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
        self.stop_shared.store(true, Ordering::Relaxed);
    }

    /// Whether the worker was asked to end.
    #[inline(always)]
    pub fn asked_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The live figures, with the goals of the worker's plan.
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
    fn every_state_survives_a_byte() {
        let live = LiveWorker::default();
        for (value, state) in STATES.into_iter().enumerate() {
            assert_eq!(state as usize, value);
            live.set_state(state);
            assert_eq!(live.state(), state);
        }
    }
}
