//! Random choices of a suite, all drawn from its seed: the same seed gives the same runs.

use judge::stats::Random;

/// Numbers from a seed.
#[derive(Clone, Debug)]
pub struct Draw(Random);

impl Draw {
    /// The same numbers for the same seed.
    pub fn new(seed: u64) -> Draw {
        Draw(Random::new(seed))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// One of `0..end`; `end` is above 0 and small.
    pub fn below(&mut self, end: u64) -> u64 {
        // A remainder favours small numbers by less than can be seen for ends below 2^32.
        self.bits() % end
    }

    /// Puts items in a random order (Fisher and Yates, in Durstenfeld's form).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_of_all_items_and_of_its_seed() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..8).collect();
            Draw::new(seed).shuffle(&mut items);
            items
        };
        assert_eq!(order(1), order(1));
        assert!((2..20).any(|seed| order(seed) != order(1)));
        for seed in 0..50 {
            let mut sorted = order(seed);
            sorted.sort_unstable();
            assert_eq!(sorted, (0..8).collect::<Vec<_>>());
        }
    }
}
