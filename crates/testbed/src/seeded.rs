//! A small seeded generator: the same cases on every machine and in every run.

use record::SplitMix64;

/// Numbers that look random and are the same for the same seed.
pub struct Seeded(SplitMix64);

impl Seeded {
    /// Starts a sequence.
    pub fn new(seed: u64) -> Seeded {
        Seeded(SplitMix64::new(seed))
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0.bits()
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high - low + 1)
    }

    /// From 0 to `limit` - 1.
    pub fn below(&mut self, limit: usize) -> usize {
        self.between(0, limit as u64 - 1) as usize
    }

    /// So many bytes of noise.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.number() as u8).take(length).collect()
    }

    /// True so many times in a hundred.
    pub fn percent(&mut self, share: u64) -> bool {
        self.between(0, 99) < share
    }

    /// One of them.
    pub fn one<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[self.below(of.len())]
    }
}
