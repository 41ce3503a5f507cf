//! Offsets zone by zone: so much is moved in one, then the next one's turn has come.
//!
//! # Rules
//! As fio has them. A zone begins `skip` behind the end of the one before; one that would begin
//! behind the region's end is the first again. Within a zone I/O goes in sequence, from the zone's
//! beginning when its range is used up, or at random, each place once before one comes again. An I/O
//! in sequence that begins in a zone may reach over its end. One that does not fit into the region
//! ends the pass. A zone cut short by the region's end has random I/O only where it lies.

use super::blocks::Blocks;
use super::scattered::{Scatter, Scattered};
use crate::random::Random;
use plan::{Placing, Strides};
use record::{Direction, PerDirection};

/// Offsets in one region, relative to its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    length: u64,
    strides: Strides,
    /// Where the zone begins.
    zone: u64,
    /// Bytes moved in it.
    moved: u64,
    within: Within,
}

#[derive(Clone, Debug)]
enum Within {
    Sequence {
        /// Bytes skipped after each I/O.
        skip: i64,
        /// Where each direction goes on.
        places: PerDirection<u64>,
    },
    /// In a whole zone, and in the one that the region's end cuts short.
    Random { whole: Box<Scattered>, cut: Option<Box<Scattered>> },
}

impl Strided {
    /// Sequential with so many bytes skipped after each I/O.
    pub fn sequential(length: u64, strides: Strides, skip: i64) -> Strided {
        let within = Within::Sequence { skip, places: PerDirection::default() };
        Strided { length, strides, zone: 0, moved: 0, within }
    }

    /// At random.
    pub fn random(
        length: u64,
        strides: Strides,
        scatter: Scatter,
        placing: &Placing,
        blocks: &PerDirection<Blocks>,
        random: &mut Random,
    ) -> Strided {
        let mut made = |length| Box::new(Scattered::new(length, scatter, placing, blocks, random));
        let range = strides.range.min(length);
        let step = strides.range.saturating_add(strides.skip).max(1);
        let last = length.saturating_sub(1) / step * step;
        let rest = length - last;
        let whole = made(range);
        let cut = (rest < range).then(|| made(rest));
        let within = Within::Random { whole, cut };
        Strided { length, strides, zone: 0, moved: 0, within }
    }

    /// Begins again with the first zone.
    pub fn restart(&mut self, random: &mut Random) {
        self.zone = 0;
        self.moved = 0;
        self.enter(random);
    }

    /// The next (offset, length); `None` when the pass is over.
    #[inline]
    pub fn next(
        &mut self,
        direction: Direction,
        blocks: &Blocks,
        random: &mut Random,
        sizes: &mut Random,
    ) -> Option<(u64, u64)> {
        if self.moved >= self.strides.moved {
            self.next_zone(random);
        }
        let found = match &mut self.within {
            Within::Sequence { .. } => self.in_sequence(direction, blocks, sizes),
            Within::Random { .. } => self.at_random(direction, blocks, random, sizes),
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

    /// Begins a zone, or begins it again.
    fn enter(&mut self, random: &mut Random) {
        match &mut self.within {
            Within::Sequence { places, .. } => *places = PerDirection::all(self.zone),
            Within::Random { whole, cut } => {
                current(self.zone, self.length, self.strides, whole, cut).restart(random);
            }
        }
    }

    fn in_sequence(
        &mut self,
        direction: Direction,
        blocks: &Blocks,
        sizes: &mut Random,
    ) -> Option<(u64, u64)> {
        let Strided { length, strides, zone, moved, ref mut within } = *self;
        let Within::Sequence { skip, places } = within else { return None };
        if moved.is_multiple_of(strides.range) {
            *places = PerDirection::all(zone);
        }
        let mut place = places[direction];
        if place >= zone.saturating_add(strides.range) {
            place = zone;
        } else if place != zone {
            place = place.checked_add_signed(*skip)?;
        }
        let size = blocks.draw_within(length.saturating_sub(place), sizes)?;
        places[direction] = place + size;
        Some((place, size))
    }

    fn at_random(
        &mut self,
        direction: Direction,
        blocks: &Blocks,
        random: &mut Random,
        sizes: &mut Random,
    ) -> Option<(u64, u64)> {
        // The second try is after all of the zone was covered, the third in the first zone, when
        // this one is too short for a block.
        for attempt in 0..3 {
            let Strided { length, strides, zone, ref mut within, .. } = *self;
            let Within::Random { whole, cut } = within else { return None };
            let places = current(zone, length, strides, whole, cut);
            if let Some((offset, size)) = places.next(direction, blocks, random, sizes) {
                return Some((zone + offset, size));
            }
            if attempt == 1 {
                self.moved = 0;
                self.zone = 0;
            }
            self.enter(random);
        }
        None
    }
}

/// The places of the zone that begins at `zone`.
fn current<'a>(
    zone: u64,
    length: u64,
    strides: Strides,
    whole: &'a mut Scattered,
    cut: &'a mut Option<Box<Scattered>>,
) -> &'a mut Scattered {
    match cut {
        Some(cut) if length - zone < strides.range => cut,
        _ => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::BlockPlan;

    const K: u64 = 1024;

    fn strides(moved: u64, range: u64, skip: u64) -> Strides {
        Strides { moved: moved * K, range: range * K, skip: skip * K }
    }

    fn offsets(mut strided: Strided, block: u64, most: usize) -> Vec<u64> {
        let blocks = Blocks::new(&BlockPlan::Fixed(block * K));
        let (mut places, mut sizes) = (Random::new(1, 0), Random::new(1, 2));
        std::iter::from_fn(|| strided.next(Direction::Read, &blocks, &mut places, &mut sizes))
            .take(most)
            .map(|(offset, _)| offset / K)
            .collect()
    }

    fn sequential(length: u64, (moved, range, skip): (u64, u64, u64), block: u64) -> Vec<u64> {
        let strided = Strided::sequential(length * K, strides(moved, range, skip), 0);
        offsets(strided, block, 8)
    }

    /// Each of these is what fio 3.33 was seen to do.
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
        let choice = super::super::Choice::Once(4 * K);
        let scatter = Scatter { choice, run_length: 1, identical: false, shares: false };
        let placing = Placing::default();
        let mut places = Random::new(1, 0);
        let strided = Strided::random(length * K, strides, scatter, &placing, &blocks, &mut places);
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
    fn a_zone_cut_short_is_used_as_far_as_it_goes() {
        let found = random(40, strides(16, 16, 0), 16);
        assert_eq!(sorted(&found[8..12]), [32, 32, 36, 36]);
        assert_eq!(sorted(&found[12..16]), [0, 4, 8, 12]);
        assert_eq!(sorted(&random(18, strides(16, 16, 0), 8)[4..]), [0, 4, 8, 12]);
        assert_eq!(sorted(&random(32, strides(64, 64, 0), 8)), [0, 4, 8, 12, 16, 20, 24, 28]);
    }
}
