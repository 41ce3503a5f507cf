//! `fathom sweep`: one job run over values of its options and settings of the machine.
//!
//! Each round runs every cell once, in a new random order. Influences that change with time (heat, a
//! neighbour, a cache that fills) are so spread over all cells.

mod conclusion;
mod design;
mod layers;
mod scaling;
mod values;

pub use conclusion::{
    Baseline, Column, Conclusion, FailureGroup, Row, Table, TableOptions, conclude,
};
pub use design::{Design, Dimension, Order, RunSlot};
pub use layers::{ALL_LAYERS, LAYER, LayerCost, layers};
pub use scaling::Scaling;

use crate::outcome::run_duration;
use crate::{Expected, Step, Suite, failure};
use record::{Bytes, Nanos, RunRecord, SourceText};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// The kind of a sweep, in its manifest and in the set of its records.
pub const KIND: &str = "sweep";

/// The request of a sweep, saved so that it can be resumed and reported again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`record::SCHEMA_VERSION`] of the program that started it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// [`KIND`].
    pub kind: String,
    /// The working directory at its start; relative names in the job refer to it.
    pub directory: String,
    /// The job as typed.
    pub arguments: Vec<String>,
    /// The job files with their includes, as they were at the start.
    pub sources: Vec<SourceText>,
    /// The environment variables that they use, as they were at the start; `None`: not set.
    pub variables: BTreeMap<String, Option<String>>,
    /// The runs.
    pub design: Design,
    /// The directory or device on which filesystems are made.
    #[serde(default)]
    pub fs_on: Option<String>,
    /// Size of the scratch file on which filesystems are made.
    #[serde(default)]
    pub fs_size: Option<Bytes>,
}

/// A sweep under way.
pub struct Sweep {
    design: Design,
    left: VecDeque<RunSlot>,
    /// The times of the runs of each cell, including runs before a resume.
    took: Vec<Vec<Nanos>>,
    /// The assumed time of a run before the first run.
    guess: Nanos,
    /// The total time of changing machine settings, and the number of changes.
    settings: (Nanos, u32),
    spent: Nanos,
}

impl Sweep {
    /// All runs except the ones in `done`, which holds their times. `guess`: time of one run.
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

    /// The run that [`Suite::next`] returned last.
    pub fn place(&self) -> Option<RunSlot> {
        self.left.front().copied()
    }

    /// The number of runs left.
    pub fn left(&self) -> usize {
        self.left.len()
    }

    /// Sets the expected time of changing machine settings before a run.
    pub fn expect_setting(&mut self, time: Nanos) {
        self.settings = (time, 1);
    }

    /// Adds the time that a change of machine settings took.
    pub fn took_setting(&mut self, time: Nanos) {
        self.settings.0 += time;
        self.settings.1 += 1;
        self.spent += time;
    }

    /// The expected time of a run of a cell: the mean of its runs so far, or of all cells' runs.
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
        // Computes the time of each cell once, not for each run.
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        self.left.iter().for_each(|place| *counts.entry(place.cell).or_default() += 1);
        let left = counts.iter().map(|(cell, count)| self.expected_run_time(*cell).0 * count).sum();
        Expected::new(self.spent, Nanos(left))
    }
}

#[cfg(test)]
mod tests;
