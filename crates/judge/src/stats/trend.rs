//! Whether a series rises or falls.

use super::elementary::median;
use super::series::{autocorrelation, effective_count};
use statrs::distribution::{ContinuousCDF, Normal};

/// A straight line through a series, and whether it is more than chance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trend {
    /// Change a step: the median slope of all pairs (Theil 1950, Sen 1968).
    pub slope_per_step: f64,
    /// Change from the first value to the last, as a share of the median.
    pub total_change: f64,
    /// Chance that a series without a trend looks like this one: Mann (1945) and Kendall (1975), the
    /// variance corrected for correlated neighbours as Yue and Wang (2004) do.
    pub chance: f64,
    /// That chance is below one in a hundred.
    pub significant: bool,
}

/// Values looked at; longer series are averaged down to about as many.
const VALUES_MAX: usize = 400;

/// The trend of a series; no trend for fewer than 8 values.
pub fn trend(values: &[f64]) -> Trend {
    let per_value = values.len().div_ceil(VALUES_MAX).max(1);
    let values: Vec<f64> = values.chunks(per_value).map(super::elementary::mean).collect();
    let count = values.len();
    if count < 8 {
        return Trend { chance: 1.0, ..Trend::default() };
    }
    let (mut slopes, mut score) = (Vec::with_capacity(count * (count - 1) / 2), 0.0);
    for later in 1..count {
        for earlier in 0..later {
            let rise = values[later] - values[earlier];
            slopes.push(rise / (later - earlier) as f64);
            score += if rise == 0.0 { 0.0 } else { rise.signum() };
        }
    }
    let slope = median(&slopes);
    let level = median(&values);
    let chance = chance(&values, slope, score);
    Trend {
        slope_per_step: slope / per_value as f64,
        total_change: if level == 0.0 { 0.0 } else { slope * (count - 1) as f64 / level.abs() },
        chance,
        significant: chance < 0.01,
    }
}

fn chance(values: &[f64], slope: f64, score: f64) -> f64 {
    let count = values.len() as f64;
    let rest: Vec<f64> = (0..).zip(values).map(|(n, v)| v - slope * f64::from(n)).collect();
    let inflation = count / effective_count(values.len(), autocorrelation(&rest));
    let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0 * inflation;
    let z = (score.abs() - 1.0).max(0.0) / variance.sqrt();
    2.0 * (1.0 - Normal::standard().cdf(z))
}

/// Values whose orders are counted; of longer series, the first so many.
const ORDERED_MAX: usize = 60;

/// Whether a series mostly rises, and the chance that an order as strict as its own, or stricter, comes
/// about by chance: Kendall's test (1938) without an approximation, so it holds for few values too.
pub fn order_chance(values: &[f64]) -> (bool, f64) {
    let values = &values[..values.len().min(ORDERED_MAX)];
    let (mut rises, mut falls) = (0, 0);
    for (index, later) in values.iter().enumerate() {
        rises += values[..index].iter().filter(|earlier| *earlier < later).count();
        falls += values[..index].iter().filter(|earlier| *earlier > later).count();
    }
    // Equal values count as pairs out of order.
    let pairs = values.len() * values.len().saturating_sub(1) / 2;
    let out_of_order = pairs - rises.max(falls);
    let both_ways: f64 = 2.0 * inversions(values.len()).iter().take(out_of_order + 1).sum::<f64>();
    (rises > falls, both_ways.min(1.0))
}

/// The share of all orders of so many values that has 0, 1, 2 … pairs out of order.
fn inversions(count: usize) -> Vec<f64> {
    let mut shares = vec![1.0];
    for values in 2..=count {
        // The next value stands in any of so many places, each out of order with one more of the others.
        let mut next = vec![0.0; shares.len() + values - 1];
        for (index, share) in shares.iter().enumerate() {
            next[index..index + values].iter_mut().for_each(|one| *one += share / values as f64);
        }
        shares = next;
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::super::random::invented::series;
    use super::*;
    use crate::stats::Random;

    #[test]
    fn a_slow_fall_is_seen_and_noise_is_not() {
        let mut random = Random::new(11);
        let (mut seen, mut alarms) = (0, 0);
        for _ in 0..300 {
            let flat = series(&mut random, 40, 100.0, 0.05, 0.3);
            let falling: Vec<f64> = (0..).zip(&flat).map(|(n, v)| v - 0.5 * f64::from(n)).collect();
            alarms += u32::from(trend(&flat).significant);
            seen += u32::from(trend(&falling).significant);
        }
        assert!(seen >= 260, "{seen} of 300");
        assert!(alarms <= 9, "{alarms} of 300");
    }

    #[test]
    fn the_chance_of_an_order_is_counted() {
        // One of the six orders of three values rises, one falls.
        assert_eq!(order_chance(&[1.0, 2.0, 3.0]), (true, 1.0 / 3.0));
        let (rises, chance) = order_chance(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]);
        assert!(!rises && (chance - 2.0 / 720.0).abs() < 1e-12, "{chance}");
        // Of 24 orders, three have one pair out of order.
        let (_, chance) = order_chance(&[2.0, 1.0, 3.0, 4.0]);
        assert!((chance - 2.0 * 4.0 / 24.0).abs() < 1e-12, "{chance}");
        assert_eq!(order_chance(&[7.0; 8]).1, 1.0);
        assert_eq!(order_chance(&[]).1, 1.0);
    }

    #[test]
    fn a_line_is_its_own_trend() {
        let line: Vec<f64> = (0..21).map(|n| 100.0 + f64::from(n)).collect();
        let found = trend(&line);
        assert_eq!((found.slope_per_step, found.significant), (1.0, true));
        assert!((found.total_change - 20.0 / 110.0).abs() < 1e-9);
        assert!(!trend(&[7.0; 30]).significant);
        assert!(!trend(&[1.0, 2.0]).significant);
        let long: Vec<f64> = (0..4000).map(f64::from).collect();
        assert!((trend(&long).slope_per_step - 1.0).abs() < 1e-9);
    }
}
