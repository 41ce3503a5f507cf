//! The summary of all repetitions.

use super::command::{IorCommand, Phase};
use super::results::{Outcome, PhaseResult};
use crate::hpc::Statistics;

/// A row of the summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Write or read.
    pub phase: Phase,
    /// MiB per second.
    pub bandwidth: Statistics,
    /// Transfers per second over the whole time.
    pub operations: Statistics,
    /// Mean seconds.
    pub seconds: f64,
    /// Mean bytes of a repetition.
    pub bytes: f64,
    /// Mean seconds and MiB before wear-out; `None`: there was none.
    pub stonewall: Option<(f64, f64)>,
}

/// A row for each kind of phase that was timed.
pub fn summaries(call: &IorCommand, outcome: &Outcome) -> Vec<Summary> {
    let row = |phase: Phase| {
        let results: Vec<&PhaseResult> = outcome.of_phase(phase).collect();
        let all = |of: &dyn Fn(&PhaseResult) -> f64| -> Vec<f64> {
            results.iter().map(|result| of(result)).collect()
        };
        let mean = |of: &dyn Fn(&PhaseResult) -> f64| Statistics::from_values(&all(of)).mean;
        let stonewalls: Vec<(f64, u64)> =
            results.iter().filter_map(|result| result.measured.stonewall).collect();
        let of_stonewalls = |of: fn(&(f64, u64)) -> f64| {
            Statistics::from_values(&stonewalls.iter().map(of).collect::<Vec<f64>>()).mean
        };
        (!results.is_empty()).then(|| Summary {
            phase,
            bandwidth: Statistics::from_values(&all(&PhaseResult::bandwidth)),
            operations: Statistics::from_values(&all(&|result| {
                result.measured.operations(call.transfer)
            })),
            seconds: mean(&|result| result.measured.total()),
            bytes: mean(&|result| result.measured.bytes as f64),
            stonewall: (!stonewalls.is_empty()).then(|| {
                let bytes = of_stonewalls(|(_, bytes)| *bytes as f64);
                (of_stonewalls(|(seconds, _)| *seconds), bytes / f64::from(1 << 20))
            }),
        })
    };
    [Phase::Write, Phase::Read].into_iter().filter_map(row).collect()
}
