//! Blocks in descending or interleaved order.
//!
//! # Rules
//! A pass has one I/O per whole block of the region, N in all. Descending, these are N - 1 to 0.
//! Interleaved by S, the block after p is p + S while p + S is below N - 2; then the next round begins one
//! block after the start of the last round. So the last blocks may be omitted, and the first ones
//! repeated, until N I/Os are done. In a region of at most S blocks every I/O is on the first one.
//! IOzone 3.489 was observed to do the same.

use plan::SequentialOrder;

/// Positions in one region, relative to its start.
#[derive(Clone, Debug)]
pub(crate) struct Ordered {
    order: SequentialOrder,
    size: u64,
    count: u64,
    done: u64,
    /// Block of the last I/O.
    block: u64,
    /// First block of the round.
    round_start: u64,
}

impl Ordered {
    /// Blocks of `size` bytes in a region of `length`.
    pub fn new(length: u64, order: SequentialOrder, size: u64) -> Ordered {
        let size = size.max(1);
        Ordered { order, size, count: length / size, done: 0, block: 0, round_start: 0 }
    }

    /// Begins another pass.
    pub fn restart(&mut self) {
        (self.done, self.block, self.round_start) = (0, 0, 0);
    }

    /// The next offset and length; `None` at the end of the pass.
    #[inline]
    pub fn next(&mut self) -> Option<(u64, u64)> {
        if self.done == self.count {
            return None;
        }
        let block = match self.order {
            SequentialOrder::Ascending => self.done,
            SequentialOrder::Descending => self.count - 1 - self.done,
            SequentialOrder::Interleaved(stride) => self.interleaved(stride),
        };
        self.done += 1;
        Some((block * self.size, self.size))
    }

    fn interleaved(&mut self, stride: u64) -> u64 {
        if self.done == 0 || stride >= self.count {
            return 0;
        }
        // Both are below the number of blocks, so the sum does not overflow.
        if self.block + stride + 2 < self.count {
            self.block += stride;
        } else {
            self.round_start += 1;
            self.block = self.round_start;
        }
        self.block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(count: u64, order: SequentialOrder) -> Vec<u64> {
        let mut ordered = Ordered::new(count * 4096 + 100, order, 4096);
        let mut all: Vec<u64> = Vec::new();
        while let Some((offset, size)) = ordered.next() {
            assert_eq!((offset % 4096, size), (0, 4096));
            all.push(offset / 4096);
        }
        ordered.restart();
        assert_eq!(ordered.next().map(|(offset, _)| offset / 4096), all.first().copied());
        all
    }

    #[test]
    fn descending_is_from_the_last_block_to_the_first() {
        assert_eq!(blocks(4, SequentialOrder::Descending), [3, 2, 1, 0]);
        assert_eq!(blocks(1, SequentialOrder::Descending), [0]);
        assert_eq!(blocks(0, SequentialOrder::Descending), [0; 0]);
        assert_eq!(blocks(3, SequentialOrder::Ascending), [0, 1, 2]);
    }

    /// IOzone 3.489 was observed to read each of these (`iozone -i 0 -i 5 -j S -r 4 -s 4*N`).
    #[test]
    fn interleaved_is_as_iozone_reads_in_strides() {
        let read = |count, stride| blocks(count, SequentialOrder::Interleaved(stride));
        assert_eq!(read(4, 2), [0, 1, 2, 3]);
        assert_eq!(read(8, 2), [0, 2, 4, 1, 3, 5, 2, 4]);
        assert_eq!(read(8, 3), [0, 3, 1, 4, 2, 5, 3, 4]);
        assert_eq!(read(9, 1), [0, 1, 2, 3, 4, 5, 6, 1, 2]);
        assert_eq!(read(12, 4), [0, 4, 8, 1, 5, 9, 2, 6, 3, 7, 4, 8]);
        assert_eq!(read(13, 6), [0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 6, 7]);
        assert_eq!(read(6, 5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(read(8, 5), [0, 5, 1, 2, 3, 4, 5, 6]);
        assert_eq!(read(16, 17), [0; 16]);
        assert_eq!(read(17, 17), [0; 17]);
        assert_eq!(read(18, 17), std::array::from_fn::<u64, 18, _>(|block| block as u64));
        assert_eq!(read(64, 17)[..10], [0, 17, 34, 51, 1, 18, 35, 52, 2, 19]);
        assert_eq!(read(64, 17)[40..50], [10, 27, 44, 61, 11, 28, 45, 12, 29, 46]);
        assert_eq!(
            read(40, 17)[20..35],
            [8, 25, 9, 26, 10, 27, 11, 28, 12, 29, 13, 30, 14, 31, 15]
        );
        assert_eq!(read(u64::from(u16::MAX), u64::MAX), [0; u16::MAX as usize]);
    }
}
