//! Block sizes.

use crate::random::Random;
use plan::BlockPlan;
use record::Direction;

/// Sizes of one direction.
#[derive(Clone, Debug)]
pub(crate) struct Blocks {
    kind: Kind,
    /// Smallest size, in bytes, at least 1.
    pub min: u64,
    /// Largest size, in bytes.
    pub max: u64,
    /// Every size is a multiple of this.
    pub unit: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Fixed,
    Range {
        step: u64,
        count: u64,
    },
    /// Ascending sizes.
    Split(Vec<Share>),
}

#[derive(Clone, Copy, Debug)]
struct Share {
    size: u64,
    /// Share of this size and all smaller ones, in per cent.
    cumulative: u64,
}

impl Blocks {
    /// The planned sizes. Entries without a share are never drawn; a size of 0 counts as 1.
    pub fn new(plan: &BlockPlan) -> Blocks {
        match plan {
            BlockPlan::Fixed(size) => Blocks::fixed(*size),
            BlockPlan::Range { min, max, step } => {
                let (min, step) = ((*min).max(1), (*step).max(1));
                let count = max.saturating_sub(min) / step + 1;
                if count == 1 {
                    return Blocks::fixed(min);
                }
                let kind = Kind::Range { step, count };
                Blocks { kind, min, max: min + (count - 1) * step, unit: gcd(min, step) }
            }
            BlockPlan::Split(entries) => Blocks::split(entries),
        }
    }

    fn fixed(size: u64) -> Blocks {
        let size = size.max(1);
        Blocks { kind: Kind::Fixed, min: size, max: size, unit: size }
    }

    fn split(entries: &[(u64, u32)]) -> Blocks {
        let mut sorted: Vec<_> = entries.iter().filter(|e| e.0 > 0 && e.1 > 0).copied().collect();
        sorted.sort_unstable();
        let mut cumulative = 0;
        let shares: Vec<Share> = sorted
            .iter()
            .map(|&(size, percent)| {
                cumulative += u64::from(percent);
                Share { size, cumulative }
            })
            .collect();
        match shares.as_slice() {
            [] => Blocks::fixed(entries.first().map_or(1, |e| e.0)),
            [only] => Blocks::fixed(only.size),
            [first, .., last] => Blocks {
                min: first.size,
                max: last.size,
                unit: shares.iter().fold(0, |unit, share| gcd(unit, share.size)),
                kind: Kind::Split(shares),
            },
        }
    }

    /// The size, if there is only one.
    pub fn only(&self) -> Option<u64> {
        matches!(self.kind, Kind::Fixed).then_some(self.min)
    }

    /// Draws a size.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> u64 {
        match &self.kind {
            Kind::Fixed => self.min,
            Kind::Range { step, count } => self.min + random.below(*count) * step,
            Kind::Split(shares) => {
                let total = shares[shares.len() - 1].cumulative;
                let drawn = random.below(total);
                shares.iter().find(|s| drawn < s.cumulative).map_or(self.max, |s| s.size)
            }
        }
    }

    /// Draws a size and limits it to the largest that fits into `room`; `None` if none fits.
    #[inline]
    pub fn draw_within(&self, room: u64, random: &mut Random) -> Option<u64> {
        if room < self.min {
            return None;
        }
        let size = self.draw(random);
        Some(if size <= room { size } else { self.largest_within(room) })
    }

    #[cold]
    fn largest_within(&self, room: u64) -> u64 {
        match &self.kind {
            Kind::Fixed => self.min,
            Kind::Range { step, .. } => self.min + (room - self.min) / step * step,
            Kind::Split(shares) => {
                shares.iter().rev().find(|s| s.size <= room).map_or(self.min, |s| s.size)
            }
        }
    }
}

/// The parameters of one draw of an offset and a size.
pub(crate) struct Draw<'a> {
    pub direction: Direction,
    pub blocks: &'a Blocks,
    /// Random numbers for offsets.
    pub random: &'a mut Random,
    /// Random numbers for sizes.
    pub sizes: &'a mut Random,
}

/// Greatest common divisor; `gcd(0, n)` is `n`.
pub(crate) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(plan: &BlockPlan, draws: u32) -> std::collections::BTreeMap<u64, u32> {
        let (blocks, mut random) = (Blocks::new(plan), Random::new(5, 0));
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..draws {
            *counts.entry(blocks.draw(&mut random)).or_default() += 1;
        }
        counts
    }

    #[test]
    fn ranges_are_even_over_their_steps() {
        let plan = BlockPlan::Range { min: 4096, max: 18 << 10, step: 4096 };
        let counts = counts(&plan, 40_000);
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [4096, 8192, 12288, 16384]);
        assert!(counts.values().all(|c| (9_500..10_500).contains(c)), "{counts:?}");
    }

    #[test]
    fn unaligned_ranges_use_every_size() {
        let counts = counts(&BlockPlan::Range { min: 1000, max: 1009, step: 1 }, 10_000);
        assert_eq!(counts.len(), 10);
    }

    #[test]
    fn splits_keep_their_shares() {
        let counts = counts(&BlockPlan::Split(vec![(64, 30), (4, 70), (8, 0)]), 100_000);
        assert_eq!(counts.len(), 2);
        assert!((69_000..71_000).contains(&counts[&4]), "{counts:?}");
    }

    #[test]
    fn little_room_gets_the_largest_size_that_fits() {
        let mut random = Random::new(1, 0);
        let split = Blocks::new(&BlockPlan::Split(vec![(4096, 1), (16384, 99)]));
        assert_eq!(split.draw_within(10_000, &mut random), Some(4096));
        assert_eq!(split.draw_within(4095, &mut random), None);
        let range = Blocks::new(&BlockPlan::Range { min: 4, max: 1 << 40, step: 4 });
        assert_eq!(range.draw_within(11, &mut random), Some(8));
    }

    #[test]
    fn units_divide_every_size() {
        let unit = |plan| Blocks::new(&plan).unit;
        assert_eq!(unit(BlockPlan::Split(vec![(4096, 50), (6144, 50)])), 2048);
        assert_eq!(unit(BlockPlan::Range { min: 4096, max: 16384, step: 4096 }), 4096);
        assert_eq!(unit(BlockPlan::Range { min: 4096, max: 16384, step: 1 }), 1);
    }
}
