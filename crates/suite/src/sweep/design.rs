//! The design of a sweep: which runs it makes, in which order.

use crate::order::Draw;
use record::{Cell, Coordinate};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The most runs of a sweep; more would take longer than a disk lives.
const RUNS_MAX: usize = 100_000;

/// A parameter that is varied, and its values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimension {
    /// A job option, one of a single job ("reader/bs"), or a setting of the machine ("scheduler").
    pub name: String,
    /// In the order given.
    pub values: Vec<String>,
}

/// The order of cells within a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Drawn from the seed, anew for each round.
    #[default]
    Random,
    /// As the values were given, the last dimension first.
    Given,
}

/// The runs of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// The varied parameters.
    pub dimensions: Vec<Dimension>,
    /// Pairs the first values of all dimensions, then the second ones, and so on. Otherwise each value is
    /// combined with each value of the other dimensions.
    pub paired: bool,
    /// The number of runs of each cell.
    pub repeats: u32,
    /// The order of cells.
    pub order: Order,
    /// Seed of the order.
    pub seed: u64,
}

/// The position of a run: its cell and its round, both from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunSlot {
    /// The cell, in the order of the values given.
    pub cell: usize,
    /// The round.
    pub round: u32,
}

impl Design {
    /// Checks that the design gives runs, and not too many.
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

    /// The number of cells.
    pub fn cells(&self) -> usize {
        let mut lengths = self.dimensions.iter().map(|dimension| dimension.values.len());
        if self.paired { lengths.next().unwrap_or(0) } else { lengths.product() }
    }

    /// The number of runs.
    pub fn runs(&self) -> usize {
        self.cells() * self.repeats as usize
    }

    /// The values of a cell; the last dimension changes fastest.
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

    /// The cell of a run, as its record names it.
    pub fn cell(&self, place: RunSlot) -> Cell {
        let at = self.at(place.cell);
        let named: Vec<String> =
            at.iter().map(|one| format!("{}={}", one.dimension, one.value)).collect();
        Cell { name: named.join(" "), round: place.round, at }
    }

    /// All runs, in order.
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
