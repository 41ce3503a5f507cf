//! `fathom test`: what storage does, in eight cells that each stand for a kind of work.
//!
//! One file is written with data that does not compress; the knees of random reads and writes are
//! looked for; then every cell is run once a round, in an order drawn anew for each round, so that
//! what changes with time (heat, a neighbour, a cache that fills) does not fall on one cell alone.

mod budget;
mod cells;
mod conclusion;
pub(crate) mod estimate;

pub use budget::{Length, SizeError, size};
pub use cells::{Cells, Load};
pub(crate) use conclusion::limited;
pub use conclusion::{Conclusion, Limited, PERCENTILES, Row, conclude};
pub use estimate::Estimated;

use crate::knee::{Sweep, Sweeping};
use crate::order::Draw;
use crate::outcome::{duration, moved};
use crate::place::{FILL, LARGE};
use crate::saturate::{Rounds, Saturating};
use crate::{Expected, Failure, Place, Step, Suite, failure};
use budget::Budget;
use record::{Bytes, Direction, Nanos, RunRecord};
use std::collections::VecDeque;

/// Blocks of random work.
const SMALL: Bytes = Bytes(4096);
/// A region below this is inside every cache there is, and random work in it says nothing.
const LEAST: Bytes = Bytes(8 << 20);

/// What is to be tested, and how thoroughly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The file; it is there, and empty.
    pub place: Place,
    /// How much of it is filled.
    pub size: Bytes,
    /// How long it all takes.
    pub length: Length,
    /// Seed of the order of the runs and of their offsets.
    pub seed: u64,
}

/// The test, under way.
pub struct Test {
    setting: Setting,
    budget: Budget,
    stage: Stage,
    sweeping: VecDeque<Sweep>,
    loads: Cells,
    filled: Bytes,
    spent: Nanos,
    failed: Option<Failure>,
}

enum Stage {
    Filling,
    Saturating(Box<Saturating>),
    Sweeping(Box<Sweeping>, Direction),
    Rounds { left: VecDeque<(Load, u32)> },
    Over,
}

impl Test {
    /// From the beginning.
    pub fn new(setting: Setting) -> Test {
        let budget = setting.length.budget();
        Test {
            filled: setting.size,
            setting,
            budget,
            stage: Stage::Filling,
            sweeping: VecDeque::new(),
            loads: Cells::default(),
            spent: Nanos::default(),
            failed: None,
        }
    }

    /// Why it ended early, when it did for another reason than a signal.
    pub fn failed(&self) -> Option<&Failure> {
        self.failed.as_ref()
    }

    fn fill(&self) -> Step {
        let Setting { place, size, seed, .. } = &self.setting;
        place.fill("filling the file", *size, *seed, Some(self.budget.fill))
    }

    /// What a fill that went well left, or why it did not.
    fn took_fill(&mut self, record: &RunRecord) -> Vec<String> {
        if let Some(given_up) = self.setting.place.step_down(record) {
            return vec![given_up];
        }
        if let Some(failure) = failure(record) {
            self.failed = Some(failure);
            self.stage = Stage::Over;
            return Vec::new();
        }
        let written = Bytes(moved(record, Direction::Write) / LARGE.0 * LARGE.0);
        if written < LEAST {
            let text = format!(
                "only {} MiB could be written in {:.0} s: too slow to be tested",
                written.0 >> 20,
                self.budget.fill.seconds()
            );
            self.failed = Some(Failure { cell: FILL.into(), text: text.into() });
            self.stage = Stage::Over;
            return Vec::new();
        }
        self.filled = written;
        let lines = (written < self.setting.size).then(|| {
            format!(
                "filled {} MiB of {} MiB in the {:.0} s there are for it; the test works in those",
                written.0 >> 20,
                self.setting.size.0 >> 20,
                self.budget.fill.seconds()
            )
        });
        self.after_fill();
        lines.into_iter().collect()
    }

    fn after_fill(&mut self) {
        let sweep = |direction| Sweep {
            direction,
            block: SMALL,
            region: self.filled,
            ramp: self.budget.sweep_ramp,
            time: self.budget.sweep_time,
            seed: self.setting.seed,
        };
        self.sweeping = self.budget.sweeps.iter().map(|direction| sweep(*direction)).collect();
        match self.budget.rounds_to_steady {
            Some(rounds) => {
                let rounds = Rounds { region: self.filled, seed: self.setting.seed, ..rounds };
                let saturating = Saturating::new(self.setting.place.clone(), rounds);
                self.stage = Stage::Saturating(Box::new(saturating));
            }
            None => self.next_sweep(),
        }
    }

    fn next_sweep(&mut self) {
        self.stage = match self.sweeping.pop_front() {
            Some(sweep) => {
                let sweeping = Sweeping::new(self.setting.place.clone(), sweep);
                Stage::Sweeping(Box::new(sweeping), sweep.direction)
            }
            None => Stage::Rounds { left: self.rounds() },
        };
    }

    /// All runs of all rounds, each round in an order of its own.
    fn rounds(&self) -> VecDeque<(Load, u32)> {
        let mut draw = Draw::new(self.setting.seed);
        let mut all = VecDeque::new();
        for round in 0..self.budget.rounds {
            let mut loads = self.loads.all();
            draw.shuffle(&mut loads);
            all.extend(loads.into_iter().map(|load| (load, round)));
        }
        all
    }

    fn step(&self, load: &Load, round: u32) -> Step {
        let (ramp, time) = (self.budget.ramp, self.budget.time);
        load.step(&self.setting.place, self.filled, round, self.setting.seed, ramp, time)
    }

    /// Time of the stages that come after the present one.
    fn later(&self) -> Nanos {
        let rounds = || {
            let all = self.loads.all();
            let one: u64 = all.iter().map(|load| self.step(load, 0).lasts.0).sum();
            Nanos(one * u64::from(self.budget.rounds))
        };
        let sweep = |sweep: &Sweep| Sweeping::new(self.setting.place.clone(), *sweep).expected();
        let sweeps = || Nanos(self.sweeping.iter().map(|s| sweep(s).left.0).sum());
        match &self.stage {
            Stage::Filling => {
                let mut after = Test { failed: None, ..Test::new(self.setting.clone()) };
                after.after_fill();
                after.current() + after.later()
            }
            Stage::Saturating(_) | Stage::Sweeping(..) => sweeps() + rounds(),
            Stage::Rounds { .. } | Stage::Over => Nanos::default(),
        }
    }

    /// Time that is left of the present stage.
    fn current(&self) -> Nanos {
        match &self.stage {
            Stage::Filling => self.fill().lasts,
            Stage::Saturating(suite) => suite.expected().left,
            Stage::Sweeping(suite, _) => suite.expected().left,
            Stage::Rounds { left } => {
                Nanos(left.iter().map(|(load, round)| self.step(load, *round).lasts.0).sum())
            }
            Stage::Over => Nanos::default(),
        }
    }
}

impl Suite for Test {
    fn next(&mut self) -> Option<Step> {
        loop {
            match &mut self.stage {
                Stage::Filling => return Some(self.fill()),
                Stage::Saturating(suite) => match suite.next() {
                    Some(step) => return Some(step),
                    None => self.next_sweep(),
                },
                Stage::Sweeping(suite, direction) => match suite.next() {
                    Some(step) => return Some(step),
                    None => {
                        let (direction, knee) = (*direction, suite.knee());
                        self.loads.found(direction, knee.as_ref());
                        self.next_sweep();
                    }
                },
                Stage::Rounds { left } => {
                    let (load, round) = left.front().cloned()?;
                    return Some(self.step(&load, round));
                }
                Stage::Over => return None,
            }
        }
    }

    fn took(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += duration(record);
        if record.interrupted_by.is_some() {
            self.stage = Stage::Over;
            return Vec::new();
        }
        match &mut self.stage {
            Stage::Filling => return self.took_fill(record),
            Stage::Saturating(suite) => return suite.took(record),
            Stage::Sweeping(suite, _) => {
                let mut lines = suite.took(record);
                lines.extend(failed_line(record));
                return lines;
            }
            Stage::Rounds { left } => {
                left.pop_front();
            }
            Stage::Over => {}
        }
        failed_line(record).into_iter().collect()
    }

    fn expected(&self) -> Expected {
        Expected::of(self.spent, self.current() + self.later())
    }
}

fn failed_line(record: &RunRecord) -> Option<String> {
    failure(record).map(|failure| format!("{} failed: {}", failure.cell, failure.text))
}

#[cfg(test)]
mod tests;
