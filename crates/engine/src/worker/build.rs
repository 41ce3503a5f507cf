//! From what a worker did to its record.

use super::Errors;
use crate::files::{FileError, system_text};
use crate::meter::Metered;
use crate::ops::{Fault, Op};
use crate::run::Shared;
use crate::sys::clock;
use crate::sys::thread::io_priority_value;
use plan::Medium;
use record::{
    BlockStates, CpuUse, DepthUse, Direction, Exchange, JobRecord, LatencyDepth, LatencyHistory,
    Message, Nanos, PriorityResult,
};
use std::io;

/// What a worker gives back.
pub(crate) struct Finished {
    /// Its record.
    pub job: JobRecord,
    /// What the user should know.
    pub messages: Vec<Message>,
}

/// Gathers the record of a worker while it runs.
pub(crate) struct Builder<'a> {
    worker: &'a plan::Worker,
    job: JobRecord,
    /// Errors met.
    pub errors: Errors,
    /// What the user should know.
    pub messages: Vec<Message>,
}

impl<'a> Builder<'a> {
    /// The record of a worker that has done nothing yet.
    pub fn new(worker: &'a plan::Worker, interval: Nanos) -> Self {
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
            priority: usual_priority(worker),
            depth: DepthUse { requested: worker.queue.depth_requested, ..DepthUse::default() },
            percentiles: worker.percentiles.clone(),
            show: worker.show,
            logs: worker.logs.clone(),
            ..JobRecord::default()
        };
        Builder { worker, job, errors: Errors::new(worker), messages: Vec::new() }
    }

    /// Takes what was measured: from the start of the thread's work at `started` to `ended`, at the
    /// cost of `cpu` within the window.
    pub fn measured(&mut self, metered: Metered, started: u64, ended: u64, cpu: CpuUse) {
        let measuring = self.worker.measuring;
        let job = &mut self.job;
        job.started = Nanos(metered.begin);
        job.ended = Nanos(ended);
        job.elapsed = Nanos(ended - started);
        job.results = metered.results;
        // Oracle: what moves nothing by its nature has no rate.
        if self.worker.queue.engine.medium() == Medium::Time {
            Direction::ALL.iter().for_each(|d| job.results[*d].runtime = Nanos(0));
        }
        for direction in Direction::ALL {
            let latency = &mut job.results[direction].latency;
            let clat = latency.clat.take();
            latency.slat = latency.slat.take().filter(|_| measuring.slat);
            latency.lat = latency.lat.take().filter(|_| measuring.lat);
            latency.response = latency.response.take().filter(|_| self.worker.is_scheduled());
            // Without its own lat, clat stands for both.
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
        job.depth = DepthUse { requested: job.depth.requested, ..metered.depth };
        job.seams = metered.seams;
        job.cpu = cpu;
    }

    /// What was written was synchronised after the last I/O, which took this long.
    pub fn synchronised(&mut self, took: Nanos) {
        self.job.end_sync = Some(took);
    }

    /// Which numbered objects it put.
    pub fn objects_put(&mut self, put: record::ObjectsPut) {
        self.job.objects = Some(put);
    }

    /// The worker begins.
    pub fn begins(&mut self) {
        let shown = clock::now(self.worker.measuring.start_clock);
        self.job.start_clock_ms = u64::try_from(shown / 1_000_000).unwrap_or(0);
    }

    /// The record as it would be, had the worker ended at `now`.
    pub fn so_far(&mut self, metered: Metered, started: u64, now: u64, cpu: CpuUse) -> JobRecord {
        let kept = self.job.clone();
        self.measured(metered, started, now, cpu);
        let mut so_far = std::mem::replace(&mut self.job, kept);
        so_far.errors = self.errors.so_far().to_vec();
        so_far
    }

    /// What became of the worker's blocks.
    pub fn followed(&mut self, blocks: BlockStates) {
        self.job.blocks = Some(blocks);
    }

    /// The worker's logs, `clock_at_zero` being what the clock of their times showed at time zero.
    pub fn logged(&mut self, clock_at_zero: i64) {
        if let Some(logs) = &mut self.job.logs {
            logs.zero = clock_at_zero;
        }
    }

    /// Whether the worker came to its I/O.
    pub fn has_run(&self) -> bool {
        self.job.elapsed.0 > 0
    }

    /// What the search for the depth its latency allows gave.
    pub fn latency_depth(&mut self, found: LatencyDepth) {
        self.job.latency_depth = Some(found);
    }

    /// Takes the latencies of the I/Os of each priority in one direction.
    pub fn by_priority(&mut self, direction: Direction, prios: Vec<PriorityResult>) {
        self.job.results[direction].prios = prios;
    }

    /// So many zones were reset before they were written again.
    pub fn zone_resets(&mut self, count: u64) {
        self.job.zone_resets = count;
    }

    /// What it asked of an object store.
    pub fn exchanged(&mut self, exchange: Option<Exchange>) {
        self.job.exchange = exchange;
    }

    /// It ended because no zone was left for its I/O.
    pub fn no_zone(&mut self) {
        let text = "it ended because no zone is left for its I/O: none holds data to read or trim, \
                    or none of those that may be open lies in its region";
        self.messages.push(Message::warning(Some(&self.worker.name), text));
    }

    /// Something failed with a file as a whole: counted, and told.
    pub fn file_failed(&mut self, error: &FileError) {
        self.errors.file(error);
        self.messages.push(Message::error(Some(&self.worker.name), error.to_string()));
    }

    /// Something the user should know of the worker.
    pub fn warn(&mut self, text: String) {
        self.messages.push(Message::warning(Some(&self.worker.name), text));
    }

    /// A fault that was found when its I/O was over.
    pub fn fault(&mut self, op: Option<&Op>, fault: &Fault) {
        let (_, text) = self.errors.fault(op, fault);
        let told = text.map(|text| Message::error(Some(&self.worker.name), text));
        self.messages.extend(told);
    }

    /// How long a direction was busy, where that is not the whole window.
    pub fn set_runtime(&mut self, direction: Direction, runtime: Nanos) {
        let result = &mut self.job.results[direction];
        if result.runtime.0 > 0 {
            result.runtime = runtime;
        }
    }

    /// The worker could not be set up: counted, and told.
    pub fn setup_failed(&mut self, what: &'static str, error: &io::Error) {
        self.errors.setup(what, error);
        let text = format!("cannot {what}: {}", system_text(error));
        self.messages.push(Message::error(Some(&self.worker.name), text));
    }

    /// The record with what was gathered so far.
    pub fn into_record(mut self) -> JobRecord {
        (self.job.error, self.job.errors) = self.errors.take();
        self.job
    }

    /// The record. A worker that ran without error and did nothing is told, not passed over.
    pub fn finish(mut self, shared: &Shared) -> Finished {
        let mut messages = std::mem::take(&mut self.messages);
        let asked_for_io = !self.worker.layout.only;
        let job = self.into_record();
        if job.did_nothing() && job.error == 0 && asked_for_io && !shared.stopping() {
            messages.push(Message::warning(Some(&job.name), "it did no I/O"));
        }
        Finished { job, messages }
    }
}

/// Priority of the worker's I/O as the kernel encodes it; 0: none was set.
pub(crate) fn usual_priority(worker: &plan::Worker) -> u16 {
    let set = worker.placement.io_priority;
    set.map_or(0, |(class, level, hint)| io_priority_value(class, level, hint))
}

/// The record of a worker whose turn never came.
pub(crate) fn never_started(worker: &plan::Worker, interval: Nanos) -> Finished {
    let job = JobRecord { tid: 0, ..Builder::new(worker, interval).into_record() };
    Finished { job, messages: Vec::new() }
}

/// The record of a worker that failed outside of its own thread or lost its state.
pub(crate) fn failed(
    worker: &plan::Worker,
    interval: Nanos,
    what: &'static str,
    error: &io::Error,
) -> Finished {
    let mut builder = Builder::new(worker, interval);
    builder.setup_failed(what, error);
    let messages = std::mem::take(&mut builder.messages);
    Finished { job: builder.into_record(), messages }
}
