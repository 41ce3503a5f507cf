//! The fast path: one file, one block size, nothing between I/Os. I/Os are granted in advance, so that
//! none of them checks amounts, loops or files.

use crate::hot::op::{Op, OpKind};
use crate::offsets::{Blocks, Grid, OffsetPattern, Permutation, RandomMode};
use crate::random::Random;
use record::{Direction, PerDirection};

/// The offsets of a simple workload.
#[derive(Clone, Debug)]
pub(crate) struct FastPath {
    left: u64,
    granted: u64,
    size: u64,
    base: u64,
    kind: OpKind,
    /// Percentage of reads in a mix; `u32::MAX`: only `kind`.
    reads: u32,
    offsets: FastOffsets,
}

#[derive(Clone, Debug)]
enum FastOffsets {
    Sequential { block: u64, blocks: u64, next: u64 },
    Once(Box<Permutation>),
    Anywhere(Grid),
}

impl FastPath {
    /// For one region that starts at `base`; `None` if the workload is not simple enough.
    pub fn new(
        base: u64,
        length: u64,
        directions: &[Direction],
        reads: u32,
        blocks: &PerDirection<Blocks>,
        pattern: OffsetPattern,
        random: &mut Random,
    ) -> Option<FastPath> {
        let first = *directions.first()?;
        let size = blocks[first].only()?;
        let mixed = directions.len() > 1;
        let offsets = match pattern {
            OffsetPattern::Sequential(0) if !mixed => {
                FastOffsets::Sequential { block: 0, blocks: length / size, next: base }
            }
            OffsetPattern::Random(options)
                if options.run_length == 1 && !options.has_sequential_share =>
            {
                match options.mode {
                    RandomMode::EachBlockOnce(size) => {
                        FastOffsets::Once(Box::new(Permutation::new(length / size, random)))
                    }
                    RandomMode::Anywhere { align, short_draws } => {
                        let alike = directions
                            .iter()
                            .all(|d| blocks[*d].only() == Some(size) && align[*d] == align[first]);
                        let grid = Grid { short_draws, ..Grid::new(length, size, align[first]) };
                        if !alike || grid.is_coarse() {
                            return None;
                        }
                        FastOffsets::Anywhere(grid)
                    }
                    RandomMode::EachByteOnce(_)
                    | RandomMode::Skewed(_)
                    | RandomMode::Sprandom(_) => return None,
                }
            }
            _ => return None,
        };
        let kind = match first {
            Direction::Read => OpKind::Read,
            Direction::Write => OpKind::Write,
            Direction::Trim => OpKind::Trim,
        };
        let reads = if mixed { reads.min(100) } else { u32::MAX };
        Some(FastPath { left: 0, granted: 0, size, base, kind, reads, offsets })
    }

    /// The next I/O; `None` when the grant or the pass is used up.
    pub fn next(&mut self, random: &mut Random, mix: &mut Random) -> Option<Op> {
        if let FastOffsets::Once(permutation) = &mut self.offsets {
            permutation.make_ready();
        }
        self.next_ready(random, mix)
    }

    /// The next I/O; `None` also if the next offsets have to be computed first.
    #[inline(always)]
    pub fn next_ready(&mut self, random: &mut Random, mix: &mut Random) -> Option<Op> {
        if self.left == 0 {
            return None;
        }
        let offset = match &mut self.offsets {
            FastOffsets::Sequential { next, .. } => {
                let offset = *next;
                *next += self.size;
                offset
            }
            FastOffsets::Once(permutation) => self.base + permutation.at_hand()? * self.size,
            FastOffsets::Anywhere(grid) => self.base + random.below(grid.count) * grid.align,
        };
        self.left -= 1;
        let kind = if self.reads == u32::MAX {
            self.kind
        } else if mix.percent(self.reads) {
            OpKind::Read
        } else {
            OpKind::Write
        };
        Some(Op { kind, file: 0, offset, length: self.size, tag: 0 })
    }

    /// Ends the grant. Returns the I/Os and bytes that were used.
    pub fn settle(&mut self) -> (u64, u64) {
        let used = self.granted - self.left;
        if let FastOffsets::Sequential { block, .. } = &mut self.offsets {
            *block += used;
        }
        (self.left, self.granted) = (0, 0);
        (used, used * self.size)
    }

    /// Grants up to `most` more I/Os. Returns false at the end of the pass.
    pub fn grant(&mut self, most: u64) -> bool {
        let left = match &self.offsets {
            FastOffsets::Sequential { block, blocks, .. } => blocks - block,
            FastOffsets::Once(permutation) => permutation.left(),
            FastOffsets::Anywhere(grid) if grid.count == 0 => 0,
            FastOffsets::Anywhere(_) => u64::MAX,
        };
        self.left = left.min(most);
        self.granted = self.left;
        left > 0
    }

    /// Ends a sequential pass early; only after [`FastOffsets::settle`].
    pub fn end_pass(&mut self) {
        if let FastOffsets::Sequential { block, blocks, .. } = &mut self.offsets {
            *block = *blocks;
        }
    }

    /// Size of every I/O.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Starts another pass.
    pub fn restart(&mut self, random: &mut Random) {
        match &mut self.offsets {
            FastOffsets::Sequential { block, next, .. } => (*block, *next) = (0, self.base),
            FastOffsets::Once(permutation) => permutation.restart(random),
            FastOffsets::Anywhere(_) => {}
        }
    }
}
