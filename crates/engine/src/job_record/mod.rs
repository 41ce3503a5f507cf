//! The record of a worker, built while the worker runs.

mod errors;

use crate::files::{FileError, system_text};
use crate::hot::op::{Fault, Op};
use crate::meter::Metered;
use crate::sys::clock;
use crate::sys::thread::io_priority_value;
use plan::{Medium, Worker};
use record::{CpuUse, DepthUse, Direction, JobRecord, LatencyHistory, Message, Nanos};
use std::io;

pub(crate) use errors::{ErrorTally, Severity, VERIFY};

/// The record of a worker that has ended, with its messages for the user.
pub(crate) struct FinishedJob {
    pub job: JobRecord,
    pub messages: Vec<Message>,
}

/// Builds the record of a worker while it runs.
pub(crate) struct JobRecordBuilder<'a> {
    worker: &'a Worker,
    pub job: JobRecord,
    pub errors: ErrorTally,
    /// Messages for the user.
    pub messages: Vec<Message>,
}

impl<'a> JobRecordBuilder<'a> {
    /// The record of a worker that has done nothing yet.
    pub fn new(worker: &'a Worker, interval: Nanos) -> Self {
        let job = JobRecord {
            name: worker.name.clone(),
            description: worker.description.clone(),
            job: worker.job,
            worker: worker.number,
            clone: worker.clone,
            group: worker.group,
            tid: crate::sys::thread::id(),
            options: worker.options.clone(),
            workload: worker.workload(),
            interval_step: interval,
            priority: default_priority(worker),
            depth: DepthUse { requested: worker.queue.depth_requested, ..DepthUse::default() },
            percentiles: worker.percentiles.clone(),
            show: worker.show,
            logs: worker.logs.clone(),
            ..JobRecord::default()
        };
        JobRecordBuilder { worker, job, errors: ErrorTally::new(worker), messages: Vec::new() }
    }

    /// Sets the wall-clock time of the worker's start.
    pub fn set_start_clock(&mut self) {
        let shown = clock::now(self.worker.measuring.start_clock);
        self.job.start_clock_ms = u64::try_from(shown / 1_000_000).unwrap_or(0);
    }

    /// Adds the measured results. `cpu` is the CPU use within the window.
    pub fn set_measured(&mut self, metered: Metered, started: u64, ended: u64, cpu: CpuUse) {
        let measuring = self.worker.measuring;
        let job = &mut self.job;
        job.started = Nanos(metered.begin);
        job.ended = Nanos(ended);
        job.elapsed = Nanos(ended - started);
        job.results = metered.results;
        // As fio has it: an engine that moves no data has no rate.
        if self.worker.queue.engine.medium() == Medium::Time {
            Direction::ALL.iter().for_each(|d| job.results[*d].runtime = Nanos(0));
        }
        for direction in Direction::ALL {
            let latency = &mut job.results[direction].latency;
            let clat = latency.clat.take();
            latency.slat = latency.slat.take().filter(|_| measuring.slat);
            latency.lat = latency.lat.take().filter(|_| measuring.lat);
            latency.response = latency.response.take().filter(|_| self.worker.is_scheduled());
            // A synchronous engine has no separate lat: clat stands for both.
            match (measuring.clat, measuring.lat && latency.lat.is_none()) {
                (true, _) => latency.clat = clat,
                (false, true) => latency.lat = clat,
                (false, false) => {}
            }
        }
        job.sync = metered.sync;
        job.intervals = metered.intervals;
        job.latency_history =
            if measuring.clat { metered.history } else { LatencyHistory::default() };
        let requested = job.depth.requested;
        // I/Os that cross an end of the window count with their whole time, which may be more than fits.
        let achieved_mean = metered.depth.achieved_mean.min(f64::from(requested.max(1)));
        job.depth = DepthUse { requested, achieved_mean, ..metered.depth };
        job.shared_stamps = metered.shared_stamps;
        job.cpu = cpu;
    }

    /// The record as if the worker had ended at `now`.
    pub fn interim(&mut self, metered: Metered, started: u64, now: u64, cpu: CpuUse) -> JobRecord {
        let kept = self.job.clone();
        self.set_measured(metered, started, now, cpu);
        let mut interim = std::mem::replace(&mut self.job, kept);
        interim.errors = self.errors.counts().to_vec();
        interim
    }

    /// Whether the worker got as far as its I/O.
    pub fn has_run(&self) -> bool {
        self.job.elapsed.0 > 0
    }

    /// Sets for how long a direction was active, if that is not the whole window.
    pub fn set_runtime(&mut self, direction: Direction, runtime: Nanos) {
        let result = &mut self.job.results[direction];
        if result.runtime.0 > 0 {
            result.runtime = runtime;
        }
    }

    pub fn warn(&mut self, text: impl Into<String>) {
        self.messages.push(Message::warning(Some(&self.worker.name), text.into()));
    }

    pub fn error(&mut self, text: impl Into<String>) {
        self.messages.push(Message::error(Some(&self.worker.name), text.into()));
    }

    /// Counts and reports an error with a file as a whole.
    pub fn file_failed(&mut self, error: &FileError) {
        self.errors.file(error);
        self.error(error.to_string());
    }

    /// Counts and reports a fault that a source or observer found.
    pub fn fault(&mut self, op: Option<&Op>, fault: &Fault) -> Severity {
        let (severity, text) = self.errors.fault(op, fault);
        text.into_iter().for_each(|text| self.error(text));
        severity
    }

    /// Counts and reports a failure to set up the worker.
    pub fn setup_failed(&mut self, what: &'static str, error: &io::Error) {
        self.errors.setup(what, error);
        self.error(format!("cannot {what}: {}", system_text(error)));
    }

    pub fn into_record(mut self) -> JobRecord {
        (self.job.error, self.job.errors) = self.errors.take();
        self.job
    }

    /// The finished record. Warns about a worker that did no I/O, unless the run is `stopping`.
    pub fn finish(mut self, stopping: bool) -> FinishedJob {
        let mut messages = std::mem::take(&mut self.messages);
        let wants_io = !self.worker.layout.only;
        let job = self.into_record();
        if job.did_nothing() && job.error == 0 && wants_io && !stopping {
            messages.push(Message::warning(Some(&job.name), "it did no I/O"));
        }
        FinishedJob { job, messages }
    }
}

/// Priority of the worker's I/O as the kernel encodes it; 0 if none is set.
pub(crate) fn default_priority(worker: &Worker) -> u16 {
    let set = worker.placement.io_priority;
    set.map_or(0, |(class, level, hint)| io_priority_value(class, level, hint))
}

/// The record of a worker that was never started.
pub(crate) fn never_started(worker: &Worker, interval: Nanos) -> FinishedJob {
    let job = JobRecord { tid: 0, ..JobRecordBuilder::new(worker, interval).into_record() };
    FinishedJob { job, messages: Vec::new() }
}

/// The record of a worker that failed outside of its own thread, or that panicked.
pub(crate) fn failed(
    worker: &Worker,
    interval: Nanos,
    what: &'static str,
    error: &io::Error,
) -> FinishedJob {
    let mut builder = JobRecordBuilder::new(worker, interval);
    builder.setup_failed(what, error);
    let messages = std::mem::take(&mut builder.messages);
    FinishedJob { job: builder.into_record(), messages }
}
