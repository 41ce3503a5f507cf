//! One worker, from set-up to its record.

mod command;
mod failure;
pub(crate) mod layout;
pub(crate) mod link;
mod loops;
mod rate_floor;
mod run_loop;
mod slow_path;
mod source;
#[cfg(test)]
pub(crate) mod testing;

use crate::clock::Clock;
use crate::engines::offload::Offload;
use crate::engines::{RingVisitor, visit_ring};
use crate::files::{FileError, OpenFiles, pre_read};
use crate::job_record::{FinishedJob, JobRecordBuilder, failed};
use crate::run_shared::RunShared;
use crate::sys::buffers::BufferArea;
use crate::sys::memory::lock_memory;
use crate::sys::thread;
use failure::{Failure, step};
use link::SupervisorLink;
use plan::Worker;
use record::{Nanos, WorkerState};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs worker `index` in the calling thread, from set-up to its record. Never panics: a bug in one
/// worker must not cost the results of the others.
pub(crate) fn run(shared: &RunShared, index: usize, link: &SupervisorLink) -> FinishedJob {
    let live = &shared.live[index];
    live.set_tid(thread::id());
    let outcome = catch_unwind(AssertUnwindSafe(|| run_unguarded(shared, index, link)));
    live.set_tid(0);
    live.set_open_files(0);
    live.set_state(WorkerState::Exited);
    let finished = outcome.unwrap_or_else(|_| {
        let worker = &shared.plan.workers[index];
        let bug = std::io::Error::other("internal error: the worker panicked");
        failed(worker, shared.plan.interval, "run", &bug)
    });
    shared.publish_final(index, &finished.job);
    finished
}

fn run_unguarded(shared: &RunShared, index: usize, link: &SupervisorLink) -> FinishedJob {
    let worker = &shared.plan.workers[index];
    let mut builder = JobRecordBuilder::new(worker, shared.plan.interval);
    if !worker.layout.serialize {
        match layout::lay_out(shared, index) {
            Ok(message) => builder.messages.extend(message),
            Err(finished) => return *finished,
        }
    }
    apply_placement(worker, &mut builder);
    match set_up_and_run(shared, index, link, &mut builder) {
        Ok(()) => {}
        Err(Failure::File(error)) => builder.file_failed(&error),
        Err(Failure::Setup(what, error)) => builder.setup_failed(what, &error),
    }
    builder.finish(shared.stopping())
}

/// Sets CPUs, priorities and memory policy. The worker runs without those that are refused.
fn apply_placement(worker: &Worker, builder: &mut JobRecordBuilder<'_>) {
    let placement = &worker.placement;
    thread::sharpen_timers();
    let mut attempt = |what: &str, result: std::io::Result<()>| {
        if let Err(error) = result {
            builder.warn(format!("{what} could not be set: {error}"));
        }
    };
    if !placement.cpus.is_empty() {
        attempt("cpus_allowed", thread::bind_to_cpus(&placement.cpus));
    }
    if let Some(policy) = &placement.memory {
        attempt("numa_mem_policy", thread::set_memory_policy(policy));
    }
    if let Some(nice) = placement.nice {
        attempt("nice", thread::set_nice(nice));
    }
    if let Some((class, level, hint)) = placement.io_priority {
        let value = thread::io_priority_value(class, level, hint);
        attempt("prio", thread::set_io_priority(value));
    }
}

fn set_up_and_run<'w>(
    shared: &'w RunShared,
    index: usize,
    link: &SupervisorLink,
    builder: &mut JobRecordBuilder<'w>,
) -> Result<(), Failure> {
    let worker = &shared.plan.workers[index];
    shared.prepare_machine(index).map_err(|(what, error)| Failure::Setup(what, error))?;
    let (uid, gid) = (worker.context.uid, worker.context.gid);
    thread::become_user(uid, gid).map_err(step("run as this uid and gid"))?;
    let mut buffers = BufferArea::new(&worker.buffers, worker.queue.depth, worker.max_buffer())
        .map_err(step("allocate buffers"))?;
    if worker.trace.mem {
        let bytes = worker.max_block() * u64::from(worker.queue.depth);
        shared.trace.line("mem", &format!("Alloc {bytes} for buffers"));
    }
    let _locked = lock_memory(worker.buffers.lockmem.0).map_err(step("lock memory (lockmem)"))?;
    let begun = shared.clock.now();
    let files = open_files(shared, index)?;
    let opens = worker.queue.engine.opens_files() && !worker.layout.pre_read;
    builder.job.opening = opens.then(|| Nanos(shared.clock.now() - begun));
    shared.live[index].set_state(WorkerState::Initialized);
    let buffers = &mut buffers;
    let ready = loops::ReadyWorker { shared, index, buffers, files, link, builder };
    let mut files = match worker.queue.offload {
        true => ready.visit_general::<Offload, true>(),
        false => visit_ring(&worker.queue, ready),
    }?;
    close_files(shared, index, &mut files, builder);
    if builder.has_run() {
        builder.messages.extend(command::after(worker));
    }
    Ok(())
}

/// Opens the files that are open at the start.
fn open_files(shared: &RunShared, index: usize) -> Result<OpenFiles<'_>, FileError> {
    let (worker, live) = (&shared.plan.workers[index], &shared.live[index]);
    let mut files = OpenFiles::new(worker);
    let count = match worker.opens_by_log() {
        true => 0,
        false => worker.selection.open_at_once(worker.files.len() as u32),
    };
    // As in fio, files of engines that open none count as open all the same.
    if worker.queue.engine.opens_files() {
        if worker.layout.pre_read {
            live.set_state(WorkerState::PreReading);
            pre_read(worker, &shared.stop)?;
        }
        for file in 0..count {
            files.open(file)?;
            trace_file(shared, index, file, "fd open");
        }
    }
    live.set_open_files(count);
    Ok(files)
}

fn trace_file(shared: &RunShared, index: usize, file: u32, what: &str) {
    let worker = &shared.plan.workers[index];
    if let (true, Some(file)) = (worker.trace.file, worker.files.get(file as usize)) {
        shared.trace.line("file", &format!("{what} {}", file.path));
    }
}

/// Closes and removes files. A failure is an error of the worker; its results stay.
fn close_files(
    shared: &RunShared,
    index: usize,
    files: &mut OpenFiles<'_>,
    builder: &mut JobRecordBuilder<'_>,
) {
    let worker = &shared.plan.workers[index];
    shared.live[index].set_state(WorkerState::Finishing);
    (0..worker.files.len() as u32).for_each(|file| trace_file(shared, index, file, "fd close"));
    let begun = shared.clock.now();
    let mut results = vec![files.close_all()];
    let opens = worker.queue.engine.opens_files();
    builder.job.closing = opens.then(|| Nanos(shared.clock.now() - begun));
    if worker.selection.unlink && worker.queue.engine.has_targets() {
        results.push(files.unlink_all());
    }
    results.into_iter().filter_map(Result::err).for_each(|error| builder.file_failed(&error));
    files.take_warnings().into_iter().for_each(|text| builder.warn(text));
}
