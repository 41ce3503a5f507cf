//! Rounds of random writes until a disk reaches steady state.
//!
//! Fresh flash has empty blocks to write to. Its sustained speed shows only when it must free
//! blocks first. The criterion is that of SNIA's Performance Test Specification: over five rounds
//! the figures stay within 20 % of their average, and the slope of their best line within 10 %.

use crate::order::Draw;
use crate::outcome::{run_duration, summarize_run};
use crate::target::{EndCondition, JobSpec, Target};
use crate::{Expected, Step, Suite, failure};
use judge::stats::{STEADY_ROUNDS, SteadyState, steady_state};
use record::{Bytes, Cell, Direction, Nanos, RunRecord};

/// Name of the runs.
pub(crate) const CELL: &str = "precondition";
/// Number of rounds that must be alike.
pub const WINDOW: u32 = STEADY_ROUNDS as u32;
/// I/Os in flight, enough to keep any disk busy.
const DEPTH: u32 = 32;
const BLOCK: Bytes = Bytes(4096);

/// The setting of the random writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// Size of the region, from the start of the target.
    pub region: Bytes,
    /// Length of a round; `None`: by the speed of the target.
    pub round: Option<Nanos>,
    /// The largest number of rounds.
    pub rounds_max: u32,
    /// Maximum time.
    pub time_max: Option<Nanos>,
    /// Seed of the offsets.
    pub seed: u64,
}

/// Length of a round if the speed is unknown: SNIA's.
const ROUND: Nanos = Nanos(60_000_000_000);

impl Rounds {
    /// The length of a round: the time to write the region once at `bytes_per_second`, between 2 s
    /// and SNIA's minute. So a small file is not written hundreds of times per round.
    pub(crate) fn length(region: Bytes, bytes_per_second: f64) -> Nanos {
        if bytes_per_second <= 0.0 {
            return ROUND;
        }
        let once = region.0 as f64 / bytes_per_second;
        Nanos((once.clamp(2.0, 60.0) * 1e9) as u64)
    }

    /// The course of the rounds among these runs.
    pub fn course<'a>(runs: impl Iterator<Item = &'a RunRecord>) -> SteadyProgress {
        let rounds = runs.filter(|run| run.cell.as_ref().is_some_and(|cell| cell.name == CELL));
        let iops = rounds.filter_map(|run| Some(summarize_run(run, Direction::Write)?.iops));
        SteadyProgress::from_iops(iops.collect())
    }
}

/// IOPS of the rounds, and whether they are steady.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SteadyProgress {
    /// IOPS of each round.
    pub iops: Vec<f64>,
    /// The last [`WINDOW`] rounds compared with the criterion; `None` if there are fewer.
    pub last: Option<SteadyState>,
}

impl SteadyProgress {
    fn from_iops(iops: Vec<f64>) -> SteadyProgress {
        let last = steady_state(&iops);
        SteadyProgress { iops, last }
    }

    /// Whether the disk is steady.
    pub fn is_steady(&self) -> bool {
        self.last.is_some_and(|last| last.is_steady)
    }
}

/// The suite that runs the rounds.
pub struct Saturation {
    target: Target,
    rounds: Rounds,
    course: SteadyProgress,
    done: u32,
    spent: Nanos,
    over: bool,
}

impl Saturation {
    /// Starts with the first round.
    pub fn new(target: Target, rounds: Rounds) -> Saturation {
        let (course, spent) = (SteadyProgress::default(), Nanos::default());
        Saturation { target, rounds, course, done: 0, spent, over: false }
    }

    /// The course so far.
    pub fn course(&self) -> &SteadyProgress {
        &self.course
    }

    fn step(&self) -> Step {
        let round = self.rounds.round.unwrap_or(ROUND);
        self.target.step(&JobSpec {
            cell: Cell { name: CELL.into(), round: self.done, ..Cell::default() },
            description: format!(
                "random writes until steady, round {} of {} at most",
                self.done + 1,
                self.rounds.rounds_max
            ),
            rw: "randwrite",
            block: BLOCK,
            region: self.rounds.region,
            depth: DEPTH,
            synchronous: false,
            seed: Draw::new(self.rounds.seed ^ u64::from(self.done)).bits(),
            more: vec!["--refill_buffers=1"],
            until: EndCondition::Time { ramp: Nanos::default(), time: round },
        })
    }

    fn is_over(&self) -> bool {
        let late = self.rounds.time_max.is_some_and(|most| self.spent >= most);
        self.over || late || self.done >= self.rounds.rounds_max || self.course.is_steady()
    }
}

impl Suite for Saturation {
    fn next(&mut self) -> Option<Step> {
        (!self.is_over()).then(|| self.step())
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.done += 1;
        self.spent += run_duration(record);
        if let Some(failure) = failure(record) {
            self.over = true;
            return vec![format!("round {}: {}", self.done, failure.text)];
        }
        if record.interrupted_by.is_some() {
            self.over = true;
            return Vec::new();
        }
        let Some(outcome) = summarize_run(record, Direction::Write) else { return Vec::new() };
        self.course.iops.push(outcome.iops);
        self.course = SteadyProgress::from_iops(std::mem::take(&mut self.course.iops));
        let mut line = format!("round {}: {:.0} IOPS", self.done, outcome.iops);
        if let Some(last) = self.course.last {
            line += &format!(
                "; last {WINDOW}: range {:.0} %, slope {:.0} % of the average",
                last.range * 100.0,
                last.slope.abs() * 100.0
            );
        }
        if self.course.is_steady() {
            line += ": steady";
        } else if self.is_over() {
            line += ": gave up, not steady";
        }
        vec![line]
    }

    fn expected(&self) -> Expected {
        let mut rounds = self.rounds.rounds_max.saturating_sub(self.done);
        // Most disks are steady soon after the window is full.
        if self.done < WINDOW {
            rounds = rounds.min(WINDOW + 1 - self.done);
        }
        let left = match self.is_over() {
            true => Nanos::default(),
            false => Nanos(self.step().duration.0 * u64::from(rounds.min(WINDOW + 1))),
        };
        let most = self.rounds.time_max.map(|most| Nanos(most.0.saturating_sub(self.spent.0)));
        Expected::new(self.spent, most.map_or(left, |most| most.min(left)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, SimulatedDisk};

    fn rounds() -> Rounds {
        let round = Some(Nanos::SECOND);
        Rounds { region: Bytes(1 << 30), round, rounds_max: 25, time_max: None, seed: 1 }
    }

    #[test]
    fn an_even_disk_is_steady_after_five_rounds() {
        let mut saturating = Saturation::new(Target::new("x", true), rounds());
        let driven = SimulatedDisk::fast().drive(&mut saturating, 100);
        assert_eq!(driven.steps.len(), 5);
        assert!(saturating.course().is_steady());
        assert!(driven.lines.last().is_some_and(|l| l.ends_with(": steady")), "{:?}", driven.lines);
        assert_eq!(saturating.expected().left, Nanos(0));
        assert_eq!(Rounds::course(driven.records.iter()), *saturating.course());
    }

    #[test]
    fn a_disk_that_slows_down_is_waited_for() {
        let mut saturating = Saturation::new(Target::new("x", true), rounds());
        let driven =
            SimulatedDisk { wears: 0.2, ..SimulatedDisk::fast() }.drive(&mut saturating, 100);
        assert!((7..12).contains(&driven.steps.len()), "{:?}", driven.lines);
        assert!(saturating.course().is_steady());
    }

    #[test]
    fn limits_end_it_and_it_says_that_it_is_not_steady() {
        let disk = SimulatedDisk { wears: 0.01, ..SimulatedDisk::fast() };
        let few = Rounds { rounds_max: 5, ..rounds() };
        let short = Rounds { time_max: Some(Nanos::from_millis(2500)), ..rounds() };
        for (limited, expected) in [(few, 5), (short, 3)] {
            let mut saturating = Saturation::new(Target::new("x", true), limited);
            let driven = { disk }.drive(&mut saturating, 100);
            assert_eq!(driven.steps.len(), expected);
            assert!(!saturating.course().is_steady());
            assert!(driven.lines.last().is_some_and(|l| l.contains("not steady")));
        }
    }

    #[test]
    fn a_failure_or_a_signal_ends_it() {
        let mut saturating = Saturation::new(Target::new("x", true), rounds());
        assert!(saturating.next().is_some());
        let lines = saturating.completed(&testing::failed(CELL, "write", 5));
        assert!(lines[0].contains("errno 5") && saturating.next().is_none());
        let mut saturating = Saturation::new(Target::new("x", true), rounds());
        let step = saturating.next().unwrap();
        let interrupted = RunRecord { interrupted_by: Some(2), ..SimulatedDisk::fast().run(&step) };
        saturating.completed(&interrupted);
        assert!(saturating.next().is_none());
    }

    #[test]
    fn rounds_are_long_for_large_disks_and_short_for_small_files() {
        assert_eq!(Rounds::length(Bytes(1 << 40), 1e9), ROUND);
        assert_eq!(Rounds::length(Bytes(10_000_000_000), 1e9), Nanos(10_000_000_000));
        assert_eq!(Rounds::length(Bytes(1 << 20), 1e9), Nanos(2_000_000_000));
        assert_eq!(Rounds::length(Bytes(1 << 20), 0.0), ROUND);
    }
}
