//! The coverage of a pass whose I/Os differ in size: a bitmap of small units, with summary levels above
//! it, so that a free unit is found in a few steps however full the map is.

use crate::random::Random;

/// The block sizes that a map must support, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granularity {
    /// Every size is a multiple of this.
    pub unit: u64,
    /// Smallest size.
    pub min: u64,
}

/// Smaller units are enlarged if the region is large.
const FINE_UNIT: u64 = 4096;
/// Maximum number of units below [`FINE_UNIT`]: 32 MiB of memory.
const FINE_UNITS_MAX: u64 = 1 << 28;

/// Maximum number of units: 8 GiB of memory, 256 TiB in blocks of 4 KiB.
const UNITS_MAX: u64 = 1 << 36;

/// The units of a region, free or used.
#[derive(Clone, Debug)]
pub(crate) struct CoverageMap {
    /// A set bit means: used. Above the first level: all bits of the word below are set.
    levels: Vec<Vec<u64>>,
    units: u64,
    unit: u64,
    min_units: u64,
}

impl CoverageMap {
    /// A free map of `length` bytes, without a rest shorter than a unit. `None` if it would not fit
    /// into memory, as with the endless regions of `fill_device`.
    pub fn new(length: u64, grain: Granularity) -> Option<CoverageMap> {
        let mut unit = grain.unit.max(1);
        while unit < FINE_UNIT && length / unit > FINE_UNITS_MAX && unit * 2 <= grain.min {
            unit *= 2;
        }
        let units = length / unit;
        if units > UNITS_MAX {
            return None;
        }
        let mut levels = Vec::new();
        let mut bits = units;
        loop {
            let words = bits.div_ceil(64);
            levels.push(vec![0; words as usize]);
            if words <= 1 {
                break;
            }
            bits = words;
        }
        let mut map = CoverageMap { levels, units, unit, min_units: (grain.min / unit).max(1) };
        map.restart();
        Some(map)
    }

    /// Frees everything.
    pub fn restart(&mut self) {
        let mut bits = self.units;
        for level in &mut self.levels {
            level.fill(0);
            // Bits beyond the end count as used.
            if let (Some(last), 1..) = (level.last_mut(), bits % 64) {
                *last = !0 << (bits % 64);
            }
            bits = level.len() as u64;
        }
    }

    /// Takes a random free range of `size` bytes, or fewer if the free run is shorter, or up to `max`
    /// bytes if the rest would be too small for any block. Returns its offset and length; `None` if
    /// nothing is free.
    #[inline]
    pub fn take(&mut self, size: u64, max: u64, random: &mut Random) -> Option<(u64, u64)> {
        let drawn = random.below(self.units);
        let start = self.next_free(drawn).or_else(|| self.next_free(0))?;
        let wanted = (size / self.unit).max(1);
        let (start, count) = if self.min_units == 1 {
            (start, self.free_run(start, wanted))
        } else {
            self.unfragmented(start, wanted, max / self.unit)
        };
        self.mark(start, count);
        Some((start * self.unit, count * self.unit))
    }

    /// Takes the free bytes from `offset` on, at most `size`. Returns how many.
    #[inline]
    pub fn take_at(&mut self, offset: u64, size: u64) -> u64 {
        let start = offset / self.unit;
        let count = self.free_run(start, (size / self.unit).max(1));
        self.mark(start, count);
        count * self.unit
    }

    /// Frees the bytes from `offset` on again: they were taken and not used.
    pub fn give_back(&mut self, offset: u64, size: u64) {
        for unit in offset / self.unit..(offset + size) / self.unit {
            let mut index = unit as usize;
            for level in &mut self.levels {
                level[index / 64] &= !(1 << (index % 64));
                index /= 64;
            }
        }
    }

    /// Moves or shortens a range so that no free run shorter than the smallest size remains next to it,
    /// if possible.
    fn unfragmented(&self, start: u64, wanted: u64, max: u64) -> (u64, u64) {
        let before = self.free_before(start, self.min_units);
        let start = if before < self.min_units { start - before } else { start };
        let run = self.free_run(start, wanted + self.min_units);
        let count = run.min(wanted);
        let rest = run - count;
        if rest == 0 || rest >= self.min_units {
            (start, count)
        } else if before >= self.min_units {
            (start + rest, count)
        } else if run <= max {
            (start, run)
        } else {
            (start, count.min(run.saturating_sub(self.min_units)).max(self.min_units.min(count)))
        }
    }

    /// First free unit at or after `from`.
    #[inline]
    fn next_free(&self, from: u64) -> Option<u64> {
        let mut index = from;
        for level in 0..self.levels.len() {
            let words = &self.levels[level];
            let word = (index / 64) as usize;
            let free = !*words.get(word)? & !0 << (index % 64);
            if free != 0 {
                let mut found = word as u64 * 64 + u64::from(free.trailing_zeros());
                for below in self.levels[..level].iter().rev() {
                    found = found * 64 + u64::from((!below[found as usize]).trailing_zeros());
                }
                return Some(found);
            }
            index = index / 64 + 1;
        }
        None
    }

    /// Number of free units from `start` on, at most `max`.
    #[inline]
    fn free_run(&self, start: u64, max: u64) -> u64 {
        let words = &self.levels[0];
        let mut count = 0;
        while count < max {
            let at = start + count;
            let Some(word) = words.get((at / 64) as usize) else { break };
            let left = 64 - at % 64;
            let free = u64::from((word >> (at % 64)).trailing_zeros()).min(left);
            count += free;
            if free < left {
                break;
            }
        }
        count.min(max)
    }

    /// Number of free units right before `start`, at most `max`.
    fn free_before(&self, start: u64, max: u64) -> u64 {
        let words = &self.levels[0];
        let mut count = 0;
        while count < max && count < start {
            let last = start - count - 1;
            let here = last % 64 + 1;
            let word = words[(last / 64) as usize] << (64 - here);
            let free = u64::from(word.leading_zeros()).min(here);
            count += free;
            if free < here {
                break;
            }
        }
        count.min(max)
    }

    #[inline]
    fn mark(&mut self, start: u64, count: u64) {
        let end = start + count;
        let mut at = start;
        while at < end {
            let word = (at / 64) as usize;
            let here = (64 - at % 64).min(end - at);
            self.levels[0][word] |= (!0 >> (64 - here)) << (at % 64);
            if self.levels[0][word] == !0 {
                self.mark_full(word);
            }
            at += here;
        }
    }

    fn mark_full(&mut self, word: usize) {
        let mut index = word;
        for level in &mut self.levels[1..] {
            level[index / 64] |= 1 << (index % 64);
            if level[index / 64] != !0 {
                break;
            }
            index /= 64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grain(unit: u64, min: u64) -> Granularity {
        Granularity { unit, min }
    }

    fn pass(map: &mut CoverageMap, size: u64, random: &mut Random) -> Vec<(u64, u64)> {
        let mut ranges: Vec<_> =
            std::iter::from_fn(|| map.take(1 + random.bits() % size, size, &mut Random::new(1, 1)))
                .collect();
        ranges.sort_unstable();
        ranges
    }

    proptest! {
        #[test]
        fn every_byte_comes_once_a_pass(
            length in 0u64..300_000, unit in 1u64..20, times in 1u64..30, more in 0u64..60, seed: u64,
        ) {
            let min = unit * times;
            let max = min + unit * more;
            let mut map = CoverageMap::new(length, grain(unit, min)).unwrap();
            let mut random = Random::new(seed, 0);
            for _ in 0..2 {
                let mut end = 0;
                for (offset, length) in pass(&mut map, max, &mut random) {
                    prop_assert_eq!(offset, end);
                    prop_assert!(length > 0 && length <= max);
                    end += length;
                }
                prop_assert_eq!(end, length / unit * unit);
                map.restart();
            }
        }
    }

    #[test]
    fn fragments_smaller_than_the_smallest_block_are_few() {
        let mut random = Random::new(1, 0);
        let mut map = CoverageMap::new(1 << 20, grain(1, 1000)).unwrap();
        let mut small = 0;
        let mut all = 0;
        while let Some((_, length)) = map.take(1000 + random.below(3001), 4000, &mut random) {
            all += 1;
            small += u32::from(length < 1000);
        }
        assert!(small * 20 < all, "{small} of {all}");
    }

    #[test]
    fn runs_across_words_are_found_and_marked() {
        let mut map = CoverageMap::new(1000, grain(1, 1)).unwrap();
        assert_eq!(map.take_at(60, 200), 200);
        assert_eq!(map.take_at(60, 1), 0);
        assert_eq!(map.take_at(0, 500), 60);
        assert_eq!(map.next_free(0), Some(260));
        assert_eq!(map.free_before(1000, 5000), 740);
        assert_eq!(map.take_at(990, 500), 10);
    }

    #[test]
    fn large_regions_get_coarser_units_not_more_memory() {
        let map = CoverageMap::new(1 << 40, grain(1, 4096)).unwrap();
        assert_eq!(map.unit, 4096);
        let map = CoverageMap::new(1 << 30, grain(1, 512)).unwrap();
        assert_eq!(map.unit, 4);
        assert!(CoverageMap::new(u64::MAX, grain(4096, 4096)).is_none());
    }
}
