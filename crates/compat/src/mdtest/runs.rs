//! The runs of a call: one for each phase of each iteration, with a job for each task.
//!
//! # Translation
//! - Creation, stat and removal are engines that make one system call for each name.
//! - Files with data are written and read by pwrite(2) and pread(2), each opened right before and
//!   closed right after.
//! - A task stats the items of the task `-N` further on, reads those twice as far, and removes those
//!   three times as far.

use super::{MdtestCommand, Phase};
use crate::hpc::{self, of_task, option};
use record::{Cell, Nanos, RunRecord};
use std::collections::VecDeque;
use suite::{Draw, Expected, Step, Suite, failure, run_duration};

/// Assumed time of an operation, before one is measured.
const EACH: u64 = 20_000;
/// Assumed time of a run besides its operations.
const OVERHEAD: u64 = 60_000_000;

/// The name of the second varied parameter in records.
const ITERATION: &str = "iteration";

/// The runs of a call.
pub struct Mdtest {
    call: MdtestCommand,
    seed: u64,
    /// The remaining phases, each with its iteration.
    left: VecDeque<(u32, Phase)>,
    spent: Nanos,
}

impl MdtestCommand {
    /// Whether each name is listed in the job, as the names do not follow from one pattern.
    pub(super) fn is_listed(&self) -> bool {
        self.depth > 0 || self.loops() > 1
    }

    /// Operations of all tasks in a phase.
    pub fn operations(&self, phase: Phase) -> u64 {
        let tasks = u64::from(self.tasks);
        match phase {
            Phase::TreeCreate | Phase::TreeRemove => {
                let trees = if self.unique { tasks } else { 1 };
                self.directories().unwrap_or_default() * self.loops() * trees
            }
            _ => self.items_per_task() * tasks,
        }
    }
}

impl Mdtest {
    /// All runs of a call.
    pub fn new(call: &MdtestCommand, seed: u64) -> Mdtest {
        let phases = call.phases();
        let all = (0..call.iterations)
            .flat_map(|iteration| phases.iter().map(move |phase| (iteration, *phase)));
        let left = all.collect();
        Mdtest { call: call.clone(), seed, left, spent: Nanos::default() }
    }

    fn step(&self, iteration: u32, phase: Phase) -> Step {
        let call = &self.call;
        let mut arguments = Vec::new();
        let is_tree = matches!(phase, Phase::TreeCreate | Phase::TreeRemove);
        let tasks = if is_tree && !call.unique { 1 } else { call.tasks };
        for task in 0..tasks {
            arguments.push(option("name", format!("task.{task}")));
            arguments.extend(self.names(phase, iteration, task));
            arguments.extend(operation(call, phase));
            arguments.extend(of_task(task, self.seed, call.delay_s));
        }
        let cell = hpc::cell(phase.name(), ITERATION, iteration);
        let description = format!("{}, iteration {iteration}", phase.name());
        Step { cell, description, arguments, duration: self.lasts(phase) }
    }

    /// The names that a task works on, as options.
    fn names(&self, phase: Phase, iteration: u32, task: u32) -> Vec<String> {
        let call = &self.call;
        let (kind, strides) = match phase {
            Phase::TreeCreate => return listed(call.tree(task, iteration)),
            Phase::TreeRemove => {
                return listed(call.tree(task, iteration).into_iter().rev().collect());
            }
            Phase::DirectoryCreate => ("dir", 0),
            Phase::DirectoryStat => ("dir", 1),
            Phase::DirectoryRemove => ("dir", 3),
            Phase::FileCreate => ("file", 0),
            Phase::FileStat => ("file", 1),
            Phase::FileRead => ("file", 2),
            Phase::FileRemove => ("file", 3),
        };
        // A stride leads to the tasks of the next host, if there are several.
        let shift = u64::from(call.stride) * u64::from(call.next_node.max(1)) * strides;
        let owner = ((u64::from(task) + shift) % u64::from(call.tasks)) as u32;
        let groups = call.groups(owner, iteration);
        let shuffles = call.random && strides == 1;
        if let ([(directory, 0, count)], false) = (groups.as_slice(), shuffles) {
            return vec![
                option("directory", escaped(directory)),
                option("filename_format", format!("{kind}.mdtest.{owner}.$filenum")),
                option("nrfiles", count),
            ];
        }
        let of_group = |(directory, first, count): (String, u64, u64)| {
            let name = move |item| format!("{directory}/{kind}.mdtest.{owner}.{item}");
            (first..first + count).map(name)
        };
        let mut names: Vec<String> = groups.into_iter().flat_map(of_group).collect();
        if shuffles {
            let seed = call.seed.unwrap_or(self.seed).wrapping_add(task.into());
            Draw::new(seed).shuffle(&mut names);
        }
        listed(names)
    }

    fn lasts(&self, phase: Phase) -> Nanos {
        let pause = self.call.delay_s.saturating_mul(1_000_000_000);
        Nanos(pause.saturating_add(self.call.operations(phase) * EACH).saturating_add(OVERHEAD))
    }
}

impl Suite for Mdtest {
    fn next(&mut self) -> Option<Step> {
        let (iteration, phase) = *self.left.front()?;
        Some(self.step(iteration, phase))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        self.left.pop_front();
        if failure(record).is_some() || record.interrupted_by.is_some() {
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        let lasts = self.left.iter().map(|(_, phase)| self.lasts(*phase));
        let left = Nanos(lasts.fold(0, |sum, lasts| sum.saturating_add(lasts.0)));
        Expected { whole: Nanos(self.spent.0.saturating_add(left.0)), left }
    }
}

/// The phase and iteration of a run.
pub fn phase_of(cell: &Cell) -> Option<(Phase, u32)> {
    hpc::phase_of(cell, Phase::ALL, Phase::name, ITERATION)
}

/// As in a list of names.
fn escaped(path: &str) -> String {
    path.replace(':', "\\:")
}

fn listed(names: Vec<String>) -> Vec<String> {
    let count = names.len();
    let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    vec![option("filename", names.join(":")), option("nrfiles", count)]
}

/// What is done with each name.
fn operation(call: &MdtestCommand, phase: Phase) -> Vec<String> {
    let engine = match phase {
        Phase::TreeCreate | Phase::DirectoryCreate => "dircreate",
        Phase::DirectoryStat => "dirstat",
        Phase::TreeRemove | Phase::DirectoryRemove => "dirdelete",
        Phase::FileCreate if call.write_bytes > 0 => {
            let mut options = data("write", call.write_bytes);
            options.push(option("create_on_open", 1));
            options.extend(call.fsync.then(|| option("fsync", 1)));
            return options;
        }
        Phase::FileRead if call.read_bytes > 0 => {
            let mut options = data("read", call.read_bytes);
            options.push(option("allow_file_create", 0));
            return options;
        }
        // Files that are there are opened and closed.
        Phase::FileCreate | Phase::FileRead => "filecreate",
        Phase::FileStat => "filestat",
        Phase::FileRemove => "filedelete",
    };
    let mut options = vec![
        option("ioengine", engine),
        option("filesize", 4096),
        option("bs", 4096),
        option("file_service_type", "sequential"),
    ];
    let needs = matches!(engine, "dirstat" | "dirdelete" | "filestat" | "filedelete");
    options.extend(needs.then(|| option("allow_file_create", 0)));
    options
}

/// One transfer for each file, which is open meanwhile only.
fn data(direction: &str, bytes: u64) -> Vec<String> {
    vec![
        option("ioengine", "psync"),
        option("rw", direction),
        option("bs", bytes),
        option("filesize", bytes),
        option("openfiles", 1),
        option("file_service_type", "sequential"),
        option("fallocate", "none"),
        option("invalidate", 0),
        option("fadvise_hint", 0),
    ]
}
