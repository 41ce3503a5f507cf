//! SplitMix64 (Steele, Lea and Flood, 2014): small, seedable from any number, and the same on every
//! machine. The engine draws its I/O from a faster generator that this one seeds.

/// The step between two states.
const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of a seed.
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub const fn bits(&mut self) -> u64 {
        let bits = SplitMix64::nth(self.0, 0);
        self.0 = self.0.wrapping_add(GAMMA);
        bits
    }

    /// Number `index` of the sequence of `seed`, counted from 0: a well mixed function of both.
    #[inline(always)]
    pub const fn nth(seed: u64, index: u64) -> u64 {
        let z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GAMMA));
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A random number from 0 to `count` - 1, from the upper bits; `count` is small against 2^64.
    #[inline(always)]
    pub const fn below(&mut self, count: u64) -> u64 {
        ((self.bits() as u128 * count as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_one_of_the_reference_implementation() {
        // The first outputs of the authors' splitmix64.c with state 1234567.
        let mut random = SplitMix64::new(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
        assert_eq!(SplitMix64::nth(1_234_567, 1), 3_203_168_211_198_807_973);
    }
}
