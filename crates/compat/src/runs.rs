//! Runs that are known before the first of them.

use record::{Nanos, RunRecord};
use std::collections::VecDeque;
use suite::{Expected, Step, Suite, run_duration};

/// A list of runs, carried out in turn whatever becomes of each.
#[derive(Debug, Default)]
pub struct Runs {
    left: VecDeque<Step>,
    spent: Nanos,
}

impl Runs {
    /// These, from the beginning.
    pub fn new(steps: Vec<Step>) -> Runs {
        Runs { left: steps.into(), spent: Nanos::default() }
    }

    /// Those that are still to be made.
    pub fn left(&self) -> impl Iterator<Item = &Step> {
        self.left.iter()
    }
}

impl Suite for Runs {
    fn next(&mut self) -> Option<Step> {
        self.left.front().cloned()
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        self.left.pop_front();
        Vec::new()
    }

    fn expected(&self) -> Expected {
        Expected::from_steps(self.spent, self.left.iter().map(|step| step.duration))
    }
}
