//! A suite and its steps.

use record::{Cell, Nanos, RunRecord};

/// A measurement that consists of several runs.
pub trait Suite {
    /// The next run; `None` when the suite is done or cannot continue.
    fn next(&mut self) -> Option<Step>;

    /// Takes the record of the step that [`Suite::next`] returned last. Returns lines for the user.
    fn completed(&mut self, record: &RunRecord) -> Vec<String>;

    /// The expected time of the suite. Unknown parts (the knee, when a disk is steady) are guessed long
    /// rather than short.
    fn expected(&self) -> Expected;

    /// What the current part of the suite is for, for people who watch.
    fn part(&self) -> Option<&'static str> {
        None
    }
}

/// One run of a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The part of the suite and the repeat.
    pub cell: Cell,
    /// What the run does, for people ("random read 4 KiB, depth 1").
    pub description: String,
    /// The job, as fathom's command line takes it ("--name=…", "--rw=…" …).
    pub arguments: Vec<String>,
    /// Expected time.
    pub duration: Nanos,
}

/// The expected time of a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// From start to end.
    pub whole: Nanos,
    /// From now on.
    pub left: Nanos,
}

impl Expected {
    /// From the time spent and the expected times of the remaining steps, which may exceed the largest number of nanoseconds.
    pub fn from_steps(spent: Nanos, steps: impl IntoIterator<Item = Nanos>) -> Expected {
        let sum = |sum: Nanos, step: Nanos| Nanos(sum.0.saturating_add(step.0));
        let left = steps.into_iter().fold(Nanos::default(), sum);
        Expected { whole: sum(spent, left), left }
    }

    /// From the time spent and the time left.
    pub(crate) fn new(spent: Nanos, left: Nanos) -> Expected {
        Expected { whole: spent + left, left }
    }
}
