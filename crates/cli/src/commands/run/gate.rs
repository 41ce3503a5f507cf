//! `--accept`: conditions, parsed before the run and checked after it.

use crate::exit;
use crate::output::write_stderr;
use anyhow::{Context, Result};
use job::Invocation;
use judge::Judged;
use judge::gate::{Condition, Gated, Subject, evaluate};
use record::RunRecord;
use report::style::Style;
use std::path::Path;

/// The conditions of a request.
pub struct Gate<'a> {
    conditions: Vec<Condition>,
    undecided_passes: bool,
    junit: Option<&'a Path>,
}

impl<'a> Gate<'a> {
    /// Parses the conditions. `jobs` are the jobs that they may name.
    ///
    /// # Errors
    /// The condition, what is wrong with it, and what was expected.
    pub fn new(invocation: &'a Invocation, jobs: &[Subject]) -> Result<Gate<'a>, String> {
        let read = |text: &String| {
            let condition = Condition::parse(text)?;
            condition.check(jobs).map(|()| condition)
        };
        let conditions = invocation.accept.iter().map(read).collect::<Result<Vec<_>, _>>();
        let conditions = conditions.map_err(|mistake| format!("--accept: {mistake}"))?;
        if let (Some(path), true) = (&invocation.junit, conditions.is_empty()) {
            let path = path.display();
            return Err(format!(
                "--junit={path}: there are no conditions; give some with --accept"
            ));
        }
        let junit = invocation.junit.as_deref();
        Ok(Gate { conditions, undecided_passes: invocation.undecided_passes, junit })
    }

    /// Checks the conditions and adds the results to `judged`. Returns the exit code if a condition is
    /// not met.
    pub fn apply(&self, runs: &[RunRecord], judged: &mut Judged, seed: u64) -> Option<u8> {
        if self.conditions.is_empty() {
            return None;
        }
        let results = evaluate(runs, &judged.findings, seed, &self.conditions);
        let gated = Gated { results, undecided_passes: self.undecided_passes };
        let passed = gated.passed();
        judged.gate = Some(gated);
        (!passed).then_some(exit::GATE)
    }

    /// Writes the results to the file of `--junit`, if it was given.
    pub fn write_junit(&self, runs: &[RunRecord], judged: &Judged) -> Result<()> {
        let (Some(path), Some(gated)) = (self.junit, &judged.gate) else { return Ok(()) };
        let milliseconds = runs
            .iter()
            .map(|run| run.invocation.ended_unix_ms.saturating_sub(run.invocation.started_unix_ms));
        let seconds = milliseconds.sum::<u64>() as f64 / 1000.0;
        let text = report::gate::junit(&gated.results, gated.undecided_passes, seconds);
        std::fs::write(path, text)
            .with_context(|| format!("--junit: cannot write '{}'", path.display()))
    }
}

/// Prints the results to standard error: as fio, standard output has only what fio prints.
pub fn show_for_fio(judged: &Judged) {
    if let Some(gated) = &judged.gate {
        let style = Style::default();
        write_stderr(&report::gate::text(&gated.results, gated.undecided_passes, &style));
    }
}
