//! A run: files laid out, threads started phase by phase, watched, stopped, and their results
//! gathered.

use crate::clock::{Clock, RunClock};
use crate::engines::overlap::OverlapQueue;
use crate::live::LiveWorker;
use crate::logbook::{Logbook, Scribe};
use crate::mutex::lock;
use crate::pacing::{Flows, GateContext};
use crate::rare::LONGEST_SLEEP_NS;
use crate::steady::{self, Watched};
use crate::sys::thread;
use crate::trace::Trace;
use crate::worker::{self, Finished, Interim};
use crate::zones::ZonedTargets;
use plan::{ExitScope, Plan};
use record::{CpuUse, JobRecord, LayoutProgress, Message, Nanos, Snapshot, WorkerState};
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Threads of I/O need little stack; a thousand of them should not reserve gigabytes.
const STACK_BYTES: usize = 512 << 10;

/// Something that happened, for whoever shows the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Files of a job are being made.
    LayingOut {
        /// The job.
        job: String,
        /// How many files.
        files: u64,
        /// Their size, in bytes.
        bytes: u64,
    },
}

/// Time a thread was runnable but waited for a CPU since its start, by its id; `None` where the
/// kernel does not say.
pub type RunDelay = Box<dyn Fn(u32) -> Option<Nanos> + Send + Sync>;

/// What a worker's thread changes of the machine before its first I/O: control group and I/O
/// schedulers. Given the worker and its thread's id; the error says which of the two it was.
pub type Enter =
    Box<dyn Fn(&plan::Worker, u32) -> Result<(), (&'static str, io::Error)> + Send + Sync>;

/// What the engine leaves to others to do.
pub struct Outside {
    /// Called by each worker at both ends of its window.
    pub run_delay: RunDelay,
    /// Called by each worker once, before its files are opened.
    pub enter: Enter,
}

/// What the threads of a run share.
pub(crate) struct Shared {
    pub plan: Plan,
    pub clock: RunClock,
    pub live: Arc<[LiveWorker]>,
    pub scribe: Scribe,
    flows: Flows,
    /// I/O in flight of the workers that offload theirs and may not overlap.
    pub overlaps: Arc<OverlapQueue>,
    outside: Outside,
    /// What the workers have measured so far, as of when they laid it out last.
    interims: Box<[Mutex<Option<JobRecord>>]>,
    /// How often they were asked to.
    asked: AtomicU64,
    pub zones: ZonedTargets,
    /// Positions that the clones of a job share, by the job.
    cursors: Vec<Arc<AtomicU64>>,
    /// The run is to end: no new phase, no new file.
    pub stop: Arc<AtomicBool>,
    pub trace: Arc<Trace>,
    layout: Mutex<Option<LayoutProgress>>,
    events: Mutex<Vec<Event>>,
    ended: Mutex<bool>,
    end_of_run: Condvar,
}

impl Shared {
    /// What the calling thread has used so far.
    pub(crate) fn usage(&self) -> CpuUse {
        CpuUse { run_delay: (self.outside.run_delay)(thread::id()), ..thread::usage() }
    }

    /// Changes of the machine what worker `index`, of the calling thread, wants changed.
    pub(crate) fn enter(&self, index: usize) -> Result<(), (&'static str, io::Error)> {
        (self.outside.enter)(&self.plan.workers[index], thread::id())
    }

    /// What a worker's gate needs to know beside the worker.
    pub(crate) fn around(&self) -> GateContext<'_> {
        GateContext { flows: &self.flows, cycle_ns: self.clock.cycle_ns() }
    }

    /// Where worker `index`, which began at `started`, lays out what it has measured so far.
    pub(crate) fn interim(&self, index: usize, started: u64) -> Interim<'_> {
        let (slot, asked) = (&self.interims[index], &self.asked);
        Interim::new(self.plan.status_interval, started, asked, slot)
    }

    /// Worker `index` has ended with this.
    pub(crate) fn lay_out_last(&self, index: usize, job: &JobRecord) {
        *lock(&self.interims[index]) = Some(job.clone());
    }

    pub(crate) fn event(&self, event: Event) {
        lock(&self.events).push(event);
    }

    pub(crate) fn set_layout(&self, progress: Option<LayoutProgress>) {
        *lock(&self.layout) = progress;
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// The position that the clones of a job share.
    pub(crate) fn cursor(&self, job: u32) -> Arc<AtomicU64> {
        self.cursors.get(job as usize).cloned().unwrap_or_default()
    }

    /// Whether the run's user has ended it, for one who outlives the borrow.
    pub(crate) fn called_off(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    fn stop_all(&self) {
        self.stop.store(true, Ordering::Relaxed);
        self.live.iter().for_each(LiveWorker::ask_to_stop);
    }
}

/// A run under way.
pub struct Run {
    shared: Arc<Shared>,
    supervisor: JoinHandle<(Vec<JobRecord>, Vec<Message>)>,
    origin: Instant,
    origin_at: u64,
}

/// What a run gave.
pub struct Outcome {
    /// One for each worker, in order of their numbers.
    pub jobs: Vec<JobRecord>,
    /// What the user should know.
    pub messages: Vec<Message>,
    /// How time was read.
    pub clock: record::Clock,
    /// What the workers logged, in order of their numbers.
    pub logbook: Logbook,
}

/// A handle that sees a run's live figures, also after it ended.
#[derive(Clone)]
pub struct Watcher(Arc<Shared>);

impl Watcher {
    /// Thread ids of the workers that live now.
    pub fn tids(&self) -> Vec<u32> {
        self.0.live.iter().map(LiveWorker::tid).filter(|tid| *tid != 0).collect()
    }
}

impl Run {
    /// Starts running a plan. Everything after this is data: errors of workers are in their records.
    /// `before_io` is called once, when the files are made and before the first worker starts.
    ///
    /// # Errors
    /// Only when not even the supervising thread, or that of the logs, can be started.
    pub fn start(
        plan: Plan,
        outside: Outside,
        before_io: impl FnOnce() + Send + 'static,
    ) -> io::Result<Run> {
        thread::raise_open_files();
        let clock = RunClock::start(plan.clocksource.as_deref());
        let (origin_at, origin) = clock.moment();
        let live = plan.workers.iter().map(|_| LiveWorker::default()).collect();
        let jobs = plan.workers.iter().map(|worker| worker.job + 1).max().unwrap_or(0);
        let interims = plan.workers.iter().map(|_| Mutex::new(None)).collect();
        let trace = Arc::default();
        let scribe = Scribe::start(&plan.workers, &trace)?;
        let flows = Flows::new(&plan);
        let shared = Arc::new(Shared {
            cursors: (0..jobs).map(|_| Arc::default()).collect(),
            plan,
            flows,
            overlaps: Arc::default(),
            clock,
            live,
            scribe,
            outside,
            interims,
            asked: AtomicU64::new(0),
            zones: ZonedTargets::default(),
            stop: Arc::default(),
            trace,
            layout: Mutex::new(None),
            events: Mutex::new(Vec::new()),
            ended: Mutex::new(false),
            end_of_run: Condvar::new(),
        });
        let traced = shared.live.iter().zip(&shared.plan.workers);
        traced.filter(|(_, worker)| worker.trace.process).for_each(|(l, _)| l.tell(&shared.trace));
        let theirs = Arc::clone(&shared);
        let supervisor =
            std::thread::Builder::new().name("supervisor".into()).spawn(move || {
                let results = Supervisor::new(&theirs).run(before_io);
                // What packing logs has to tell is there before the run counts as ended.
                theirs.scribe.settle();
                *lock(&theirs.ended) = true;
                theirs.end_of_run.notify_all();
                results
            })?;
        Ok(Run { shared, supervisor, origin, origin_at })
    }

    /// The moment all times of the run count from.
    pub fn origin(&self) -> Instant {
        self.origin.checked_sub(Duration::from_nanos(self.origin_at)).unwrap_or(self.origin)
    }

    /// The live figures.
    pub fn snapshot(&self) -> Snapshot {
        let shared = &self.shared;
        let workers =
            shared.live.iter().zip(&shared.plan.workers).map(|(live, plan)| live.status(plan));
        Snapshot {
            at: Nanos(shared.clock.now()),
            workers: workers.collect(),
            layout: lock(&shared.layout).clone(),
        }
    }

    /// Has all workers lay out what they have measured so far, each when it looks at the time next:
    /// within [`LOOK_AT_LEAST`](crate::LOOK_AT_LEAST), unless it waits for an I/O longer than that.
    pub fn ask(&self) {
        self.shared.asked.fetch_add(1, Ordering::Relaxed);
    }

    /// What the run would give, had it ended: each worker as of when it was asked last, or of the
    /// last multiple of `status_interval` from the origin, at which it looked at the time.
    pub fn so_far(&self) -> Outcome {
        let shared = &self.shared;
        let workers = shared.plan.workers.iter().zip(&shared.interims);
        let job = |(worker, slot): (&plan::Worker, &Mutex<Option<JobRecord>>)| {
            let laid_out = lock(slot).clone();
            laid_out.unwrap_or_else(|| worker::never_started(worker, shared.plan.interval).job)
        };
        let mut jobs: Vec<JobRecord> = workers.map(job).collect();
        record::gather_histories(&mut jobs);
        Outcome {
            jobs,
            messages: Vec::new(),
            clock: shared.clock.describe(self.origin, self.origin_at),
            logbook: Logbook::default(),
        }
    }

    /// What happened since the last call.
    pub fn events(&self) -> Vec<Event> {
        std::mem::take(&mut lock(&self.shared.events))
    }

    /// What was traced since the last call, in lines.
    pub fn traced(&self) -> Vec<String> {
        self.shared.trace.take()
    }

    /// A handle for the sampler.
    pub fn watcher(&self) -> Watcher {
        Watcher(Arc::clone(&self.shared))
    }

    /// Asks everything to end. What is in flight is still waited for and counted; requests to an
    /// object store for a second or two.
    pub fn stop(&self) {
        self.shared.stop_all();
    }

    /// Waits for the end, for `patience` at most; whether it came.
    pub fn wait(&self, patience: Duration) -> bool {
        let ended = lock(&self.shared.ended);
        let waited = self.shared.end_of_run.wait_timeout_while(ended, patience, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits for the end and takes the results.
    pub fn finish(self) -> Outcome {
        let (jobs, messages) = self.supervisor.join().unwrap_or_else(|_| {
            // A bug of ours; the message is all that can be saved.
            (Vec::new(), vec![Message::error(None, "internal error: the supervisor panicked")])
        });
        let clock = self.shared.clock.describe(self.origin, self.origin_at);
        Outcome { jobs, messages, clock, logbook: self.shared.scribe.finish() }
    }
}

/// What a worker tells the supervisor.
enum Report {
    Ready,
    Finished(usize, Box<Finished>),
}

/// A worker's side of the line to the supervisor.
pub(crate) struct Line {
    index: usize,
    reports: Sender<Report>,
    go: Receiver<()>,
}

impl Line {
    /// Says that the worker is set up and waits for the start of its batch. False: the run ends
    /// before it started.
    pub(crate) fn wait_for_start(&self) -> bool {
        // A supervisor that is gone closes both ends: that is an answer as well.
        self.reports.send(Report::Ready).is_ok() && self.go.recv().is_ok()
    }
}

struct Supervisor<'a> {
    shared: &'a Arc<Shared>,
    reports: (Sender<Report>, Receiver<Report>),
    results: Vec<Option<Finished>>,
    started: Vec<bool>,
    /// Started and without a result yet.
    running: usize,
    /// Not started yet.
    unstarted: usize,
    /// What the user should know of files that were laid out.
    remarks: Vec<Message>,
    threads: Vec<JoinHandle<()>>,
}

impl<'a> Supervisor<'a> {
    fn new(shared: &'a Arc<Shared>) -> Self {
        let count = shared.plan.workers.len();
        Supervisor {
            shared,
            reports: channel(),
            results: (0..count).map(|_| None).collect(),
            started: vec![false; count],
            running: 0,
            unstarted: count,
            remarks: Vec::new(),
            threads: Vec::new(),
        }
    }

    fn run(mut self, before_io: impl FnOnce()) -> (Vec<JobRecord>, Vec<Message>) {
        self.lay_out();
        before_io();
        let watching = self.watch_for_steadiness();
        loop {
            let batch = self.startable();
            if !batch.is_empty() {
                self.launch(&batch);
            }
            if self.running == 0 {
                if batch.is_empty() {
                    break;
                }
                continue;
            }
            if let Ok(Report::Finished(index, finished)) = self.reports.1.recv() {
                self.take(index, *finished);
            }
        }
        for thread in self.threads {
            // A panic was caught in the thread and is in its result.
            let _ = thread.join();
        }
        // Its workers have all ended, which is what ends it.
        let steady = watching.and_then(|watching| watching.join().ok()).unwrap_or_default();
        let workers = &self.shared.plan.workers;
        let finished = self.results.into_iter().zip(workers).map(|(result, worker)| {
            result.unwrap_or_else(|| worker::never_started(worker, self.shared.plan.interval))
        });
        let mut messages = self.remarks;
        let mut jobs: Vec<JobRecord> = finished
            .map(|f| {
                messages.extend(f.messages);
                f.job
            })
            .collect();
        for watched in &steady {
            watched.members.iter().for_each(|index| jobs[*index].steady = Some(watched.result()));
        }
        record::gather_histories(&mut jobs);
        (jobs, messages)
    }

    /// A thread that ends workers once they are steady; `None` when none is watched.
    fn watch_for_steadiness(&self) -> Option<JoinHandle<Vec<Watched>>> {
        let mut all = steady::watched(&self.shared.plan);
        if all.is_empty() {
            return None;
        }
        let shared = Arc::clone(self.shared);
        let watch = move || {
            while !shared.stopping() {
                let now = shared.clock.now();
                let looks = all.iter_mut().filter_map(|watched| watched.look(&shared.live, now));
                let next = looks.min();
                all.iter_mut().for_each(|watched| watched.tell(&shared.trace));
                let Some(next) = next else { break };
                let rest = next.saturating_sub(shared.clock.now()).min(LONGEST_SLEEP_NS);
                std::thread::sleep(Duration::from_nanos(rest));
            }
            all
        };
        // Without it, the workers run to their regular end.
        std::thread::Builder::new().name("steady".into()).spawn(watch).ok()
    }

    /// Files are made one worker after the other, before anything is measured.
    fn lay_out(&mut self) {
        let shared = self.shared;
        for (index, plan) in shared.plan.workers.iter().enumerate() {
            if shared.stopping() {
                break;
            }
            if !plan.layout.serialize {
                continue;
            }
            match worker::lay_out(shared, index) {
                Ok(remark) => self.remarks.extend(remark),
                Err(finished) => {
                    self.note_start(index);
                    self.take(index, *finished);
                }
            }
        }
        shared.set_layout(None);
        if shared.plan.workers.iter().any(|w| w.layout.only) {
            shared.stop.store(true, Ordering::Relaxed);
        }
    }

    fn note_start(&mut self, index: usize) {
        self.started[index] = true;
        self.running += 1;
        self.unstarted -= 1;
    }

    /// Workers whose phase has come and whose `wait_for` has ended.
    fn startable(&self) -> Vec<usize> {
        if self.unstarted == 0 || self.shared.stopping() {
            return Vec::new();
        }
        let workers = &self.shared.plan.workers;
        // One that was asked to end before its turn came is done.
        let given_up = |i: usize| !self.started[i] && self.shared.live[i].asked_to_stop();
        let unfinished =
            || (0..workers.len()).filter(|i| self.results[*i].is_none() && !given_up(*i));
        let Some(phase) = unfinished().map(|i| workers[i].start.phase).min() else {
            return Vec::new();
        };
        let open_jobs: BTreeSet<u32> = unfinished().map(|i| workers[i].job).collect();
        unfinished()
            .filter(|i| !self.started[*i] && workers[*i].start.phase == phase)
            .filter(|i| workers[*i].start.after_jobs.iter().all(|j| !open_jobs.contains(j)))
            .collect()
    }

    /// Starts a batch of workers, their numbers rising: all are set up first, then all go at once.
    fn launch(&mut self, batch: &[usize]) {
        let mut gates = Vec::new();
        let mut waiting = 0;
        for &index in batch {
            self.note_start(index);
            let (go, gate) = channel();
            let line = Line { index, reports: self.reports.0.clone(), go: gate };
            match self.spawn(line) {
                Ok(thread) => {
                    self.threads.push(thread);
                    gates.push(go);
                    waiting += 1;
                }
                Err(error) => {
                    let finished = worker::failed(
                        &self.shared.plan.workers[index],
                        self.shared.plan.interval,
                        "start thread",
                        &error,
                    );
                    self.take(index, finished);
                }
            }
        }
        while waiting > 0 {
            match self.reports.1.recv() {
                Ok(Report::Ready) => waiting -= 1,
                Ok(Report::Finished(index, finished)) => {
                    // One of this batch that failed before it was ready, or one of an earlier
                    // batch that ended meanwhile.
                    if batch.binary_search(&index).is_ok() {
                        waiting -= 1;
                    }
                    self.take(index, *finished);
                }
                Err(_) => break,
            }
        }
        gates.iter().for_each(|go| {
            // A worker that failed before it was ready has closed its end.
            let _ = go.send(());
        });
    }

    fn spawn(&self, line: Line) -> io::Result<JoinHandle<()>> {
        let shared = Arc::clone(self.shared);
        let worker = &shared.plan.workers[line.index];
        shared.live[line.index].set_state(WorkerState::Created);
        // The kernel keeps 15 bytes of a thread's name; a NUL cannot be in one.
        let name = worker.placement.comm.as_deref().unwrap_or(&worker.name);
        let name: String = name.chars().filter(|c| *c != '\0').take(15).collect();
        std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(move || {
            let index = line.index;
            let finished = worker::run(&shared, index, &line);
            // Nobody listens only when the supervisor itself is gone.
            let _ = line.reports.send(Report::Finished(index, Box::new(finished)));
        })
    }

    /// Those that only compute have nothing left to compute beside once all others have ended:
    /// this is their end, where they have no other or want it so.
    fn end_idle_load(&self) {
        let workers = self.shared.plan.workers.iter().zip(&self.results);
        let computes = |worker: &plan::Worker| worker.queue.engine == plan::Engine::Cpuio;
        let others = || workers.clone().filter(|(worker, _)| !computes(worker));
        if others().next().is_some() && others().all(|(_, result)| result.is_some()) {
            let all = self.shared.plan.workers.iter().zip(self.shared.live.iter());
            let ends = |worker: &plan::Worker| {
                worker.queue.options.cpu.ends_with_io || worker.stop.runtime.is_none()
            };
            let idle = all.filter(|(worker, _)| computes(worker) && ends(worker));
            idle.for_each(|(_, live)| live.ask_to_stop());
        }
    }

    fn take(&mut self, index: usize, finished: Finished) {
        let failed = finished.job.error != 0;
        let live = &self.shared.live[index];
        live.set_state(if failed { WorkerState::Failed } else { WorkerState::Reaped });
        self.results[index] = Some(finished);
        self.running -= 1;
        self.end_idle_load();
        let worker = &self.shared.plan.workers[index];
        if worker.stop.exitall || (failed && worker.errors.exitall) {
            self.end_others(worker);
        }
    }

    /// Ends those that are to end with `worker`.
    fn end_others(&self, worker: &plan::Worker) {
        let others = self.shared.plan.workers.iter().zip(self.shared.live.iter()).enumerate();
        for (index, (other, live)) in others {
            let ends = match worker.stop.exit_what {
                ExitScope::All => true,
                ExitScope::Group => other.group.group == worker.group.group,
                ExitScope::Stonewall => self.started[index],
            };
            if ends {
                live.ask_to_stop();
            }
        }
    }
}
