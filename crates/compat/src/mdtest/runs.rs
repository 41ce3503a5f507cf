//! The runs of a call: one for each phase of each iteration, with a job for each task.
//!
//! # Translation
//! - Creation, stat and removal are engines that make one system call for each name.
//! - Files with data are written and read by pwrite(2) and pread(2), each opened right before and
//!   closed right after.
//! - With `-N STRIDE`, a task stats the items of the task STRIDE further on, reads those of the task twice as far
//!   on, and removes those of the task three times as far on.
//! - With `-W`, each task ends its creation of files by its own clock. Wear-out is a run of its own: tasks with
//!   fewer files than the fastest create the rest. Its time is added to that of the creation.
//! - A run keeps the names of its items in memory. A phase with more items than [`MdtestCommand::items_of_run`]
//!   has several runs, each with the next items of every task; their times are added.

use super::{MdtestCommand, Phase};
use crate::hpc::{self, of_task, option};
use record::{Cell, Coordinate, JobRecord, Nanos, RunRecord};
use std::collections::VecDeque;
use std::ops::Range;
use suite::{Draw, Expected, Step, Suite, failure, run_duration};

/// Assumed time of an operation, before one is measured.
const OPERATION_NS: u64 = 20_000;
/// Assumed time of a run besides its operations.
const OVERHEAD_NS: u64 = 60_000_000;

/// `-W` starts another run only if it leaves more time than this.
const REST_MIN: Nanos = Nanos(100_000_000);
/// Most listed names in one run; more make its record too large.
pub(super) const NAMES_MAX: u64 = 1 << 16;

/// The names of the other varied parameters in records.
const ITERATION: &str = "iteration";
const PART: &str = "part";

/// The runs of a call.
pub struct Mdtest {
    call: MdtestCommand,
    seed: u64,
    /// The remaining phases, each with its iteration.
    left: VecDeque<(u32, Phase)>,
    /// Number of the next run within its phase, from 0.
    part: u64,
    /// Files that each task created before `-W` ended it.
    made: Option<Vec<u64>>,
    /// The time of the creation so far.
    creating: Nanos,
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

    /// Most items of each task in one run. The tasks of a host keep their names in the same memory.
    pub(super) fn items_of_run(&self) -> u64 {
        let is_listed = self.is_listed() || self.random && self.stat;
        let most = match is_listed {
            true => self.items_per_run.min(NAMES_MAX) / u64::from(self.tasks),
            false => self.items_per_run / u64::from(self.tasks.div_ceil(self.nodes.max(1))),
        };
        most.max(1)
    }
}

impl Mdtest {
    /// All runs of a call.
    pub fn new(call: &MdtestCommand, seed: u64) -> Mdtest {
        let phases = call.phases();
        let all = (0..call.iterations)
            .flat_map(|iteration| phases.iter().map(move |phase| (iteration, *phase)));
        let left = all.collect();
        let none = Nanos::default();
        let call = call.clone();
        Mdtest { call, seed, left, part: 0, made: None, creating: none, spent: none }
    }

    /// The run of a phase.
    pub(crate) fn step(&self, iteration: u32, phase: Phase) -> Step {
        let call = &self.call;
        let mut arguments = Vec::new();
        let is_tree = matches!(phase, Phase::TreeCreate | Phase::TreeRemove);
        let tasks = if is_tree && !call.unique { 1 } else { call.tasks };
        for task in 0..tasks {
            let names = self.names(phase, iteration, task);
            if names.is_empty() {
                continue;
            }
            arguments.push(option("name", format!("task.{task}")));
            arguments.extend(names);
            arguments.extend(operation(call, phase));
            if phase == Phase::FileCreate && call.stonewall_s > 0 {
                // Before the first part, `creating` is the time of an earlier iteration.
                let created = if self.part == 0 { Nanos::default() } else { self.creating };
                let rest = Nanos(call.stonewall_s.saturating_mul(1_000_000_000)) - created;
                arguments.push(option("runtime", format!("{}ms", rest.0 / 1_000_000)));
            }
            let delay_s = if self.part == 0 { call.delay_s } else { 0 };
            arguments.extend(of_task(task, self.seed, delay_s));
        }
        let mut cell = hpc::cell(phase.name(), ITERATION, iteration);
        let mut description = format!("{}, iteration {iteration}", phase.name());
        if self.part > 0 {
            let number = (self.part + 1).to_string();
            let suffix = format!(", part {number}");
            cell.name += &suffix;
            cell.at.push(Coordinate { dimension: PART.into(), value: number });
            description += &suffix;
        }
        Step { cell, description, arguments, duration: self.estimate(phase) }
    }

    /// Options with the names of the files or directories of a task; empty if it has none in this phase.
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
            Phase::FileCreate | Phase::WearOut => ("file", 0),
            Phase::FileStat => ("file", 1),
            Phase::FileRead => ("file", 2),
            Phase::FileRemove => ("file", 3),
        };
        // A stride leads to the tasks of the next host, if there are several.
        let shift = u64::from(call.stride) * u64::from(call.next_node.max(1)) * strides;
        let owner = ((u64::from(task) + shift) % u64::from(call.tasks)) as u32;
        let groups = clip(call.groups(owner, iteration), self.share(phase, owner));
        if groups.is_empty() {
            return Vec::new();
        }
        let shuffles = call.random && strides == 1;
        if let ([(directory, first, count)], false) = (groups.as_slice(), shuffles) {
            return vec![
                option("directory", escaped(directory)),
                option("filename_format", format!("{kind}.mdtest.{owner}.$filenum")),
                option("filenum_first", first),
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

    /// The items of `owner` that the next run touches, counted from its first one.
    fn share(&self, phase: Phase, owner: u32) -> Range<u64> {
        let most = || self.made.iter().flatten().copied().max().unwrap_or(u64::MAX);
        match phase {
            Phase::TreeCreate | Phase::TreeRemove => 0..u64::MAX,
            Phase::WearOut => self.made_by(owner)..most(),
            Phase::FileStat | Phase::FileRead | Phase::FileRemove => {
                self.next_items(self.made_by(owner))
            }
            _ => self.next_items(u64::MAX),
        }
    }

    /// Files that a task created in this call, or in an earlier one as its status file says.
    fn made_by(&self, task: u32) -> u64 {
        match (&self.made, self.call.made) {
            (Some(made), _) => made[task as usize],
            (None, 0) => u64::MAX,
            (None, by_file) => by_file,
        }
    }

    /// The items of the next run, of a task with `all` items.
    fn next_items(&self, all: u64) -> Range<u64> {
        let each = self.call.items_of_run();
        let begin = self.part.saturating_mul(each);
        begin.min(all)..begin.saturating_add(each).min(all)
    }

    /// Takes the record of a run. Returns what follows within the phase: a run with further items, or
    /// wear-out.
    pub(crate) fn follows(&mut self, phase: Phase, record: &RunRecord) -> Option<Phase> {
        let all = self.call.items_per_task();
        let end = self.next_items(u64::MAX).end;
        let has_more = match phase {
            Phase::TreeCreate | Phase::TreeRemove => false,
            Phase::WearOut => {
                self.add_made(record);
                false
            }
            Phase::FileCreate if self.call.stonewall_s > 0 => {
                if self.part == 0 {
                    (self.made, self.creating) = (None, Nanos::default());
                }
                self.add_made(record);
                self.creating += span(record);
                let are_all_here = self.made.iter().flatten().all(|made| *made >= end);
                end < all && are_all_here && self.rest() > REST_MIN
            }
            Phase::FileStat | Phase::FileRead | Phase::FileRemove => {
                let most = (0..self.call.tasks).map(|task| self.made_by(task)).max();
                end < all.min(most.unwrap_or(0))
            }
            _ => end < all,
        };
        self.part = if has_more { self.part + 1 } else { 0 };
        let made = self.made.as_deref().unwrap_or_default();
        let are_uneven = made.iter().any(|count| *count != made[0]);
        match phase {
            _ if has_more => Some(phase),
            Phase::FileCreate if are_uneven => Some(Phase::WearOut),
            _ => None,
        }
    }

    /// Whether a phase has begun and not ended.
    pub fn is_within_phase(&self) -> bool {
        self.part > 0 || matches!(self.left.front(), Some((_, Phase::WearOut)))
    }

    fn add_made(&mut self, record: &RunRecord) {
        let tasks = self.call.tasks;
        let made = self.made.get_or_insert_with(|| vec![0; tasks as usize]);
        for (task, sum) in made.iter_mut().enumerate() {
            let name = format!("task.{task}");
            let job = record.jobs.iter().find(|job| job.name == name);
            *sum += job.map_or(0, operations);
        }
    }

    /// The time that `-W` leaves for the creation.
    fn rest(&self) -> Nanos {
        Nanos(self.call.stonewall_s.saturating_mul(1_000_000_000)) - self.creating
    }

    fn estimate(&self, phase: Phase) -> Nanos {
        let pause = self.call.delay_s.saturating_mul(1_000_000_000);
        Nanos(
            pause
                .saturating_add(self.call.operations(phase) * OPERATION_NS)
                .saturating_add(OVERHEAD_NS),
        )
    }
}

impl Suite for Mdtest {
    fn next(&mut self) -> Option<Step> {
        let (iteration, phase) = *self.left.front()?;
        Some(self.step(iteration, phase))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        if let Some((iteration, phase)) = self.left.pop_front()
            && let Some(next) = self.follows(phase, record)
        {
            self.left.push_front((iteration, next));
        }
        if failure(record).is_some() || record.interrupted_by.is_some() {
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        let steps = self.left.iter().map(|(_, phase)| self.estimate(*phase));
        Expected::from_steps(self.spent, steps)
    }
}

/// The phase and iteration of a run.
pub fn phase_of(cell: &Cell) -> Option<(Phase, u32)> {
    hpc::phase_of(cell, Phase::ALL, Phase::name, ITERATION)
}

/// Whether a run continues a phase that an earlier run began.
pub(super) fn is_further(cell: &Cell) -> bool {
    let is_part = cell.at.iter().any(|coordinate| coordinate.dimension == PART);
    is_part || matches!(phase_of(cell), Some((Phase::WearOut, _)))
}

/// The parts of groups (directory, first item, number of items) in a range, which counts over all groups.
pub(super) fn clip(groups: Vec<(String, u64, u64)>, range: Range<u64>) -> Vec<(String, u64, u64)> {
    let mut before = 0;
    let part = |(directory, first, count): (String, u64, u64)| {
        let of_group = |item: u64| item.saturating_sub(before).min(count);
        let (begin, end) = (of_group(range.start), of_group(range.end));
        before += count;
        (begin < end).then(|| (directory, first + begin, end - begin))
    };
    groups.into_iter().filter_map(part).collect()
}

/// Escapes a path for a list of names.
fn escaped(path: &str) -> String {
    path.replace(':', "\\:")
}

fn listed(names: Vec<String>) -> Vec<String> {
    let count = names.len();
    let names: Vec<String> = names.iter().map(|name| escaped(name)).collect();
    vec![option("filename", names.join(":")), option("nrfiles", count)]
}

/// The options for the operation of a phase on each name.
fn operation(call: &MdtestCommand, phase: Phase) -> Vec<String> {
    let engine = match phase {
        Phase::TreeCreate | Phase::DirectoryCreate => "dircreate",
        Phase::DirectoryStat => "dirstat",
        Phase::TreeRemove | Phase::DirectoryRemove => "dirdelete",
        Phase::FileCreate | Phase::WearOut if call.write_bytes > 0 => {
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
        // Existing files are opened and closed.
        Phase::FileCreate | Phase::WearOut | Phase::FileRead => "filecreate",
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

/// Operations of a task.
pub(super) fn operations(job: &JobRecord) -> u64 {
    job.results.read.ios + job.results.write.ios
}

/// From the start of the first task to the end of the last.
pub(super) fn span(run: &RunRecord) -> Nanos {
    let began = run.jobs.iter().map(|job| job.started).min().unwrap_or_default();
    run.jobs.iter().map(|job| job.ended).max().unwrap_or_default() - began
}

/// One transfer for each file, which is open only during it.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A run in which the tasks created so many files.
    fn ran(step: Step, counts: &[(u32, u64)]) -> RunRecord {
        let job = |(task, ios): &(u32, u64)| {
            let mut job = JobRecord { name: format!("task.{task}"), ..JobRecord::default() };
            job.results.write.ios = *ios;
            job
        };
        let jobs = counts.iter().map(job).collect();
        RunRecord { jobs, cell: Some(step.cell), ..RunRecord::default() }
    }

    #[test]
    fn wear_out_brings_all_tasks_to_the_count_of_the_fastest() {
        let mut call =
            MdtestCommand { items: 9, tasks: 2, files_only: true, ..MdtestCommand::default() };
        (call.create, call.stat, call.stonewall_s) = (true, true, 2);
        let mut suite = Mdtest::new(&call, 1);
        let tree = suite.next().unwrap();
        suite.completed(&ran(tree, &[(0, 1)]));
        let create = suite.next().unwrap();
        assert_eq!(
            create.arguments.iter().filter(|option| *option == "--runtime=2000ms").count(),
            2
        );
        suite.completed(&ran(create, &[(0, 7), (1, 4)]));
        let rest = suite.next().unwrap();
        assert_eq!(phase_of(&rest.cell), Some((Phase::WearOut, 0)));
        for option in ["--name=task.1", "--filenum_first=4", "--nrfiles=3"] {
            assert!(rest.arguments.iter().any(|found| found == option), "{option}: {rest:?}");
        }
        assert!(rest.arguments.iter().all(|option| option != "--name=task.0"), "{rest:?}");
        suite.completed(&ran(rest, &[(1, 3)]));
        let stat = suite.next().unwrap();
        assert_eq!(phase_of(&stat.cell), Some((Phase::FileStat, 0)));
        assert_eq!(stat.arguments.iter().filter(|option| *option == "--nrfiles=7").count(), 2);
    }

    #[test]
    fn more_items_than_fit_a_run_are_several_runs_and_one_figure() {
        let line = "--tasks=2 -n 5 -F -C -T --items-per-run=4";
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let Ok(hpc::Request::Run(call)) = super::super::parse(&words) else { panic!("{line}") };
        let mut suite = Mdtest::new(&call, 1);
        let mut outcome = super::super::Outcome::default();
        let mut seen = Vec::new();
        while let Some(step) = suite.next() {
            let of = |name: &str| {
                let found = step.arguments.iter().find_map(|option| option.strip_prefix(name));
                found.map(|value| value.parse::<u64>().unwrap())
            };
            let (first, count) = (of("--filenum_first="), of("--nrfiles=").unwrap_or(1));
            seen.push((step.cell.name.clone(), first, count));
            let mut run = ran(step, &[(0, count), (1, count)]);
            run.jobs.iter_mut().for_each(|job| job.ended = Nanos::SECOND);
            assert_eq!(suite.is_within_phase(), seen.last().unwrap().0.contains("part"));
            suite.completed(&run);
            outcome.add(&run, 0.5);
        }
        let row = |name: &str, first, count| (name.to_owned(), first, count);
        assert_eq!(
            seen,
            [
                row("tree-creation-0", None, 1),
                row("file-creation-0", Some(0), 2),
                row("file-creation-0, part 2", Some(2), 2),
                row("file-creation-0, part 3", Some(4), 1),
                row("file-stat-0", Some(0), 2),
                row("file-stat-0, part 2", Some(2), 2),
                row("file-stat-0, part 3", Some(4), 1),
            ]
        );
        let [_, created, stated] = &outcome.phases[..] else { panic!("{:?}", outcome.phases) };
        for result in [created, stated] {
            assert_eq!((result.runs, result.operations, result.most), (3, 10, 5));
            assert_eq!((result.seconds, result.tasks), (4.5, (3.0, 3.0)));
        }
    }

    #[test]
    fn a_deadline_counts_over_the_runs_of_a_creation() {
        let mut call =
            MdtestCommand { items: 9, tasks: 2, files_only: true, ..MdtestCommand::default() };
        (call.create, call.stat, call.stonewall_s, call.items_per_run) = (true, true, 2, 4);
        let mut suite = Mdtest::new(&call, 1);
        let runs = |suite: &mut Mdtest, counts: &[(u32, u64)], ms: u64| {
            let step = suite.next().unwrap();
            let runtime = step.arguments.iter().find(|option| option.starts_with("--runtime="));
            let (name, runtime) = (step.cell.name.clone(), runtime.cloned().unwrap_or_default());
            let mut run = ran(step, counts);
            run.jobs.iter_mut().for_each(|job| job.ended = Nanos::from_millis(ms));
            suite.completed(&run);
            format!("{name} {runtime}")
        };
        runs(&mut suite, &[(0, 1)], 1);
        assert_eq!(runs(&mut suite, &[(0, 2), (1, 2)], 1500), "file-creation-0 --runtime=2000ms");
        let second = runs(&mut suite, &[(0, 2), (1, 1)], 500);
        assert_eq!(second, "file-creation-0, part 2 --runtime=500ms");
        assert_eq!(runs(&mut suite, &[(1, 1)], 1), "file-creation-wear-out-0 ");
        for part in ["file-stat-0 ", "file-stat-0, part 2 "] {
            assert_eq!(runs(&mut suite, &[(0, 2), (1, 2)], 1), part);
        }
        assert_eq!(suite.next(), None);
    }

    #[test]
    fn a_range_of_items_may_lie_in_several_directories() {
        let groups = || vec![("a".to_owned(), 0, 3), ("b".to_owned(), 3, 3)];
        assert_eq!(clip(groups(), 2..4), [("a".to_owned(), 2, 1), ("b".to_owned(), 3, 1)]);
        assert_eq!(clip(groups(), 0..u64::MAX), groups());
        assert_eq!(clip(groups(), 6..9), []);
    }
}
