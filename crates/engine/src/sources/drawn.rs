//! I/O drawn from the distributions of a model file: each worker is a thread of the model, which goes from
//! step to step.
//!
//! In a closed loop an I/O is due some time after the end of the one before, as it was for the thread
//! that was traced: faster storage then brings more I/O. In an open loop it is due some time after the
//! one before was due.

use super::RecordSource;
use crate::hot::op::{Fault, Next, Op, OpKind, QueuePolicy, Source};
use crate::meter::Stamps;
use crate::offsets::{Permutation, Ranks};
use crate::random::Random;
use plan::Worker;
use std::sync::Arc;
use trace::{Drawn, DrawnOperation, DrawnStep};

/// Starts of runs that a step remembers, to begin there again.
const REMEMBERED: usize = 1 << 14;

/// Draws the I/O of a worker.
pub(crate) struct DrawnIo {
    drawn: Arc<Drawn>,
    steps: Vec<StepState>,
    random: Random,
    at: usize,
    begun: bool,
    /// When the latest I/O ended or, in an open loop, was due.
    latest: u64,
    due: u64,
    /// The file of the latest write, which a synchronisation is for.
    written: u32,
}

/// Values and the weights of all up to each.
struct Table<T>(Vec<(T, u64)>);

impl<T: Copy> Table<T> {
    fn new(values: impl Iterator<Item = (T, u64)>) -> Table<T> {
        let mut sum = 0;
        let mut add = |(value, weight): (T, u64)| {
            sum += weight;
            (value, sum)
        };
        Table(values.filter(|(_, weight)| *weight > 0).map(&mut add).collect())
    }

    fn draw(&self, random: &mut Random) -> Option<T> {
        let (_, sum) = self.0.last()?;
        let drawn = random.below(*sum);
        Some(self.0[self.0.partition_point(|(_, upto)| *upto <= drawn)].0)
    }
}

/// Where runs begin.
enum Places {
    Even,
    /// Ranks, the blocks they stand for, and how many there are.
    Ranked(Ranks, Box<Permutation>, u64),
    /// Weighted parts, and distances to earlier runs.
    Seen {
        zones: Table<u64>,
        parts: u64,
        again: Table<(u64, u64)>,
        past: Vec<(u32, u64)>,
        runs: usize,
    },
}

/// A step with its tables.
struct StepState {
    kind: OpKind,
    /// First file, how many, bytes of each.
    files: (u32, u32, u64),
    align: u64,
    sizes: Table<u64>,
    runs: Table<u64>,
    gaps: Table<(u64, u64)>,
    next: Table<usize>,
    places: Places,
    /// I/Os left of the run, its file, and where it goes on.
    run: (u64, u32, u64),
}

impl DrawnIo {
    pub fn new(worker: &Worker, drawn: &Arc<Drawn>) -> DrawnIo {
        // All threads of a model have the same hot blocks, so the order of blocks has a seed of its own.
        let mut shared = Random::new(worker.pattern.randseed.unwrap_or(0), 1);
        let steps = drawn.threads.steps.iter();
        DrawnIo {
            steps: steps
                .map(|step| StepState::new(step, drawn.files[step.file], &mut shared))
                .collect(),
            drawn: Arc::clone(drawn),
            random: Random::new(worker.pattern.seed, 2),
            at: 0,
            begun: false,
            latest: 0,
            due: 0,
            written: 0,
        }
    }
}

impl StepState {
    fn new(step: &DrawnStep, files: (u32, u32, u64), shared: &mut Random) -> StepState {
        let kind = match step.operation {
            DrawnOperation::Read => OpKind::Read,
            DrawnOperation::Write => OpKind::Write,
            DrawnOperation::Trim => OpKind::Trim,
            DrawnOperation::Fsync => OpKind::Fsync,
            DrawnOperation::Fdatasync => OpKind::Fdatasync,
            DrawnOperation::SyncRange => OpKind::SyncFileRange(libc::SYNC_FILE_RANGE_WRITE),
        };
        let align = step.align.max(1);
        // Runs begin at multiples of the commonest size, so that hot blocks are as many as they were.
        let block =
            step.sizes.iter().max_by_key(|(_, weight)| *weight).map_or(1, |(size, _)| *size);
        let blocks = (files.2 / block.max(align) * u64::from(files.1)).max(1);
        let ranked = |ranks, shared: &mut Random| {
            Places::Ranked(ranks, Box::new(Permutation::new(blocks, shared)), blocks)
        };
        let places = match step.parameter().unwrap_or_default() {
            ("zipf", theta) => ranked(Ranks::zipf(theta, blocks), shared),
            ("pareto", h) => ranked(Ranks::pareto(h, blocks), shared),
            ("uniform", _) => Places::Even,
            _ => Places::Seen {
                parts: step.zones.len().max(1) as u64,
                zones: Table::new((0..).zip(step.zones.iter().copied())),
                again: Table::new(
                    step.again.iter().map(|(low, high, weight)| ((*low, *high), *weight)),
                ),
                past: Vec::with_capacity(REMEMBERED),
                runs: 0,
            },
        };
        StepState {
            kind,
            files,
            align,
            sizes: Table::new(step.sizes.iter().copied()),
            runs: Table::new(step.runs.iter().copied()),
            gaps: Table::new(step.gaps.iter().map(|(low, high, weight)| ((*low, *high), *weight))),
            next: Table::new(step.next.iter().copied()),
            places,
            run: (0, files.0, 0),
        }
    }

    /// The file and the offset where a run begins.
    fn start(&mut self, random: &mut Random, length: u64) -> (u32, u64) {
        let (first, count, bytes) = self.files;
        let count = u64::from(count.max(1));
        let room = bytes.saturating_sub(length);
        let slots = room / self.align + 1;
        match &mut self.places {
            Places::Even => (first + random.below(count) as u32, random.below(slots) * self.align),
            Places::Ranked(ranks, order, blocks) => {
                let block = order.place(ranks.draw(random));
                let file = first + (block % count) as u32;
                let blocks = blocks.div_ceil(count).max(1);
                let offset = u128::from(block / count) * u128::from(bytes) / u128::from(blocks);
                (file, (offset as u64).min(room) / self.align * self.align)
            }
            Places::Seen { zones, parts, again, past, runs } => {
                let (low, high) = again.draw(random).unwrap_or_default();
                let back = (low + random.below(high - low + 1)) as usize;
                let place = if back > 0 && back <= past.len() {
                    past[(*runs - back) % REMEMBERED]
                } else {
                    let zone = zones.draw(random).unwrap_or_else(|| random.below(*parts));
                    let width = slots.div_ceil(*parts).max(1);
                    let slot = (zone * width + random.below(width)).min(slots - 1);
                    (first + random.below(count) as u32, slot * self.align)
                };
                let at = *runs % REMEMBERED;
                *runs += 1;
                if at < past.len() {
                    past[at] = place
                } else {
                    past.push(place)
                }
                (place.0, place.1.min(room / self.align * self.align))
            }
        }
    }

    /// The next I/O of the step.
    fn op(&mut self, random: &mut Random) -> Op {
        let length = self.sizes.draw(random).unwrap_or(1).min(self.files.2);
        let (left, file, at) = self.run;
        let goes_on = left > 0 && at.saturating_add(length) <= self.files.2;
        let (file, offset) = if goes_on { (file, at) } else { self.start(random, length) };
        let left = match goes_on {
            true => left,
            false => self.runs.draw(random).unwrap_or(1).max(1),
        };
        self.run = (left - 1, file, offset + length);
        Op { kind: self.kind, file, offset, length, tag: 0 }
    }
}

impl Source for DrawnIo {
    /// The first tick is the start.
    fn tick(&mut self, _: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        self.latest = self.latest.max(if self.latest == 0 { now } else { 0 });
        Ok(u64::MAX)
    }

    fn next(&mut self) -> Next {
        if self.begun {
            self.at = self.steps[self.at].next.draw(&mut self.random).unwrap_or(0);
        }
        self.begun = true;
        let step = &mut self.steps[self.at];
        let (low, high) = step.gaps.draw(&mut self.random).unwrap_or_default();
        self.due = self.latest.saturating_add(low + self.random.below(high - low + 1));
        if self.drawn.threads.open_loop {
            self.latest = self.due;
        }
        if step.kind.direction().is_none() {
            let (first, count, _) = step.files;
            let ours = (first..first + count).contains(&self.written);
            let file = if ours { self.written } else { first };
            return Next::Io(Op { kind: step.kind, file, offset: 0, length: 0, tag: 0 });
        }
        let op = step.op(&mut self.random);
        if op.kind == OpKind::Write {
            self.written = op.file;
        }
        Next::Io(op)
    }

    fn due(&self, _: &Op) -> Option<u64> {
        Some(self.due)
    }

    fn ended(&mut self, _: &Op, _: &mut [u8], _: &Stamps, now: u64) -> Result<(), Fault> {
        if !self.drawn.threads.open_loop {
            self.latest = now;
        }
        Ok(())
    }
}

impl RecordSource for DrawnIo {}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::DrawnThreads;

    fn source(steps: Vec<DrawnStep>) -> DrawnIo {
        let threads =
            DrawnThreads { name: "a".into(), count: 1, depth: 1, steps, ..DrawnThreads::default() };
        let drawn = Drawn { threads, files: vec![(0, 2, 1 << 20)] };
        DrawnIo::new(&Worker::default(), &Arc::new(drawn))
    }

    fn read(skew: &str) -> DrawnStep {
        DrawnStep {
            align: 4096,
            sizes: vec![(4096, 3), (8192, 1)],
            runs: vec![(4, 1)],
            skew: skew.into(),
            gaps: vec![(1000, 1000, 1)],
            next: vec![(0, 1)],
            ..DrawnStep::default()
        }
    }

    fn ops(source: &mut DrawnIo, count: usize) -> Vec<Op> {
        let next = |_| match source.next() {
            Next::Io(op) => op,
            other => panic!("{other:?}"),
        };
        (0..count).map(next).collect()
    }

    #[test]
    fn sizes_and_runs_have_their_shares_and_stay_in_the_file() {
        for skew in ["", "uniform", "zipf:0.9", "pareto:0.2"] {
            let all = ops(&mut source(vec![read(skew)]), 20_000);
            assert!(all.iter().all(|op| op.file < 2 && op.offset + op.length <= 1 << 20), "{skew}");
            let large = all.iter().filter(|op| op.length == 8192).count();
            assert!((4700..5300).contains(&large), "{skew}: {large}");
            let follows = |pair: &&[Op]| pair[1].offset == pair[0].offset + pair[0].length;
            let following = all.windows(2).filter(follows).count();
            assert!((14_000..16_000).contains(&following), "{skew}: {following}");
        }
    }

    #[test]
    fn a_step_follows_another_with_its_weight_and_a_sync_is_for_the_file_written() {
        let write = DrawnStep { operation: DrawnOperation::Write, next: vec![(1, 1)], ..read("") };
        let sync = DrawnStep {
            operation: DrawnOperation::Fsync,
            next: vec![(0, 1)],
            ..DrawnStep::default()
        };
        let all = ops(&mut source(vec![write, sync]), 1000);
        assert!(all.chunks(2).all(|pair| {
            pair[0].kind == OpKind::Write
                && pair[1].kind == OpKind::Fsync
                && pair[1].file == pair[0].file
        }));
    }

    #[test]
    fn runs_begin_again_where_they_began_before() {
        let again = vec![(1, 1, 9), (0, 0, 1)];
        let step = DrawnStep { runs: vec![(1, 1)], sizes: vec![(4096, 1)], again, ..read("") };
        let all = ops(&mut source(vec![step]), 10_000);
        let same = all.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!((8800..9200).contains(&same), "{same}");
    }

    #[test]
    fn an_io_is_due_after_the_end_of_the_one_before_in_a_closed_loop_only() {
        for open_loop in [false, true] {
            let mut source = source(vec![read("")]);
            Arc::make_mut(&mut source.drawn).threads.open_loop = open_loop;
            source.tick(&mut QueuePolicy::all_at_once(1), 500).unwrap();
            let op = ops(&mut source, 1)[0];
            assert_eq!(source.due(&op), Some(1500));
            source.ended(&op, &mut [], &Stamps::default(), 9000).unwrap();
            let op = ops(&mut source, 1)[0];
            assert_eq!(source.due(&op), Some(if open_loop { 2500 } else { 10_000 }));
        }
    }
}
