//! State that the threads of a run share.

use crate::clock::RunClock;
use crate::engines::overlap::OverlapQueue;
use crate::interim::InterimResults;
use crate::live::LiveWorker;
use crate::logbook::LogThread;
use crate::mutex::lock;
use crate::pacing::{Flows, GateContext};
use crate::sys::thread;
use crate::trace::Trace;
use crate::zones::ZonedTargets;
use plan::{Plan, Worker};
use record::{CpuUse, JobRecord, LayoutProgress, Nanos};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Something that happened during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Files of a job are being made.
    LayingOut {
        /// Name of the job.
        job: String,
        /// Number of files.
        files: u64,
        /// Total size, in bytes.
        bytes: u64,
    },
}

/// Returns how long the thread with this id was runnable but had no CPU, since its start; `None`
/// if the kernel does not say.
pub type RunDelay = Box<dyn Fn(u32) -> Option<Nanos> + Send + Sync>;

/// Changes the machine for a worker: control group, I/O scheduler. Arguments are the worker and its
/// thread's id. The error names the change that failed.
pub type PrepareMachine =
    Box<dyn Fn(&Worker, u32) -> Result<(), (&'static str, io::Error)> + Send + Sync>;

/// Called with the number of the phase, and the thread id of each worker of the run; 0: it does not run.
pub type PhaseStarts = Box<dyn Fn(u32, &[u32]) + Send + Sync>;

/// Functions that the engine's caller provides.
pub struct HostHooks {
    /// Called by each worker at both ends of its window.
    pub run_delay: RunDelay,
    /// Called once by each worker, before its files are opened.
    pub prepare: PrepareMachine,
    /// Called when the workers of a phase are set up, just before their I/O begins.
    pub phase_starts: PhaseStarts,
}

/// State that the threads of a run share.
pub(crate) struct RunShared {
    pub plan: Plan,
    pub clock: RunClock,
    /// Live figures, one per worker.
    pub live: Arc<[LiveWorker]>,
    pub logs: LogThread,
    /// I/O in flight of workers that offload and must not overlap.
    pub overlaps: Arc<OverlapQueue>,
    pub zones: ZonedTargets,
    pub trace: Arc<Trace>,
    /// The run ends: no new phase, no new file.
    pub stop: Arc<AtomicBool>,
    flows: Flows,
    hooks: HostHooks,
    /// Latest results of each worker.
    interims: Box<[Mutex<Option<JobRecord>>]>,
    /// Number of requests for interim results.
    interim_requests: AtomicU64,
    /// `shared_cursor` positions by job.
    cursors: Vec<Arc<AtomicU64>>,
    layout: Mutex<Option<LayoutProgress>>,
    events: Mutex<Vec<Event>>,
    ended: Mutex<bool>,
    end_of_run: Condvar,
}

impl RunShared {
    pub(crate) fn new(
        plan: Plan,
        clock: RunClock,
        logs: LogThread,
        trace: Arc<Trace>,
        hooks: HostHooks,
    ) -> RunShared {
        let jobs = plan.workers.iter().map(|worker| worker.job + 1).max().unwrap_or(0);
        let live: Arc<[LiveWorker]> = plan.workers.iter().map(|_| LiveWorker::default()).collect();
        let traced = live.iter().zip(&plan.workers).filter(|(_, worker)| worker.trace.process);
        traced.for_each(|(live, _)| live.trace_states(&trace));
        RunShared {
            live,
            logs,
            flows: Flows::new(&plan),
            overlaps: Arc::default(),
            hooks,
            interims: plan.workers.iter().map(|_| Mutex::default()).collect(),
            interim_requests: AtomicU64::new(0),
            zones: ZonedTargets::default(),
            cursors: (0..jobs).map(|_| Arc::default()).collect(),
            stop: Arc::default(),
            trace,
            layout: Mutex::default(),
            events: Mutex::default(),
            ended: Mutex::default(),
            end_of_run: Condvar::new(),
            plan,
            clock,
        }
    }

    /// CPU use of the calling thread so far.
    pub(crate) fn usage(&self) -> CpuUse {
        CpuUse { run_delay: (self.hooks.run_delay)(thread::id()), ..thread::usage() }
    }

    /// Changes the machine for worker `index`, which is the calling thread.
    pub(crate) fn prepare_machine(&self, index: usize) -> Result<(), (&'static str, io::Error)> {
        (self.hooks.prepare)(&self.plan.workers[index], thread::id())
    }

    /// Tells the caller that the I/O of a phase begins.
    pub fn phase_starts(&self, phase: u32) {
        let tids: Vec<u32> = self.live.iter().map(LiveWorker::tid).collect();
        (self.hooks.phase_starts)(phase, &tids);
    }

    pub(crate) fn gate_context(&self) -> GateContext<'_> {
        GateContext { flows: &self.flows, cycle_ns: self.clock.cycle_ns() }
    }

    /// Where worker `index`, which started at `started`, publishes interim results.
    pub(crate) fn interim(&self, index: usize, started: u64) -> InterimResults<'_> {
        let (slot, requests) = (&self.interims[index], &self.interim_requests);
        InterimResults::new(self.plan.status_interval, started, requests, slot)
    }

    /// Asks all workers for interim results.
    pub(crate) fn request_interims(&self) {
        self.interim_requests.fetch_add(1, Ordering::Relaxed);
    }

    /// The latest results of each worker; `None` if it has published none.
    pub(crate) fn latest_results(&self) -> impl Iterator<Item = (&Worker, Option<JobRecord>)> {
        self.plan.workers.iter().zip(self.interims.iter().map(|slot| lock(slot).clone()))
    }

    /// Publishes the final results of worker `index`.
    pub(crate) fn publish_final(&self, index: usize, job: &JobRecord) {
        *lock(&self.interims[index]) = Some(job.clone());
    }

    pub(crate) fn add_event(&self, event: Event) {
        lock(&self.events).push(event);
    }

    /// Takes the events since the last call.
    pub(crate) fn take_events(&self) -> Vec<Event> {
        std::mem::take(&mut lock(&self.events))
    }

    pub(crate) fn set_layout(&self, progress: Option<LayoutProgress>) {
        *lock(&self.layout) = progress;
    }

    pub(crate) fn layout(&self) -> Option<LayoutProgress> {
        lock(&self.layout).clone()
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Asks the supervisor and all workers to end.
    pub(crate) fn stop_all(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.live.iter().for_each(LiveWorker::ask_to_stop);
    }

    /// The position that the clones of a job share.
    pub(crate) fn cursor(&self, job: u32) -> Arc<AtomicU64> {
        self.cursors.get(job as usize).cloned().unwrap_or_default()
    }

    pub(crate) fn set_ended(&self) {
        *lock(&self.ended) = true;
        self.end_of_run.notify_all();
    }

    /// Waits at most `timeout` for the end of the run. Returns whether it has ended.
    pub(crate) fn wait_for_end(&self, timeout: Duration) -> bool {
        let ended = lock(&self.ended);
        let waited = self.end_of_run.wait_timeout_while(ended, timeout, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
