//! `fathom diagnose`: why storage is slow, in five steps, each of which rules something out.
//!
//! Which path is tested; whether the device is saturated or something stalls above it; whether the
//! CPU or the medium is the limit; what is left under sustained load; what durability costs.

mod conclusion;
mod probes;
mod steps;

pub use conclusion::{Cause, Conclusion, conclude};
pub use steps::DiagnosisStep;

use probes::{Engine, PROBES, Probe};

use crate::outcome::{bytes_moved, run_duration};
use crate::target::{EndCondition, FILL, JobSpec};
use crate::{Expected, Failure, Step, Suite, Target, failure};
use record::{Bytes, Cell, Direction, Nanos, RunRecord};

/// Longest time for filling the file.
const FILL_TIME: Nanos = Nanos::from_millis(6_000);
const RAMP: Nanos = Nanos::from_millis(250);

/// The setting of the diagnosis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The file, which exists and is empty.
    pub target: Target,
    /// Size of its filled part.
    pub size: Bytes,
    /// Seed of the offsets.
    pub seed: u64,
}

/// The running suite.
pub struct Diagnose {
    setting: Setting,
    filled: Option<Bytes>,
    done: usize,
    over: bool,
    spent: Nanos,
    failed: Option<Failure>,
}

impl Diagnose {
    /// Starts at the first step.
    pub fn new(setting: Setting) -> Diagnose {
        let spent = Nanos::default();
        Diagnose { setting, filled: None, done: 0, over: false, spent, failed: None }
    }

    /// Why it could not start.
    pub fn failed(&self) -> Option<&Failure> {
        self.failed.as_ref()
    }

    fn fill(&self) -> Step {
        let Setting { target, size, seed } = &self.setting;
        target.fill("filling the file", *size, *seed, Some(FILL_TIME))
    }

    fn probe(&self, index: usize, probe: &Probe) -> Step {
        let mut target = self.setting.target.clone();
        if probe.engine == Engine::Other {
            target.engine = if target.engine == "libaio" { "posixaio" } else { "libaio" };
        }
        target.step(&JobSpec {
            cell: Cell { name: probe.name.into(), round: 0, ..Cell::default() },
            description: probe.description.into(),
            rw: probe.rw,
            block: Bytes(4096),
            region: self.filled.unwrap_or(self.setting.size),
            depth: probe.depth,
            synchronous: probe.engine == Engine::Synchronous,
            seed: self.setting.seed + 1 + index as u64,
            more: probe.more.to_vec(),
            until: EndCondition::Time { ramp: RAMP, time: probe.time },
        })
    }

    fn fill_completed(&mut self, record: &RunRecord) -> Vec<String> {
        if let Some(given_up) = self.setting.target.step_down(record) {
            return vec![given_up];
        }
        let written = Bytes(bytes_moved(record, Direction::Write) >> 20 << 20);
        self.failed = failure(record);
        if self.failed.is_none() && written.0 < 1 << 20 {
            let text = "less than 1 MiB could be written".into();
            self.failed = Some(Failure { cell: FILL.into(), text });
        }
        self.over = self.failed.is_some();
        self.filled = Some(written);
        Vec::new()
    }
}

impl Suite for Diagnose {
    fn next(&mut self) -> Option<Step> {
        if self.over {
            return None;
        }
        if self.filled.is_none() {
            return Some(self.fill());
        }
        Some(self.probe(self.done, PROBES.get(self.done)?))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        if record.interrupted_by.is_some() {
            self.over = true;
            return Vec::new();
        }
        if self.filled.is_none() {
            return self.fill_completed(record);
        }
        self.done += 1;
        let failure = failure(record).map(|f| format!("{} failed: {}", f.cell, f.text));
        failure.into_iter().collect()
    }

    fn expected(&self) -> Expected {
        let left = PROBES.iter().enumerate().skip(self.done);
        let probes: u64 = left.map(|(index, probe)| self.probe(index, probe).duration.0).sum();
        let fill = if self.filled.is_none() { self.fill().duration } else { Nanos::default() };
        Expected::new(self.spent, if self.over { Nanos::default() } else { Nanos(probes) + fill })
    }
}

#[cfg(test)]
mod tests;
