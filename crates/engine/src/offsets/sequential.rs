//! Sequential offsets, with or without gaps.
//!
//! # Rules
//! Each direction has its own position, starting at 0. After an I/O the position is its end plus the
//! skip. With a skip of at least 0, an I/O that reaches the region's end ends the pass. So does a skip
//! beyond the region's end, but a skip beyond the end of the file goes back to 0. With a negative
//! skip, a position below 0 becomes the region's length plus the skip. An I/O that does not fit ends
//! the pass.

use super::blocks::Blocks;
use crate::random::Random;
use record::{Direction, PerDirection};

/// Positions in one region, relative to its start.
#[derive(Clone, Debug)]
pub(crate) struct Sequential {
    length: u64,
    whole: u64,
    skip: i64,
    /// End of the last I/O; `None` before the first one.
    ends: PerDirection<Option<u64>>,
}

impl Sequential {
    /// In a region of `length` bytes of a file of `whole` bytes.
    pub fn new(length: u64, whole: u64, skip: i64) -> Sequential {
        Sequential { length, whole, skip, ends: PerDirection::all(None) }
    }

    /// Begins another pass in all directions, or with `only_ended` in those that reached the end.
    pub fn restart(&mut self, blocks: &PerDirection<Blocks>, only_ended: bool) {
        for direction in Direction::ALL {
            let ended = self.room(direction).is_none_or(|(_, room)| room < blocks[direction].min);
            if ended || !only_ended {
                self.ends[direction] = None;
            }
        }
    }

    /// The next offset and length; `None` at the end of the pass.
    #[inline]
    pub fn next(
        &mut self,
        direction: Direction,
        blocks: &Blocks,
        random: &mut Random,
    ) -> Option<(u64, u64)> {
        let (position, room) = self.room(direction)?;
        let size = blocks.draw_within(room, random)?;
        self.ends[direction] = Some(position + size);
        Some((position, size))
    }

    /// The last I/O of a direction was issued without its last `bytes`.
    pub fn give_back(&mut self, direction: Direction, bytes: u64) {
        if let Some(end) = &mut self.ends[direction] {
            *end = end.saturating_sub(bytes);
        }
    }

    /// The position of the next I/O and the bytes left from there.
    #[inline]
    fn room(&self, direction: Direction) -> Option<(u64, u64)> {
        let Some(end) = self.ends[direction] else { return Some((0, self.length)) };
        if end >= self.length {
            return None;
        }
        let position = if self.skip == 0 { end } else { self.skipped(end)? };
        Some((position, self.length - position))
    }

    fn skipped(&self, end: u64) -> Option<u64> {
        if self.skip > 0 {
            let position = end.saturating_add(self.skip as u64);
            return match position {
                within if within < self.length => Some(within),
                beyond if beyond >= self.whole => Some(0),
                _ => None,
            };
        }
        match end.checked_add_signed(self.skip) {
            Some(position) => Some(position),
            None => self.length.checked_add_signed(self.skip),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::BlockPlan;

    const K: u64 = 1024;

    /// Offsets in KiB of at most `most` I/Os of 4 KiB.
    fn offsets(length: u64, skip: i64, most: usize) -> Vec<f64> {
        let blocks = Blocks::new(&BlockPlan::Fixed(4 * K));
        let mut sequential = Sequential::new(length, length, skip);
        let mut random = Random::new(1, 0);
        std::iter::from_fn(|| sequential.next(Direction::Read, &blocks, &mut random))
            .take(most)
            .map(|(offset, _)| offset as f64 / 1024.0)
            .collect()
    }

    #[test]
    fn a_rest_smaller_than_a_block_is_skipped() {
        assert_eq!(offsets(18 * K, 0, 9), [0., 4., 8., 12.]);
    }

    /// fio 3.33 was observed to do each of these.
    #[test]
    fn holes_are_where_fio_has_them() {
        assert_eq!(offsets(32 * K, 4096, 8), [0., 8., 16., 24., 0., 8., 16., 24.]);
        assert_eq!(offsets(36 * K, 4096, 8), [0., 8., 16., 24., 32.]);
        assert_eq!(offsets(32 * K, 3072, 8), [0., 7., 14., 21., 28.]);
        assert_eq!(offsets(32 * K, 2048, 8), [0., 6., 12., 18., 24.]);
        assert_eq!(offsets(32 * K, 8192, 8), [0., 12., 24., 0., 12., 24., 0., 12.]);
        assert_eq!(offsets(32 * K, 65536, 3), [0., 0., 0.]);
    }

    #[test]
    fn holes_do_not_start_over_in_a_part_of_a_file() {
        let blocks = Blocks::new(&BlockPlan::Fixed(4 * K));
        let mut sequential = Sequential::new(32 * K, 64 * K, 4096);
        let offsets = std::iter::from_fn(|| {
            sequential.next(Direction::Read, &blocks, &mut Random::new(1, 0))
        });
        let found: Vec<u64> = offsets.take(9).map(|(offset, _)| offset / K).collect();
        assert_eq!(found, [0, 8, 16, 24]);
    }

    #[test]
    fn backward_steps_are_where_fio_has_them() {
        assert_eq!(offsets(32 * K, -8192, 9), [0., 24., 20., 16., 12., 8., 4., 0., 24.]);
        assert_eq!(offsets(32 * K, -4096, 3), [0., 0., 0.]);
        assert_eq!(offsets(32 * K, -12288, 8), [0., 20., 12., 4., 20., 12., 4., 20.]);
        assert_eq!(offsets(36 * K, -12288, 6), [0., 24., 16., 8., 0., 24.]);
        assert_eq!(offsets(32 * K, -7168, 4), [0., 25., 22., 19.]);
        assert_eq!(
            offsets(32 * K, -2048, 20),
            [0., 2., 4., 6., 8., 10., 12., 14., 16., 18., 20., 22., 24., 26., 28.]
        );
        assert_eq!(offsets(32 * K, -65536, 4), [0.]);
    }

    #[test]
    fn ranges_use_what_is_left() {
        let plan = BlockPlan::Range { min: 4 * K, max: 16 * K, step: 4 * K };
        let blocks = Blocks::new(&plan);
        let mut sequential = Sequential::new(66 * K, 66 * K, 0);
        let mut random = Random::new(1, 0);
        let mut end = 0;
        while let Some((offset, size)) = sequential.next(Direction::Write, &blocks, &mut random) {
            assert_eq!(offset, end);
            end += size;
        }
        assert_eq!(end, 64 * K);
    }

    #[test]
    fn a_restart_may_spare_directions_that_have_not_ended() {
        let blocks = PerDirection::all(Blocks::new(&BlockPlan::Fixed(4)));
        let mut random = Random::new(1, 0);
        let mut sequential = Sequential::new(8, 8, 0);
        for direction in [Direction::Read, Direction::Read, Direction::Write] {
            sequential.next(direction, &blocks.read, &mut random);
        }
        let next = |sequential: &Sequential, direction| {
            sequential.clone().next(direction, &blocks.read, &mut Random::new(1, 0))
        };
        sequential.restart(&blocks, true);
        assert_eq!(next(&sequential, Direction::Read), Some((0, 4)));
        assert_eq!(next(&sequential, Direction::Write), Some((4, 4)));
        sequential.restart(&blocks, false);
        assert_eq!(next(&sequential, Direction::Write), Some((0, 4)));
    }
}
