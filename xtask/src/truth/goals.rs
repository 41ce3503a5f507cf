//! The goals: which shares of the outcomes must be right.

use super::score::Outcome;

/// Goals in percent: least share of right verdicts; largest shares of unknown verdicts, missed findings and
/// false warnings.
const RIGHT_MIN: f64 = 97.0;
const UNKNOWN_MAX: f64 = 3.0;
const MISSED_MAX: f64 = 1.0;
const FALSE_MAX: f64 = 0.5;
/// The share of verdicts with medium confidence that should be right.
const MEDIUM: std::ops::RangeInclusive<f64> = 0.80..=0.97;
/// A share outside of that range is chance while it is at least so likely.
const CHANCE_MIN: f64 = 0.05;

/// One goal, and what was measured.
pub struct Goal {
    pub name: &'static str,
    /// In percent.
    pub value: f64,
    /// What the value should be, in words.
    pub aim: String,
    pub is_met: bool,
}

/// All goals.
pub fn goals(outcomes: &[Outcome]) -> Vec<Goal> {
    let count = |of: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|one| of(one)).count();
    let all = outcomes.len();
    let share = |part: usize| part as f64 * 100.0 / all.max(1) as f64;
    let at_most = |name, value: f64, most: f64| Goal {
        name,
        value,
        aim: if most == 0.0 { "0".to_owned() } else { format!("≤ {most} %") },
        is_met: value <= most,
    };
    let right = share(count(&|one| one.is_right()));
    let wrong_high = share(count(&|one| !one.is_right() && one.confidence == "high"));
    let unknown = share(count(&|one| one.limit == "unknown" && !one.is_right()));
    let missed = share(outcomes.iter().map(|one| one.missed.len()).sum());
    let false_warnings = share(outcomes.iter().map(|one| one.false_warnings.len()).sum());
    let medium = count(&|one| one.confidence == "medium");
    let medium_right = count(&|one| one.confidence == "medium" && one.is_right());
    vec![
        Goal {
            name: "verdicts that are right",
            value: right,
            aim: format!("≥ {RIGHT_MIN} %"),
            is_met: right >= RIGHT_MIN,
        },
        at_most("verdicts that are wrong with high confidence", wrong_high, 0.0),
        at_most("verdicts that are unknown", unknown, UNKNOWN_MAX),
        at_most("findings missed, of the runs", missed, MISSED_MAX),
        at_most("warnings that are false, of the runs", false_warnings, FALSE_MAX),
        Goal {
            name: "verdicts of medium confidence that are right",
            value: medium_right as f64 * 100.0 / medium.max(1) as f64,
            aim: format!(
                "{:.0} to {:.0} %, but for chance",
                MEDIUM.start() * 100.0,
                MEDIUM.end() * 100.0
            ),
            is_met: is_calibrated(medium_right, medium),
        },
    ]
}

/// Whether a share that lies in the range gives so many right ones, or more extreme numbers of them,
/// not too rarely.
fn is_calibrated(right: usize, all: usize) -> bool {
    let (low, high) = (*MEDIUM.start(), *MEDIUM.end());
    let at_most: f64 = (0..=right).map(|k| binomial(k, all, low)).sum();
    let at_least: f64 = (right..=all).map(|k| binomial(k, all, high)).sum();
    at_most >= CHANCE_MIN && at_least >= CHANCE_MIN
}

/// The chance that `k` of `n` happen, each with the same chance. In logarithms: with many, the smallest
/// terms are below what a float holds.
fn binomial(k: usize, n: usize, chance: f64) -> f64 {
    let ways: f64 = (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum();
    (ways + k as f64 * chance.ln() + (n - k) as f64 * (1.0 - chance).ln()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomial_terms_add_up_to_one() {
        let sum: f64 = (0..=400).map(|k| binomial(k, 400, 0.97)).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        assert!((binomial(2, 3, 0.5) - 0.375).abs() < 1e-12);
    }

    #[test]
    fn medium_verdicts_are_calibrated_unless_their_number_excludes_it() {
        // Few that are all right may be chance, many may not.
        assert!(is_calibrated(0, 0) && is_calibrated(30, 30) && is_calibrated(90, 100));
        assert!(!is_calibrated(200, 200) && !is_calibrated(60, 100));
    }
}
