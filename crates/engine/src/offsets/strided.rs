//! Offsets zone by zone (`zonemode=strided`): a number of bytes in one zone, then the next zone.
//!
//! # Rules
//! As in fio, a zone starts `skip` bytes after the end of the last one; beyond the region's end, the
//! first zone is next. ZoneOffsets a zone, sequential I/O starts over at the zone's end, and random I/O
//! visits each block once before it repeats one. Sequential I/O that starts in a zone may exceed its
//! end. I/O that does not fit into the region ends the pass. A zone that the region's end cuts short
//! has random I/O only in its remaining part.

use super::blocks::{Blocks, Draw};
use super::random_offsets::{RandomOffsets, RandomOptions};
use crate::random::Random;
use plan::{Placing, Strides};
use record::PerDirection;

/// Offsets in one region, relative to its start.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    length: u64,
    strides: Strides,
    /// Start of the current zone.
    zone: u64,
    /// Bytes moved in the zone.
    moved: u64,
    within: ZoneOffsets,
}

/// Offsets within a zone.
#[derive(Clone, Debug)]
enum ZoneOffsets {
    Sequence {
        /// Bytes skipped after each I/O.
        skip: i64,
        /// Position of each direction.
        positions: PerDirection<u64>,
    },
    /// Offsets for a whole zone and for one that the region's end cuts short.
    Random { whole: Box<RandomOffsets>, cut: Option<Box<RandomOffsets>> },
}

impl Strided {
    /// Sequential offsets within each zone, with `skip` bytes skipped after each I/O.
    pub fn sequential(length: u64, strides: Strides, skip: i64) -> Strided {
        let within = ZoneOffsets::Sequence { skip, positions: PerDirection::default() };
        Strided { length, strides, zone: 0, moved: 0, within }
    }

    /// Random offsets within each zone.
    pub fn random(
        length: u64,
        strides: Strides,
        options: RandomOptions,
        placing: &Placing,
        blocks: &PerDirection<Blocks>,
        random: &mut Random,
    ) -> Strided {
        let mut offsets =
            |length| Box::new(RandomOffsets::new(length, options, placing, blocks, random));
        let range = strides.range.min(length);
        let step = strides.range.saturating_add(strides.skip).max(1);
        let last = length.saturating_sub(1) / step * step;
        let rest = length - last;
        let whole = offsets(range);
        let cut = (rest < range).then(|| offsets(rest));
        let within = ZoneOffsets::Random { whole, cut };
        Strided { length, strides, zone: 0, moved: 0, within }
    }

    /// Begins another pass with the first zone.
    pub fn restart(&mut self, random: &mut Random) {
        self.zone = 0;
        self.moved = 0;
        self.enter(random);
    }

    /// The next offset and length; `None` at the end of the pass.
    #[inline]
    pub fn next(&mut self, draw: &mut Draw<'_>) -> Option<(u64, u64)> {
        if self.moved >= self.strides.moved {
            self.next_zone(draw.random);
        }
        let found = match &mut self.within {
            ZoneOffsets::Sequence { .. } => self.next_sequential(draw),
            ZoneOffsets::Random { .. } => self.next_random(draw),
        };
        self.moved = self.moved.saturating_add(found.map_or(0, |(_, size)| size));
        found
    }

    fn next_zone(&mut self, random: &mut Random) {
        let Strides { range, skip, .. } = self.strides;
        self.moved = 0;
        self.zone = self.zone.saturating_add(range).saturating_add(skip);
        if self.zone >= self.length {
            self.zone = 0;
        }
        self.enter(random);
    }

    /// Starts the current zone from its beginning.
    fn enter(&mut self, random: &mut Random) {
        match &mut self.within {
            ZoneOffsets::Sequence { positions, .. } => *positions = PerDirection::all(self.zone),
            ZoneOffsets::Random { whole, cut } => {
                current(self.zone, self.length, self.strides, whole, cut).restart(random);
            }
        }
    }

    fn next_sequential(&mut self, draw: &mut Draw<'_>) -> Option<(u64, u64)> {
        let Strided { length, strides, zone, moved, ref mut within } = *self;
        let ZoneOffsets::Sequence { skip, positions } = within else { return None };
        if moved.is_multiple_of(strides.range) {
            *positions = PerDirection::all(zone);
        }
        let mut position = positions[draw.direction];
        if position >= zone.saturating_add(strides.range) {
            position = zone;
        } else if position != zone {
            position = position.checked_add_signed(*skip)?;
        }
        let size = draw.blocks.draw_within(length.saturating_sub(position), draw.sizes)?;
        positions[draw.direction] = position + size;
        Some((position, size))
    }

    fn next_random(&mut self, draw: &mut Draw<'_>) -> Option<(u64, u64)> {
        // The second attempt starts the zone over, the third one goes to the first zone if this one is
        // too short for a block.
        for attempt in 0..3 {
            let Strided { length, strides, zone, ref mut within, .. } = *self;
            let ZoneOffsets::Random { whole, cut } = within else { return None };
            let offsets = current(zone, length, strides, whole, cut);
            if let Some((offset, size)) = offsets.next(draw) {
                return Some((zone + offset, size));
            }
            if attempt == 1 {
                self.moved = 0;
                self.zone = 0;
            }
            self.enter(draw.random);
        }
        None
    }
}

/// The offsets for the zone at `zone`.
fn current<'a>(
    zone: u64,
    length: u64,
    strides: Strides,
    whole: &'a mut RandomOffsets,
    cut: &'a mut Option<Box<RandomOffsets>>,
) -> &'a mut RandomOffsets {
    match cut {
        Some(cut) if length - zone < strides.range => cut,
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::BlockPlan;
    use record::Direction;

    const K: u64 = 1024;

    fn strides(moved: u64, range: u64, skip: u64) -> Strides {
        Strides { moved: moved * K, range: range * K, skip: skip * K }
    }

    fn offsets(mut strided: Strided, block: u64, most: usize) -> Vec<u64> {
        let blocks = Blocks::new(&BlockPlan::Fixed(block * K));
        let (mut places, mut sizes) = (Random::new(1, 0), Random::new(1, 2));
        std::iter::from_fn(|| {
            strided.next(&mut Draw {
                direction: Direction::Read,
                blocks: &blocks,
                random: &mut places,
                sizes: &mut sizes,
            })
        })
        .take(most)
        .map(|(offset, _)| offset / K)
        .collect()
    }

    fn sequential(length: u64, (moved, range, skip): (u64, u64, u64), block: u64) -> Vec<u64> {
        let strided = Strided::sequential(length * K, strides(moved, range, skip), 0);
        offsets(strided, block, 8)
    }

    /// fio 3.33 was observed to do each of these.
    #[test]
    fn zones_are_where_fio_has_them() {
        assert_eq!(sequential(32, (4, 4, 4), 4), [0, 8, 16, 24, 0, 8, 16, 24]);
        assert_eq!(sequential(32, (8, 8, 8), 4), [0, 4, 16, 20, 0, 4, 16, 20]);
        assert_eq!(sequential(32, (4, 8, 4), 4), [0, 12, 24, 0, 12, 24, 0, 12]);
        assert_eq!(sequential(32, (16, 8, 4), 4), [0, 4, 0, 4, 12, 16, 12, 16]);
        assert_eq!(sequential(32, (6, 6, 8), 4), [0, 4, 14, 18, 28]);
        assert_eq!(sequential(32, (8, 6, 0), 4), [0, 4, 6, 10, 12, 16, 18, 22]);
        assert_eq!(sequential(32, (12, 12, 1), 4), [0, 4, 8, 13, 17, 21, 26]);
        assert_eq!(sequential(32, (12, 12, 0), 8), [0, 8, 12, 20, 24]);
        assert_eq!(sequential(32, (64, 64, 64), 4), [0, 4, 8, 12, 16, 20, 24, 28]);
        assert_eq!(sequential(64, (4, 4, 16), 4), [0, 20, 40, 60, 0, 20, 40, 60]);
        let skipping = Strided::sequential(32 * K, strides(8, 8, 8), 4096);
        assert_eq!(offsets(skipping, 4, 8), [0, 8, 16, 24, 0, 8, 16, 24]);
    }

    fn random(length: u64, strides: Strides, most: usize) -> Vec<u64> {
        let blocks = PerDirection::all(Blocks::new(&BlockPlan::Fixed(4 * K)));
        let mode = super::super::RandomMode::EachBlockOnce(4 * K);
        let options =
            RandomOptions { mode, run_length: 1, identical: false, has_sequential_share: false };
        let placing = Placing::default();
        let mut places = Random::new(1, 0);
        let strided = Strided::random(length * K, strides, options, &placing, &blocks, &mut places);
        offsets(strided, 4, most)
    }

    fn sorted(offsets: &[u64]) -> Vec<u64> {
        let mut sorted = offsets.to_vec();
        sorted.sort_unstable();
        sorted
    }

    #[test]
    fn random_io_covers_each_zone_before_it_comes_again() {
        let found = random(64, strides(32, 16, 8), 24);
        assert_eq!(sorted(&found[..4]), [0, 4, 8, 12]);
        assert_eq!(sorted(&found[4..8]), [0, 4, 8, 12]);
        assert_eq!(sorted(&found[8..12]), [24, 28, 32, 36]);
        assert_eq!(sorted(&found[16..20]), [48, 52, 56, 60]);
    }

    #[test]
    fn a_zone_cut_short_is_used_up_to_its_end() {
        let found = random(40, strides(16, 16, 0), 16);
        assert_eq!(sorted(&found[8..12]), [32, 32, 36, 36]);
        assert_eq!(sorted(&found[12..16]), [0, 4, 8, 12]);
        assert_eq!(sorted(&random(18, strides(16, 16, 0), 8)[4..]), [0, 4, 8, 12]);
        assert_eq!(sorted(&random(32, strides(64, 64, 0), 8)), [0, 4, 8, 12, 16, 20, 24, 28]);
    }
}
