//! A worker's I/O, one after the other: directions, files, offsets, sizes, synchronisations, loops.
//!
//! # Rules
//! - A pass touches every block of every file's region once (random) or goes through it once
//!   (sequential). A file is done when the direction drawn finds nothing left in it; a loop is done
//!   when all files are. Every pass has another random order.
//! - Before another loop everything drains and [`Next::LoopEnd`] is given. Time based work starts
//!   over without that, unless files are to be invalidated or unlinked, and directions of a
//!   sequential mix that have not come to the end go on where they are.
//! - With `open_files` below the number of files, the first `open_files` are taken to be open at the
//!   beginning; after a `LoopEnd` all are closed and the first ones are asked for again. Without a
//!   limit all are open all the time.
//! - In a mix with rates the gate says which way the next I/O goes, so that both directions keep
//!   theirs; the shares of the mix decide only while both are due.
//! - I/O that failed counts as issued, so that work always ends.

mod files;
mod lane;
mod pairs;
mod progress;
mod syncs;

use crate::offsets::{Blocks, Layout, Offsets};
use crate::ops::{Next, Op, OpKind, Source};
use crate::pacing::is_steered;
use crate::random::Random;
use files::Turns;
use lane::Lane;
use pairs::Pairs;
use plan::{Engine, ReadWrite, Worker};
use progress::Progress;
use record::{Direction, PerDirection};
use syncs::{Every, Syncs};

/// A worker's I/O as its plan has it. Two of one plan give the same.
#[derive(Clone, Debug)]
pub struct Workload {
    lane: Option<Lane>,
    places: Random,
    mix: Random,
    sizes: Random,
    turn_order: Random,
    progress: Progress,
    between: Between,
    blocks: PerDirection<Blocks>,
    directions: Directions,
    turns: Turns,
    regions: Vec<Region>,
    syncs: Syncs,
    barrier: Barrier,
    /// Direction drawn for the next I/O, which waits for something to be done first.
    held: Option<Direction>,
    pairs: Option<Pairs>,
    signals_loops: bool,
    spares_unended: bool,
    /// The way the next I/O has to go.
    steered: Option<Direction>,
}

/// A file's region and where in it the next I/O goes.
#[derive(Clone, Debug)]
struct Region {
    start: u64,
    offsets: Offsets,
}

/// How directions are drawn.
#[derive(Clone, Copy, Debug)]
enum Directions {
    Only(Direction),
    /// Share of reads, per cent.
    Mix(u32),
}

/// What is to be done between two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Between {
    Nothing,
    Drain,
    LoopEnd,
}

/// Where an I/O goes.
enum Placed {
    Io(Op),
    /// Nowhere before this is done: a file is to be closed or opened.
    After(Next),
    /// All files are done.
    Nowhere,
}

/// Writes that nothing may overtake.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    every: Every,
    /// Nothing may follow before the barrier write has ended.
    after: bool,
}

impl Workload {
    /// Prepares a worker's I/O. Memory: some hundred bytes a file; for random I/O of several sizes
    /// with coverage one bit for each smallest block as well.
    pub fn new(worker: &Worker) -> Workload {
        let pattern = &worker.pattern;
        let blocks = pattern.blocks.map(|_, plan| Blocks::new(plan));
        let (directions, used) = directions(worker);
        let layout = Layout::new(worker, used, &blocks);
        let mut places = Random::new(pattern.seed, 0);
        let trims_then_writes = pattern.rw.writes() && pattern.rw.trims();
        let syncs = Syncs::new(worker);
        let barrier = if worker.queue.depth > 1 { worker.syncing.write_barrier } else { 0 };
        let steered = is_steered(worker);
        let plain = !trims_then_writes && worker.placing.strides.is_none();
        let lane = match worker.files.as_slice() {
            [file] if plain && !steered && !syncs.active() && barrier == 0 => {
                let (start, length, reads) = (file.start, file.length, pattern.mix_read.into());
                Lane::new(start, length, used, reads, &blocks, layout, &mut places)
            }
            _ => None,
        };
        // The lane has offsets of its own.
        let files = if lane.is_some() { &[] } else { worker.files.as_slice() };
        let regions = files
            .iter()
            .map(|file| Region {
                start: file.start,
                offsets: Offsets::new(file, layout, &worker.placing, &blocks, &mut places),
            })
            .collect();
        let mut turn_order = Random::new(pattern.seed, 3);
        Workload {
            lane,
            places,
            mix: Random::new(pattern.seed, 1),
            sizes: Random::new(pattern.seed, 2),
            progress: Progress::new(worker),
            between: Between::Nothing,
            directions,
            turns: Turns::new(&worker.selection, worker.files.len() as u32, &mut turn_order),
            turn_order,
            regions,
            syncs,
            barrier: Barrier { every: Every::new(barrier), after: false },
            held: None,
            pairs: trims_then_writes.then(|| Pairs::new(worker.queue.depth, blocks.write.max)),
            blocks,
            signals_loops: signals_loops(worker),
            spares_unended: worker.stop.time_based,
            steered: None,
        }
    }

    /// An I/O that was given did not come to be, or `bytes` of it did not.
    pub fn take_back(&mut self, ios: u64, bytes: u64) {
        self.progress.take_back(ios, bytes);
    }

    /// No I/O of this pass can come to be any more: where that is simple, the rest is not drawn.
    pub fn end_pass(&mut self) {
        if let Some(lane) = &mut self.lane {
            let (ios, bytes) = lane.settle();
            self.progress.add(ios, bytes);
            lane.end_pass();
        }
    }

    fn lane_step(&mut self) -> Next {
        loop {
            if let Some(next) = self.step_between() {
                return next;
            }
            let Some(lane) = &mut self.lane else { return Next::End };
            let (ios, bytes) = lane.settle();
            self.progress.add(ios, bytes);
            if self.progress.done() {
                return Next::End;
            }
            if lane.grant(self.progress.allows(lane.size())) {
                match lane.next(&mut self.places, &mut self.mix) {
                    Some(op) => return Next::Io(op),
                    None => continue,
                }
            }
            if !self.progress.next_loop() {
                return Next::End;
            }
            lane.restart(&mut self.places);
            self.begin_between();
        }
    }

    fn full_step(&mut self) -> Next {
        loop {
            if let Some(next) = self.first_of_all() {
                return next;
            }
            let direction = match self.held.take() {
                Some(direction) => direction,
                None => {
                    let direction = self.draw_direction();
                    if direction == Direction::Write && self.barrier.every.next_is() {
                        self.held = Some(direction);
                        self.barrier.after = true;
                        return Next::Drain;
                    }
                    direction
                }
            };
            match self.place(direction) {
                Placed::Io(op) => return Next::Io(self.issue(op)),
                Placed::After(step) => {
                    self.held = Some(direction);
                    return step;
                }
                Placed::Nowhere => {}
            }
            if !self.progress.next_loop() {
                return self.end();
            }
            self.restart();
        }
    }

    /// What comes before any new I/O.
    #[inline]
    fn first_of_all(&mut self) -> Option<Next> {
        if let Some(op) = self.syncs.due_before(&self.progress) {
            return Some(Next::Io(op));
        }
        if let Some(op) = self.pairs.as_mut().and_then(Pairs::next_write) {
            self.syncs.written(&op);
            return Some(Next::Io(op));
        }
        if let Some(next) = self.step_between().or_else(|| self.turns.step()) {
            return Some(next);
        }
        if self.barrier.after && self.held.is_none() {
            self.barrier.after = false;
            return Some(Next::Drain);
        }
        self.progress.done().then(|| self.end())
    }

    #[inline]
    fn draw_direction(&mut self) -> Direction {
        if let Some(direction) = self.steered.take() {
            return direction;
        }
        match self.directions {
            Directions::Only(direction) => direction,
            Directions::Mix(reads) if self.mix.percent(reads) => Direction::Read,
            Directions::Mix(_) => Direction::Write,
        }
    }

    /// The next I/O of a direction in the file whose turn it is.
    #[inline]
    fn place(&mut self, direction: Direction) -> Placed {
        let kind = match direction {
            Direction::Read => OpKind::Read,
            Direction::Write => OpKind::Write,
            Direction::Trim => OpKind::Trim,
        };
        loop {
            let Some(file) = self.turns.pick(&mut self.turn_order) else {
                return Placed::Nowhere;
            };
            let region = &mut self.regions[file as usize];
            let blocks = &self.blocks[direction];
            let found = region.offsets.next(direction, blocks, &mut self.places, &mut self.sizes);
            if let Some((offset, length)) = found {
                return Placed::Io(Op {
                    kind,
                    file,
                    offset: region.start + offset,
                    length,
                    tag: 0,
                });
            }
            self.turns.done();
            if let Some(step) = self.turns.step() {
                return Placed::After(step);
            }
        }
    }

    #[inline]
    fn issue(&mut self, op: Op) -> Op {
        self.progress.add(1, op.length);
        match (op.kind, &mut self.pairs) {
            (OpKind::Write, _) => {
                self.barrier.every.tick();
                self.syncs.written(&op);
            }
            (OpKind::Trim, Some(pairs)) => pairs.issued(),
            _ => {}
        }
        op
    }

    /// Begins another pass over all files.
    #[cold]
    fn restart(&mut self) {
        for region in &mut self.regions {
            region.offsets.restart(&self.blocks, self.spares_unended, &mut self.places);
        }
        self.turns.restart();
        self.begin_between();
    }

    fn begin_between(&mut self) {
        if self.signals_loops {
            self.between = Between::Drain;
        }
    }

    #[inline]
    fn step_between(&mut self) -> Option<Next> {
        match self.between {
            Between::Nothing => None,
            Between::Drain => {
                self.between = Between::LoopEnd;
                Some(Next::Drain)
            }
            Between::LoopEnd => {
                self.between = Between::Nothing;
                Some(Next::LoopEnd)
            }
        }
    }

    /// The end, once every trim has had its write.
    fn end(&mut self) -> Next {
        match &mut self.pairs {
            Some(pairs) if pairs.outstanding() => {
                pairs.drained();
                Next::Drain
            }
            _ => Next::End,
        }
    }
}

impl Source for Workload {
    #[inline(always)]
    fn at_hand(&mut self) -> Option<Op> {
        self.lane.as_mut()?.at_hand(&mut self.places, &mut self.mix)
    }

    #[inline(never)]
    fn next(&mut self) -> Next {
        if let Some(lane) = &mut self.lane {
            let op = lane.next(&mut self.places, &mut self.mix);
            return op.map_or_else(|| self.lane_step(), Next::Io);
        }
        self.full_step()
    }

    fn steer(&mut self, direction: Direction) {
        self.steered = Some(direction);
    }

    #[inline(always)]
    fn completed(&mut self, op: &Op, moved: u64) {
        if op.kind == OpKind::Trim
            && let Some(pairs) = &mut self.pairs
        {
            pairs.trimmed(op, moved);
        }
    }
}

/// How directions are drawn, and which of them draw offsets.
fn directions(worker: &Worker) -> (Directions, &'static [Direction]) {
    match worker.pattern.rw {
        // A log is no pattern to draw from; its worker never comes here.
        ReadWrite::Read | ReadWrite::RandRead | ReadWrite::Replay { .. } => {
            (Directions::Only(Direction::Read), &[Direction::Read])
        }
        ReadWrite::Write | ReadWrite::RandWrite => {
            (Directions::Only(Direction::Write), &[Direction::Write])
        }
        ReadWrite::Rw | ReadWrite::RandRw => {
            (Directions::Mix(worker.pattern.mix_read.into()), &[Direction::Read, Direction::Write])
        }
        ReadWrite::Trim | ReadWrite::RandTrim | ReadWrite::TrimWrite | ReadWrite::RandTrimWrite => {
            (Directions::Only(Direction::Trim), &[Direction::Trim])
        }
    }
}

/// Whether the end of a loop has to be told. Time based work would only lose depth by it, but what
/// it reads again through the page cache is to come from the disk, and memory to be touched anew.
fn signals_loops(worker: &Worker) -> bool {
    let engine = worker.queue.engine;
    let again = engine.moves_data() || engine == Engine::PageFault;
    let cached = !worker.queue.direct && again;
    !worker.stop.time_based
        || worker.selection.unlink_each_loop
        || (worker.layout.invalidate && cached)
}

#[cfg(test)]
mod tests;
