//! The runs of a call: one for each phase of each repetition, with a job for each task.
//!
//! # Translation
//! - As in IOR, files are created when they are opened, no space is reserved, no page cache is dropped and
//!   posix_fadvise is not called.
//! - All tasks open their files, then begin together, as with `-g`.
//! - After a write that `-D` ended, reads cover what each task wrote.
//! - Wear-out is a run of its own: tasks with fewer transfers than the fastest write the rest. Its time is added
//!   to that of the write; the pause between the two runs is not.

use super::command::{Api, IorCommand, Packet, Phase};
use super::layout::{Seeds, Transfers, after, owners, reach, transfers};
use crate::hpc::{self, of_task, option};
use record::{Cell, Direction, JobRecord, Nanos, RunRecord};
use std::collections::VecDeque;
use suite::{Expected, Failure, Step, Suite, failure, run_duration};

/// Assumed speed in bytes per second, before one is measured.
const SPEED: f64 = 500e6;
/// Assumed time of a run besides its I/O.
const OVERHEAD: Nanos = Nanos::from_millis(60);

/// The name of the second varied parameter in records.
const REPETITION: &str = "repetition";

/// The runs of a call.
pub struct Ior {
    call: IorCommand,
    seed: u64,
    signature: u32,
    /// The remaining phases, each with its repetition.
    left: VecDeque<(u32, Phase)>,
    /// Transfers that each task wrote in the last write phase.
    written: Option<Vec<u64>>,
    spent: Nanos,
}

impl Ior {
    /// All runs of a call.
    pub fn new(call: &IorCommand, seed: u64) -> Ior {
        let phases = call.phases();
        let all = (0..call.repetitions)
            .flat_map(|repetition| phases.iter().map(move |phase| (repetition, *phase)));
        let signature = call.signature.unwrap_or(seed as u32);
        let (call, left) = (call.clone(), all.collect());
        Ior { call, seed, signature, left, written: None, spent: Nanos::default() }
    }

    /// Makes no more runs, as the time of `-T` is over.
    pub fn end(&mut self) {
        self.left.clear();
    }

    /// Seeds of a phase. Reads have the order of the writes.
    fn seeds(&self, repetition: u32) -> Seeds {
        let offsets = self.call.random_seed.unwrap_or(self.seed);
        let tasks = match self.call.reorder_seed {
            fixed @ 0.. => fixed as u64,
            drawn => (drawn as u64).wrapping_add(self.seed).wrapping_add(u64::from(repetition)),
        };
        Seeds { offsets, tasks }
    }

    /// The run of a phase.
    pub(crate) fn step(&self, repetition: u32, phase: Phase) -> Step {
        let call = &self.call;
        let seeds = self.seeds(repetition);
        let owners = owners(call, phase, seeds.tasks);
        let transfers = transfers(call, phase, seeds.offsets);
        let mut arguments = Vec::new();
        for (task, owner) in owners.into_iter().enumerate() {
            let transfers = &transfers[owner as usize];
            let (done, count) = self.share(phase, owner, transfers);
            if count == 0 {
                continue;
            }
            let transfers = &after(call, transfers, done, count);
            let path = call.path(owner, repetition).replace(':', "\\:");
            arguments.push(option("name", format!("task.{task}")));
            arguments.push(option("filename", path));
            arguments.extend(placing(call, phase, transfers, count));
            arguments.extend(access(call, phase));
            arguments.extend(data(call, phase, self.signature));
            arguments.extend(of_task(task as u32, self.seed, call.delay_s));
        }
        let cell = hpc::cell(phase.name(), REPETITION, repetition);
        let description = format!("{}, repetition {repetition}", phase.name());
        Step { cell, description, arguments, duration: self.estimate(phase) }
    }

    /// The transfers that a task makes on the data of `owner`: the number to skip, and the number to make.
    fn share(&self, phase: Phase, owner: u32, transfers: &Transfers) -> (u64, u64) {
        let call = &self.call;
        let all = match transfers {
            Transfers::Listed { numbers, repeats: false } => numbers.len() as u64,
            _ => call.per_task() / call.transfer,
        };
        let all = if call.iterations > 0 { all.min(call.iterations) } else { all };
        match (phase, &self.written) {
            (Phase::Write, _) | (_, None) => (0, all),
            (Phase::WearOut, Some(written)) => {
                let (done, most) = (written[owner as usize], written.iter().copied().max());
                (done, all.min(most.unwrap_or(done)).saturating_sub(done))
            }
            (Phase::Check | Phase::Read, Some(written)) => (0, all.min(written[owner as usize])),
        }
    }

    /// Takes what the tasks wrote in a run. Returns whether wear-out follows.
    pub(crate) fn add_written(&mut self, phase: Phase, record: &RunRecord) -> bool {
        if self.call.deadline_s == 0 || !phase.writes() {
            return false;
        }
        let ios = |task| job_of(record, task).map_or(0, |job| job.results[Direction::Write].ios);
        let ios: Vec<u64> = (0..self.call.tasks).map(ios).collect();
        let written = self.written.get_or_insert_default();
        match phase {
            Phase::WearOut => written.iter_mut().zip(ios).for_each(|(sum, ios)| *sum += ios),
            _ => *written = ios,
        }
        self.call.wear_out && phase == Phase::Write && are_uneven(written.iter().copied())
    }

    fn estimate(&self, phase: Phase) -> Nanos {
        let moving = (self.call.aggregate() as f64 / SPEED * 1e9) as u64;
        let moving = match self.call.deadline_s {
            0 => moving,
            _ if phase == Phase::Check => moving,
            seconds => moving.min(seconds.saturating_mul(1_000_000_000)),
        };
        let pause = self.call.delay_s.saturating_mul(1_000_000_000);
        Nanos(moving.saturating_add(pause).saturating_add(OVERHEAD.0))
    }
}

impl Suite for Ior {
    fn next(&mut self) -> Option<Step> {
        let (repetition, phase) = *self.left.front()?;
        Some(self.step(repetition, phase))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        let Some((repetition, phase)) = self.left.pop_front() else { return Vec::new() };
        if self.add_written(phase, record) {
            self.left.push_front((repetition, Phase::WearOut));
        }
        let is_empty = self.written.as_ref().is_some_and(|ios| ios.iter().all(|ios| *ios == 0));
        while is_empty && self.left.front().is_some_and(|(_, phase)| *phase != Phase::Write) {
            self.left.pop_front();
        }
        if failed(record).is_some() || record.interrupted_by.is_some() {
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        let steps = self.left.iter().map(|(_, phase)| self.estimate(*phase));
        Expected::from_steps(self.spent, steps)
    }
}

/// Whether tasks have different counts.
pub(super) fn are_uneven(mut counts: impl Iterator<Item = u64>) -> bool {
    let first = counts.next();
    counts.any(|count| Some(count) != first)
}

fn job_of(record: &RunRecord, task: u32) -> Option<&JobRecord> {
    record.jobs.iter().find(|job| job.name == format!("task.{task}"))
}

/// The failure of a run.
pub(super) fn failed(record: &RunRecord) -> Option<Failure> {
    let clean = record.jobs.iter().all(|job| job.error == 0 && job.errors.is_empty());
    if clean && !record.jobs.is_empty() { None } else { failure(record) }
}

/// The phase and repetition of a run.
pub fn phase_of(cell: &Cell) -> Option<(Phase, u32)> {
    let all = [Phase::Write, Phase::WearOut, Phase::Check, Phase::Read];
    hpc::phase_of(cell, &all, Phase::name, REPETITION)
}

/// Where a task moves its data, and how much.
fn placing(call: &IorCommand, phase: Phase, transfers: &Transfers, count: u64) -> Vec<String> {
    let bytes = count.saturating_mul(call.transfer);
    let order = if matches!(transfers, Transfers::Listed { .. }) { "rand" } else { "" };
    let direction = if phase.writes() { "write" } else { "read" };
    let mut options = vec![
        option("rw", format!("{order}{direction}")),
        option("bs", call.transfer),
        option("io_size", bytes),
        option("number_ios", count),
    ];
    let size = option("size", reach(call, transfers, count));
    match transfers {
        Transfers::Sequential { offset, period } => {
            options.extend([option("offset", offset), size]);
            if *period > call.block && call.segments > 1 {
                options.extend([
                    option("zonemode", "strided"),
                    option("zonesize", call.block),
                    option("zonerange", call.block),
                    option("zoneskip", period - call.block),
                ]);
            }
        }
        Transfers::Listed { numbers, repeats } => {
            let used = numbers.iter().take(usize::try_from(count).unwrap_or(usize::MAX));
            let numbers: Vec<String> = used.map(u64::to_string).collect();
            let list = format!("sequence:{}", numbers.join(":"));
            options.extend([size, option("random_distribution", list)]);
            options.extend(repeats.then(|| option("random_sequence_stride", 1)));
        }
    }
    options
}

/// The engine, its depth, and how files are opened.
fn access(call: &IorCommand, phase: Phase) -> Vec<String> {
    let (engine, depth) = match call.api {
        Api::Posix => ("psync", 1),
        Api::Aio => ("libaio", call.pending),
        Api::Mmap => ("mmap", 1),
    };
    let mut options = vec![
        option("ioengine", engine),
        option("iodepth", depth),
        option("direct", u8::from(call.direct)),
        option("fallocate", "none"),
        option("invalidate", 0),
        option("fadvise_hint", 0),
    ];
    if phase.writes() {
        options.push(option("create_on_open", 1));
        options.extend(call.fsync.then(|| option("end_fsync", 1)));
        options.extend(call.fsync_per_write.then(|| option("fsync", 1)));
    } else {
        options.push(option("allow_file_create", 0));
    }
    // After wear-out all tasks have written the same amount, and reads cover all of it.
    let ends_early = phase == Phase::Write || phase == Phase::Read && !call.wear_out;
    if call.deadline_s > 0 && ends_early {
        options.push(option("runtime", format!("{}s", call.deadline_s)));
    }
    if call.transfer_delay_us > 0 && phase != Phase::Check {
        options.push(option("thinktime", format!("{}us", call.transfer_delay_us)));
    }
    options
}

/// What is written, and what reads compare.
fn data(call: &IorCommand, phase: Phase, signature: u32) -> Vec<String> {
    let pattern = format!("0x{signature:08x}%o");
    let is_compared = match phase {
        Phase::Write | Phase::WearOut => call.is_stamped(),
        Phase::Check => true,
        Phase::Read => call.check_read,
    };
    if is_compared {
        // A read of a later call compares as well (-R -G), so no verify state is saved.
        let mut options = vec![
            option("verify", "pattern"),
            option("verify_pattern", pattern),
            option("verify_state_save", 0),
        ];
        options.extend(phase.writes().then(|| option("do_verify", 0)));
        return options;
    }
    match (phase.writes(), call.packet) {
        (false, _) => Vec::new(),
        (true, Packet::Random) => vec![option("refill_buffers", 1)],
        (true, Packet::Offset) => vec![option("scramble_buffers", 1)],
        (true, Packet::Timestamp) => vec![option("scramble_buffers", 0)],
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Request, parse};
    use super::*;

    struct Nothing;

    impl job::Inputs for Nothing {
        fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
            Err(std::io::Error::other(path.to_owned()))
        }
        fn variable(&self, _: &str) -> Option<String> {
            None
        }
        fn keywords(&self) -> job::Keywords {
            job::Keywords { page_size: 4096, memory_mib: 1024, cpus: 2, place: None }
        }
    }

    fn suite(line: &str) -> Ior {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let Ok(Request::Run(call)) = parse(&words) else { panic!("{line}") };
        Ior::new(&call, 4)
    }

    /// The options of each job of a step.
    fn jobs(step: &Step) -> Vec<Vec<&str>> {
        let names = step.arguments.split(|argument| argument.starts_with("--name="));
        names.skip(1).map(|job| job.iter().map(String::as_str).collect()).collect()
    }

    #[track_caller]
    fn has(job: &[&str], expected: &[&str]) {
        expected.iter().for_each(|option| assert!(job.contains(option), "{option}: {job:?}"));
    }

    #[test]
    fn tasks_of_a_shared_file_stride_over_each_others_blocks() {
        let step = suite("-N 2 -b 8k -t 4k -s 3 -e -w").next().unwrap();
        let jobs = jobs(&step);
        let strides = ["--size=40960", "--zonesize=8192", "--zonerange=8192", "--zoneskip=8192"];
        for (job, offset) in jobs.iter().zip(["--offset=0", "--offset=8192"]) {
            has(job, &strides);
            has(
                job,
                &[offset, "--io_size=24576", "--rw=write", "--end_fsync=1", "--filename=testFile"],
            );
        }
    }

    #[test]
    fn phases_and_repetitions_come_in_turn() {
        let mut suite = suite("-i 2 -w -W -r -F -N 2");
        let mut names = Vec::new();
        while let Some(step) = suite.next() {
            assert_eq!(jobs(&step).len(), 2);
            let (phase, repetition) = phase_of(&step.cell).unwrap();
            assert_eq!(step.cell.name, format!("{}-{repetition}", phase.name()));
            names.push(step.cell.name.clone());
            let jobs = vec![JobRecord::default()];
            let run = RunRecord { jobs, cell: Some(step.cell), ..RunRecord::default() };
            suite.completed(&run);
        }
        assert_eq!(names, ["write-0", "check-0", "read-0", "write-1", "check-1", "read-1"]);
    }

    #[test]
    fn reads_after_a_stonewall_read_what_was_written() {
        let mut suite = suite("-N 3 -b 8k -t 4k -F -D 1");
        let step = suite.next().unwrap();
        has(&jobs(&step)[0], &["--runtime=1s", "--number_ios=2"]);
        let job = |task: u32, ios| {
            let mut job = JobRecord { name: format!("task.{task}"), ..JobRecord::default() };
            job.results.write.ios = ios;
            job
        };
        let jobs_done = vec![job(0, 1), job(1, 0), job(2, 2)];
        let run = RunRecord { jobs: jobs_done, cell: Some(step.cell), ..RunRecord::default() };
        suite.completed(&run);
        let step = suite.next().unwrap();
        let jobs = jobs(&step);
        assert_eq!(jobs.len(), 2, "the task that wrote nothing has nothing to read");
        let first = ["--filename=testFile.00000000", "--number_ios=1", "--io_size=4096"];
        has(&jobs[0], &first);
        has(&jobs[0], &["--size=4096"]);
        has(&jobs[1], &["--filename=testFile.00000002", "--number_ios=2"]);
    }

    #[test]
    fn wear_out_brings_all_tasks_to_the_count_of_the_fastest() {
        let job = |task: u32, ios| {
            let mut job = JobRecord { name: format!("task.{task}"), ..JobRecord::default() };
            job.results.write.ios = ios;
            job
        };
        let line = "-N 3 -b 8k -t 4k -s 4 -D 1 -O stoneWallingWearOut=1";
        let mut suite = suite(line);
        let step = suite.next().unwrap();
        let ended = vec![job(0, 5), job(1, 2), job(2, 3)];
        let run = RunRecord { jobs: ended, cell: Some(step.cell), ..RunRecord::default() };
        suite.completed(&run);
        let step = suite.next().unwrap();
        assert_eq!(phase_of(&step.cell), Some((Phase::WearOut, 0)));
        let of_steps = jobs(&step);
        assert_eq!(of_steps.len(), 2, "the fastest task has nothing left");
        // Task 1 ended with a block, task 2 within one: its transfers are listed.
        has(&of_steps[0], &["--offset=32768", "--number_ios=3", "--rw=write"]);
        let listed = "--random_distribution=sequence:11:16";
        has(&of_steps[1], &["--number_ios=2", listed, "--rw=randwrite"]);
        assert!(of_steps[0].iter().all(|option| !option.starts_with("--runtime")));
        let rest = vec![job(1, 3), job(2, 2)];
        let run = RunRecord { jobs: rest, cell: Some(step.cell), ..RunRecord::default() };
        suite.completed(&run);
        let step = suite.next().unwrap();
        assert_eq!(phase_of(&step.cell), Some((Phase::Read, 0)));
        let reads = jobs(&step);
        assert_eq!(reads.len(), 3);
        reads.iter().for_each(|job| has(job, &["--number_ios=5"]));
    }

    #[test]
    fn what_is_read_is_compared_with_the_signature_and_the_offset() {
        let mut suite = suite("-w -R -G 255");
        let step = suite.next().unwrap();
        let pattern = "--verify_pattern=0x000000ff%o";
        has(&jobs(&step)[0], &["--verify=pattern", pattern, "--do_verify=0"]);
        let step = Suite::next(&mut Ior { left: [(0, Phase::Read)].into(), ..suite }).unwrap();
        has(&jobs(&step)[0], &["--verify=pattern", pattern, "--allow_file_create=0"]);
    }

    #[test]
    fn each_step_is_a_job_that_fathom_takes() {
        for line in [
            "-N 2 -b 8k -t 4k -s 3 -z -w",
            "-N 2 -b 8k -t 4k -s 3 -F -z -Y -d 1",
            "-N 2 -b 8k -t 4k -a AIO --posix.odirect -D 3 -l r",
            "-a MMAP -O interIODelay=5 -l o",
            "-N 4 -w -R -ZZ",
        ] {
            let mut suite = suite(line);
            while let Some(step) = suite.next() {
                let parsed = job::parse(&step.arguments, job::Dialect::Fathom, &Nothing);
                assert!(parsed.is_ok(), "{line}: {parsed:?}");
                suite.left.pop_front();
            }
        }
    }
}
