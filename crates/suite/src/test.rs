//! `fathom test`: the performance of storage, in eight cells for typical kinds of work.
//!
//! One file is written with incompressible data. Then the knees of random reads and writes are
//! searched. Then every cell is run once per round, in a new random order, so that influences that
//! change with time (heat, a neighbour, a cache that fills) do not affect one cell alone.

mod budget;
mod cells;
mod conclusion;
mod positions;
mod readers;

pub use budget::{Length, SizeError, size};
pub use cells::{Cells, Load};
pub use conclusion::{Conclusion, PERCENTILES, Row, conclude};
pub use positions::{Disk, PositionRow};
pub use readers::ReadersRow;

use crate::knee::{DepthSweep, KneeSearch};
use crate::order::Draw;
use crate::outcome::{bytes_moved, run_duration};
use crate::saturate::{Rounds, Saturation};
use crate::target::{FILL, LARGE, SMALL};
use crate::{Expected, Failure, Step, Suite, Target, failure};
use budget::{Budget, LEAST};
use positions::Region;
use record::{Bytes, Direction, Nanos, RunRecord};
use std::collections::VecDeque;

/// The setting of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The file, which exists and is empty.
    pub target: Target,
    /// Size of its filled part.
    pub size: Bytes,
    /// Length of the test.
    pub length: Length,
    /// Seed of the order of the runs and of their offsets.
    pub seed: u64,
    /// Disks that are read at their start, middle and end afterwards.
    pub disks: Vec<Disk>,
    /// Whether one reader is compared with two afterwards: the file is on several disks.
    pub is_on_several_disks: bool,
}

/// The running suite.
pub struct Test {
    setting: Setting,
    budget: Budget,
    stage: Stage,
    sweeping: VecDeque<DepthSweep>,
    loads: Cells,
    filled: Bytes,
    spent: Nanos,
    failed: Option<Failure>,
}

enum Stage {
    Filling,
    Saturation(Box<Saturation>),
    Sweeping(Box<KneeSearch>, Direction),
    Rounds { left: VecDeque<(Load, u32)> },
    Places { left: VecDeque<(Place, u32)> },
    Over,
}

/// What is read after the rounds.
#[derive(Clone, Debug)]
enum Place {
    /// The file, by this many readers.
    File { readers: u64 },
    /// A disk.
    Disk(Region),
}

/// Rounds over all places.
const PLACE_ROUNDS: u32 = 3;

impl Test {
    /// Starts with the fill.
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

    /// Why it ended early, if not by a signal.
    pub fn failed(&self) -> Option<&Failure> {
        self.failed.as_ref()
    }

    fn fill(&self) -> Step {
        let Setting { target, size, seed, .. } = &self.setting;
        target.fill("filling the file", *size, *seed, Some(self.budget.fill))
    }

    /// The result of the fill, or why it failed.
    fn fill_completed(&mut self, record: &RunRecord) -> Vec<String> {
        if let Some(given_up) = self.setting.target.step_down(record) {
            return vec![given_up];
        }
        if let Some(failure) = failure(record) {
            self.failed = Some(failure);
            self.stage = Stage::Over;
            return Vec::new();
        }
        let written = Bytes(bytes_moved(record, Direction::Write) / LARGE.0 * LARGE.0);
        if written < LEAST {
            let text = format!(
                "only {} MiB could be written in {:.0} s: too slow to test",
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
                "filled {} MiB of {} MiB within the limit of {:.0} s; the test uses these",
                written.0 >> 20,
                self.setting.size.0 >> 20,
                self.budget.fill.seconds()
            )
        });
        self.after_fill();
        lines.into_iter().collect()
    }

    fn after_fill(&mut self) {
        let sweep = |direction| DepthSweep {
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
                let saturating = Saturation::new(self.setting.target.clone(), rounds);
                self.stage = Stage::Saturation(Box::new(saturating));
            }
            None => self.next_sweep(),
        }
    }

    fn next_sweep(&mut self) {
        self.stage = match self.sweeping.pop_front() {
            Some(sweep) => {
                let sweeping = KneeSearch::new(self.setting.target.clone(), sweep);
                Stage::Sweeping(Box::new(sweeping), sweep.direction)
            }
            None => Stage::Rounds { left: self.rounds() },
        };
    }

    fn rounds(&self) -> VecDeque<(Load, u32)> {
        rounds(&self.loads.all(), self.budget.rounds, self.setting.seed)
    }

    fn places(&self) -> VecDeque<(Place, u32)> {
        let Setting { disks, is_on_several_disks, seed, .. } = &self.setting;
        let readers = readers::COUNTS.into_iter().filter(|_| *is_on_several_disks);
        let regions = disks.iter().flat_map(Region::all);
        let all: Vec<Place> = readers
            .map(|readers| Place::File { readers })
            .chain(regions.map(Place::Disk))
            .collect();
        rounds(&all, PLACE_ROUNDS, *seed)
    }

    fn place_step(&self, place: &Place, round: u32) -> Step {
        let Setting { target, seed, .. } = &self.setting;
        match place {
            Place::File { readers } => readers::step(target, *readers, self.filled, round, *seed),
            Place::Disk(region) => region.step(target, round, *seed),
        }
    }

    fn places_time(&self, runs: &VecDeque<(Place, u32)>) -> Nanos {
        let times = runs.iter().map(|(place, round)| self.place_step(place, *round).duration.0);
        Nanos(times.sum())
    }

    fn step(&self, load: &Load, round: u32) -> Step {
        let (ramp, time) = (self.budget.ramp, self.budget.time);
        load.step(&self.setting.target, self.filled, round, self.setting.seed, ramp, time)
    }

    /// Time of the stages after the current one.
    fn later(&self) -> Nanos {
        let rounds = || {
            let all = self.loads.all();
            let one: u64 = all.iter().map(|load| self.step(load, 0).duration.0).sum();
            Nanos(one * u64::from(self.budget.rounds))
        };
        let sweep =
            |sweep: &DepthSweep| KneeSearch::new(self.setting.target.clone(), *sweep).expected();
        let sweeps = || Nanos(self.sweeping.iter().map(|s| sweep(s).left.0).sum());
        match &self.stage {
            Stage::Filling => {
                let mut after = Test { failed: None, ..Test::new(self.setting.clone()) };
                after.after_fill();
                after.current() + after.later()
            }
            Stage::Saturation(_) | Stage::Sweeping(..) => {
                sweeps() + rounds() + self.places_time(&self.places())
            }
            Stage::Rounds { .. } => self.places_time(&self.places()),
            Stage::Places { .. } | Stage::Over => Nanos::default(),
        }
    }

    /// Remaining time of the current stage.
    fn current(&self) -> Nanos {
        match &self.stage {
            Stage::Filling => self.fill().duration,
            Stage::Saturation(suite) => suite.expected().left,
            Stage::Sweeping(suite, _) => suite.expected().left,
            Stage::Rounds { left } => {
                Nanos(left.iter().map(|(load, round)| self.step(load, *round).duration.0).sum())
            }
            Stage::Places { left } => self.places_time(left),
            Stage::Over => Nanos::default(),
        }
    }
}

impl Suite for Test {
    fn next(&mut self) -> Option<Step> {
        loop {
            match &mut self.stage {
                Stage::Filling => return Some(self.fill()),
                Stage::Saturation(suite) => match suite.next() {
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
                Stage::Rounds { left } => match left.front().cloned() {
                    Some((load, round)) => return Some(self.step(&load, round)),
                    None => self.stage = Stage::Places { left: self.places() },
                },
                Stage::Places { left } => {
                    let (place, round) = left.front().cloned()?;
                    return Some(self.place_step(&place, round));
                }
                Stage::Over => return None,
            }
        }
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        if record.interrupted_by.is_some() {
            self.stage = Stage::Over;
            return Vec::new();
        }
        match &mut self.stage {
            Stage::Filling => return self.fill_completed(record),
            Stage::Saturation(suite) => return suite.completed(record),
            Stage::Sweeping(suite, _) => {
                let mut lines = suite.completed(record);
                lines.extend(failed_line(record));
                return lines;
            }
            Stage::Rounds { left } => drop(left.pop_front()),
            Stage::Places { left } => drop(left.pop_front()),
            Stage::Over => {}
        }
        failed_line(record).into_iter().collect()
    }

    fn expected(&self) -> Expected {
        Expected::new(self.spent, self.current() + self.later())
    }

    fn part(&self) -> Option<&'static str> {
        Some(match &self.stage {
            Stage::Filling => {
                "Fill a file: blocks that were never written are read without touching the medium."
            }
            Stage::Saturation(_) => {
                "Write at random until the disk is steady: a fresh disk is faster than a used one."
            }
            Stage::Sweeping(_, Direction::Read) => {
                "Find the knee of random reads: the queue depth beyond which reads only wait longer."
            }
            Stage::Sweeping(..) => {
                "Find the knee of random writes: the queue depth beyond which writes only wait longer."
            }
            Stage::Rounds { .. } => {
                "Measure each kind of work, in a random order: changes over time affect all alike."
            }
            Stage::Places { .. } => {
                "Read the file by one reader and by two, and each disk at its start, middle and end."
            }
            Stage::Over => return None,
        })
    }
}

/// All runs: each once a round, each round in an order of its own.
fn rounds<T: Clone>(each: &[T], rounds: u32, seed: u64) -> VecDeque<(T, u32)> {
    let mut draw = Draw::new(seed);
    let mut all = VecDeque::new();
    for round in 0..rounds {
        let mut each = each.to_vec();
        draw.shuffle(&mut each);
        all.extend(each.into_iter().map(|one| (one, round)));
    }
    all
}

fn failed_line(record: &RunRecord) -> Option<String> {
    failure(record).map(|failure| format!("{} failed: {}", failure.cell, failure.text))
}

#[cfg(test)]
mod tests;
