//! What a number of trials allows to say about a rate.

use serde::Serialize;
use statrs::function::beta::beta_reg;

/// The share of failures in trials, with its interval of 95 % (Clopper and Pearson). Without a failure
/// the upper bound is one-sided, which is the rule of three: 3 divided by the trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Failures.
    pub failures: u64,
    /// Trials.
    pub trials: u64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound; 1 without a trial.
    pub high: f64,
}

impl Rate {
    /// The rate of so many failures in so many trials.
    pub fn new(failures: u64, trials: u64) -> Rate {
        let failures = failures.min(trials);
        let (k, n) = (failures as f64, trials as f64);
        let low = if failures == 0 { 0.0 } else { quantile(k, n - k + 1.0, 0.025) };
        let high = match failures {
            _ if failures == trials => 1.0,
            0 => 1.0 - 0.05_f64.powf(1.0 / n),
            _ => quantile(k + 1.0, n - k, 0.975),
        };
        Rate { failures, trials, low, high }
    }

    /// "below 0.25 %" or "0.1 to 2.3 %".
    pub fn text(&self) -> String {
        match self.failures {
            _ if self.trials == 0 => "unknown".to_owned(),
            0 => format!("below {} %", digits(100.0 * self.high)),
            _ => format!("{} to {} %", digits(100.0 * self.low), digits(100.0 * self.high)),
        }
    }
}

/// Two significant digits, as they are written.
fn digits(value: f64) -> String {
    record::human::digits(value, 2)
}

/// The trials that show a failure with a probability of 95 %, if this share of them fails.
pub fn trials_needed(rate: f64) -> u64 {
    if rate >= 1.0 {
        return 1;
    }
    (0.05_f64.ln() / (-rate).ln_1p()).ceil() as u64
}

/// The value below which a beta distribution has the share `p`, by bisection.
fn quantile(a: f64, b: f64, p: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if beta_reg(a, b, middle) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < expected * 1e-3, "{value} instead of {expected}");
    }

    #[test]
    fn no_failure_is_the_rule_of_three() {
        near(Rate::new(0, 1200).high, 0.002_493);
        near(Rate::new(0, 40).high, 0.0722);
        assert_eq!(Rate::new(0, 1200).text(), "below 0.25 %");
        assert_eq!((Rate::new(0, 0).high, Rate::new(0, 0).text()), (1.0, "unknown".into()));
    }

    #[test]
    fn failures_have_the_interval_of_clopper_and_pearson() {
        // R: binom.test(2, 40), binom.test(10, 10).
        let two = Rate::new(2, 40);
        near(two.low, 0.006_113);
        near(two.high, 0.169_197);
        let all = Rate::new(10, 10);
        near(all.low, 0.691_503);
        assert_eq!(all.high, 1.0);
    }

    #[test]
    fn the_trials_for_a_rate_are_those_after_which_its_absence_is_rare() {
        assert_eq!(trials_needed(0.001), 2995);
        assert_eq!((trials_needed(0.5), trials_needed(1.0)), (5, 1));
        assert!(Rate::new(0, trials_needed(0.001)).high <= 0.001);
    }
}
