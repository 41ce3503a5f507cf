//! `fathom precondition`: brings a device or file into the state after long use.
//!
//! It is written once from end to end in blocks of 1 MiB, then at random in blocks of 4 KiB until
//! it is steady. SNIA's specification writes the device twice first. Here the random rounds
//! continue until the figures are steady, and one pass leaves no block unwritten.

use crate::outcome::{bytes_moved, interrupted_by, run_duration, summarize_run, total_duration};
use crate::saturate::{Rounds, Saturation, SteadyProgress};
use crate::target::{FILL, FILL_SPEED, LARGE};
use crate::{Expected, Failure, Step, Suite, Target, failure};
use record::{Bytes, Direction, Nanos, RecordSet, RunRecord};

/// The setting of a preconditioning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The device or file.
    pub target: Target,
    /// Size of its region.
    pub size: Bytes,
    /// Maximum number of random rounds.
    pub rounds_max: u32,
    /// Maximum time, including the sequential pass.
    pub time_max: Option<Nanos>,
    /// Length of a round; `None`: by size and speed.
    pub round: Option<Nanos>,
    /// Seed of the offsets.
    pub seed: u64,
}

/// The running suite.
pub struct Precondition {
    setting: Setting,
    stage: Stage,
    spent: Nanos,
    failed: Option<Failure>,
}

enum Stage {
    Filling,
    Saturation(Box<Saturation>),
    Over,
}

impl Precondition {
    /// Starts at the sequential pass.
    pub fn new(setting: Setting) -> Precondition {
        Precondition { setting, stage: Stage::Filling, spent: Nanos::default(), failed: None }
    }

    /// Why it ended early, if not by a signal or a limit.
    pub fn failed(&self) -> Option<&Failure> {
        self.failed.as_ref()
    }

    fn fill(&self) -> Step {
        let Setting { target, size, seed, time_max, .. } = &self.setting;
        target.fill("writing the whole target once", *size, *seed, *time_max)
    }

    fn saturating(&self, bytes_per_second: Option<f64>) -> Saturation {
        let length = || bytes_per_second.map(|speed| Rounds::length(self.setting.size, speed));
        let rounds = Rounds {
            region: self.setting.size,
            round: self.setting.round.or_else(length),
            rounds_max: self.setting.rounds_max,
            time_max: self.setting.time_max.map(|most| Nanos(most.0.saturating_sub(self.spent.0))),
            seed: self.setting.seed,
        };
        Saturation::new(self.setting.target.clone(), rounds)
    }

    fn fill_completed(&mut self, record: &RunRecord) -> Vec<String> {
        if let Some(given_up) = self.setting.target.step_down(record) {
            return vec![given_up];
        }
        self.failed = failure(record);
        if self.failed.is_some() {
            self.stage = Stage::Over;
            return Vec::new();
        }
        let speed = summarize_run(record, Direction::Write).map(|outcome| outcome.bytes_per_second);
        let written = bytes_moved(record, Direction::Write);
        let line = format!(
            "wrote {} MiB once at {:.0} MB/s",
            written >> 20,
            speed.unwrap_or_default() / 1e6
        );
        self.stage = if written + LARGE.0 > self.setting.size.0 {
            Stage::Saturation(Box::new(self.saturating(speed)))
        } else {
            Stage::Over
        };
        vec![line]
    }
}

impl Suite for Precondition {
    fn next(&mut self) -> Option<Step> {
        match &mut self.stage {
            Stage::Filling => Some(self.fill()),
            Stage::Saturation(suite) => suite.next(),
            Stage::Over => None,
        }
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        if record.interrupted_by.is_some() {
            self.stage = Stage::Over;
            return Vec::new();
        }
        match &mut self.stage {
            Stage::Filling => self.fill_completed(record),
            Stage::Saturation(suite) => {
                self.failed = failure(record);
                suite.completed(record)
            }
            Stage::Over => Vec::new(),
        }
    }

    fn expected(&self) -> Expected {
        let left = match &self.stage {
            Stage::Filling => {
                self.fill().duration + self.saturating(Some(FILL_SPEED)).expected().left
            }
            Stage::Saturation(suite) => suite.expected().left,
            Stage::Over => Nanos::default(),
        };
        Expected::new(self.spent, left)
    }
}

/// The results of a preconditioning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// Bytes that were written from end to end.
    pub filled: Bytes,
    /// Size of the region.
    pub size: Bytes,
    /// Speed of that, in bytes per second.
    pub bytes_per_second: f64,
    /// The course of the random rounds.
    pub course: SteadyProgress,
    /// Time it took.
    pub elapsed: Nanos,
    /// The error that ended it.
    pub failure: Option<Failure>,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

impl Conclusion {
    /// Whether the whole region was written and the disk is steady.
    pub fn is_steady(&self) -> bool {
        // The last piece of a device may be smaller than a block.
        self.filled.0 + LARGE.0 > self.size.0 && self.course.is_steady()
    }
}

/// The conclusion from the records of a preconditioning.
pub fn conclude(set: &RecordSet) -> Conclusion {
    let is_fill = |run: &&RunRecord| run.cell.as_ref().is_some_and(|cell| cell.name == FILL);
    // The last one counts, as the earlier ones failed at once.
    let fill = set.runs.iter().rfind(is_fill);
    let size = fill.and_then(|run| run.jobs.first()).map(|job| job.workload.region);
    let written = fill.map_or(0, |run| bytes_moved(run, Direction::Write));
    let speed = fill.and_then(|run| summarize_run(run, Direction::Write));
    Conclusion {
        filled: Bytes(written),
        size: size.unwrap_or_default(),
        bytes_per_second: speed.map_or(0.0, |outcome| outcome.bytes_per_second),
        course: Rounds::course(set.runs.iter()),
        elapsed: total_duration(set),
        failure: set.runs.last().and_then(failure),
        interrupted_by: interrupted_by(set),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, SimulatedDisk};

    fn setting() -> Setting {
        Setting {
            target: Target::new("/dev/x", true),
            size: Bytes(1 << 30),
            rounds_max: 25,
            time_max: None,
            round: None,
            seed: 3,
        }
    }

    fn set(runs: Vec<RunRecord>) -> RecordSet {
        RecordSet { kind: "precondition".into(), runs, ..RecordSet::default() }
    }

    #[test]
    fn it_writes_all_of_it_and_then_at_random_until_steady() {
        let mut suite = Precondition::new(setting());
        assert!(suite.expected().left > Nanos(12_000_000_000));
        let driven = SimulatedDisk::fast().drive(&mut suite, 100);
        assert_eq!(
            driven.names(),
            [
                "fill",
                "precondition",
                "precondition",
                "precondition",
                "precondition",
                "precondition"
            ]
        );
        assert!(driven.steps[1].arguments.contains(&"--runtime=2147ms".to_owned()));
        let conclusion = conclude(&set(driven.records));
        assert!(conclusion.is_steady() && conclusion.failure.is_none());
        assert_eq!((conclusion.filled, conclusion.course.iops.len()), (Bytes(1 << 30), 5));
        assert!((conclusion.bytes_per_second / 500e6 - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_time_limit_that_ends_the_pass_leaves_it_unsteady() {
        let limited = Setting { time_max: Some(Nanos::SECOND), ..setting() };
        let mut suite = Precondition::new(limited);
        let driven =
            SimulatedDisk { bandwidth: 100e6, ..SimulatedDisk::fast() }.drive(&mut suite, 100);
        assert_eq!(driven.names(), ["fill"]);
        let conclusion = conclude(&set(driven.records));
        assert!(!conclusion.is_steady() && conclusion.filled < conclusion.size);
    }

    #[test]
    fn errors_and_signals_end_it() {
        let mut suite = Precondition::new(setting());
        suite.completed(&testing::failed("fill", "write", 28));
        assert!(suite.next().is_none() && suite.failed().is_some());
        let mut suite = Precondition::new(setting());
        let step = suite.next().unwrap();
        let stopped = RunRecord { interrupted_by: Some(2), ..SimulatedDisk::fast().run(&step) };
        suite.completed(&stopped);
        assert!(suite.next().is_none() && suite.failed().is_none());
        assert_eq!(conclude(&set(vec![stopped])).interrupted_by, Some(2));
    }

    #[test]
    fn a_place_without_direct_io_is_written_all_the_same() {
        let mut suite = Precondition::new(setting());
        assert!(suite.next().is_some());
        let lines = suite.completed(&testing::failed("fill", "open", 22));
        assert!(lines[0].contains("O_DIRECT"));
        assert!(suite.next().unwrap().arguments.contains(&"--direct=0".to_owned()));
    }
}
