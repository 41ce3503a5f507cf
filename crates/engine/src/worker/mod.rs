//! One worker: set up, run, wound up, recorded.

mod build;
mod command;
mod errors;
mod loops;
#[cfg(test)]
pub(crate) mod simulate;
mod steps;

use crate::files::{FileError, OpenFiles, pre_read};
use crate::run::{Line, Shared};
use crate::sys::buffers::BufferArea;
use crate::sys::memory::lock_memory;
use crate::sys::thread;
use errors::Errors;
use record::{Message, WorkerState};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) use build::{Builder, Finished, failed, never_started, usual_priority};
pub(crate) use errors::{VERIFY, lay_out};
pub(crate) use steps::Interim;
pub use steps::LOOK_AT_LEAST;

/// Runs worker `index` in the calling thread, from set-up to record. Never panics: a bug of ours in
/// one worker must not cost what the others measured.
pub(crate) fn run(shared: &Shared, index: usize, line: &Line) -> Finished {
    let live = &shared.live[index];
    live.set_tid(thread::id());
    let outcome = catch_unwind(AssertUnwindSafe(|| attempt(shared, index, line)));
    live.set_tid(0);
    live.set_open_files(0);
    live.set_state(WorkerState::Exited);
    let finished = outcome.unwrap_or_else(|_| {
        let worker = &shared.plan.workers[index];
        let bug = std::io::Error::other("internal error: the worker panicked");
        failed(worker, shared.plan.interval, "run", &bug)
    });
    shared.lay_out_last(index, &finished.job);
    finished
}

fn attempt(shared: &Shared, index: usize, line: &Line) -> Finished {
    let worker = &shared.plan.workers[index];
    let mut builder = Builder::new(worker, shared.plan.interval);
    if !worker.layout.serialize {
        match lay_out(shared, index) {
            Ok(remark) => builder.messages.extend(remark),
            Err(finished) => return *finished,
        }
    }
    place(worker, &mut builder);
    match set_up_and_run(shared, index, line, &mut builder) {
        Ok(()) => {}
        Err(Failure::File(error)) => builder.file_failed(&error),
        Err(Failure::Setup(what, error)) => builder.setup_failed(what, &error),
    }
    builder.finish(shared)
}

/// What keeps a worker from running.
enum Failure {
    File(FileError),
    Setup(&'static str, std::io::Error),
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Failure::File(error)
    }
}

/// CPUs, priorities, memory policy. What is refused is told, and the worker runs without it.
fn place(worker: &plan::Worker, builder: &mut Builder<'_>) {
    let placement = &worker.placement;
    thread::sharpen_timers();
    let mut attempt = |what: &str, result: std::io::Result<()>| {
        if let Err(error) = result {
            let text = format!("{what} could not be set: {error}");
            builder.messages.push(Message::warning(Some(&worker.name), text));
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
    shared: &'w Shared,
    index: usize,
    line: &Line,
    builder: &mut Builder<'w>,
) -> Result<(), Failure> {
    let worker = &shared.plan.workers[index];
    let live = &shared.live[index];
    shared.enter(index).map_err(|(what, error)| Failure::Setup(what, error))?;
    let (uid, gid) = (worker.surroundings.uid, worker.surroundings.gid);
    thread::become_user(uid, gid).map_err(|e| Failure::Setup("run as this uid and gid", e))?;
    let mut buffers = BufferArea::new(&worker.buffers, worker.queue.depth, worker.max_buffer())
        .map_err(|e| Failure::Setup("allocate buffers", e))?;
    if worker.trace.mem {
        let bytes = worker.max_block() * u64::from(worker.queue.depth);
        shared.trace.say("mem", &format!("Alloc {bytes} for buffers"));
    }
    let _locked = lock_memory(worker.buffers.lockmem.0)
        .map_err(|e| Failure::Setup("lock memory (lockmem)", e))?;
    let mut files = OpenFiles::new(worker);
    let most = match worker.opens_by_log() {
        true => 0,
        false => worker.selection.open_at_once(worker.files.len() as u32),
    };
    // Other engines have files only by name; they count as open all the same, as in fio.
    if worker.queue.engine.opens_files() {
        if worker.layout.pre_read {
            live.set_state(WorkerState::PreReading);
            pre_read(worker, &shared.stop)?;
        }
        for file in 0..most {
            files.open(file)?;
            trace_file(shared, index, file, "fd open");
        }
    }
    live.set_open_files(most);
    live.set_state(WorkerState::Initialized);
    let prepared = loops::Prepared { shared, index, buffers: &mut buffers, files };
    let mut files = prepared.run(line, builder)?;
    wind_up(shared, index, &mut files, builder);
    if builder.has_run() {
        builder.messages.extend(command::after(worker));
    }
    Ok(())
}

fn trace_file(shared: &Shared, index: usize, file: u32, what: &str) {
    let worker = &shared.plan.workers[index];
    if let (true, Some(file)) = (worker.trace.file, worker.files.get(file as usize)) {
        shared.trace.say("file", &format!("{what} {}", file.path));
    }
}

/// Closes and removes; what fails is an error of the worker, its figures stay.
fn wind_up(shared: &Shared, index: usize, files: &mut OpenFiles<'_>, builder: &mut Builder<'_>) {
    let (worker, live) = (&shared.plan.workers[index], &shared.live[index]);
    let mut steps: Vec<Result<(), FileError>> = Vec::new();
    live.set_state(WorkerState::Finishing);
    (0..worker.files.len() as u32).for_each(|file| trace_file(shared, index, file, "fd close"));
    steps.push(files.close_all());
    if worker.selection.unlink && worker.queue.engine.has_targets() {
        steps.push(files.unlink_all());
    }
    for error in steps.into_iter().filter_map(Result::err) {
        builder.file_failed(&error);
    }
    for text in files.take_warnings() {
        builder.messages.push(Message::warning(Some(&worker.name), text));
    }
}
