//! How unevenly accesses are spread over blocks: uniform, Zipf or Pareto as fio draws them, fitted to the
//! numbers of accesses of a sample of blocks.
//!
//! Sorting noisy counts makes any load look skewed. So the parameter comes from the collision index
//! Σp² (E. Simpson, "Measurement of Diversity", 1949), which Σc(c-1) / n(n-1) estimates without bias,
//! and the fit is judged by a Kolmogorov distance between the counts seen and those expected when each
//! block is accessed at random (Poisson). Whether a fit is believed is a question of that distance, not
//! of the parameter (Clauset, Shalizi and Newman, "Power-Law Distributions in Empirical Data", 2009).

use serde::Serialize;

/// A distribution of accesses over blocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Skew {
    /// Each block is as likely.
    Uniform,
    /// The block of rank r is accessed in proportion to r to the power of minus theta.
    Zipf(f64),
    /// fio's pareto: with h = 0.2, 20 % of the blocks have 80 % of the accesses.
    Pareto(f64),
}

/// A fitted distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// The distribution.
    pub skew: Skew,
    /// The largest difference between the shares of accesses, expected and seen; 0 is perfect.
    pub distance: f64,
    /// The share of accesses to the tenth of the blocks that has the most.
    pub top_tenth: f64,
}

/// Ranks with nearly the same probability: how many, and that of each.
struct Rank {
    blocks: f64,
    probability: f64,
}

/// A more complicated distribution must be better by this distance.
const WORTH: f64 = 0.03;

/// The distribution of accesses `counts` to followed blocks, of a population of so many (followed or
/// not accessed at all). `None` with too few accesses to tell.
pub fn fit(counts: &[u64], population: f64) -> Option<Fit> {
    let accesses: f64 = counts.iter().map(|count| *count as f64).sum();
    let population = population.max(counts.len() as f64).max(1.0);
    if accesses < 200.0 || population < 16.0 {
        return None;
    }
    let pairs: f64 = counts.iter().map(|c| *c as f64 * (*c as f64 - 1.0)).sum();
    let collisions = pairs / (accesses * (accesses - 1.0));
    let noise = 4.0 * (2.0 * population).sqrt() / accesses;
    let even = Fit::new(Skew::Uniform, counts, population);
    if collisions * population < 1.0 - noise {
        // More even than random: blocks are not repeated before all were accessed.
        return Some(Fit { distance: 0.0, ..even });
    }
    if collisions * population < 1.0 + noise.max(0.05) {
        return Some(even);
    }
    let zipf = |theta: f64| collision_index(&ranks(Skew::Zipf(theta), population));
    let theta = root(|theta| zipf(theta) - collisions, 0.0, 4.0);
    let pareto = |h: f64| -collision_index(&ranks(Skew::Pareto(h), population));
    let h = root(|h| pareto(h) + collisions, 0.001, 0.5);
    let zipf = Fit::new(Skew::Zipf(theta), counts, population);
    let pareto = Fit::new(Skew::Pareto(h), counts, population);
    let skewed = if pareto.distance + WORTH / 2.0 < zipf.distance { pareto } else { zipf };
    Some(if skewed.distance + WORTH < even.distance { skewed } else { even })
}

impl Fit {
    fn new(skew: Skew, counts: &[u64], population: f64) -> Fit {
        let ranks = ranks(skew, population);
        let accesses: f64 = counts.iter().map(|count| *count as f64).sum();
        let mut sorted = counts.to_vec();
        sorted.sort_unstable();
        let (mut seen, mut distance) = (0.0, 0.0_f64);
        let mut at = 0;
        let mut limit = 1_u64;
        while at < sorted.len() {
            while at < sorted.len() && sorted[at] <= limit {
                seen += sorted[at] as f64;
                at += 1;
            }
            let expected: f64 = ranks
                .iter()
                .map(|rank| {
                    let mean = accesses * rank.probability;
                    rank.blocks * rank.probability * poisson_below(limit, mean)
                })
                .sum();
            distance = distance.max((seen / accesses - expected).abs());
            limit = (limit + 1).max(limit * 9 / 8);
        }
        Fit { skew, distance, top_tenth: top_share(&ranks, population / 10.0) }
    }
}

/// The share of the `blocks` most likely blocks.
fn top_share(ranks: &[Rank], blocks: f64) -> f64 {
    let mut left = blocks;
    let parts = ranks.iter().map(|rank| {
        let taken = rank.blocks.min(left);
        left -= taken;
        taken * rank.probability
    });
    parts.sum()
}

/// The probabilities of a distribution over `population` blocks, the most likely first.
fn ranks(skew: Skew, population: f64) -> Vec<Rank> {
    let share: Box<dyn Fn(f64) -> f64> = match skew {
        Skew::Uniform => Box::new(|rank| rank / population),
        Skew::Zipf(theta) => {
            let all = harmonic(population, theta);
            Box::new(move |rank| harmonic(rank, theta) / all)
        }
        Skew::Pareto(h) => {
            let power = (1.0 - h).ln() / h.ln();
            Box::new(move |rank| (rank / population).powf(power))
        }
    };
    let (mut ranks, mut from, mut below) = (Vec::new(), 0.0_f64, 0.0);
    while from < population {
        let to = (from + 1.0).max((from * 1.08).floor()).min(population);
        let upto = share(to);
        ranks.push(Rank { blocks: to - from, probability: (upto - below) / (to - from) });
        (from, below) = (to, upto);
    }
    ranks
}

/// Σ r^-theta for r from 1 to `count`: the first terms, then the integral with its first correction
/// (Euler-Maclaurin).
fn harmonic(count: f64, theta: f64) -> f64 {
    const EXACT: f64 = 32.0;
    let term = |rank: f64| rank.powf(-theta);
    let first: f64 = (1..=count.min(EXACT) as u64).map(|rank| term(rank as f64)).sum();
    if count <= EXACT {
        return first;
    }
    let integral = match (1.0 - theta).abs() < 1e-9 {
        true => (count / EXACT).ln(),
        false => (count.powf(1.0 - theta) - EXACT.powf(1.0 - theta)) / (1.0 - theta),
    };
    first + integral + (term(count) - term(EXACT)) / 2.0
}

fn collision_index(ranks: &[Rank]) -> f64 {
    ranks.iter().map(|rank| rank.blocks * rank.probability.powi(2)).sum()
}

/// Where a growing function is 0, by halving.
fn root(f: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    for _ in 0..40 {
        let middle = (low + high) / 2.0;
        if f(middle) < 0.0 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// The probability that a Poisson variable lies below `limit`. Exact for small means, else by the
/// normal distribution.
fn poisson_below(limit: u64, mean: f64) -> f64 {
    if mean < 30.0 {
        let mut term = (-mean).exp();
        let mut sum = 0.0;
        for k in 0..limit.min(200) {
            sum += term;
            term *= mean / (k + 1) as f64;
        }
        return sum.min(1.0);
    }
    normal((limit as f64 - 0.5 - mean) / mean.sqrt())
}

/// The normal distribution function (Abramowitz and Stegun, 26.2.17; error below 1e-7).
pub(crate) fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let series = t
        * (0.319_381_53
            + t * (-0.356_563_782
                + t * (1.781_477_937 + t * (-1.821_255_978 + t * 1.330_274_429))));
    let tail = (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * series;
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::SplitMix64;

    /// Counts of so many accesses to blocks whose shares are these of a distribution.
    fn drawn(skew: Skew, population: usize, accesses: u64, seed: u64) -> Vec<u64> {
        let mut upto = Vec::new();
        let mut sum = 0.0;
        for rank in 1..=population {
            let n = population as f64;
            sum += match skew {
                Skew::Uniform => 1.0 / n,
                Skew::Zipf(theta) => (rank as f64).powf(-theta),
                Skew::Pareto(h) => {
                    let power = (1.0 - h).ln() / h.ln();
                    (rank as f64 / n).powf(power) - ((rank - 1) as f64 / n).powf(power)
                }
            };
            upto.push(sum);
        }
        let mut counts = vec![0; population];
        let mut random = SplitMix64::new(seed);
        for _ in 0..accesses {
            let at = random.bits() as f64 / u64::MAX as f64 * sum;
            counts[upto.partition_point(|upto| *upto < at).min(population - 1)] += 1;
        }
        counts.retain(|count| *count > 0);
        counts
    }

    #[test]
    fn a_uniform_load_is_not_taken_for_a_skewed_one() {
        for (accesses, seed) in [(1000, 1), (10_000, 2), (200_000, 3)] {
            let found = fit(&drawn(Skew::Uniform, 10_000, accesses, seed), 1e4).unwrap();
            assert_eq!(found.skew, Skew::Uniform, "{accesses}: {found:?}");
            assert!(found.distance < 0.05, "{found:?}");
        }
    }

    #[test]
    fn the_exponent_of_a_zipf_load_is_found() {
        for theta in [0.6, 0.8, 0.99, 1.2] {
            let found = fit(&drawn(Skew::Zipf(theta), 10_000, 100_000, 7), 1e4).unwrap();
            let Skew::Zipf(fitted) = found.skew else { panic!("{theta}: {found:?}") };
            // The commonest block alone has a tenth of the accesses: its noise shows.
            assert!((fitted - theta).abs() < 0.05 && found.distance < 0.08, "{theta}: {found:?}");
        }
    }

    #[test]
    fn the_share_of_a_pareto_load_is_found() {
        for h in [0.1, 0.2, 0.3] {
            let found = fit(&drawn(Skew::Pareto(h), 10_000, 100_000, 7), 1e4).unwrap();
            let Skew::Pareto(fitted) = found.skew else { panic!("{h}: {found:?}") };
            assert!((fitted - h).abs() < 0.04 && found.distance < 0.06, "{h}: {found:?}");
        }
    }

    #[test]
    fn a_pass_over_all_blocks_is_even() {
        let found = fit(&[1; 5000], 10_000.0).unwrap();
        assert_eq!((found.skew, found.distance), (Skew::Uniform, 0.0));
    }

    #[test]
    fn few_accesses_tell_nothing() {
        assert_eq!(fit(&[1, 2, 3], 1000.0), None);
        assert_eq!(fit(&[], 0.0), None);
    }
}
