//! The figures of a phase, as IOR calculates them.

use super::command::{IorCommand, Phase};
use super::runs::{self, phase_of};
use super::terminology::TERMINOLOGY;
use crate::hpc;
use crate::iozone::Source;
use judge::{Durability, Finding, Verdict};
use record::{Direction, JobRecord, RunRecord};
use suite::Failure;

/// The times and counts of all tasks of a phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes moved by all tasks.
    pub bytes: u64,
    /// Seconds until the last task had opened its file.
    pub open: f64,
    /// Seconds from the start of the first task to the end of the last.
    pub moving: f64,
    /// Seconds that the slowest task took to close its file.
    pub close: f64,
    /// Seconds and transfers of each task.
    pub tasks: Vec<(f64, u64)>,
    /// Seconds and bytes before wear-out; `None`: there was none.
    pub stonewall: Option<(f64, u64)>,
}

/// A phase that was timed.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseResult {
    /// Write or read.
    pub phase: Phase,
    /// From 0.
    pub repetition: u32,
    /// What was measured.
    pub measured: Measured,
    /// 50th, 99th and 99.9th percentile and maximum of the latencies of all tasks, in nanoseconds;
    /// `None`: not measured.
    pub latency_ns: Option<[u64; 4]>,
    /// What served the I/O.
    pub source: Source,
}

impl Measured {
    /// Open, transfers and close, in seconds.
    pub fn total(&self) -> f64 {
        self.open + self.moving + self.close
    }

    /// MiB per second over the total.
    pub fn bandwidth(&self) -> f64 {
        rate(self.bytes as f64 / f64::from(1 << 20), self.total())
    }

    /// Transfers per second while data was moved.
    pub fn iops(&self, transfer: u64) -> f64 {
        rate(self.bytes as f64 / transfer as f64, self.moving)
    }

    /// Transfers per second over the total.
    pub fn operations(&self, transfer: u64) -> f64 {
        rate(self.bytes as f64 / transfer as f64, self.total())
    }

    /// Adds the run of wear-out.
    fn wear_out(&mut self, rest: &RunRecord) {
        let more = measured(rest, Phase::WearOut);
        self.stonewall = Some((self.moving, self.bytes));
        self.bytes += more.bytes;
        self.open += more.open;
        self.moving += more.moving;
        self.close += more.close;
        for (job, (seconds, count)) in sorted(rest).into_iter().zip(more.tasks) {
            if let Some(task) = self.tasks.get_mut(task_of(job)) {
                *task = (task.0 + seconds, task.1 + count);
            }
        }
    }

    /// Seconds of a transfer, of the task where that is least.
    pub fn latency(&self) -> f64 {
        let each = self.tasks.iter().filter(|(_, count)| *count > 0);
        each.map(|(seconds, count)| seconds / *count as f64).reduce(f64::min).unwrap_or(0.0)
    }
}

fn rate(amount: f64, seconds: f64) -> f64 {
    if seconds > 0.0 { amount / seconds } else { 0.0 }
}

/// All that a call measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The timed phases, in order.
    pub phases: Vec<PhaseResult>,
    /// Seconds that the removal of files took, with the repetition.
    pub removals: Vec<(u32, f64)>,
    /// The durability of writes.
    pub durability: Option<Durability>,
    /// The bottleneck of each phase.
    pub verdicts: Vec<Verdict>,
    /// Findings, except those shown with the figures.
    pub findings: Vec<Finding>,
    /// The failure that ended the call.
    pub failure: Option<Failure>,
    /// The signal that ended the call.
    pub interrupted_by: Option<i32>,
    /// Transfers whose data was wrong.
    pub bad: u64,
}

impl Outcome {
    /// Adds a run.
    pub fn add(&mut self, run: &RunRecord) {
        self.failure = self.failure.take().or_else(|| runs::failed(run));
        self.interrupted_by = self.interrupted_by.or(run.interrupted_by);
        self.bad += run.jobs.iter().map(bad).sum::<u64>();
        let Some(cell) = &run.cell else { return };
        if let Some((phase, repetition)) = phase_of(cell) {
            self.add_phase(run, phase, repetition, &cell.name);
        }
    }

    /// Adds the figures of a run without failures.
    fn add_phase(&mut self, run: &RunRecord, phase: Phase, repetition: u32, name: &str) {
        let is_whole = runs::failed(run).is_none() && run.interrupted_by.is_none();
        match (phase, is_whole) {
            (Phase::WearOut, true) => {
                let write = self.phases.last_mut();
                write.into_iter().for_each(|write| write.measured.wear_out(run));
            }
            // Without it, the tasks of the write wrote different amounts.
            (Phase::WearOut, false) => self.phases.truncate(self.phases.len().saturating_sub(1)),
            _ => {}
        }
        if phase == Phase::Check || !is_whole {
            return;
        }
        let judged = judge::judge(run);
        let measured = measured(run, phase);
        if measured.bytes > 0 && phase != Phase::WearOut {
            let latency = hpc::latency(&judged, direction(phase), [50.0, 99.0, 99.9]);
            let latency_ns = latency.map(|([p50, p99, p999], most)| [p50, p99, p999, most]);
            let source = crate::iozone::source_of(run, &judged);
            self.phases.push(PhaseResult { phase, repetition, measured, latency_ns, source });
        }
        if phase == Phase::Write && self.durability.is_none() {
            let file = run.jobs.first().and_then(|job| job.workload.files.first());
            self.durability = file.map(|file| judge::durability(&run.facts, file));
        }
        let judged = hpc::judged_as_whole(judged, &TERMINOLOGY, name);
        self.verdicts.extend(judged.verdicts);
        self.findings.extend(judged.findings);
    }

    /// Leaves out a write whose wear-out did not run, because a signal came before it.
    pub fn drop_unfinished(&mut self, call: &IorCommand) {
        self.phases.retain(|result| !result.is_unfinished(call));
    }

    /// Transfers of the task that wrote most in the last write; `None`: nothing was written.
    pub fn written_each(&self) -> Option<u64> {
        let write = self.of_phase(Phase::Write).last()?;
        write.measured.tasks.iter().map(|(_, count)| *count).max()
    }

    /// The timed phases of one kind.
    pub fn of_phase(&self, phase: Phase) -> impl Iterator<Item = &PhaseResult> {
        self.phases.iter().filter(move |result| result.phase == phase)
    }
}

fn bad(job: &JobRecord) -> u64 {
    let wrong = |error: &&record::ErrorCount| error.operation == "verify";
    job.errors.iter().filter(wrong).map(|error| error.count).sum()
}

fn direction(phase: Phase) -> Direction {
    if phase.writes() { Direction::Write } else { Direction::Read }
}

fn measured(run: &RunRecord, phase: Phase) -> Measured {
    let direction = direction(phase);
    let longest = |of: fn(&JobRecord) -> Option<record::Nanos>| {
        run.jobs.iter().filter_map(of).max().unwrap_or_default().seconds()
    };
    let began = run.jobs.iter().map(|job| job.started).min().unwrap_or_default();
    let ended = run.jobs.iter().map(|job| job.ended).max().unwrap_or_default();
    let task = |job: &JobRecord| ((job.ended - job.started).seconds(), job.results[direction].ios);
    Measured {
        bytes: run.jobs.iter().map(|job| job.results[direction].bytes.0).sum(),
        open: longest(|job| job.opening),
        moving: (ended - began).seconds(),
        close: longest(|job| job.closing),
        tasks: sorted(run).into_iter().map(task).collect(),
        stonewall: None,
    }
}

/// The jobs of a run, by task.
fn sorted(run: &RunRecord) -> Vec<&JobRecord> {
    let mut jobs: Vec<&JobRecord> = run.jobs.iter().collect();
    jobs.sort_by_key(|job| task_of(job));
    jobs
}

fn task_of(job: &JobRecord) -> usize {
    let number = job.name.strip_prefix("task.").and_then(|number| number.parse().ok());
    number.unwrap_or(usize::MAX)
}

impl PhaseResult {
    /// MiB per second.
    pub fn bandwidth(&self) -> f64 {
        self.measured.bandwidth()
    }

    /// Whether wear-out follows.
    pub fn is_unfinished(&self, call: &IorCommand) -> bool {
        let counts = self.measured.tasks.iter().map(|(_, count)| *count);
        self.phase == Phase::Write && call.wear_out && runs::are_uneven(counts)
    }

    /// Whether the figures of a phase are those of this call's whole amount.
    pub fn is_whole(&self, call: &IorCommand) -> bool {
        self.measured.bytes >= call.aggregate()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use record::{Bytes, Cell, Coordinate, Nanos};

    /// A run of two tasks: 64 MiB in 256 transfers; the first takes 3 s, the second 4 s.
    pub fn run(phase: &str, repetition: &str) -> RunRecord {
        let job = |task: u32, ms: u64| {
            let mut job = JobRecord {
                name: format!("task.{task}"),
                started: Nanos::from_millis(1000),
                ended: Nanos::from_millis(1000 + ms),
                opening: Some(Nanos::from_millis(300 + u64::from(task) * 200)),
                closing: Some(Nanos::from_millis(500)),
                ..JobRecord::default()
            };
            for direction in [Direction::Read, Direction::Write] {
                let result = &mut job.results[direction];
                (result.ios, result.bytes) = (256, Bytes(64 << 20));
            }
            job
        };
        let at = |dimension: &str, value: &str| Coordinate {
            dimension: dimension.into(),
            value: value.into(),
        };
        let at = vec![at("phase", phase), at("repetition", repetition)];
        let cell = Some(Cell { name: phase.into(), round: 0, at });
        RunRecord { jobs: vec![job(0, 3000), job(1, 4000)], cell, ..RunRecord::default() }
    }

    #[test]
    fn bandwidth_counts_open_and_close_and_iops_do_not() {
        let mut outcome = Outcome::default();
        outcome.add(&run("write", "0"));
        outcome.add(&run("check", "0"));
        let [result] = &outcome.phases[..] else { panic!("{:?}", outcome.phases) };
        let measured = &result.measured;
        assert_eq!((measured.open, measured.moving, measured.close), (0.5, 4.0, 0.5));
        assert_eq!(result.bandwidth(), 128.0 / 5.0);
        assert_eq!(measured.iops(256 << 10), 512.0 / 4.0);
        assert_eq!(measured.operations(256 << 10), 512.0 / 5.0);
        assert_eq!(measured.latency(), 3.0 / 256.0, "that of the faster task");
    }
}
