//! A run, from its plan to its results.

mod supervisor;

use crate::clock::{Clock, RunClock};
use crate::job_record::never_started;
use crate::live::LiveWorker;
use crate::logbook::{LogThread, Logbook};
use crate::run_shared::{Event, HostHooks, RunShared};
use crate::sys::thread;
use plan::Plan;
use record::{JobRecord, Message, Nanos, PerDirection, Snapshot};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use supervisor::Supervisor;

/// A run in progress.
pub struct Run {
    shared: Arc<RunShared>,
    supervisor: JoinHandle<(Vec<JobRecord>, Vec<Message>)>,
    /// One moment on both clocks.
    origin: Instant,
    origin_at: u64,
}

/// Results of a run.
pub struct Outcome {
    /// One record per worker, in order of their numbers.
    pub jobs: Vec<JobRecord>,
    /// Messages for the user.
    pub messages: Vec<Message>,
    /// How time was read.
    pub clock: record::Clock,
    /// Log entries of the workers.
    pub logbook: Logbook,
}

/// A handle to a run's live figures that outlives the run.
#[derive(Clone)]
pub struct Watcher(Arc<RunShared>);

impl Watcher {
    /// Thread ids of the workers that are alive.
    pub fn tids(&self) -> Vec<u32> {
        self.0.live.iter().map(LiveWorker::tid).filter(|tid| *tid != 0).collect()
    }

    /// I/Os that each worker has completed, ramp included, in order of their numbers.
    pub fn ios(&self) -> Vec<PerDirection<u64>> {
        self.0.live.iter().map(|worker| PerDirection::from_fn(|d| worker.ios(d))).collect()
    }
}

impl Run {
    /// Starts running a plan. Errors of workers go into their records. `before_io` is called once,
    /// after the files are made and before the first worker starts.
    ///
    /// # Errors
    /// The supervisor thread or the log thread cannot be started.
    pub fn start(
        plan: Plan,
        hooks: HostHooks,
        before_io: impl FnOnce() + Send + 'static,
    ) -> io::Result<Run> {
        thread::raise_open_files();
        let clock = RunClock::start(plan.clocksource.as_deref());
        let (origin_at, origin) = clock.moment();
        let trace = Arc::default();
        let logs = LogThread::start(&plan.workers, &trace)?;
        let shared = Arc::new(RunShared::new(plan, clock, logs, trace, hooks));
        let of_thread = Arc::clone(&shared);
        let supervise = move || {
            let results = Supervisor::new(&of_thread).run(before_io);
            // Trace lines of the log thread must be complete when the run counts as ended.
            of_thread.logs.wait();
            of_thread.set_ended();
            results
        };
        let supervisor = std::thread::Builder::new().name("supervisor".into()).spawn(supervise)?;
        Ok(Run { shared, supervisor, origin, origin_at })
    }

    /// The moment that all times of the run count from.
    pub fn origin(&self) -> Instant {
        self.origin.checked_sub(Duration::from_nanos(self.origin_at)).unwrap_or(self.origin)
    }

    /// The live figures.
    pub fn snapshot(&self) -> Snapshot {
        let shared = &self.shared;
        let workers = shared.live.iter().zip(&shared.plan.workers);
        Snapshot {
            at: Nanos(shared.clock.now()),
            workers: workers.map(|(live, plan)| live.status(plan)).collect(),
            layout: shared.layout(),
        }
    }

    /// Asks all workers to publish interim results. Each does so within
    /// [`INTERIM_CHECK`](crate::INTERIM_CHECK), unless it waits longer for an I/O.
    pub fn request_interim_results(&self) {
        self.shared.request_interims();
    }

    /// Results so far, from each worker's latest interim results: requested ones, or those of the
    /// last multiple of `status_interval`.
    pub fn interim_results(&self) -> Outcome {
        let interval = self.shared.plan.interval;
        let job = |(worker, job): (&plan::Worker, Option<JobRecord>)| {
            job.unwrap_or_else(|| never_started(worker, interval).job)
        };
        let mut jobs: Vec<JobRecord> = self.shared.latest_results().map(job).collect();
        record::gather_histories(&mut jobs);
        let (messages, logbook) = (Vec::new(), Logbook::default());
        Outcome { jobs, messages, clock: self.describe_clock(), logbook }
    }

    fn describe_clock(&self) -> record::Clock {
        self.shared.clock.describe(self.origin, self.origin_at)
    }

    /// Takes the events since the last call.
    pub fn events(&self) -> Vec<Event> {
        self.shared.take_events()
    }

    /// Takes the trace lines since the last call.
    pub fn trace_lines(&self) -> Vec<String> {
        self.shared.trace.take()
    }

    /// A handle for the sampler.
    pub fn watcher(&self) -> Watcher {
        Watcher(Arc::clone(&self.shared))
    }

    /// Asks everything to end. I/O in flight is still waited for and counted; requests to an object
    /// store for a second or two.
    pub fn stop(&self) {
        self.shared.stop_all();
    }

    /// Waits at most `timeout` for the end. Returns whether the run has ended.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.shared.wait_for_end(timeout)
    }

    /// Waits for the end and takes the results.
    pub fn finish(self) -> Outcome {
        let clock = self.shared.clock;
        let (jobs, messages) = self.supervisor.join().unwrap_or_else(|_| {
            (Vec::new(), vec![Message::error(None, "internal error: the supervisor panicked")])
        });
        let clock = clock.describe(self.origin, self.origin_at);
        Outcome { jobs, messages, clock, logbook: self.shared.logs.finish() }
    }
}
