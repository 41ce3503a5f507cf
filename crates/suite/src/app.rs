//! `fathom app`: application benchmarks, in phases that are run and timed one after the other.
//!
//! Each phase runs a program, which reports its work and times in [`record::RunRecord::work`]. A
//! round goes through all phases in order, because each phase works on the results of earlier ones.
//! So influences that change with time affect all phases alike.

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
    /// Its description ("gzip of one archive, 64 MiB").
    pub label: String,
    /// Its application. If a phase fails, the other phases of its application are skipped.
    pub work: String,
    /// Its expected duration, with preparation and cleanup, until its first run is measured.
    pub duration: Nanos,
}

/// The setting of the benchmark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Setting {
    /// All phases, in order.
    pub phases: Vec<Phase>,
    /// The number of rounds.
    pub rounds: u32,
    /// The program that runs a phase …
    pub program: String,
    /// … with these arguments, split at spaces.
    pub arguments: String,
    /// Its directory.
    pub directory: String,
}

/// The running suite.
pub struct App {
    setting: Setting,
    left: VecDeque<(usize, u32)>,
    /// The time of the last run of each phase.
    known: Vec<Nanos>,
    spent: Nanos,
}

impl App {
    /// Starts with the first phase.
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

    /// The current or next phase.
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
                // Compilers and databases get the time that they need to end.
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
        Expected::new(self.spent, Nanos(left))
    }
}

#[cfg(test)]
mod tests;
