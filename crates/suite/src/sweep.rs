//! `fathom sweep`: one job run over values of its options and settings of the machine.
//!
//! Every cell is run once a round, in an order drawn anew for each round, so that what changes with
//! time (heat, a neighbour, a cache that fills) does not fall on one cell alone.

mod conclusion;
mod values;

pub use conclusion::{
    Baseline, Column, Conclusion, FailureGroup, Row, Table, TableOptions, conclude,
};

use crate::order::Draw;
use crate::outcome::run_duration;
use crate::{Expected, Step, Suite, failure};
use record::{Bytes, Cell, Coordinate, Nanos, RunRecord, SourceText};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// What a manifest and the set of a sweep's records say they are.
pub const KIND: &str = "sweep";

/// Runs of a sweep; more would take longer than a disk lives.
const RUNS_MAX: usize = 100_000;

/// What is varied, and the values it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimension {
    /// A job option, one of a single job ("reader/bs"), or a setting of the machine ("scheduler").
    pub name: String,
    /// In the order given.
    pub values: Vec<String>,
}

/// In which order cells run within a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Drawn from the seed, anew for each round.
    #[default]
    Random,
    /// As the values were given, the last dimension first.
    Given,
}

/// Which runs a sweep makes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// What is varied.
    pub dimensions: Vec<Dimension>,
    /// The first values of all dimensions together, then the second ones, and so on; otherwise each
    /// value with each of the others.
    pub paired: bool,
    /// How often each cell is run.
    pub repeats: u32,
    /// In which order.
    pub order: Order,
    /// Seed of the order.
    pub seed: u64,
}

/// Where one run stands: number of its cell, and its round, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunSlot {
    /// The cell, in the order of the values given.
    pub cell: usize,
    /// The round.
    pub round: u32,
}

impl Design {
    /// Whether runs can be made by it.
    pub fn check(&self) -> Result<(), String> {
        let Some(first) = self.dimensions.first() else {
            return Err("nothing to vary: use --vary OPTION=VALUE,VALUE,…".into());
        };
        let names: BTreeSet<&str> = self.dimensions.iter().map(|d| d.name.as_str()).collect();
        if names.len() < self.dimensions.len() {
            return Err("--vary: an option is given twice; list all its values once".into());
        }
        let uneven = self.dimensions.iter().find(|d| d.values.len() != first.values.len());
        if let (true, Some(other)) = (self.paired, uneven) {
            return Err(format!(
                "--paired: {} has {} values and {} has {}; lists of equal length are needed",
                first.name,
                first.values.len(),
                other.name,
                other.values.len()
            ));
        }
        let cells = match self.paired {
            true => Some(first.values.len()),
            false => {
                self.dimensions.iter().try_fold(1, |all: usize, d| all.checked_mul(d.values.len()))
            }
        };
        let runs = cells.and_then(|cells| cells.checked_mul(self.repeats as usize));
        match runs {
            Some(runs) if (1..=RUNS_MAX).contains(&runs) => Ok(()),
            Some(0) => Err("--repeat: at least 1".into()),
            _ => Err(format!(
                "more than {RUNS_MAX} runs; vary fewer options at once, or pair the \
                              values"
            )),
        }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        let mut lengths = self.dimensions.iter().map(|dimension| dimension.values.len());
        match self.paired {
            true => lengths.next().unwrap_or(0),
            false => lengths.product(),
        }
    }

    /// How many runs there are.
    pub fn runs(&self) -> usize {
        self.cells() * self.repeats as usize
    }

    /// Where a cell stands; the last dimension changes fastest.
    pub fn at(&self, cell: usize) -> Vec<Coordinate> {
        let mut left = cell;
        let mut at: Vec<Coordinate> = Vec::new();
        for dimension in self.dimensions.iter().rev() {
            let count = dimension.values.len();
            let index = if self.paired { cell } else { left % count };
            left /= count;
            let (dimension, value) = (dimension.name.clone(), dimension.values[index].clone());
            at.push(Coordinate { dimension, value });
        }
        at.reverse();
        at
    }

    /// Which part of the sweep a run is.
    pub fn cell(&self, place: RunSlot) -> Cell {
        let at = self.at(place.cell);
        let named: Vec<String> =
            at.iter().map(|one| format!("{}={}", one.dimension, one.value)).collect();
        Cell { name: named.join(" "), round: place.round, at }
    }

    /// All runs in their order.
    pub fn order(&self) -> Vec<RunSlot> {
        let mut draw = Draw::new(self.seed);
        let mut all = Vec::new();
        for round in 0..self.repeats {
            let mut cells: Vec<usize> = (0..self.cells()).collect();
            if self.order == Order::Random {
                draw.shuffle(&mut cells);
            }
            all.extend(cells.into_iter().map(|cell| RunSlot { cell, round }));
        }
        all
    }
}

/// What a sweep was told, kept so that it can be gone on with and shown again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`record::SCHEMA_VERSION`] of the program that began it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// [`KIND`].
    pub kind: String,
    /// Where it was begun; relative names in the job are meant from there.
    pub directory: String,
    /// The job as typed.
    pub arguments: Vec<String>,
    /// The job files, with what they include, as they were.
    pub sources: Vec<SourceText>,
    /// Variables of the environment that they name, as they were; `None`: not set.
    pub variables: BTreeMap<String, Option<String>>,
    /// Which runs are made.
    pub design: Design,
    /// The directory or device that filesystems are made on.
    #[serde(default)]
    pub fs_on: Option<String>,
    /// Size of the scratch file they are made on.
    #[serde(default)]
    pub fs_size: Option<Bytes>,
}

/// A sweep under way.
pub struct Sweep {
    design: Design,
    left: VecDeque<RunSlot>,
    /// What runs of each cell took, those made before as well.
    took: Vec<Vec<Nanos>>,
    /// What was guessed for each cell before any was run.
    guess: Nanos,
    /// What changing the machine took, over so many runs.
    settings: (Nanos, u32),
    spent: Nanos,
}

impl Sweep {
    /// All runs but those in `done`, with the time each took. `guess`: time of one run.
    pub fn new(design: Design, done: &BTreeMap<RunSlot, Nanos>, guess: Nanos) -> Sweep {
        let left = design.order().into_iter().filter(|place| !done.contains_key(place)).collect();
        let mut took = vec![Vec::new(); design.cells()];
        for (place, time) in done {
            if let Some(times) = took.get_mut(place.cell) {
                times.push(*time);
            }
        }
        let spent = Nanos(done.values().map(|time| time.0).sum());
        Sweep { design, left, took, guess, settings: (Nanos::default(), 0), spent }
    }

    /// The run that [`Suite::next`] gave last.
    pub fn place(&self) -> Option<RunSlot> {
        self.left.front().copied()
    }

    /// Runs that are still to be made.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Making the machine ready for a run is expected to take so long.
    pub fn expect_setting(&mut self, time: Nanos) {
        self.settings = (time, 1);
    }

    /// Making the machine ready for a run took so long.
    pub fn took_setting(&mut self, time: Nanos) {
        self.settings.0 += time;
        self.settings.1 += 1;
        self.spent += time;
    }

    /// What a run of a cell is expected to take: what its others took, or those of all cells.
    fn expected_run_time(&self, cell: usize) -> Nanos {
        let mean = |times: &[Nanos]| {
            let all: u64 = times.iter().map(|time| time.0).sum();
            (!times.is_empty()).then(|| Nanos(all / times.len() as u64))
        };
        let run = mean(&self.took[cell]).or_else(|| mean(&self.took.concat()));
        let setting = self.settings.0.0.checked_div(self.settings.1.into());
        run.unwrap_or(self.guess) + Nanos(setting.unwrap_or(0))
    }
}

impl Suite for Sweep {
    fn next(&mut self) -> Option<Step> {
        let place = self.place()?;
        let cell = self.design.cell(place);
        let total = self.design.runs();
        let number = total - self.left.len() + 1;
        Some(Step {
            description: format!("run {number} of {total}: {}", cell.name),
            cell,
            arguments: Vec::new(),
            duration: self.expected_run_time(place.cell),
        })
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        let time = run_duration(record);
        self.spent += time;
        if record.interrupted_by.is_some() {
            return Vec::new();
        }
        if let Some(place) = self.left.pop_front() {
            self.took[place.cell].push(time);
        }
        let failed = failure(record);
        failed.map(|f| format!("{} failed: {}", f.cell, f.text)).into_iter().collect()
    }

    fn expected(&self) -> Expected {
        // Per cell once, however many runs of it are left.
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        self.left.iter().for_each(|place| *counts.entry(place.cell).or_default() += 1);
        let left = counts.iter().map(|(cell, count)| self.expected_run_time(*cell).0 * count).sum();
        Expected::of(self.spent, Nanos(left))
    }
}

#[cfg(test)]
mod tests;
