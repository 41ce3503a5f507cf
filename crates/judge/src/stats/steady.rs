//! Steady state as defined by the SNIA Solid State Storage Performance Test Specification (PTS 2.0.2,
//! section 2.1.24).

use super::elementary::mean;

/// The number of rounds considered.
pub const STEADY_ROUNDS: usize = 5;
/// Largest minus smallest, as a share of the average.
const RANGE_MAX: f64 = 0.20;
/// Rise or fall of the regression line, as a share of the average.
const SLOPE_MAX: f64 = 0.10;

/// The steadiness of the last rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyState {
    /// Average of the rounds.
    pub average: f64,
    /// Largest minus smallest, as a share of the average; at most 0.20 when steady.
    pub range: f64,
    /// Rise (negative: fall) of the regression line from the first to the last round, as a share of the
    /// average; between -0.10 and 0.10 when steady.
    pub slope: f64,
    /// Whether range and slope are within their limits.
    pub is_steady: bool,
}

/// The state of the last [`STEADY_ROUNDS`] rounds; `None` for fewer rounds.
pub fn steady_state(rounds: &[f64]) -> Option<SteadyState> {
    let last = &rounds[rounds.len().checked_sub(STEADY_ROUNDS)?..];
    let average = mean(last);
    let largest = last.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let smallest = last.iter().copied().fold(f64::INFINITY, f64::min);
    let middle = (STEADY_ROUNDS - 1) as f64 / 2.0;
    let (mut product, mut square) = (0.0, 0.0);
    for (n, value) in (0_u32..).zip(last) {
        let from_middle = f64::from(n) - middle;
        product += from_middle * (value - average);
        square += from_middle * from_middle;
    }
    let share = |value: f64| if average == 0.0 { 0.0 } else { value / average };
    let range = share(largest - smallest);
    let slope = share(product / square * (STEADY_ROUNDS - 1) as f64);
    let is_steady = average > 0.0 && range <= RANGE_MAX && slope.abs() <= SLOPE_MAX;
    Some(SteadyState { average, range, slope, is_steady })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_limits_count_and_only_the_last_rounds() {
        assert_eq!(steady_state(&[1.0; 4]), None);
        let steady = steady_state(&[900.0, 100.0, 104.0, 98.0, 103.0, 99.0]).unwrap();
        assert!(steady.is_steady, "{steady:?}");
        let drifting = steady_state(&[100.0, 104.0, 108.0, 112.0, 116.0]).unwrap();
        assert!(drifting.range < 0.2 && drifting.slope > 0.1 && !drifting.is_steady);
        let jumping = steady_state(&[100.0, 130.0, 100.0, 130.0, 100.0]).unwrap();
        assert!(jumping.range > 0.2 && jumping.slope.abs() < 0.1 && !jumping.is_steady);
        assert!(!steady_state(&[0.0; 5]).unwrap().is_steady, "nothing moved");
    }
}
