//! Offsets and sizes of I/O within one region.

mod blocks;
mod coverage_map;
mod ordered;
mod permutation;
mod random_offsets;
mod ranks;
mod sequential;
mod skewed;
mod sprandom;
mod strided;

use blocks::Draw;
pub(crate) use blocks::{Blocks, gcd};
pub(crate) use coverage_map::Granularity;
pub(crate) use ordered::Ordered;
pub(crate) use permutation::Permutation;
pub(crate) use random_offsets::{Grid, RandomMode, RandomOffsets, RandomOptions};
pub(crate) use ranks::Ranks;
pub(crate) use sequential::Sequential;
pub(crate) use skewed::Skewed;
pub(crate) use strided::Strided;

use crate::random::Random;
use plan::{Distribution, File, Placing, Sequencer, SequentialOrder, Worker};
use record::{Direction, PerDirection};

/// How a worker chooses offsets in each of its regions.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OffsetPattern {
    /// Ascending, with this many bytes skipped after each I/O.
    Sequential(i64),
    /// Blocks of this size, in sequence but not ascending.
    Ordered(SequentialOrder, u64),
    /// At random.
    Random(RandomOptions),
}

impl OffsetPattern {
    /// For the worker's pattern. `used` are the directions that draw offsets: with `rw=trimwrite`, a
    /// write takes the offset of its trim.
    pub fn new(
        worker: &Worker,
        used: &[Direction],
        blocks: &PerDirection<Blocks>,
    ) -> OffsetPattern {
        let pattern = &worker.pattern;
        if !pattern.rw.is_random() {
            return match pattern.order {
                SequentialOrder::Ascending => OffsetPattern::Sequential(pattern.skip),
                order => OffsetPattern::Ordered(order, blocks[used[0]].min),
            };
        }
        let align = PerDirection::from_fn(|d| match pattern.align[d] {
            0 => blocks[d].min,
            align => align,
        });
        let aligned = used.iter().any(|d| align[*d] != blocks[*d].min);
        let first = &blocks[used[0]];
        let one_size =
            used.iter().all(|d| blocks[*d].only().is_some_and(|s| Some(s) == first.only()));
        let mode = if worker.placing.renewal.is_some() {
            RandomMode::Sprandom(first.min)
        } else if worker.placing.spread.iter().any(|(_, s)| *s != Distribution::Uniform) {
            RandomMode::Skewed(align)
        } else if pattern.norandommap || aligned {
            RandomMode::Anywhere { align, short_draws: pattern.short_draws }
        } else if one_size {
            RandomMode::EachBlockOnce(first.min)
        } else {
            let values = |value: fn(&Blocks) -> u64| used.iter().map(move |d| value(&blocks[*d]));
            RandomMode::EachByteOnce(Granularity {
                unit: values(|b| b.unit).fold(0, gcd),
                min: values(|b| b.min).min().unwrap_or(1),
            })
        };
        OffsetPattern::Random(RandomOptions {
            mode,
            run_length: pattern.run_length.max(1),
            identical: pattern.sequencer == Sequencer::Identical,
            has_sequential_share: worker
                .placing
                .sequential_share
                .iter()
                .any(|(_, share)| *share > 0),
        })
    }
}

/// The offsets of I/O in one region, relative to its start.
#[derive(Clone, Debug)]
pub(crate) enum Offsets {
    Sequential(Sequential),
    Ordered(Ordered),
    Random(RandomOffsets),
    Strided(Box<Strided>),
}

impl Offsets {
    /// In the region of `file`.
    pub fn new(
        file: &File,
        pattern: OffsetPattern,
        placing: &Placing,
        blocks: &PerDirection<Blocks>,
        random: &mut Random,
    ) -> Offsets {
        if let Some(strides) = placing.strides {
            let length = file.length;
            return Offsets::Strided(Box::new(match pattern {
                // The plan refuses an order together with strides.
                OffsetPattern::Ordered(..) => Strided::sequential(length, strides, 0),
                OffsetPattern::Sequential(skip) => Strided::sequential(length, strides, skip),
                OffsetPattern::Random(options) => {
                    Strided::random(length, strides, options, placing, blocks, random)
                }
            }));
        }
        match pattern {
            OffsetPattern::Sequential(skip) => {
                Offsets::Sequential(Sequential::new(file.length, file.whole, skip))
            }
            OffsetPattern::Ordered(order, size) => {
                Offsets::Ordered(Ordered::new(file.length, order, size))
            }
            OffsetPattern::Random(options) => {
                Offsets::Random(RandomOffsets::new(file.length, options, placing, blocks, random))
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
        sizes: &mut Random,
    ) -> Option<(u64, u64)> {
        match self {
            Offsets::Sequential(sequential) => sequential.next(direction, blocks, sizes),
            Offsets::Ordered(ordered) => ordered.next(),
            Offsets::Random(offsets) => {
                offsets.next(&mut Draw { direction, blocks, random, sizes })
            }
            Offsets::Strided(strided) => {
                strided.next(&mut Draw { direction, blocks, random, sizes })
            }
        }
    }

    /// Whether each byte is covered once in a pass, by I/Os of different sizes.
    pub fn covers_bytes(&self) -> bool {
        matches!(self, Offsets::Random(offsets) if offsets.covers_bytes())
    }

    /// The last I/O is issued without its last `bytes`, which begin at `offset`: the pass still has to
    /// issue them.
    pub fn give_back(&mut self, direction: Direction, offset: u64, bytes: u64) {
        match self {
            Offsets::Sequential(sequential) => sequential.give_back(direction, bytes),
            Offsets::Random(offsets) => offsets.give_back(offset, bytes),
            Offsets::Ordered(_) | Offsets::Strided(_) => {}
        }
    }

    /// Begins another pass. With `only_ended`, directions of a sequential mix that have not reached the
    /// region's end continue.
    pub fn restart(
        &mut self,
        blocks: &PerDirection<Blocks>,
        only_ended: bool,
        random: &mut Random,
    ) {
        match self {
            Offsets::Sequential(sequential) => sequential.restart(blocks, only_ended),
            Offsets::Ordered(ordered) => ordered.restart(),
            Offsets::Random(offsets) => offsets.restart(random),
            Offsets::Strided(strided) => strided.restart(random),
        }
    }
}
