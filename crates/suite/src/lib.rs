//! Measurements made of several runs: what to run next, and what the runs together show.
//!
//! A suite is a plain state machine: it says which run comes next and is told how it went. It never
//! runs anything itself and looks at nothing but records and facts, so it is tested with invented
//! ones. What the runs together show is read from their records alone, so records that were kept
//! give the same conclusion again.

pub mod app;
pub mod curve;
pub mod diagnose;
mod findings;
pub mod grid;
pub mod knee;
pub mod objects;
mod order;
mod outcome;
mod place;
pub mod precondition;
pub mod saturate;
pub mod sweep;
pub mod test;
pub mod trim;

#[cfg(test)]
mod invented;

pub use order::Draw;
pub use outcome::{Failure, failure, failures};
pub use place::Place;

use record::{Cell, Nanos, RunRecord};

/// A measurement made of several runs.
pub trait Suite {
    /// What to run next; `None` when all is done, or when going on makes no sense.
    fn next(&mut self) -> Option<Step>;

    /// How the step given last went. Lines that tell the user what it showed, none when nothing.
    fn took(&mut self, record: &RunRecord) -> Vec<String>;

    /// Time all is expected to take, and of it what is left now. What is not known yet (how deep a
    /// queue to test, when a disk is steady) is guessed long rather than short.
    fn expected(&self) -> Expected;
}

/// One run of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Which part of the suite it is, and which repeat of it.
    pub cell: Cell,
    /// What is being done, for people ("random read 4 KiB, depth 1").
    pub doing: String,
    /// The job, as fathom's command line takes it ("--name=…", "--rw=…" …).
    pub arguments: Vec<String>,
    /// How long it is expected to take.
    pub lasts: Nanos,
}

/// Time a suite takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// From its beginning to its end.
    pub whole: Nanos,
    /// From now on.
    pub left: Nanos,
}

impl Expected {
    /// What was spent and what is to come.
    fn of(spent: Nanos, left: Nanos) -> Expected {
        Expected { whole: spent + left, left }
    }
}
