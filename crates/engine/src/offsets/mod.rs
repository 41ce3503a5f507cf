//! Where I/O goes: offsets and sizes within one region.

mod blocks;
mod map;
mod ordered;
mod permutation;
mod ranks;
mod renewed;
mod scattered;
mod sequential;
mod skewed;
mod strided;

pub(crate) use blocks::{Blocks, common};
pub(crate) use map::Grain;
pub(crate) use ordered::Ordered;
pub(crate) use permutation::Permutation;
pub(crate) use scattered::{Choice, Grid, Scatter, Scattered};
pub(crate) use sequential::Sequential;
pub(crate) use skewed::Skewed;
pub(crate) use strided::Strided;

use crate::random::Random;
use plan::{Distribution, File, Placing, Sequencer, SequentialOrder, Worker};
use record::{Direction, PerDirection};

/// What a worker does in each of its regions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Layout {
    /// In sequence, with this many bytes skipped after each I/O.
    Sequential(i64),
    /// Blocks of this size in another order than ascending.
    Ordered(SequentialOrder, u64),
    /// At random.
    Scattered(Scatter),
}

impl Layout {
    /// What the pattern asks for. `used` are the directions that draw offsets: a write that follows
    /// its trim takes the trim's.
    pub fn new(worker: &Worker, used: &[Direction], blocks: &PerDirection<Blocks>) -> Layout {
        let pattern = &worker.pattern;
        if !pattern.rw.is_random() {
            return match pattern.order {
                SequentialOrder::Ascending => Layout::Sequential(pattern.skip),
                order => Layout::Ordered(order, blocks[used[0]].min),
            };
        }
        let align = PerDirection::from_fn(|d| match pattern.align[d] {
            0 => blocks[d].min,
            align => align,
        });
        let aligned = used.iter().any(|d| align[*d] != blocks[*d].min);
        let first = &blocks[used[0]];
        let alike = used.iter().all(|d| blocks[*d].only().is_some_and(|s| Some(s) == first.only()));
        let choice = if worker.placing.renewal.is_some() {
            Choice::Renewed(first.min)
        } else if worker.placing.spread.iter().any(|(_, s)| *s != Distribution::Uniform) {
            Choice::Skewed(align)
        } else if pattern.norandommap || aligned {
            Choice::Anywhere(align)
        } else if alike {
            Choice::Once(first.min)
        } else {
            let of_used = |value: fn(&Blocks) -> u64| used.iter().map(move |d| value(&blocks[*d]));
            Choice::Mapped(Grain {
                unit: of_used(|b| b.unit).fold(0, common),
                min: of_used(|b| b.min).min().unwrap_or(1),
            })
        };
        Layout::Scattered(Scatter {
            choice,
            run_length: pattern.run_length.max(1),
            identical: pattern.sequencer == Sequencer::Identical,
            shares: worker.placing.sequential_share.iter().any(|(_, share)| *share > 0),
        })
    }
}

/// Offsets in one region, relative to its beginning.
#[derive(Clone, Debug)]
pub(crate) enum Offsets {
    Sequential(Sequential),
    Ordered(Ordered),
    Scattered(Scattered),
    Strided(Box<Strided>),
}

impl Offsets {
    /// In the region of `file`.
    pub fn new(
        file: &File,
        layout: Layout,
        placing: &Placing,
        blocks: &PerDirection<Blocks>,
        random: &mut Random,
    ) -> Offsets {
        if let Some(strides) = placing.strides {
            let length = file.length;
            return Offsets::Strided(Box::new(match layout {
                // The plan refuses an order among strides.
                Layout::Ordered(..) => Strided::sequential(length, strides, 0),
                Layout::Sequential(skip) => Strided::sequential(length, strides, skip),
                Layout::Scattered(scatter) => {
                    Strided::random(length, strides, scatter, placing, blocks, random)
                }
            }));
        }
        match layout {
            Layout::Sequential(skip) => {
                Offsets::Sequential(Sequential::new(file.length, file.whole, skip))
            }
            Layout::Ordered(order, size) => {
                Offsets::Ordered(Ordered::new(file.length, order, size))
            }
            Layout::Scattered(scatter) => {
                Offsets::Scattered(Scattered::new(file.length, scatter, placing, blocks, random))
            }
        }
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
        match self {
            Offsets::Sequential(sequential) => sequential.next(direction, blocks, sizes),
            Offsets::Ordered(ordered) => ordered.next(),
            Offsets::Scattered(scattered) => scattered.next(direction, blocks, random, sizes),
            Offsets::Strided(strided) => strided.next(direction, blocks, random, sizes),
        }
    }

    /// Begins another pass. With `only_ended`, directions of a sequential mix that have not come to
    /// the region's end go on where they are.
    pub fn restart(
        &mut self,
        blocks: &PerDirection<Blocks>,
        only_ended: bool,
        random: &mut Random,
    ) {
        match self {
            Offsets::Sequential(sequential) => sequential.restart(blocks, only_ended),
            Offsets::Ordered(ordered) => ordered.restart(),
            Offsets::Scattered(scattered) => scattered.restart(random),
            Offsets::Strided(strided) => strided.restart(random),
        }
    }
}
