//! The runs a call means: a job for each operation on each file and record size, and in throughput
//! mode a job for each process.
//!
//! # Translation
//! - Files are new where IOzone's are: the job before an operation on a new file removes the old one.
//! - Nothing is dropped from the page cache before a run, no space is reserved, nothing is advised:
//!   IOzone does none of that, and its figures for cached files are those of the cache.
//! - A file is its whole records; what is left of it is not touched.
//! - fwrite(3) and fread(3) have a buffer as large as a record, so that each call is one of the kernel's;
//!   they know neither O_DIRECT nor O_SYNC.

use super::operation::{Family, Kind, Operation};
use super::{IoCalls, IozoneCommand, Mode, Sync};
use record::{Cell, Coordinate, Nanos, RunRecord};
use std::collections::VecDeque;
use suite::{Expected, Failure, Step, Suite, failure, run_duration};

/// Values besides the call that runs depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunContext {
    /// CPUs online.
    pub cpus: u32,
    /// Seed of random offsets.
    pub seed: u64,
}

/// Assumed speed in bytes per second, before one is measured.
const SPEED: f64 = 500e6;
/// Assumed time of a run besides its I/O: facts about the machine, a thread, opening files.
const OVERHEAD: Nanos = Nanos::from_millis(60);

/// The runs of a call.
pub struct Iozone {
    call: IozoneCommand,
    context: RunContext,
    /// The remaining tasks with their indices. The options of a run with thousands of processes are
    /// only made when it starts.
    left: VecDeque<(usize, Task)>,
    spent: Nanos,
    failed: Option<Failure>,
}

impl Iozone {
    /// All runs of a call.
    pub fn new(call: &IozoneCommand, context: RunContext) -> Iozone {
        let left = tasks(call).into_iter().enumerate().collect();
        Iozone { call: call.clone(), context, left, spent: Nanos::default(), failed: None }
    }

    /// The failure that ended the call early, if it was not a signal.
    pub fn failed(&self) -> Option<&Failure> {
        self.failed.as_ref()
    }
}

impl Suite for Iozone {
    fn next(&mut self) -> Option<Step> {
        let (index, task) = self.left.front()?;
        Some(step(&self.call, self.context, task, *index))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        self.left.pop_front();
        self.failed = failed(record);
        if self.failed.is_some() || record.interrupted_by.is_some() {
            // Later runs need the file of this run.
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        Expected::from_steps(self.spent, self.left.iter().map(|(_, task)| task.estimate()))
    }
}

/// The failure of a run. A process that was ended by another one before its first I/O has not
/// failed.
pub(super) fn failed(record: &RunRecord) -> Option<Failure> {
    let clean = record.jobs.iter().all(|job| job.error == 0 && job.errors.is_empty());
    let worked = record.jobs.iter().any(|job| !job.did_nothing());
    if clean && worked { None } else { failure(record) }
}

/// One operation with one file size and one record size.
#[derive(Clone, Copy)]
struct Task {
    operation: Operation,
    size_kb: u64,
    record_kb: u64,
    processes: u32,
    /// Whether it is the first task on its files.
    first: bool,
    /// Whether the files are removed after it.
    removes: bool,
}

impl Task {
    /// The cell of its run.
    fn cell(&self, throughput: bool) -> Cell {
        let Task { size_kb, record_kb, processes, .. } = self;
        let operation = self.operation.kind().name;
        let mut name = format!("{operation}-{size_kb}k-{record_kb}k");
        let coordinate = |dimension: &str, value: String| {
            let dimension = dimension.to_owned();
            Coordinate { dimension, value }
        };
        let mut at = vec![
            coordinate(FILE, size_kb.to_string()),
            coordinate(RECORD, record_kb.to_string()),
            coordinate(OPERATION, operation.into()),
        ];
        if throughput {
            name += &format!("-{processes}p");
            at.push(coordinate(THREADS, processes.to_string()));
        }
        Cell { name, round: 0, at }
    }

    /// Bytes of a record, and of the whole records of a file.
    fn bytes(&self) -> (u64, u64) {
        let record = self.record_kb << 10;
        (record, (self.size_kb << 10) / record * record)
    }

    /// Its expected time.
    fn estimate(&self) -> Nanos {
        let bytes = self.bytes().1.saturating_mul(u64::from(self.processes));
        Nanos(((bytes as f64 / SPEED * 1e9) as u64).saturating_add(OVERHEAD.0))
    }
}

/// The name of the varied parameter in records.
const FILE: &str = "file_kb";
const RECORD: &str = "record_kb";
const OPERATION: &str = "operation";
const THREADS: &str = "threads";

/// All tasks in order.
fn tasks(call: &IozoneCommand) -> Vec<Task> {
    let counts = match call.mode {
        Mode::Throughput { from, to } => from..=to,
        _ => 1..=1,
    };
    let operations = call.operations();
    let mut tasks = Vec::new();
    for processes in counts {
        for (size, record_kb) in call.grid() {
            let shared = if call.together.constant_total { u64::from(processes) } else { 1 };
            // At least one record, so that each process has work.
            let size_kb = (size / shared).max(record_kb);
            tasks.extend(operations.iter().enumerate().map(|(index, operation)| Task {
                operation: *operation,
                size_kb,
                record_kb,
                processes,
                first: index == 0,
                removes: false,
            }));
        }
    }
    // Files that existed before are not removed.
    let ours = call.needs().is_none();
    for index in 0..tasks.len() {
        let next = tasks.get(index + 1);
        let last = next.is_none_or(|next| next.first);
        let anew = next.is_some_and(|next| call.truncate && next.operation.begins_anew());
        tasks[index].removes = ours && (anew || last && !call.keep);
    }
    tasks
}

fn step(call: &IozoneCommand, context: RunContext, task: &Task, index: usize) -> Step {
    let throughput = matches!(call.mode, Mode::Throughput { .. });
    let cell = task.cell(throughput);
    let name = &cell.name;
    let mut arguments = Vec::new();
    for process in 0..task.processes {
        let job = if throughput { format!("{name}.{process}") } else { name.clone() };
        arguments.push(option("name", job));
        arguments.push(option("filename", call.path(process).replace(':', "\\:")));
        arguments.extend(pattern(call, task));
        arguments.extend(access(call, task.operation.kind()));
        arguments.extend(layout(call, task, process, index));
        // The seed differs for each process and run.
        let seed = context.seed.wrapping_add(index as u64 * 4096 + u64::from(process)) >> 1;
        arguments.push(option("randseed", seed));
        arguments.push(option("percentile_list", "50:99:99.9"));
        if let Some(first) = call.together.first_cpu {
            let cpu = (u64::from(first) + u64::from(process)) % u64::from(context.cpus.max(1));
            arguments.push(option("cpus_allowed", cpu));
        }
        if call.access.log {
            arguments.push(option("write_lat_log", name));
            arguments.push(option("log_offset", 1));
        }
    }
    Step { cell, description: description(task, throughput), arguments, duration: task.estimate() }
}

fn description(task: &Task, throughput: bool) -> String {
    let Task { size_kb, record_kb, processes, .. } = task;
    let sizes = format!("{size_kb} kB, records of {record_kb} kB");
    match throughput {
        true => format!("{processes} {}, {sizes}", task.operation.phase()),
        false => format!("{}, {sizes}", task.operation.kind().name),
    }
}

fn option(name: &str, value: impl std::fmt::Display) -> String {
    format!("--{name}={value}")
}

/// The options for the pattern of a task.
fn pattern(call: &IozoneCommand, task: &Task) -> Vec<String> {
    let (record, size) = task.bytes();
    let rw = match task.operation {
        Operation::RandomRead => "randread",
        Operation::RandomWrite | Operation::RecordRewrite => "randwrite",
        Operation::Mixed if call.access.sequential_mix => "rw",
        Operation::Mixed => "randrw",
        operation if operation.kind().writes => "write",
        _ => "read",
    };
    let mut options = vec![option("rw", rw), option("bs", record), option("size", size)];
    options.extend(match task.operation {
        Operation::RecordRewrite => Some(option("random_distribution", "sequence:0")),
        Operation::BackwardRead => Some(option("sequential_order", "descending")),
        Operation::StrideRead => {
            Some(option("sequential_order", format!("interleaved:{}", call.access.stride)))
        }
        Operation::Mixed => Some(option("rwmixread", call.access.reads)),
        _ => None,
    });
    options
}

/// How the file is reached.
fn access(call: &IozoneCommand, kind: &Kind) -> Vec<String> {
    let access = &call.access;
    let stdio = kind.calls == Family::Stdio;
    let (engine, depth) = match (access.calls, kind.calls) {
        (_, Family::Stdio) => ("sync", 1),
        (IoCalls::Mapping, _) => ("mmap", 1),
        (IoCalls::Asynchronous(depth), _) => ("posixaio", depth),
        (IoCalls::Usual, Family::Plain) => ("sync", 1),
        (IoCalls::Usual, Family::Positioned) => ("psync", 1),
        (IoCalls::Usual, Family::Vectored) => ("pvsync", 1),
    };
    let direct = u8::from(access.direct && !stdio);
    let mut options =
        vec![option("ioengine", engine), option("iodepth", depth), option("direct", direct)];
    let sync = match access.sync {
        Sync::Sync => Some("sync"),
        Sync::Dsync => Some("dsync"),
        Sync::No => None,
    };
    options.extend(sync.filter(|_| !stdio && kind.writes).map(|sync| option("sync", sync)));
    if access.fsync && kind.writes {
        options.push(option("end_fsync", 1));
    }
    options.push(option("invalidate", u8::from(access.cold)));
    options.push(option("fadvise_hint", access.advice.unwrap_or("0")));
    if access.lock {
        options.push(option("lockfile", "readwrite"));
    }
    if access.think_ms > 0 {
        options.push(format!("--thinktime={}ms", access.think_ms));
    }
    if let Some(byte) = access.pattern {
        options.extend([option("verify", "pattern"), format!("--verify_pattern=0x{byte:02x}")]);
        // What is read later is read by jobs that know the byte: no state has to be kept for them.
        let unread = [option("do_verify", 0), option("verify_state_save", 0)];
        options.extend(unread.into_iter().filter(|_| kind.writes));
    }
    if let Some(share) = access.compress.filter(|_| kind.writes) {
        options.push(option("buffer_compress_percentage", share));
    }
    if let Some(share) = access.dedupe.filter(|_| kind.writes) {
        options.push(option("dedupe_percentage", share));
    }
    options
}

/// How files are found and left, and how processes go together.
fn layout(call: &IozoneCommand, task: &Task, process: u32, index: usize) -> Vec<String> {
    let kind = task.operation.kind();
    let mut options = vec![option("fallocate", "none")];
    if call.needs().is_some() {
        options.push(option("allow_file_create", 0));
    } else if !task.first && kind.writes {
        // A phase that was cut short left a part of the file: what is written again is all there.
        options.push(option("overwrite", 1));
    }
    // One of those that share a file removes it.
    if task.removes && (process == 0 || !call.together.shared) {
        options.push(option("unlink", 1));
    }
    if task.processes > 1 && call.together.stonewall {
        options.push("--exitall".into());
    }
    let rest = if index > 0 { call.access.rest_s.saturating_mul(1_000_000) } else { 0 };
    let wait = rest.saturating_add(u64::from(process).saturating_mul(call.together.delay_us));
    if wait > 0 {
        options.push(format!("--startdelay={wait}us"));
    }
    options
}

/// What a run was of: operation, file size, record size in kB, processes in throughput mode.
pub(super) fn key(cell: &Cell) -> Option<(Operation, u64, u64, Option<u32>)> {
    let at = |dimension: &str| {
        let found = cell.at.iter().find(|coordinate| coordinate.dimension == dimension);
        found.map(|coordinate| coordinate.value.as_str())
    };
    let kb = |dimension: &str| at(dimension)?.parse().ok();
    let processes = match at(THREADS) {
        Some(count) => Some(count.parse().ok()?),
        None => None,
    };
    Some((Operation::named(at(OPERATION)?)?, kb(FILE)?, kb(RECORD)?, processes))
}

#[cfg(test)]
mod tests;
