//! Random offsets: each block once per pass, or independent draws.
//!
//! With a run length above 1, each random offset starts a run: the following I/Os continue in sequence
//! or repeat the offset. If each block comes once, runs are groups of neighbouring blocks in random
//! order, so every block still comes once per pass.

use super::blocks::{Blocks, Draw};
use super::coverage_map::{CoverageMap, Granularity};
use super::permutation::Permutation;
use super::skewed::Skewed;
use super::sprandom::SprandomOrder;
use crate::random::Random;
use plan::Placing;
use record::{Direction, PerDirection};

/// How random offsets are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RandomMode {
    /// Each block of this size once per pass.
    EachBlockOnce(u64),
    /// Each byte once per pass, with different sizes.
    EachByteOnce(Granularity),
    /// Independent and uniform.
    Anywhere {
        /// Offsets are multiples of these.
        align: PerDirection<u64>,
        /// Draws have 32 bits, however many blocks there are.
        short_draws: bool,
    },
    /// Independent and non-uniform, at multiples of these.
    Skewed(PerDirection<u64>),
    /// Blocks of this size in the order of `sprandom`.
    Sprandom(u64),
}

/// The random offsets that a job asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomOptions {
    /// How random offsets are chosen.
    pub mode: RandomMode,
    /// I/Os per run, at least 1.
    pub run_length: u64,
    /// All I/Os of a run have the same offset.
    pub identical: bool,
    /// A share of the I/O is sequential.
    pub has_sequential_share: bool,
}

/// Random offsets in one region, relative to its start.
#[derive(Clone, Debug)]
pub(crate) struct RandomOffsets {
    length: u64,
    places: Places,
    run_length: u64,
    identical: bool,
    runs: PerDirection<Run>,
    sequential_share: Option<Box<SequentialShare>>,
}

/// Sequential I/O between random I/O: it continues where the last I/O of its direction ended.
#[derive(Clone, Debug)]
struct SequentialShare {
    /// Its share, in per cent.
    shares: PerDirection<u32>,
    /// Its sizes, if they differ.
    blocks: Option<Blocks>,
    ends: PerDirection<u64>,
}

impl SequentialShare {
    fn new(placing: &Placing) -> SequentialShare {
        SequentialShare {
            shares: placing.sequential_share.map(|_, share| u32::from(*share)),
            blocks: placing.sequential_blocks.as_ref().map(Blocks::new),
            ends: PerDirection::default(),
        }
    }

    /// The next sequential I/O; `None` if a random one is next or the region's end is reached. If all
    /// I/O is sequential, it starts over at the region's end.
    fn next(&mut self, length: u64, draw: &mut Draw<'_>) -> Option<(u64, u64)> {
        let share = self.shares[draw.direction];
        if !draw.random.percent(share) {
            return None;
        }
        let blocks = self.blocks.as_ref().unwrap_or(draw.blocks);
        let mut start = self.ends[draw.direction];
        if share >= 100 && length.saturating_sub(start) < blocks.min {
            start = 0;
        }
        Some((start, blocks.draw_within(length.saturating_sub(start), draw.sizes)?))
    }
}

#[derive(Clone, Debug)]
enum Places {
    EachBlockOnce {
        permutation: Box<Permutation>,
        size: u64,
        blocks: u64,
    },
    EachByteOnce(CoverageMap),
    /// Independent draws, uniform without a distribution.
    Independent(PerDirection<(Option<Box<Skewed>>, Grid)>),
    Sprandom {
        blocks: Box<SprandomOrder>,
        size: u64,
    },
}

impl Places {
    fn uniform(
        length: u64,
        blocks: &PerDirection<Blocks>,
        align: impl Fn(Direction) -> u64,
        short_draws: bool,
    ) -> Places {
        let grid = |d| Grid { short_draws, ..Grid::new(length, blocks[d].min, align(d)) };
        Places::Independent(PerDirection::from_fn(|d| (None, grid(d))))
    }
}

/// The multiples of `align` at which the smallest block fits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grid {
    pub align: u64,
    pub count: u64,
    pub short_draws: bool,
}

impl Grid {
    /// For a region of `length` bytes and blocks of at least `min` bytes.
    pub fn new(length: u64, min: u64, align: u64) -> Grid {
        let align = align.max(1);
        let count = length.checked_sub(min).map_or(0, |room| room / align + 1);
        Grid { align, count, short_draws: false }
    }

    /// Whether draws of 32 bits leave blocks out.
    pub fn is_coarse(&self) -> bool {
        self.short_draws && self.count > 1 << 32
    }

    /// A block number.
    fn draw(&self, random: &mut Random) -> u64 {
        match self.is_coarse() {
            true => ((u128::from(random.bits() >> 32) * u128::from(self.count)) >> 32) as u64,
            false => random.below(self.count),
        }
    }
}

/// The next I/O of a run: `next` is a block number for `Places::EachBlockOnce`, otherwise an offset.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    left: u64,
    next: u64,
    size: u64,
}

impl RandomOffsets {
    pub fn new(
        length: u64,
        options: RandomOptions,
        placing: &Placing,
        blocks: &PerDirection<Blocks>,
        random: &mut Random,
    ) -> RandomOffsets {
        let run_length = options.run_length.max(1);
        let places = match options.mode {
            RandomMode::EachBlockOnce(size) => {
                let count = length / size;
                let runs = if options.identical { count } else { count.div_ceil(run_length) };
                let permutation = Box::new(Permutation::new(runs, random));
                Places::EachBlockOnce { permutation, size, blocks: count }
            }
            RandomMode::EachByteOnce(grain) => CoverageMap::new(length, grain)
                .map(Places::EachByteOnce)
                .unwrap_or_else(|| Places::uniform(length, blocks, |_| grain.min, false)),
            RandomMode::Sprandom(size) => {
                let renewal = placing.renewal.clone().unwrap_or_default();
                let blocks = Box::new(SprandomOrder::new(&renewal, length / size, random));
                Places::Sprandom { blocks, size }
            }
            RandomMode::Anywhere { align, short_draws } => {
                Places::uniform(length, blocks, |d| align[d], short_draws)
            }
            RandomMode::Skewed(align) => {
                // All directions share their hot blocks.
                let seed = random.bits();
                Places::Independent(PerDirection::from_fn(|d| {
                    let grid = Grid::new(length, blocks[d].min, align[d]);
                    let (spread, stride) = (&placing.spread[d], placing.sequence_stride);
                    let same = &mut Random::new(seed, 0);
                    let skewed = Skewed::over_blocks(spread, grid.count, grid.align, stride, same);
                    (Some(Box::new(skewed)), grid)
                }))
            }
        };
        let identical = options.identical;
        let sequential_share =
            options.has_sequential_share.then(|| Box::new(SequentialShare::new(placing)));
        RandomOffsets {
            length,
            places,
            run_length,
            identical,
            runs: PerDirection::default(),
            sequential_share,
        }
    }

    /// Begins another pass, in another order.
    pub fn restart(&mut self, random: &mut Random) {
        match &mut self.places {
            Places::EachBlockOnce { permutation, .. } => permutation.restart(random),
            Places::EachByteOnce(map) => map.restart(),
            Places::Sprandom { blocks, .. } => blocks.restart(random),
            Places::Independent(_) => {}
        }
        self.runs = PerDirection::default();
    }

    /// Whether each byte is covered once in a pass, by I/Os of different sizes.
    pub fn covers_bytes(&self) -> bool {
        matches!(self.places, Places::EachByteOnce(_))
    }

    /// The bytes from `offset` on were part of the last I/O and are not issued.
    pub fn give_back(&mut self, offset: u64, bytes: u64) {
        if let Places::EachByteOnce(map) = &mut self.places {
            map.give_back(offset, bytes);
        }
    }

    /// The next offset and length; `None` at the end of the pass.
    #[inline]
    pub fn next(&mut self, draw: &mut Draw<'_>) -> Option<(u64, u64)> {
        let Some(sequential) = &mut self.sequential_share else { return self.next_random(draw) };
        let (offset, size) = match sequential.next(self.length, draw) {
            Some(found) => found,
            None => self.next_random(draw)?,
        };
        if let Some(sequential) = &mut self.sequential_share {
            sequential.ends[draw.direction] = offset + size;
        }
        Some((offset, size))
    }

    #[inline]
    fn next_random(&mut self, draw: &mut Draw<'_>) -> Option<(u64, u64)> {
        if self.run_length > 1 {
            return self.next_of_run(draw);
        }
        match &mut self.places {
            Places::EachBlockOnce { permutation, size, .. } => {
                Some((permutation.next()? * *size, *size))
            }
            Places::EachByteOnce(map) => {
                map.take(draw.blocks.draw(draw.sizes), draw.blocks.max, draw.random)
            }
            Places::Sprandom { blocks, size } => Some((blocks.next(draw.random)? * *size, *size)),
            Places::Independent(places) => independent(self.length, places, draw),
        }
    }

    fn next_of_run(&mut self, draw: &mut Draw<'_>) -> Option<(u64, u64)> {
        let RandomOffsets { length, identical, .. } = *self;
        let run = &mut self.runs[draw.direction];
        let (offset, size) = match &mut self.places {
            Places::EachBlockOnce { .. } | Places::Sprandom { .. } => {
                return self.next_block_of_run(draw.direction);
            }
            Places::EachByteOnce(map) => {
                if run.left > 0 {
                    let size = if identical {
                        run.size
                    } else {
                        map.take_at(run.next, draw.blocks.draw(draw.sizes))
                    };
                    if size > 0 {
                        return Some((run.advance(size, identical), size));
                    }
                }
                map.take(draw.blocks.draw(draw.sizes), draw.blocks.max, draw.random)?
            }
            Places::Independent(places) => {
                if run.left > 0
                    && let Some(size) = draw.blocks.draw_within(length - run.next, draw.sizes)
                {
                    return Some((run.advance(size, identical), size));
                }
                independent(length, places, draw)?
            }
        };
        let next = if identical { offset } else { offset + size };
        *run = Run { left: self.run_length - 1, next, size };
        Some((offset, size))
    }

    fn next_block_of_run(&mut self, direction: Direction) -> Option<(u64, u64)> {
        let Places::EachBlockOnce { permutation, size, blocks } = &mut self.places else {
            return None;
        };
        if self.runs[direction].left == 0 {
            self.runs[direction] = match permutation.next() {
                Some(place) if self.identical => {
                    Run { left: self.run_length, next: place, size: 0 }
                }
                Some(group) => {
                    let next = group * self.run_length;
                    Run { left: self.run_length.min(*blocks - next), next, size: 0 }
                }
                // At the end of a pass one direction finishes the run of another. Otherwise some
                // blocks would be left out.
                None => {
                    let other = Direction::ALL.into_iter().find(|d| self.runs[*d].left > 0)?;
                    std::mem::take(&mut self.runs[other])
                }
            };
        }
        let block = self.runs[direction].advance(1, self.identical);
        Some((block * *size, *size))
    }
}

impl Run {
    /// Counts an I/O of the run and returns its place.
    fn advance(&mut self, step: u64, identical: bool) -> u64 {
        let place = self.next;
        self.left -= 1;
        if !identical {
            self.next += step;
        }
        place
    }
}

#[inline]
fn independent(
    length: u64,
    places: &mut PerDirection<(Option<Box<Skewed>>, Grid)>,
    draw: &mut Draw<'_>,
) -> Option<(u64, u64)> {
    let (skewed, grid) = &mut places[draw.direction];
    if grid.count == 0 {
        return None;
    }
    let place = match skewed {
        Some(skewed) => skewed.draw(draw.random),
        None => grid.draw(draw.random),
    };
    let offset = place * grid.align;
    Some((offset, draw.blocks.draw_within(length - offset, draw.sizes)?))
}
