//! Random ranks with Zipf and Pareto distributions, without a table. Rank 0 is the most frequent.

use crate::random::Random;

/// Draws ranks below a count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ranks {
    Zipf(Zipf),
    /// The exponent of a uniform random number, and the last rank.
    Pareto(f64, f64),
}

impl Ranks {
    /// Zipf: the frequency of rank k, counted from 1, is proportional to k^-theta.
    pub fn zipf(theta: f64, count: u64) -> Ranks {
        Ranks::Zipf(Zipf::new(theta, count.max(1)))
    }

    /// Pareto: a share of 1 - `power` of the draws goes to a share `power` of the ranks, recursively. As
    /// in fio, a rank is the last rank times a uniform number to the power of
    /// ln(power) / ln(1 - power).
    pub fn pareto(power: f64, count: u64) -> Ranks {
        Ranks::Pareto(power.ln() / (1.0 - power).ln(), count.max(1) as f64 - 1.0)
    }

    /// The next rank.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        match self {
            Ranks::Zipf(zipf) => zipf.draw(random),
            Ranks::Pareto(exponent, last) => (last * random.unit().powf(*exponent)) as u64,
        }
    }
}

/// Zipf's law by rejection-inversion (W. Hörmann, G. Derflinger, "Rejection-inversion to generate
/// variates from monotone discrete distributions", 1996): exact for any count and exponent, with
/// little more than one attempt per draw.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zipf {
    theta: f64,
    count: f64,
    /// Area under the curve up to the left edge of the first rank and to the right edge of the last.
    first: f64,
    last: f64,
    /// Draws this close to the right edge of their rank are accepted without a further test.
    squeeze: f64,
}

impl Zipf {
    fn new(theta: f64, count: u64) -> Zipf {
        let mut zipf = Zipf { theta, count: count as f64, first: 0.0, last: 0.0, squeeze: 0.0 };
        zipf.first = zipf.area(1.5) - 1.0;
        zipf.last = zipf.area(zipf.count + 0.5);
        zipf.squeeze = 2.0 - zipf.inverse(zipf.area(2.5) - zipf.height(2.0));
        zipf
    }

    #[inline]
    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.last + random.unit() * (self.first - self.last);
            let place = self.inverse(area);
            let rank = place.round().clamp(1.0, self.count);
            let accepted =
                rank - place <= self.squeeze || area >= self.area(rank + 0.5) - self.height(rank);
            if accepted {
                return rank as u64 - 1;
            }
        }
    }

    /// x to the power of -theta.
    #[inline]
    fn height(&self, x: f64) -> f64 {
        (-self.theta * x.ln()).exp()
    }

    /// The integral of the height from 1 to x.
    #[inline]
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        let power = (1.0 - self.theta) * log;
        // (e^p - 1) / p, which tends to 1 for theta near 1.
        let mean = if power.abs() > 1e-8 { power.exp_m1() / power } else { 1.0 + power / 2.0 };
        mean * log
    }

    /// The x at which [`Zipf::area`] has this value.
    #[inline]
    fn inverse(&self, area: f64) -> f64 {
        // Rounding may exceed the pole.
        let power = (area * (1.0 - self.theta)).max(-1.0);
        let mean = if power.abs() > 1e-8 { power.ln_1p() / power } else { 1.0 - power / 2.0 };
        (mean * area).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: u32 = 400_000;

    fn counts(ranks: &Ranks, count: u64) -> Vec<u32> {
        let mut random = Random::new(11, 0);
        let mut counts = vec![0; count as usize];
        (0..DRAWS).for_each(|_| counts[ranks.draw(&mut random) as usize] += 1);
        counts
    }

    /// Panics unless every rank has its share within five standard deviations.
    fn agrees(counts: &[u32], share: impl Fn(u64) -> f64) {
        for (rank, count) in counts.iter().enumerate() {
            let expected = share(rank as u64) * f64::from(DRAWS);
            let allowed = 5.0 * expected.max(1.0).sqrt() + 1.0;
            assert!((f64::from(*count) - expected).abs() < allowed, "{rank}: {count} {expected}");
        }
    }

    #[test]
    fn zipf_s_shares_are_exact() {
        for theta in [0.0, 0.3, 0.9, 0.99999, 1.2, 2.5, 30.0] {
            for count in [1u64, 2, 7, 1000] {
                let weight = |rank: u64| (rank as f64 + 1.0).powf(-theta);
                let all: f64 = (0..count).map(weight).sum();
                let counts = counts(&Ranks::zipf(theta, count), count);
                agrees(&counts, |rank| weight(rank) / all);
            }
        }
    }

    #[test]
    fn pareto_s_shares_are_exact() {
        for power in [0.05f64, 0.2, 0.5, 0.9] {
            let count = 1000;
            let exponent = power.ln() / (1.0 - power).ln();
            let below = |rank: u64| (rank as f64 / 999.0).min(1.0).powf(1.0 / exponent);
            let counts = counts(&Ranks::pareto(power, count), count);
            agrees(&counts, |rank| below(rank + 1) - below(rank));
        }
    }

    #[test]
    fn huge_counts_stay_in_range() {
        let mut random = Random::new(1, 0);
        for count in [1u64 << 40, 1 << 52] {
            for ranks in [Ranks::zipf(0.5, count), Ranks::zipf(1.1, count)] {
                assert!((0..10_000).all(|_| ranks.draw(&mut random) < count));
            }
        }
    }
}
