//! The fast way: one file, one block size, nothing between I/Os. A grant of so many I/Os is given
//! beforehand, so none of them has to look at amounts, loops or files.

use crate::offsets::{Blocks, Choice, Grid, Layout, Permutation};
use crate::ops::{Op, OpKind};
use crate::random::Random;
use record::{Direction, PerDirection};

/// A simple workload's offsets.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    left: u64,
    granted: u64,
    size: u64,
    base: u64,
    kind: OpKind,
    /// Share of reads in a mix, per cent; 100 and more: no mix, only `kind`.
    reads: u32,
    path: Path,
}

#[derive(Clone, Debug)]
enum Path {
    Sequential { block: u64, blocks: u64, next: u64 },
    Once(Box<Permutation>),
    Anywhere(Grid),
}

impl Lane {
    /// The lane for one region beginning at `base`, if the workload is simple enough.
    pub fn new(
        base: u64,
        length: u64,
        directions: &[Direction],
        reads: u32,
        blocks: &PerDirection<Blocks>,
        layout: Layout,
        random: &mut Random,
    ) -> Option<Lane> {
        let first = *directions.first()?;
        let size = blocks[first].only()?;
        let mixed = directions.len() > 1;
        let path = match layout {
            Layout::Sequential(0) if !mixed => {
                Path::Sequential { block: 0, blocks: length / size, next: base }
            }
            Layout::Scattered(scatter) if scatter.run_length == 1 && !scatter.shares => {
                match scatter.choice {
                    Choice::Once(size) => {
                        Path::Once(Box::new(Permutation::new(length / size, random)))
                    }
                    Choice::Anywhere(align) => {
                        let alike = directions
                            .iter()
                            .all(|d| blocks[*d].only() == Some(size) && align[*d] == align[first]);
                        if !alike {
                            return None;
                        }
                        Path::Anywhere(Grid::new(length, size, align[first]))
                    }
                    Choice::Mapped(_) | Choice::Skewed(_) | Choice::Renewed(_) => return None,
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
        Some(Lane { left: 0, granted: 0, size, base, kind, reads, path })
    }

    /// The next I/O; `None` when the grant or the pass is used up.
    pub fn next(&mut self, random: &mut Random, mix: &mut Random) -> Option<Op> {
        if let Path::Once(permutation) = &mut self.path {
            permutation.make_ready();
        }
        self.at_hand(random, mix)
    }

    /// The next I/O; `None` as well when the next places are yet to be made.
    #[inline(always)]
    pub fn at_hand(&mut self, random: &mut Random, mix: &mut Random) -> Option<Op> {
        if self.left == 0 {
            return None;
        }
        let offset = match &mut self.path {
            Path::Sequential { next, .. } => {
                let offset = *next;
                *next += self.size;
                offset
            }
            Path::Once(permutation) => self.base + permutation.at_hand()? * self.size,
            Path::Anywhere(grid) => self.base + random.below(grid.count) * grid.align,
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

    /// Ends a grant: how many I/Os and bytes of it were used.
    pub fn settle(&mut self) -> (u64, u64) {
        let used = self.granted - self.left;
        if let Path::Sequential { block, .. } = &mut self.path {
            *block += used;
        }
        (self.left, self.granted) = (0, 0);
        (used, used * self.size)
    }

    /// Allows up to `most` more I/Os; false when the pass is over.
    pub fn grant(&mut self, most: u64) -> bool {
        let left = match &self.path {
            Path::Sequential { block, blocks, .. } => blocks - block,
            Path::Once(permutation) => permutation.left(),
            Path::Anywhere(grid) if grid.count == 0 => 0,
            Path::Anywhere(_) => u64::MAX,
        };
        self.left = left.min(most);
        self.granted = self.left;
        left > 0
    }

    /// Ends a sequential pass where it is; only after [`Lane::settle`].
    pub fn end_pass(&mut self) {
        if let Path::Sequential { block, blocks, .. } = &mut self.path {
            *block = *blocks;
        }
    }

    /// Size of every I/O.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Begins another pass.
    pub fn restart(&mut self, random: &mut Random) {
        match &mut self.path {
            Path::Sequential { block, next, .. } => (*block, *next) = (0, self.base),
            Path::Once(permutation) => permutation.restart(random),
            Path::Anywhere(_) => {}
        }
    }
}
