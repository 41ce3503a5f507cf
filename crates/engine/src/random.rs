//! Fast random numbers. The generator is xoshiro256++, written from the description of D. Blackman
//! and S. Vigna (prng.di.unimi.it, public domain), and seeded by SplitMix64. Bounded numbers follow
//! D. Lemire, "Fast Random Integer Generation in an Interval" (2019).

use record::SplitMix64;

/// Mixes the bits of a number (SplitMix64), so that similar numbers give unrelated results.
#[inline]
pub(crate) const fn mix(seed: u64) -> u64 {
    SplitMix64::nth(seed, 0)
}

/// A stream of random numbers, reproducible from its seed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: [u64; 4],
}

impl Random {
    /// Stream `stream` of a seed. Streams of one seed are unrelated to each other.
    pub fn new(seed: u64, stream: u64) -> Random {
        let seed = mix(seed) ^ mix(stream.wrapping_mul(0xd134_2543_de82_ef95));
        Random { state: [1, 2, 3, 4].map(|index| SplitMix64::nth(seed, index)) }
    }

    /// 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Uniform in `0..bound`; 0 for a bound of 0.
    #[inline(always)]
    pub fn below(&mut self, bound: u64) -> u64 {
        let product = u128::from(self.bits()) * u128::from(bound);
        if (product as u64) < bound { self.below_unbiased(bound, product) } else { high(product) }
    }

    /// Rejects the few numbers that would make some results more likely. Only this path has a division.
    #[cold]
    fn below_unbiased(&mut self, bound: u64, mut product: u128) -> u64 {
        if bound == 0 {
            return 0;
        }
        let threshold = bound.wrapping_neg() % bound;
        while (product as u64) < threshold {
            product = u128::from(self.bits()) * u128::from(bound);
        }
        high(product)
    }

    /// True with a probability of `percent` in 100.
    #[inline(always)]
    pub fn percent(&mut self, percent: u32) -> bool {
        self.below(100) < u64::from(percent)
    }

    /// Uniform in (0, 1].
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
    }
}

#[inline(always)]
fn high(product: u128) -> u64 {
    (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_stay_below_their_bound_and_are_even() {
        let mut random = Random::new(7, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7) as usize] += 1;
        }
        for count in counts {
            assert!((9_500..10_500).contains(&count), "{counts:?}");
        }
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
        let bound = (1 << 63) + 1;
        assert!((0..1000).all(|_| random.below(bound) < bound));
    }

    #[test]
    fn streams_differ_and_repeat() {
        let draw = |seed, stream| Random::new(seed, stream).bits();
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
        assert_ne!(draw(1, 2), draw(2, 1));
    }

    #[test]
    fn units_are_never_zero_and_centred() {
        let mut random = Random::new(1, 1);
        let sum: f64 = (0..100_000)
            .map(|_| {
                let unit = random.unit();
                assert!(unit > 0.0 && unit <= 1.0);
                unit
            })
            .sum();
        assert!((sum / 100_000.0 - 0.5).abs() < 0.005, "{sum}");
    }
}
