//! The summary of all repetitions.

use super::command::{IorCommand, Phase};
use super::results::{Outcome, PhaseResult};

/// Maximum, minimum, mean and deviation over the repetitions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The largest.
    pub max: f64,
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The deviation, of all as the whole population.
    pub deviation: f64,
}

impl Statistics {
    /// Those of some values.
    pub fn of(values: &[f64]) -> Statistics {
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Statistics {
            max: values.iter().copied().fold(0.0, f64::max),
            min: values.iter().copied().reduce(f64::min).unwrap_or(0.0),
            mean,
            deviation: (squares / count).sqrt(),
        }
    }
}

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
}

/// A row for each kind of phase that was timed.
pub fn summaries(call: &IorCommand, outcome: &Outcome) -> Vec<Summary> {
    let row = |phase: Phase| {
        let results: Vec<&PhaseResult> = outcome.of(phase).collect();
        let all = |of: &dyn Fn(&PhaseResult) -> f64| -> Vec<f64> {
            results.iter().map(|result| of(result)).collect()
        };
        let mean = |of: &dyn Fn(&PhaseResult) -> f64| Statistics::of(&all(of)).mean;
        (!results.is_empty()).then(|| Summary {
            phase,
            bandwidth: Statistics::of(&all(&PhaseResult::bandwidth)),
            operations: Statistics::of(&all(&|result| result.measured.operations(call.transfer))),
            seconds: mean(&|result| result.measured.total()),
            bytes: mean(&|result| result.measured.bytes as f64),
        })
    };
    [Phase::Write, Phase::Read].into_iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_is_that_of_the_population() {
        let found = Statistics::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        let expected = Statistics { max: 9.0, min: 2.0, mean: 5.0, deviation: 2.0 };
        assert_eq!(found, expected);
        assert_eq!(Statistics::of(&[]), Statistics::default());
    }
}
