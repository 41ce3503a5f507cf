//! Takes the entries of a trace, one after the other, in bounded memory.

use crate::counts::Counts;
use crate::depth::Depth;
use crate::distinct::Distinct;
use crate::locality::{Tracker, hash};
use crate::model::{FileClass, Syncs, Totals};
use crate::names::{Classes, pattern};
use crate::steps::{Cursors, Key, Step, StepKind};
use crate::threads::{ThreadIo, Threads};
use crate::windows::Windows;
use std::collections::HashMap;
use trace::ftr::{Entry, Event, File, FileKind, Flags, Level, Operation, Thread};

const THREAD_CLASSES: usize = 24;
const FILE_CLASSES: usize = 256;
const STEPS: usize = 384;
/// Blocks followed for the reuse of all streams.
const FOLLOWED: usize = 1 << 17;
/// Size of the blocks whose reuse is followed.
pub(crate) const BLOCK: u64 = 4096;
/// The most blocks of an I/O that are looked at; of longer ones, every other, fourth and so on.
const BLOCKS_OF_IO: u64 = 256;
/// Files whose unsynced writes are counted.
const UNSYNCED: usize = 1 << 16;
/// Events may be listed this much before others that ended earlier, without a step of the clock.
const SLACK_NS: u64 = 1_000_000_000;

/// The model of one level of a trace under construction.
#[derive(Clone, Debug)]
pub(crate) struct Side {
    pub totals: Totals,
    pub steps: Vec<Step>,
    numbers: HashMap<Key, u16>,
    pub cursors: Cursors,
    pub threads: Threads,
    pub windows: Windows,
    pub depth: Depth,
    pub tracker: Tracker,
    pub distinct: Distinct,
    pub writes_per_sync: Counts,
    unsynced: HashMap<u32, u64>,
    pub without_duration: u64,
    pub end: u64,
    start: Option<u64>,
}

impl Default for Side {
    fn default() -> Self {
        Side {
            totals: Totals::default(),
            steps: Vec::new(),
            numbers: HashMap::new(),
            cursors: Cursors::default(),
            threads: Threads::default(),
            windows: Windows::default(),
            depth: Depth::default(),
            tracker: Tracker::new(FOLLOWED),
            distinct: Distinct::default(),
            writes_per_sync: Counts::default(),
            unsynced: HashMap::new(),
            without_duration: 0,
            end: 0,
            start: None,
        }
    }
}

/// What is known of a file.
#[derive(Clone, Copy, Debug, Default)]
struct FileState {
    class: u32,
    size: u64,
    end: u64,
    used: bool,
}

/// Takes the entries of a trace.
#[derive(Debug)]
pub struct Builder {
    files: Vec<FileState>,
    threads: Vec<u32>,
    pub(crate) file_names: Classes,
    pub(crate) thread_names: Classes,
    pub(crate) file_classes: Vec<FileClass>,
    pub(crate) sides: [Side; 2],
    pub(crate) syncs: Syncs,
    pub(crate) events: u64,
    pub(crate) lost: u64,
    /// Times that the clock went back.
    pub(crate) back: u64,
    latest: u64,
    longest: u64,
}

impl Default for Builder {
    fn default() -> Self {
        Builder::new()
    }
}

impl Builder {
    /// Without entries.
    pub fn new() -> Builder {
        Builder {
            files: Vec::new(),
            threads: Vec::new(),
            file_names: Classes::new(FILE_CLASSES),
            thread_names: Classes::new(THREAD_CLASSES),
            file_classes: Vec::new(),
            sides: [Side::default(), Side::default()],
            syncs: Syncs::default(),
            events: 0,
            lost: 0,
            back: 0,
            latest: 0,
            longest: 0,
        }
    }

    /// Takes an entry.
    pub fn entry(&mut self, entry: &Entry) {
        match entry {
            Entry::File(file) => self.file(file),
            Entry::Thread(thread) => self.thread(thread),
            Entry::Event(event) => self.event(event),
            Entry::Lost(count) => self.lost += count,
            Entry::Contents(_) => {}
        }
    }

    fn file(&mut self, file: &File) {
        let class = self.file_names.class(&pattern(&file.name));
        let at = file.number as usize;
        // Numbers are given in order; a foreign trace must not make us hold 2^32 of them.
        if at > self.files.len() + (1 << 20) {
            return;
        }
        if self.files.len() <= at {
            self.files.resize(at + 1, FileState::default());
        }
        self.files[at] = FileState { class, size: file.size, ..FileState::default() };
        if self.file_classes.len() <= class as usize {
            self.file_classes.resize(class as usize + 1, FileClass::default());
        }
        let known = &mut self.file_classes[class as usize];
        self.file_names.name(class).clone_into(&mut known.name);
        known.is_device |= file.kind == FileKind::Block;
    }

    fn thread(&mut self, thread: &Thread) {
        let class = self.thread_names.class(&pattern(&thread.name));
        let at = thread.number as usize;
        if at > self.threads.len() + (1 << 20) {
            return;
        }
        if self.threads.len() <= at {
            self.threads.resize(at + 1, u32::MAX);
        }
        self.threads[at] = class;
    }

    fn class_of_thread(&mut self, thread: u32) -> u32 {
        match self.threads.get(thread as usize) {
            Some(class) if *class != u32::MAX => *class,
            _ => self.thread_names.class("unknown"),
        }
    }

    fn event(&mut self, event: &Event) {
        self.events += 1;
        self.count_sync(event);
        let duration = event.duration_ns.unwrap_or(0);
        let end = event.at_ns.saturating_add(duration);
        self.longest = self.longest.max(duration.min(60_000_000_000));
        self.back += u64::from(end.saturating_add(SLACK_NS + self.longest) < self.latest);
        self.latest = self.latest.max(end);
        let Some(kind) = StepKind::from_operation(event.operation) else {
            let side = &mut self.sides[side_of(event.level)];
            side.threads.passes(event.thread, event.cpu_before_ns);
            return;
        };
        let class = self.class_of_thread(event.thread);
        let files = self.use_file(event, kind);
        let key = Key { threads: class, files, kind };
        let name = self.thread_names.name(class).to_owned();
        let side = &mut self.sides[side_of(event.level)];
        side.threads.class(class, &name);
        side.io(event, key, end);
    }

    /// The class of the file of an event, whose size is kept.
    fn use_file(&mut self, event: &Event, kind: StepKind) -> u32 {
        let Some(file) = self.files.get_mut(event.file as usize) else {
            let class = self.file_names.class("unknown");
            if self.file_classes.len() <= class as usize {
                self.file_classes.resize(class as usize + 1, FileClass::default());
            }
            let known = &mut self.file_classes[class as usize];
            (known.name, known.count) = ("unknown".into(), 1);
            known.bytes = known.bytes.max(event.offset.saturating_add(event.length));
            return class;
        };
        let known = &mut self.file_classes[file.class as usize];
        if !file.used {
            file.used = true;
            known.count += 1;
            known.bytes = known.bytes.saturating_add(file.size);
            known.existing = known.existing.saturating_add(file.size);
        }
        let (end, limit) = (event.offset.saturating_add(event.length), file.size.max(file.end));
        if kind.moves() && end > limit {
            known.bytes = known.bytes.saturating_add(end - limit);
            if kind != StepKind::Write || event.offset > limit {
                known.existing = known.existing.saturating_add(end - limit);
            }
            file.end = end;
        }
        file.class
    }

    /// A file is at least so large before its first I/O here.
    pub(crate) fn has_grown(&mut self, file: u32, size: u64) {
        if let Some(file) = self.files.get_mut(file as usize).filter(|file| !file.used) {
            file.size = file.size.max(size);
        }
    }

    fn count_sync(&mut self, event: &Event) {
        if event.level == Level::Device {
            return;
        }
        let syncs = &mut self.syncs;
        let durable = event.flags.has(Flags::DSYNC) || event.flags.has(Flags::SYNC);
        match event.operation {
            Operation::Fsync => syncs.fsync += 1,
            Operation::Fdatasync => syncs.fdatasync += 1,
            Operation::SyncRange => syncs.range += 1,
            Operation::SyncAll => syncs.all += 1,
            Operation::Rename => syncs.renames += 1,
            Operation::Write if durable => syncs.durable_writes += 1,
            _ => {}
        }
    }

    /// Where in its file an offset lies, as a share of the file.
    pub(crate) fn place(&self, file: u32, offset: u64) -> f64 {
        let size = self.files.get(file as usize).map_or(0, |file| file.size.max(file.end));
        if size == 0 { 0.0 } else { (offset as f64 / size as f64).min(1.0) }
    }
}

fn side_of(level: Level) -> usize {
    usize::from(level == Level::Device)
}

impl Side {
    /// Reads and writes.
    pub fn ios(&self) -> u64 {
        self.totals.reads + self.totals.writes
    }

    /// When the first I/O began, in nanoseconds from the start of the trace.
    pub fn start(&self) -> u64 {
        self.start.unwrap_or(0)
    }

    /// From the first I/O to the end of the last, in nanoseconds.
    pub fn length(&self) -> u64 {
        self.end.saturating_sub(self.start())
    }

    fn io(&mut self, event: &Event, key: Key, end: u64) {
        let number = self.number(key);
        // A first event that began later than others is rare; time before it is that of the start.
        let start = *self.start.get_or_insert(event.at_ns);
        let at = event.at_ns.saturating_sub(start);
        self.end = self.end.max(end);
        self.without_duration += u64::from(event.duration_ns.is_none());
        let io = ThreadIo {
            at: event.at_ns,
            end,
            cpu: event.cpu_before_ns,
            asynchronous: event.flags.has(Flags::ASYNC),
        };
        let key = self.steps[number as usize].key;
        let before = self.threads.io(event.thread, key.threads, &io, number);
        if let Some(last) = before.step.and_then(|last| self.steps.get_mut(last as usize)) {
            *last.next.entry(number).or_default() += 1;
        }
        let step = &mut self.steps[number as usize];
        step.add(event, before.gap);
        self.totals.failed += u64::from(event.result.is_some_and(|result| result < 0));
        if key.kind.syncs() {
            let writes = self.unsynced.remove(&event.file).unwrap_or(0);
            self.writes_per_sync.add(writes);
        }
        if !key.kind.moves() {
            return;
        }
        self.cursors.follow(step, number, event);
        let totals = &mut self.totals;
        match key.kind {
            StepKind::Read => {
                totals.reads += 1;
                totals.read_bytes = totals.read_bytes.saturating_add(event.length);
            }
            StepKind::Write => {
                totals.writes += 1;
                totals.written_bytes = totals.written_bytes.saturating_add(event.length);
                if self.unsynced.len() >= UNSYNCED {
                    self.unsynced.clear();
                }
                *self.unsynced.entry(event.file).or_default() += 1;
            }
            _ => return,
        }
        self.depth.add(event.at_ns, end);
        let load = self.windows.at(at);
        let sum = load.steps.entry(number).or_default();
        *sum = (sum.0 + 1, sum.1.saturating_add(event.length));
        let (first, last) =
            (event.offset / BLOCK, (event.offset.saturating_add(event.length.max(1)) - 1) / BLOCK);
        let stride = ((last - first) / BLOCKS_OF_IO + 1).next_power_of_two();
        for block in (first..=last).step_by(stride as usize) {
            let hash = hash(event.file, block);
            self.tracker.access(hash);
            self.distinct.add(hash);
            load.distinct.add(hash);
        }
    }

    /// The number of the step; late ones are counted as an earlier step of the same kind.
    fn number(&mut self, key: Key) -> u16 {
        if let Some(number) = self.numbers.get(&key) {
            return *number;
        }
        let number = match self.steps.len() < STEPS {
            true => {
                self.steps.push(Step::new(key, self.steps.len() as u16));
                self.steps.len() as u16 - 1
            }
            false => {
                let alike = |step: &Step| step.key.kind == key.kind;
                let same = |step: &Step| alike(step) && step.key.threads == key.threads;
                let at = self.steps.iter().position(same);
                at.or_else(|| self.steps.iter().position(alike)).unwrap_or(0) as u16
            }
        };
        self.numbers.insert(key, number);
        number
    }
}
