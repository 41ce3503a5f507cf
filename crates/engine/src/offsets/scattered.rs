//! Offsets at random: each block once a pass, or freely.
//!
//! With a run length, a new random place is taken every so many I/Os and the ones between follow in
//! sequence or repeat the place. With coverage asked for, runs are groups of neighbouring blocks and
//! their order is what is random, so every block still comes once a pass.

use super::blocks::Blocks;
use super::map::{Grain, Map};
use super::permutation::Permutation;
use super::renewed::Renewed;
use super::skewed::Skewed;
use crate::random::Random;
use plan::Placing;
use record::{Direction, PerDirection};

/// How places are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choice {
    /// Each block of this size once a pass.
    Once(u64),
    /// Each byte once a pass, sizes differ.
    Mapped(Grain),
    /// Anywhere, at multiples of these.
    Anywhere(PerDirection<u64>),
    /// The same, some places more often than others.
    Skewed(PerDirection<u64>),
    /// Blocks of this size as `sprandom` has them.
    Renewed(u64),
}

/// Which random places a job asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter {
    /// How places are chosen.
    pub choice: Choice,
    /// I/Os a place; at least 1.
    pub run_length: u64,
    /// I/Os of a run all go to the same place.
    pub identical: bool,
    /// A share of the I/O goes on in sequence.
    pub shares: bool,
}

/// Random places in one region, relative to its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Scattered {
    length: u64,
    places: Places,
    run_length: u64,
    identical: bool,
    runs: PerDirection<Run>,
    mixture: Option<Box<Mixture>>,
}

/// I/O that goes on where the last one of its direction ended, between random ones.
#[derive(Clone, Debug)]
struct Mixture {
    /// Its share, per cent.
    shares: PerDirection<u32>,
    /// Its sizes, where they are others.
    blocks: Option<Blocks>,
    ends: PerDirection<u64>,
}

impl Mixture {
    fn new(placing: &Placing) -> Mixture {
        Mixture {
            shares: placing.sequential_share.map(|_, share| u32::from(*share)),
            blocks: placing.sequential_blocks.as_ref().map(Blocks::new),
            ends: PerDirection::default(),
        }
    }

    /// The next I/O in sequence; `None` when it is the turn of a random one, or the region's end is
    /// reached. Where all is in sequence, it begins again there.
    fn next(
        &mut self,
        direction: Direction,
        blocks: &Blocks,
        length: u64,
        random: &mut Random,
        sizes: &mut Random,
    ) -> Option<(u64, u64)> {
        let share = self.shares[direction];
        if !random.percent(share) {
            return None;
        }
        let blocks = self.blocks.as_ref().unwrap_or(blocks);
        let mut start = self.ends[direction];
        if share >= 100 && length.saturating_sub(start) < blocks.min {
            start = 0;
        }
        Some((start, blocks.draw_within(length.saturating_sub(start), sizes)?))
    }
}

#[derive(Clone, Debug)]
enum Places {
    Once { permutation: Box<Permutation>, size: u64, blocks: u64 },
    Mapped(Map),
    Anywhere(PerDirection<Grid>),
    Skewed(Box<PerDirection<(Skewed, Grid)>>),
    Renewed { blocks: Box<Renewed>, size: u64 },
}

impl Places {
    fn anywhere(
        length: u64,
        blocks: &PerDirection<Blocks>,
        align: impl Fn(Direction) -> u64,
    ) -> Places {
        Places::Anywhere(PerDirection::from_fn(|d| Grid::new(length, blocks[d].min, align(d))))
    }
}

/// Places at multiples of `align` where the smallest block fits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Grid {
    pub align: u64,
    pub count: u64,
}

impl Grid {
    /// The places in a region of `length` bytes for blocks of at least `min`.
    pub fn new(length: u64, min: u64, align: u64) -> Grid {
        let align = align.max(1);
        let count = length.checked_sub(min).map_or(0, |room| room / align + 1);
        Grid { align, count }
    }
}

/// Where a run goes on: a block number for `Places::Once`, else an offset.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    left: u64,
    next: u64,
    size: u64,
}

impl Scattered {
    pub fn new(
        length: u64,
        scatter: Scatter,
        placing: &Placing,
        blocks: &PerDirection<Blocks>,
        random: &mut Random,
    ) -> Scattered {
        let run_length = scatter.run_length.max(1);
        let places = match scatter.choice {
            Choice::Once(size) => {
                let count = length / size;
                let runs = if scatter.identical { count } else { count.div_ceil(run_length) };
                let permutation = Box::new(Permutation::new(runs, random));
                Places::Once { permutation, size, blocks: count }
            }
            Choice::Mapped(grain) => Map::new(length, grain)
                .map(Places::Mapped)
                .unwrap_or_else(|| Places::anywhere(length, blocks, |_| grain.min)),
            Choice::Renewed(size) => {
                let renewal = placing.renewal.clone().unwrap_or_default();
                let blocks = Box::new(Renewed::new(&renewal, length / size, random));
                Places::Renewed { blocks, size }
            }
            Choice::Anywhere(align) => Places::anywhere(length, blocks, |d| align[d]),
            Choice::Skewed(align) => {
                // What is hot for one direction is hot for the others.
                let seed = random.bits();
                Places::Skewed(Box::new(PerDirection::from_fn(|d| {
                    let grid = Grid::new(length, blocks[d].min, align[d]);
                    let (spread, stride) = (&placing.spread[d], placing.sequence_stride);
                    let same = &mut Random::new(seed, 0);
                    (Skewed::over_blocks(spread, grid.count, grid.align, stride, same), grid)
                })))
            }
        };
        let identical = scatter.identical;
        let mixture = scatter.shares.then(|| Box::new(Mixture::new(placing)));
        Scattered { length, places, run_length, identical, runs: PerDirection::default(), mixture }
    }

    /// Begins another pass, in another order.
    pub fn restart(&mut self, random: &mut Random) {
        match &mut self.places {
            Places::Once { permutation, .. } => permutation.restart(random),
            Places::Mapped(map) => map.restart(),
            Places::Renewed { blocks, .. } => blocks.restart(random),
            Places::Anywhere(_) | Places::Skewed(_) => {}
        }
        self.runs = PerDirection::default();
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
        let Some(mixture) = &mut self.mixture else {
            return self.next_random(direction, blocks, random, sizes);
        };
        let (offset, size) = match mixture.next(direction, blocks, self.length, random, sizes) {
            Some(found) => found,
            None => self.next_random(direction, blocks, random, sizes)?,
        };
        if let Some(mixture) = &mut self.mixture {
            mixture.ends[direction] = offset + size;
        }
        Some((offset, size))
    }

    #[inline]
    fn next_random(
        &mut self,
        direction: Direction,
        blocks: &Blocks,
        random: &mut Random,
        sizes: &mut Random,
    ) -> Option<(u64, u64)> {
        if self.run_length > 1 {
            return self.next_of_run(direction, blocks, random, sizes);
        }
        match &mut self.places {
            Places::Once { permutation, size, .. } => Some((permutation.next()? * *size, *size)),
            Places::Mapped(map) => map.take(blocks.draw(sizes), blocks.max, random),
            Places::Renewed { blocks, size } => Some((blocks.next(random)? * *size, *size)),
            Places::Anywhere(grids) => {
                anywhere(self.length, grids[direction], blocks, random, sizes)
            }
            Places::Skewed(places) => {
                skewed(self.length, &mut places[direction], blocks, random, sizes)
            }
        }
    }

    fn next_of_run(
        &mut self,
        direction: Direction,
        blocks: &Blocks,
        random: &mut Random,
        sizes: &mut Random,
    ) -> Option<(u64, u64)> {
        let Scattered { length, identical, .. } = *self;
        let run = self.runs[direction];
        let follows = |offset: u64, size: u64| {
            let next = if identical { offset } else { offset + size };
            Run { left: self.run_length - 1, next, size }
        };
        match &mut self.places {
            Places::Once { .. } | Places::Renewed { .. } => self.next_block_of_run(direction),
            Places::Mapped(map) => {
                if run.left > 0 {
                    let size = if identical {
                        run.size
                    } else {
                        map.take_at(run.next, blocks.draw(sizes))
                    };
                    if size > 0 {
                        self.runs[direction].go_on(size, identical);
                        return Some((run.next, size));
                    }
                }
                let (offset, size) = map.take(blocks.draw(sizes), blocks.max, random)?;
                self.runs[direction] = follows(offset, size);
                Some((offset, size))
            }
            Places::Anywhere(_) | Places::Skewed(_) => {
                if run.left > 0
                    && let Some(size) = blocks.draw_within(length - run.next, sizes)
                {
                    self.runs[direction].go_on(size, identical);
                    return Some((run.next, size));
                }
                let (offset, size) = match &mut self.places {
                    Places::Skewed(places) => {
                        skewed(length, &mut places[direction], blocks, random, sizes)?
                    }
                    Places::Anywhere(grids) => {
                        anywhere(length, grids[direction], blocks, random, sizes)?
                    }
                    Places::Once { .. } | Places::Renewed { .. } | Places::Mapped(_) => {
                        return None;
                    }
                };
                self.runs[direction] = follows(offset, size);
                Some((offset, size))
            }
        }
    }

    fn next_block_of_run(&mut self, direction: Direction) -> Option<(u64, u64)> {
        let Places::Once { permutation, size, blocks } = &mut self.places else { return None };
        if self.runs[direction].left == 0 {
            self.runs[direction] = match permutation.next() {
                Some(place) if self.identical => {
                    Run { left: self.run_length, next: place, size: 0 }
                }
                Some(group) => {
                    let next = group * self.run_length;
                    Run { left: self.run_length.min(*blocks - next), next, size: 0 }
                }
                // At the end of a pass one direction finishes what the other began: else some
                // blocks would stay untouched.
                None => {
                    let other = Direction::ALL.into_iter().find(|d| self.runs[*d].left > 0)?;
                    std::mem::take(&mut self.runs[other])
                }
            };
        }
        let block = self.runs[direction].next;
        self.runs[direction].go_on(1, self.identical);
        Some((block * *size, *size))
    }
}

impl Run {
    fn go_on(&mut self, step: u64, identical: bool) {
        self.left -= 1;
        if !identical {
            self.next += step;
        }
    }
}

#[inline]
fn anywhere(
    length: u64,
    grid: Grid,
    blocks: &Blocks,
    random: &mut Random,
    sizes: &mut Random,
) -> Option<(u64, u64)> {
    if grid.count == 0 {
        return None;
    }
    let offset = random.below(grid.count) * grid.align;
    Some((offset, blocks.draw_within(length - offset, sizes)?))
}

fn skewed(
    length: u64,
    places: &mut (Skewed, Grid),
    blocks: &Blocks,
    random: &mut Random,
    sizes: &mut Random,
) -> Option<(u64, u64)> {
    let (skewed, grid) = places;
    if grid.count == 0 {
        return None;
    }
    let offset = skewed.draw(random) * grid.align;
    Some((offset, blocks.draw_within(length - offset, sizes)?))
}
