//! Steps: what the threads of a class do with the files of a class, one operation each.

use crate::counts::{Counts, LogHistogram};
use crate::fit::{self, Fit};
use crate::locality::{Tracker, hash};
use record::SplitMix64;
use std::collections::{BTreeMap, HashMap};
use trace::ftr::{Event, Flags, Operation};

/// Blocks of run starts that each step follows.
const FOLLOWED: usize = 1 << 15;
/// Positions that each step keeps.
const POSITIONS: usize = 4096;
/// Sequential streams that are followed at a time.
const CURSORS: usize = 1 << 16;

/// What a step is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// Class of the threads.
    pub threads: u32,
    /// Class of the files.
    pub files: u32,
    /// The operation.
    pub kind: StepKind,
}

/// Operations that are modelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StepKind {
    Read,
    Write,
    Fsync,
    Fdatasync,
    /// sync_file_range: writing back begins; nothing is durable.
    SyncRange,
    Trim,
}

impl StepKind {
    /// The kind of an operation; `None` if it is not modelled.
    pub fn from_operation(operation: Operation) -> Option<StepKind> {
        Some(match operation {
            Operation::Read | Operation::Fault => StepKind::Read,
            Operation::Write => StepKind::Write,
            Operation::Fsync | Operation::SyncAll | Operation::Flush => StepKind::Fsync,
            Operation::Fdatasync => StepKind::Fdatasync,
            Operation::SyncRange => StepKind::SyncRange,
            Operation::Discard => StepKind::Trim,
            _ => return None,
        })
    }

    /// Whether it has an offset and a length.
    pub fn moves(self) -> bool {
        matches!(self, StepKind::Read | StepKind::Write | StepKind::Trim)
    }

    /// Whether it makes data durable.
    pub fn syncs(self) -> bool {
        matches!(self, StepKind::Fsync | StepKind::Fdatasync)
    }
}

/// The figures of a step.
#[derive(Clone, Debug)]
pub struct Step {
    pub key: Key,
    pub ios: u64,
    pub bytes: u64,
    pub sizes: Counts,
    pub offsets: Grain,
    pub gaps: LogHistogram,
    pub latency: LogHistogram,
    /// I/Os of each finished sequential run.
    pub runs: Counts,
    pub sequential: u64,
    pub strided: u64,
    pub strides: HashMap<i64, u64>,
    pub starts: u64,
    /// A sample of run starts: file and offset.
    pub positions: Vec<(u32, u64)>,
    pub tracker: Tracker,
    /// The steps that the same thread made next.
    pub next: BTreeMap<u16, u64>,
    pub direct: u64,
    pub dsync: u64,
    pub append: u64,
    random: SplitMix64,
}

/// The largest power of two that divides all offsets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grain(u64);

impl Grain {
    /// The power of two; 1 without offsets.
    pub fn value(self) -> u64 {
        if self.0 == 0 { 1 << 40 } else { 1 << self.0.trailing_zeros() }
    }
}

/// Where an I/O lies against the one before.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    start: u64,
    end: u64,
    delta: i64,
    run: u64,
}

/// The latest I/O of each thread in each file.
#[derive(Clone, Debug, Default)]
pub struct Cursors(HashMap<(u32, u32, u16), Cursor>);

impl Step {
    pub fn new(key: Key, number: u16) -> Step {
        Step {
            key,
            ios: 0,
            bytes: 0,
            sizes: Counts::default(),
            offsets: Grain::default(),
            gaps: LogHistogram::default(),
            latency: LogHistogram::default(),
            runs: Counts::default(),
            sequential: 0,
            strided: 0,
            strides: HashMap::new(),
            starts: 0,
            positions: Vec::new(),
            tracker: Tracker::new(FOLLOWED),
            next: BTreeMap::new(),
            direct: 0,
            dsync: 0,
            append: 0,
            random: SplitMix64::new(u64::from(number)),
        }
    }

    /// Counts an event of this step.
    pub fn add(&mut self, event: &Event, gap: Option<u64>) {
        let Event { flags, length, .. } = *event;
        self.ios += 1;
        gap.into_iter().for_each(|gap| self.gaps.add(gap));
        event.duration_ns.into_iter().for_each(|ns| self.latency.add(ns));
        self.direct += u64::from(flags.has(Flags::DIRECT));
        let durable = [Flags::DSYNC, Flags::SYNC, Flags::FUA].iter().any(|flag| flags.has(*flag));
        self.dsync += u64::from(durable && self.key.kind == StepKind::Write);
        self.append += u64::from(flags.has(Flags::APPEND));
        if self.key.kind.moves() {
            self.bytes = self.bytes.saturating_add(length);
            self.sizes.add(length);
            self.offsets.0 |= event.offset;
        }
    }

    fn start(&mut self, event: &Event) {
        self.starts += 1;
        let grain = event.length.clamp(512, 1 << 20).next_power_of_two();
        self.tracker.access(hash(event.file, event.offset / grain));
        if self.positions.len() < POSITIONS {
            self.positions.push((event.file, event.offset));
        } else {
            // Reservoir sampling (J. Vitter, "Random Sampling with a Reservoir", 1985, algorithm R).
            let at = self.random.below(self.starts) as usize;
            if at < POSITIONS {
                self.positions[at] = (event.file, event.offset);
            }
        }
    }

    /// The commonest distance between starts, and the share of I/Os that keep it.
    pub fn stride(&self) -> Option<(i64, f64)> {
        let (delta, count) =
            self.strides.iter().max_by_key(|(delta, count)| (**count, -**delta))?;
        let share = *count as f64 / self.ios.max(1) as f64;
        (share >= 0.1).then_some((*delta, share))
    }

    /// How unevenly the starts of runs are spread over `bytes` of files.
    pub fn skew(&self, bytes: u64) -> Option<Fit> {
        let block = self.sizes.mode().map_or(4096, |(size, _)| size);
        let block = block.clamp(512, 1 << 20).next_power_of_two();
        let population = (bytes as f64 / block as f64) * self.tracker.rate();
        fit::fit(&self.tracker.counts(), population)
    }
}

impl Cursors {
    /// Follows an I/O of `step`, which has this number.
    pub fn follow(&mut self, step: &mut Step, number: u16, event: &Event) {
        if self.0.len() >= CURSORS {
            self.0.clear();
        }
        let (start, end) = (event.offset, event.offset.saturating_add(event.length));
        let cursor = match self.0.entry((event.thread, event.file, number)) {
            std::collections::hash_map::Entry::Vacant(place) => {
                step.start(event);
                place.insert(Cursor { start, end, delta: 0, run: 1 });
                return;
            }
            std::collections::hash_map::Entry::Occupied(place) => place.into_mut(),
        };
        let delta = start.wrapping_sub(cursor.start) as i64;
        if start == cursor.end {
            step.sequential += 1;
            cursor.run += 1;
        } else {
            step.runs.add(cursor.run);
            cursor.run = 1;
            step.start(event);
            if delta == cursor.delta && delta != 0 {
                step.strided += 1;
                if step.strides.len() < 1024 || step.strides.contains_key(&delta) {
                    *step.strides.entry(delta).or_default() += 1;
                }
            }
        }
        (cursor.start, cursor.end, cursor.delta) = (start, end, delta);
    }

    /// Ends all runs.
    pub fn finish(self, steps: &mut [Step]) {
        for ((_, _, step), cursor) in self.0 {
            if let Some(step) = steps.get_mut(step as usize) {
                step.runs.add(cursor.run);
            }
        }
    }
}
