//! Where the level of a series changes: PELT (Killick, Fearnhead and Eckley, Journal of the American
//! Statistical Association 107, 2012) with the cost of a normal mean.

use super::elementary::median;
use super::series::noise;

/// Shortest level, in values; fewer values are an outlier.
const SEGMENT_MIN: usize = 4;

/// Least noise, as a share of the level: less is rounding, not the noise of a device.
const NOISE_MIN: f64 = 0.005;

/// Penalty of a change in units of the logarithm of the number of values. Two is the Bayesian
/// criterion for a mean and a place; four keeps false alarms on correlated noise below one in fifty.
const PENALTY: f64 = 4.0;

/// Indexes at which a new level begins, in order; empty when the series keeps its level.
pub fn change_points(values: &[f64]) -> Vec<usize> {
    let count = values.len();
    if count < 2 * SEGMENT_MIN {
        return Vec::new();
    }
    let noise = noise(values);
    let level = values.iter().map(|v| v.abs()).sum::<f64>() / count as f64;
    let deviation = noise.deviation.max(NOISE_MIN * level);
    if deviation == 0.0 {
        return Vec::new();
    }
    // Sums of correlated values vary by this much more.
    let variance = deviation.powi(2) * (1.0 + noise.phi) / (1.0 - noise.phi);
    let values = without_outliers(values, deviation);
    pelt(&Costs::new(&values, variance), PENALTY * (count as f64).ln())
}

/// Distance from the level, in units of noise, beyond which a value is an outlier.
const OUTLIER: f64 = 4.0;

/// Values far from the median of five around them take its place (Hampel 1974): one stall is no new
/// level, a new level fills the five.
fn without_outliers(values: &[f64], deviation: f64) -> Vec<f64> {
    let around = |at: usize| {
        let middle = at.clamp(2, values.len() - 3);
        median(&values[middle - 2..=middle + 2])
    };
    let value = |(at, value): (usize, &f64)| match around(at) {
        level if (value - level).abs() > OUTLIER * deviation => level,
        _ => *value,
    };
    values.iter().enumerate().map(value).collect()
}

/// What a segment costs: its squared distance from its mean, in units of the noise.
struct Costs {
    sums: Vec<f64>,
    squares: Vec<f64>,
    variance: f64,
}

impl Costs {
    fn new(values: &[f64], variance: f64) -> Costs {
        let (mut sums, mut squares) = (vec![0.0], vec![0.0]);
        let (mut sum, mut square) = (0.0, 0.0);
        // Distances from the first value: sums of squares of large numbers would lose the small.
        for value in values.iter().map(|value| value - values[0]) {
            sum += value;
            square += value * value;
            sums.push(sum);
            squares.push(square);
        }
        Costs { sums, squares, variance }
    }

    fn count(&self) -> usize {
        self.sums.len() - 1
    }

    fn segment_cost(&self, from: usize, to: usize) -> f64 {
        let sum = self.sums[to] - self.sums[from];
        let square = self.squares[to] - self.squares[from];
        (square - sum * sum / (to - from) as f64).max(0.0) / self.variance
    }
}

fn pelt(costs: &Costs, penalty: f64) -> Vec<usize> {
    let count = costs.count();
    // For the first n values: the least cost, and the start of the last segment.
    let mut best = vec![f64::INFINITY; count + 1];
    let mut begin = vec![0; count + 1];
    best[0] = -penalty;
    // Candidate starts of the last segment, each with the end from which it is pruned.
    let mut candidates = vec![(0, usize::MAX)];
    for end in SEGMENT_MIN..=count {
        candidates.retain(|(_, lost)| end < *lost);
        let long_enough = |(from, _): &&mut (usize, usize)| end - *from >= SEGMENT_MIN;
        for (from, _) in candidates.iter_mut().filter(long_enough) {
            let cost = best[*from] + costs.segment_cost(*from, end) + penalty;
            if cost < best[end] {
                (best[end], begin[end]) = (cost, *from);
            }
        }
        // Prune: this start can never be optimal again, once a segment from here is long enough
        // (PELT, eq. 5).
        for (from, lost) in candidates.iter_mut().filter(long_enough) {
            if best[*from] + costs.segment_cost(*from, end) > best[end] {
                *lost = (*lost).min(end + SEGMENT_MIN);
            }
        }
        candidates.push((end, usize::MAX));
    }
    let mut points = Vec::new();
    let mut at = begin[count];
    while at > 0 {
        points.push(at);
        at = begin[at];
    }
    points.reverse();
    points
}

#[cfg(test)]
mod tests {
    use super::super::random::invented::series;
    use super::*;
    use crate::stats::Random;
    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn a_burst_that_ends_is_found_where_it_ends() {
        let mut random = Random::new(5);
        let mut found = 0;
        for _ in 0..200 {
            let mut values = series(&mut random, 15, 1000.0, 0.05, 0.3);
            values.extend(series(&mut random, 25, 800.0, 0.05, 0.3));
            let points = change_points(&values);
            found += u32::from(points.iter().any(|point| point.abs_diff(15) <= 2));
        }
        assert!(found >= 190, "{found} of 200");
    }

    #[test]
    fn noise_has_no_changes() {
        for (count, cv, phi) in [(20, 0.02, 0.0), (60, 0.05, 0.3), (200, 0.1, 0.5), (120, 0.3, 0.0)]
        {
            let mut random = Random::new(count as u64);
            let alarm =
                |_: &u32| !change_points(&series(&mut random, count, 1000.0, cv, phi)).is_empty();
            let alarms = (0..1000).filter(alarm).count();
            assert!(alarms <= 20, "{count} values, cv {cv}, phi {phi}: {alarms} of 1000");
        }
    }

    /// The least cost of all ways to cut the values, tried one by one.
    fn least(costs: &Costs, penalty: f64) -> f64 {
        let mut best = vec![f64::INFINITY; costs.count() + 1];
        best[0] = -penalty;
        for end in SEGMENT_MIN..=costs.count() {
            let cost = |from: usize| best[from] + costs.segment_cost(from, end) + penalty;
            best[end] = (0..=end - SEGMENT_MIN).map(cost).fold(f64::INFINITY, f64::min);
        }
        best[costs.count()]
    }

    proptest! {
        #[test]
        fn leaving_out_candidates_loses_nothing(values in vec(0_u8..20, 8..40), penalty in 1_u8..60) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (costs, penalty) = (Costs::new(&values, 4.0), f64::from(penalty));
            let points = pelt(&costs, penalty);
            let ends = [&points[..], &[values.len()]].concat();
            let mut from = 0;
            let mut cost = -penalty;
            for end in ends {
                prop_assert!(end - from >= SEGMENT_MIN);
                cost += costs.segment_cost(from, end) + penalty;
                from = end;
            }
            let least = least(&costs, penalty);
            prop_assert!((cost - least).abs() < 1e-6, "{cost} where {least} is possible");
        }
    }

    #[test]
    fn constant_short_and_stepped_series() {
        assert!(change_points(&[5.0; 40]).is_empty());
        assert!(change_points(&[0.0; 40]).is_empty());
        assert!(change_points(&[1.0, 9.0, 1.0]).is_empty());
        let mut hiccup = [100.0; 30];
        hiccup[12] = 0.0;
        assert!(change_points(&hiccup).is_empty());
        let steps = [[10.0; 8], [20.0; 8], [5.0; 8]].concat();
        assert_eq!(change_points(&steps), [8, 16]);
    }
}
