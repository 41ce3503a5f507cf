//! The I/O of a plain workload: directions, files, offsets, sizes, synchronisations, loops.
//!
//! # Rules
//! - A pass touches every block of every file's region once (random) or goes through it once
//!   (sequential). A file is done when the direction drawn finds nothing left in it; a loop is done
//!   when all files are. Every pass has another random order.
//! - Before another loop everything drains and [`Next::LoopEnd`] is given. Time based work starts
//!   over without that, unless files are to be invalidated or unlinked, and directions of a
//!   sequential mix that have not reached the end continue where they are.
//! - With `open_files` below the number of files, the first `open_files` are taken to be open at the
//!   beginning; after a `LoopEnd` all are closed and the first ones are asked for again. Without a
//!   limit all are open all the time.
//! - In a mix with rates the gate chooses the direction of the next I/O, so that both directions keep
//!   their rates; the shares of the mix decide only while both are due.
//! - Failed I/O counts as issued, so that work always ends.

mod fast_path;
mod file_selector;
mod progress;
mod syncs;
mod trim_writes;

use crate::hot::op::{LoopSource, Next, Op, OpKind, Source};
use crate::offsets::{Blocks, OffsetPattern, Offsets};
use crate::pacing::is_steered;
use crate::random::Random;
use crate::sources::RecordSource;
use fast_path::FastPath;
use file_selector::FileSelector;
use plan::{Engine, ReadWrite, Worker};
use progress::Progress;
use record::{Direction, PerDirection};
use syncs::{EveryNth, Syncs};
use trim_writes::TrimWrites;

/// The I/O of a worker's plan. Two workloads of one plan issue the same I/O.
#[derive(Clone, Debug)]
pub struct Workload {
    fast: Option<FastPath>,
    places: Random,
    mix: Random,
    sizes: Random,
    file_order: Random,
    progress: Progress,
    between: BetweenLoops,
    blocks: PerDirection<Blocks>,
    directions: DirectionMix,
    files: FileSelector,
    regions: Vec<Region>,
    syncs: Syncs,
    barrier: Barrier,
    /// Direction of the next I/O, which waits for another step.
    held: Option<Direction>,
    trim_writes: Option<TrimWrites>,
    signals_loops: bool,
    spares_unended: bool,
    /// Direction that the gate chose for the next I/O.
    steered: Option<Direction>,
}

/// A file's region and the offsets in it.
#[derive(Clone, Debug)]
struct Region {
    start: u64,
    offsets: Offsets,
}

/// How the direction of an I/O is chosen.
#[derive(Clone, Copy, Debug)]
enum DirectionMix {
    Only(Direction),
    /// Percentage of reads.
    Mix(u32),
}

/// The next step between two loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BetweenLoops {
    Nothing,
    Drain,
    LoopEnd,
}

/// The place of an I/O.
enum Placement {
    Io(Op),
    /// A file must be closed or opened first.
    After(Next),
    /// All files are done.
    Nowhere,
}

/// Writes that no I/O may overtake (`write_barrier`).
#[derive(Clone, Copy, Debug)]
struct Barrier {
    every: EveryNth,
    /// The barrier write has been issued: wait for its end.
    after: bool,
}

impl Workload {
    /// Memory: some hundred bytes per file, and one bit per smallest block for random I/O of several
    /// sizes with coverage.
    pub fn new(worker: &Worker) -> Workload {
        let pattern = &worker.pattern;
        let blocks = pattern.blocks.map(|_, plan| Blocks::new(plan));
        let (directions, used) = directions(worker);
        let layout = OffsetPattern::new(worker, used, &blocks);
        let mut places = Random::new(pattern.seed, 0);
        let trims_then_writes = pattern.rw.writes() && pattern.rw.trims();
        let syncs = Syncs::new(worker);
        let barrier = if worker.queue.depth > 1 { worker.syncing.write_barrier } else { 0 };
        let steered = is_steered(worker);
        let plain = !trims_then_writes && worker.placing.strides.is_none();
        // Oracle: without a random map a write is as long as its trim, whatever `bs` says.
        let largest_write = match pattern.rw.is_random() && pattern.norandommap {
            true => u64::MAX,
            false => blocks.write.max,
        };
        let fast = match worker.files.as_slice() {
            [file] if plain && !steered && !syncs.active() && barrier == 0 => {
                let (start, length, reads) = (file.start, file.length, pattern.mix_read.into());
                FastPath::new(start, length, used, reads, &blocks, layout, &mut places)
            }
            _ => None,
        };
        // The fast path has offsets of its own.
        let files = if fast.is_some() { &[] } else { worker.files.as_slice() };
        let regions = files
            .iter()
            .map(|file| Region {
                start: file.start,
                offsets: Offsets::new(file, layout, &worker.placing, &blocks, &mut places),
            })
            .collect();
        let mut file_order = Random::new(pattern.seed, 3);
        Workload {
            fast,
            places,
            mix: Random::new(pattern.seed, 1),
            sizes: Random::new(pattern.seed, 2),
            progress: Progress::new(worker),
            between: BetweenLoops::Nothing,
            directions,
            files: FileSelector::new(&worker.selection, worker.files.len() as u32, &mut file_order),
            file_order,
            regions,
            syncs,
            barrier: Barrier { every: EveryNth::new(barrier), after: false },
            held: None,
            trim_writes: trims_then_writes
                .then(|| TrimWrites::new(worker.queue.depth, largest_write)),
            blocks,
            signals_loops: signals_loops(worker),
            spares_unended: worker.stop.time_based,
            steered: None,
        }
    }

    /// Uncounts `ios` I/Os and `bytes` that were returned and not issued.
    pub fn take_back(&mut self, ios: u64, bytes: u64) {
        self.progress.take_back(ios, bytes);
    }

    /// `op`, which was drawn last, is issued with its first `length` bytes only.
    pub fn shorten(&mut self, op: &Op, length: u64) {
        let cut = op.length - length;
        self.progress.take_back(0, cut);
        if let (Some(region), Some(direction)) =
            (self.regions.get_mut(op.file as usize), op.kind.direction())
        {
            region.offsets.give_back(direction, op.offset + length - region.start, cut);
        }
    }

    /// Whether each byte is covered once in a pass, by I/Os of different sizes.
    pub fn covers_bytes(&self) -> bool {
        self.regions.iter().any(|region| region.offsets.covers_bytes())
    }

    /// No further I/O of this pass can be issued: skips the rest on the fast path.
    pub fn end_pass(&mut self) {
        if let Some(fast) = &mut self.fast {
            let (ios, bytes) = fast.settle();
            self.progress.add(ios, bytes);
            fast.end_pass();
        }
    }

    fn fast_step(&mut self) -> Next {
        loop {
            if let Some(next) = self.step_between() {
                return next;
            }
            let Some(fast) = &mut self.fast else { return Next::End };
            let (ios, bytes) = fast.settle();
            self.progress.add(ios, bytes);
            if self.progress.done() {
                return Next::End;
            }
            if !self.progress.loop_is_over() && fast.grant(self.progress.allows(fast.size())) {
                match fast.next(&mut self.places, &mut self.mix) {
                    Some(op) => return Next::Io(op),
                    None => continue,
                }
            }
            if self.progress.continues_loop() {
                fast.restart(&mut self.places);
                continue;
            }
            if !self.progress.next_loop() {
                return Next::End;
            }
            fast.restart(&mut self.places);
            self.begin_between();
        }
    }

    fn full_step(&mut self) -> Next {
        loop {
            if let Some(next) = self.step_before() {
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
            let placed = match self.progress.loop_is_over() {
                true => Placement::Nowhere,
                false => self.place(direction),
            };
            match placed {
                Placement::Io(op) => return Next::Io(self.issue(op)),
                Placement::After(step) => {
                    self.held = Some(direction);
                    return step;
                }
                Placement::Nowhere => {}
            }
            if self.progress.continues_loop() {
                self.restart_files();
                continue;
            }
            if !self.progress.next_loop() {
                return self.end();
            }
            self.restart_files();
            self.begin_between();
        }
    }

    /// A step that comes before any new I/O.
    #[inline]
    fn step_before(&mut self) -> Option<Next> {
        if let Some(op) = self.syncs.due_before(&self.progress) {
            return Some(Next::Io(op));
        }
        if let Some(op) = self.trim_writes.as_mut().and_then(TrimWrites::next_write) {
            self.syncs.written(&op);
            return Some(Next::Io(op));
        }
        if let Some(next) = self.step_between().or_else(|| self.files.step()) {
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
            DirectionMix::Only(direction) => direction,
            DirectionMix::Mix(reads) if self.mix.percent(reads) => Direction::Read,
            DirectionMix::Mix(_) => Direction::Write,
        }
    }

    /// The next I/O of a direction in the current file.
    #[inline]
    fn place(&mut self, direction: Direction) -> Placement {
        let kind = match direction {
            Direction::Read => OpKind::Read,
            Direction::Write => OpKind::Write,
            Direction::Trim => OpKind::Trim,
        };
        loop {
            let Some(file) = self.files.pick(&mut self.file_order) else {
                return Placement::Nowhere;
            };
            let region = &mut self.regions[file as usize];
            let blocks = &self.blocks[direction];
            let found = region.offsets.next(direction, blocks, &mut self.places, &mut self.sizes);
            if let Some((offset, length)) = found {
                return Placement::Io(Op {
                    kind,
                    file,
                    offset: region.start + offset,
                    length,
                    tag: 0,
                });
            }
            self.files.done();
            if let Some(step) = self.files.step() {
                return Placement::After(step);
            }
        }
    }

    #[inline]
    fn issue(&mut self, op: Op) -> Op {
        self.progress.add(1, op.length);
        match (op.kind, &mut self.trim_writes) {
            (OpKind::Write, _) => {
                self.barrier.every.tick();
                self.syncs.written(&op);
            }
            (OpKind::Trim, Some(trims)) => trims.issued(),
            _ => {}
        }
        op
    }

    /// Starts another pass over all files.
    #[cold]
    fn restart_files(&mut self) {
        for region in &mut self.regions {
            region.offsets.restart(&self.blocks, self.spares_unended, &mut self.places);
        }
        self.files.restart();
    }

    fn begin_between(&mut self) {
        if self.signals_loops {
            self.between = BetweenLoops::Drain;
        }
    }

    #[inline]
    fn step_between(&mut self) -> Option<Next> {
        match self.between {
            BetweenLoops::Nothing => None,
            BetweenLoops::Drain => {
                self.between = BetweenLoops::LoopEnd;
                Some(Next::Drain)
            }
            BetweenLoops::LoopEnd => {
                self.between = BetweenLoops::Nothing;
                Some(Next::LoopEnd)
            }
        }
    }

    /// The end, once every trim has had its write.
    fn end(&mut self) -> Next {
        match &mut self.trim_writes {
            Some(trims) if trims.outstanding() => {
                trims.drained();
                Next::Drain
            }
            _ => Next::End,
        }
    }
}

impl LoopSource for Workload {}

impl RecordSource for Workload {}

impl Source for Workload {
    #[inline(always)]
    fn next_ready(&mut self) -> Option<Op> {
        self.fast.as_mut()?.next_ready(&mut self.places, &mut self.mix)
    }

    #[inline(never)]
    fn next(&mut self) -> Next {
        if let Some(fast) = &mut self.fast {
            let op = fast.next(&mut self.places, &mut self.mix);
            return op.map_or_else(|| self.fast_step(), Next::Io);
        }
        self.full_step()
    }

    fn steer(&mut self, direction: Direction) {
        self.steered = Some(direction);
    }

    #[inline(always)]
    fn completed(&mut self, op: &Op, moved: u64) {
        if op.kind == OpKind::Trim
            && let Some(trims) = &mut self.trim_writes
        {
            trims.trimmed(op, moved);
        }
    }
}

/// How directions are chosen, and which of them draw offsets.
fn directions(worker: &Worker) -> (DirectionMix, &'static [Direction]) {
    match worker.pattern.rw {
        // A replayed log draws nothing: its worker has another source.
        ReadWrite::Read | ReadWrite::RandRead | ReadWrite::Replay { .. } => {
            (DirectionMix::Only(Direction::Read), &[Direction::Read])
        }
        ReadWrite::Write | ReadWrite::RandWrite => {
            (DirectionMix::Only(Direction::Write), &[Direction::Write])
        }
        ReadWrite::Rw | ReadWrite::RandRw => (
            DirectionMix::Mix(worker.pattern.mix_read.into()),
            &[Direction::Read, Direction::Write],
        ),
        ReadWrite::Trim | ReadWrite::RandTrim | ReadWrite::TrimWrite | ReadWrite::RandTrimWrite => {
            (DirectionMix::Only(Direction::Trim), &[Direction::Trim])
        }
    }
}

/// Whether the source returns [`Next::LoopEnd`]. Time-based work would only lose depth, except where
/// files are invalidated or unlinked, or memory is freed.
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
