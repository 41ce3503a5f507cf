//! Measurements made of several runs: what to run next, and what the runs together show.
//!
//! A suite is a plain state machine: it says which run comes next and is told how it went. It never
//! runs anything itself and looks at nothing but records and facts, so it is tested with invented
//! ones. What the runs together show is read from their records alone, so records that were kept
//! give the same conclusion again.

pub mod app;
pub mod curve;
pub mod diagnose;
mod estimate;
mod findings;
pub mod grid;
pub mod knee;
mod limits;
pub mod objects;
mod order;
mod outcome;
pub mod precondition;
pub mod saturate;
pub mod sweep;
mod target;
pub mod test;
pub mod trim;

#[cfg(test)]
mod simulated;

pub use estimate::Estimated;
pub use limits::LimitGroup;
pub use order::Draw;
pub use outcome::{Failure, failure, failures, run_duration};
pub use target::Target;

use record::{Cell, Nanos, RunRecord};

/// A measurement made of several runs.
pub trait Suite {
    /// The next run; `None` when the suite is done or cannot continue.
    fn next(&mut self) -> Option<Step>;

    /// Takes the record of the step that [`Suite::next`] returned last. Returns lines for the user.
    fn completed(&mut self, record: &RunRecord) -> Vec<String>;

    /// The expected time of the suite. Unknown parts (the knee, when a disk is steady) are guessed long
    /// rather than short.
    fn expected(&self) -> Expected;
}

/// One run of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Which part of the suite it is, and which repeat of it.
    pub cell: Cell,
    /// What the run does, for people ("random read 4 KiB, depth 1").
    pub description: String,
    /// The job, as fathom's command line takes it ("--name=…", "--rw=…" …).
    pub arguments: Vec<String>,
    /// How long it is expected to take.
    pub duration: Nanos,
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
