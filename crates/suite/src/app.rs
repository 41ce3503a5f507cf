//! `fathom app`: application benchmarks, in phases that are timed one after the other.
//!
//! A phase is a program that is run; what it did and how long that took is in
//! [`record::RunRecord::work`]. A round goes through all phases in their order, because each works
//! on what those before it left, so what drifts with time falls on all phases alike.

mod conclusion;
mod gain;

pub use conclusion::{Conclusion, Row, conclude};
pub use gain::{Gain, Incomparable};

use crate::outcome::run_duration;
use crate::{Expected, Step, Suite};
use record::{Cell, Nanos, RunRecord};
use std::collections::VecDeque;

/// One phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// Name of its cell and its job ("gzip", "sqlite-index").
    pub name: String,
    /// What it is, for people ("gzip of one archive, 64 MiB").
    pub label: String,
    /// The application it belongs to: when a phase fails, the other phases of its application are
    /// skipped.
    pub work: String,
    /// How long it is expected to take before it was ever run, what surrounds it included.
    pub duration: Nanos,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// All phases, in their order.
    pub phases: Vec<Phase>,
    /// How often.
    pub rounds: u32,
    /// The program that carries out a phase …
    pub program: String,
    /// … with these arguments, split at spaces.
    pub arguments: String,
    /// Where it works.
    pub directory: String,
}

/// The work, under way.
pub struct App {
    setting: Setting,
    left: VecDeque<(usize, u32)>,
    /// How long each phase took when it was last run.
    known: Vec<Nanos>,
    spent: Nanos,
}

impl App {
    /// From the beginning.
    pub fn new(setting: Setting) -> App {
        let phases = setting.phases.len();
        let round = |round| (0..phases).map(move |phase| (phase, round));
        App {
            left: (0..setting.rounds).flat_map(round).collect(),
            known: setting.phases.iter().map(|phase| phase.duration).collect(),
            spent: Nanos::default(),
            setting,
        }
    }

    /// The phase that is under way, or comes next.
    pub fn current(&self) -> Option<&Phase> {
        let (phase, _) = self.left.front()?;
        self.setting.phases.get(*phase)
    }

    /// Skips the remaining phases of an application.
    pub fn give_up(&mut self, work: &str) {
        let phases = &self.setting.phases;
        self.left.retain(|(phase, _)| phases[*phase].work != work);
    }
}

impl Suite for App {
    fn next(&mut self) -> Option<Step> {
        let (index, round) = *self.left.front()?;
        let phase = &self.setting.phases[index];
        let option = |name: &str, value: &str| format!("--{name}={value}");
        Some(Step {
            cell: Cell { name: phase.name.clone(), round, ..Cell::default() },
            description: phase.label.clone(),
            arguments: vec![
                option("name", &phase.name),
                option("description", &phase.label),
                option("ioengine", "exec"),
                option("program", &self.setting.program),
                option("arguments", &self.setting.arguments),
                option("std_redirect", "0"),
                // A compiler or a database that is asked to end is given the time to.
                option("grace_time", "10"),
                option("directory", &self.setting.directory.replace(':', "\\:")),
            ],
            duration: self.known[index],
        })
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        let took = run_duration(record);
        self.spent += took;
        if let Some((phase, _)) = self.left.pop_front() {
            self.known[phase] = took;
        }
        if record.interrupted_by.is_some() {
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        let left = self.left.iter().map(|(phase, _)| self.known[*phase].0).sum();
        Expected::of(self.spent, Nanos(left))
    }
}

#[cfg(test)]
mod tests;
