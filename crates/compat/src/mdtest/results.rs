//! The figures of a phase, as mdtest calculates them.

use super::command::Phase;
use super::runs::{is_further, operations, phase_of, span};
use super::terminology::TERMINOLOGY;
use crate::hpc;
use judge::{Finding, Verdict};
use record::{Direction, RunRecord};
use suite::Failure;

/// A phase that was timed.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseResult {
    /// Which.
    pub phase: Phase,
    /// From 0.
    pub iteration: u32,
    /// Operations of all tasks.
    pub operations: u64,
    /// Seconds from the start of the first task to the end of the last, with the sync of `-Y`.
    pub seconds: f64,
    /// Operations of the task that made most.
    pub most: u64,
    /// Seconds and operations of all tasks before wear-out; `None`: there was none.
    pub stonewall: Option<(f64, u64)>,
    /// Seconds of the fastest and of the slowest task.
    pub tasks: (f64, f64),
    /// The runs that it took.
    pub runs: u32,
    /// Median and 99th percentile, and maximum, of the latencies of all tasks, in nanoseconds; of several
    /// runs, the highest of each.
    pub latency_ns: Option<([u64; 2], u64)>,
}

impl PhaseResult {
    /// Adds a further run of the same phase.
    fn add(&mut self, rest: PhaseResult) {
        if rest.phase == Phase::WearOut {
            self.stonewall = Some((self.seconds, self.operations));
        } else {
            self.most += rest.most;
            self.tasks.0 += rest.tasks.0;
        }
        self.runs += 1;
        self.operations += rest.operations;
        self.seconds += rest.seconds;
        self.tasks.1 += rest.tasks.1;
        self.latency_ns =
            self.latency_ns.zip(rest.latency_ns).map(|(one, other)| slower(one, other));
    }

    /// Operations per second.
    pub fn rate(&self) -> f64 {
        if self.seconds > 0.0 { self.operations as f64 / self.seconds } else { 0.0 }
    }
}

/// All that a call measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The phases, in order.
    pub phases: Vec<PhaseResult>,
    /// The bottleneck of each phase.
    pub verdicts: Vec<Verdict>,
    /// Findings, except those shown with the figures.
    pub findings: Vec<Finding>,
    /// The failure that ended the call.
    pub failure: Option<Failure>,
    /// The signal that ended the call.
    pub interrupted_by: Option<i32>,
}

impl Outcome {
    /// Adds a run, and the seconds that its sync took.
    pub fn add(&mut self, run: &RunRecord, sync: f64) {
        let failed = suite::failure(run);
        self.interrupted_by = self.interrupted_by.or(run.interrupted_by);
        let Some(cell) = &run.cell else { return };
        let Some((phase, iteration)) = phase_of(cell) else { return };
        let is_further = is_further(cell);
        if failed.is_some() || run.interrupted_by.is_some() {
            if is_further {
                self.drop_last();
            }
            self.failure = self.failure.take().or(failed);
            return;
        }
        let judged = judge::judge(run);
        let mut directions = Direction::ALL.into_iter();
        let latency_ns =
            directions.find_map(|direction| hpc::latency(&judged, direction, [50.0, 99.0]));
        let each = || run.jobs.iter().map(|job| (job.ended - job.started).seconds());
        let result = PhaseResult {
            phase,
            iteration,
            operations: run.jobs.iter().map(operations).sum(),
            most: run.jobs.iter().map(operations).max().unwrap_or(0),
            stonewall: None,
            seconds: span(run).seconds() + sync,
            runs: 1,
            tasks: (each().fold(f64::INFINITY, f64::min), each().fold(0.0, f64::max)),
            latency_ns,
        };
        let judged = hpc::judged_as_whole(judged, &TERMINOLOGY, &cell.name);
        match self.phases.last_mut().filter(|_| is_further) {
            Some(first) => first.add(result),
            None => {
                self.phases.push(result);
                self.verdicts.extend(judged.verdicts);
            }
        }
        self.findings.extend(judged.findings);
    }

    /// Leaves the last phase out, because not all of its runs were made: its tasks have different numbers
    /// of items.
    pub fn drop_last(&mut self) {
        self.phases.pop();
    }

    /// Files of each task after the last creation; `None`: none were created.
    pub fn made_each(&self) -> Option<u64> {
        self.of_phase(Phase::FileCreate).last().map(|created| created.most)
    }

    /// The results of one phase.
    pub fn of_phase(&self, phase: Phase) -> impl Iterator<Item = &PhaseResult> {
        self.phases.iter().filter(move |result| result.phase == phase)
    }
}

/// The higher of each value.
pub(super) fn slower(one: ([u64; 2], u64), other: ([u64; 2], u64)) -> ([u64; 2], u64) {
    ([one.0[0].max(other.0[0]), one.0[1].max(other.0[1])], one.1.max(other.1))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use record::{Cell, Coordinate, JobRecord, Nanos};

    /// A run of two tasks with 100 operations each; the first takes 1 s, the second 2 s.
    pub fn run(phase: Phase, iteration: u32) -> RunRecord {
        let job = |task: u32, ms: u64| {
            let mut job = JobRecord {
                name: format!("task.{task}"),
                started: Nanos::from_millis(1000),
                ended: Nanos::from_millis(1000 + ms),
                ..JobRecord::default()
            };
            job.results.read.ios = 100;
            job
        };
        let at = |dimension: &str, value: String| Coordinate { dimension: dimension.into(), value };
        let at = vec![at("phase", phase.name().into()), at("iteration", iteration.to_string())];
        let cell = Some(Cell { name: phase.name().into(), round: 0, at });
        RunRecord { jobs: vec![job(0, 1000), job(1, 2000)], cell, ..RunRecord::default() }
    }

    #[test]
    fn the_slowest_task_and_the_sync_make_the_time() {
        let mut outcome = Outcome::default();
        outcome.add(&run(Phase::FileCreate, 0), 0.5);
        let [result] = &outcome.phases[..] else { panic!("{outcome:?}") };
        assert_eq!((result.operations, result.seconds, result.rate()), (200, 2.5, 80.0));
        assert_eq!(result.tasks, (1.0, 2.0));
    }
}
