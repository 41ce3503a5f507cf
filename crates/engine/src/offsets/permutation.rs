//! Every number of a range once, in random order, in constant memory.
//!
//! A counter runs up to the next power of two. Each value goes through keyed bijections of that many
//! bits (multiply by an odd number, add, fold the upper half into the lower one). Results beyond the
//! range are skipped, so the rest is a bijection of the range. Cycle walking would give the same set
//! with more work.
//!
//! A Feistel network was measured as well: for ranges of usual size it needs six rounds until the
//! counter is no longer visible, and twice the time.

use crate::random::Random;

/// Number of bijections. With one less, the counter is visible in short ranges.
const ROUNDS: usize = 4;

/// Results computed at a time. They are independent, so the processor computes several in parallel.
const BATCH: usize = 16;

#[derive(Clone, Copy, Debug, Default)]
struct RoundKey {
    /// Odd.
    factor: u64,
    add: u64,
}

/// A random order of `0..count`, pass by pass.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    ready: [u64; BATCH],
    ready_next: u32,
    ready_end: u32,
    count: u64,
    given: u64,
    counter: u64,
    /// The bits of a value.
    mask: u64,
    /// Half the number of bits.
    half: u32,
    keys: [RoundKey; ROUNDS],
}

impl Permutation {
    /// The first pass over `0..count`, or over `0..2^62` if that is less.
    pub fn new(count: u64, random: &mut Random) -> Permutation {
        let count = count.min(1 << 62);
        let bits = (64 - count.saturating_sub(1).leading_zeros()).max(2);
        let mut made = Permutation {
            ready: [0; BATCH],
            ready_next: 0,
            ready_end: 0,
            count,
            given: 0,
            counter: 0,
            mask: (1 << bits) - 1,
            half: bits / 2,
            keys: [RoundKey::default(); ROUNDS],
        };
        made.restart(random);
        made
    }

    /// Begins another pass, in another order.
    pub fn restart(&mut self, random: &mut Random) {
        for key in &mut self.keys {
            *key = RoundKey { factor: random.bits() | 1, add: random.bits() };
        }
        self.counter = 0;
        self.given = 0;
        self.ready_next = 0;
        self.ready_end = 0;
    }

    /// The next number; `None` at the end of the pass.
    #[inline]
    pub fn next(&mut self) -> Option<u64> {
        self.make_ready();
        self.at_hand()
    }

    /// Computes the next numbers if none is ready.
    #[inline]
    pub fn make_ready(&mut self) {
        if self.ready_next == self.ready_end {
            self.refill();
        }
    }

    /// The next number if one is ready.
    #[inline(always)]
    pub fn at_hand(&mut self) -> Option<u64> {
        if self.ready_next == self.ready_end {
            return None;
        }
        // The mask only saves the bounds check.
        let value = self.ready[self.ready_next as usize & (BATCH - 1)];
        self.ready_next += 1;
        Some(value)
    }

    /// The position of `value` (below the count) in the order: a bijection.
    #[inline]
    pub fn place(&self, value: u64) -> u64 {
        let mut place = self.permuted(value);
        // Cycle walking from a result out of range ends within the range.
        while place >= self.count {
            place = self.permuted(place);
        }
        place
    }

    /// How many numbers are left in this pass.
    pub fn left(&self) -> u64 {
        self.count - self.given + u64::from(self.ready_end - self.ready_next)
    }

    #[inline(never)]
    fn refill(&mut self) {
        self.ready_next = 0;
        let wanted = (self.count - self.given).min(BATCH as u64) as usize;
        let mut made = 0;
        // The next result overwrites one that is out of range, without a branch to mispredict.
        while made < wanted {
            let value = self.permuted(self.counter);
            self.counter += 1;
            self.ready[made] = value;
            made += usize::from(value < self.count);
        }
        self.given += made as u64;
        self.ready_end = made as u32;
    }

    #[inline(always)]
    fn permuted(&self, mut value: u64) -> u64 {
        for key in &self.keys {
            value = value.wrapping_mul(key.factor).wrapping_add(key.add) & self.mask;
            value ^= value >> self.half;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pass(permutation: &mut Permutation) -> Vec<u64> {
        std::iter::from_fn(|| permutation.next()).collect()
    }

    proptest! {
        #[test]
        fn every_number_comes_once_a_pass(count in 0u64..5000, seed: u64) {
            let mut random = Random::new(seed, 0);
            let mut permutation = Permutation::new(count, &mut random);
            for _ in 0..2 {
                let mut values = pass(&mut permutation);
                values.sort_unstable();
                prop_assert!(values.iter().copied().eq(0..count));
                permutation.restart(&mut random);
            }
        }

        #[test]
        fn huge_ranges_do_not_repeat(count in 1u64 << 40..1 << 52, seed: u64) {
            let mut permutation = Permutation::new(count, &mut Random::new(seed, 0));
            let mut values: Vec<u64> = (0..2000).map(|_| permutation.next().unwrap()).collect();
            prop_assert!(values.iter().all(|v| *v < count));
            values.sort_unstable();
            values.dedup();
            prop_assert_eq!(values.len(), 2000);
        }
    }

    #[test]
    fn passes_differ() {
        let mut random = Random::new(1, 0);
        let mut permutation = Permutation::new(1000, &mut random);
        let first = pass(&mut permutation);
        permutation.restart(&mut random);
        assert_ne!(first, pass(&mut permutation));
    }

    /// Chi-squared over where in a small range the first number falls, and over the distance of
    /// neighbours in a large one: a weak network shows there first.
    #[test]
    fn orders_look_random() {
        let mut random = Random::new(3, 0);
        for count in [8u64, 13, 100] {
            let mut seen = vec![0f64; count as usize];
            let mut permutation = Permutation::new(count, &mut random);
            for _ in 0..count * 1000 {
                seen[permutation.next().unwrap() as usize] += 1.0;
                permutation.restart(&mut random);
            }
            let chi: f64 = seen.iter().map(|s| (s - 1000.0).powi(2) / 1000.0).sum();
            assert!(chi < count as f64 + 6.0 * (2.0 * count as f64).sqrt(), "{count}: {chi}");
        }
        for count in [1u64 << 20, (1 << 20) + 1, 3 << 30, 1 << 45] {
            for lag in [1, 2, 3, 16, 256, 1024, 4096] {
                let mut permutation = Permutation::new(count, &mut random);
                let values: Vec<u64> =
                    (0..64_000 + lag).map(|_| permutation.next().unwrap()).collect();
                let mut bins = [0f64; 64];
                for index in 0..64_000 {
                    let distance = (values[index + lag] + count - values[index]) % count;
                    bins[(u128::from(distance) * 64 / u128::from(count)) as usize] += 1.0;
                }
                let chi: f64 = bins.iter().map(|b| (b - 1000.0).powi(2) / 1000.0).sum();
                assert!(chi < 64.0 + 7.0 * 128f64.sqrt(), "{count} {lag}: {chi}");
            }
        }
    }
}
