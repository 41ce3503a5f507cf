//! Operations on numbered objects of a store: put, get, stat, delete, list.
//!
//! # Rules
//! - A worker has its own objects. A put gets the next number, so two numbers tell which objects a run
//!   has put.
//! - An object is deleted only while no other operation uses it, and is not used any more from then
//!   on. An object is used once its put has ended well.
//! - The operations of a mix are drawn from a shuffled list that is shuffled again each time it is
//!   used up, so that their shares hold at all times. All of them share the depth.

use super::RecordSource;
use crate::hot::op::{Fault, Next, Op, OpKind, Source};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use crate::pacing::Schedule;
use crate::random::Random;
use plan::{ObjectSet, ObjectWork, Pacing, RateLimit, Worker};
use record::{Direction, ObjectsPut};

/// Random draws of an object before a search through all of them.
const DRAWS: u32 = 16;

/// Issues the operations of a worker.
pub(crate) struct NumberedObjects {
    set: ObjectSet,
    random: Random,
    mix: OpMix,
    /// An operation that waits for an object it can use.
    waiting: Option<ObjectWork>,
    objects: Objects,
    /// Number of the next object to put.
    next: u32,
    /// First number to put, and one more than the largest number put.
    put: (u32, u32),
    /// Operations left.
    left: u64,
    in_flight: u64,
    schedule: Option<OpSchedule>,
}

/// When the operations of a mix are due.
struct OpSchedule {
    schedule: Schedule,
    origin: u64,
    due: u64,
}

impl OpSchedule {
    fn new(worker: &Worker, rate: u64) -> Option<OpSchedule> {
        let mut pacing = Pacing { process: worker.pacing.process, ..Pacing::default() };
        // One direction stands for all operations.
        pacing.limit.read = Some(RateLimit::Iops(rate));
        let schedule = Schedule::new(&pacing, worker.pattern.seed)?;
        Some(OpSchedule { schedule, origin: 0, due: 0 })
    }

    fn advance(&mut self) {
        let due = self.schedule.next(Direction::Read, 1).unwrap_or(0);
        self.due = self.origin.saturating_add(due);
    }
}

impl NumberedObjects {
    /// Memory: six bytes per object if objects are deleted.
    pub fn new(worker: &Worker, set: &ObjectSet) -> NumberedObjects {
        let is_put = set.work == ObjectWork::Put;
        let stop = &worker.stop;
        let count = match set.work {
            ObjectWork::Put if set.count == 0 => u64::MAX,
            ObjectWork::Put | ObjectWork::Delete => u64::from(set.count),
            _ if stop.time_based => u64::MAX,
            _ => u64::from(set.count).saturating_mul(stop.loops.max(1)),
        };
        let first = if is_put { 0 } else { set.count };
        let deletes = matches!(set.work, ObjectWork::Delete | ObjectWork::Mixed);
        NumberedObjects {
            random: Random::new(worker.pattern.seed, 0),
            mix: OpMix::new(set, worker.pattern.seed),
            waiting: None,
            objects: Objects::new(set.count, deletes),
            next: first,
            put: (first, first),
            left: count.min(stop.ios.unwrap_or(u64::MAX)),
            in_flight: 0,
            schedule: set.rate.and_then(|rate| OpSchedule::new(worker, rate)),
            set: set.clone(),
        }
    }

    /// The operation on an object that it can use now.
    fn place(&mut self, work: ObjectWork) -> Option<Op> {
        let plain = Op { kind: OpKind::Read, file: 0, offset: 0, length: 0, tag: 0 };
        let (kind, tag) = match work {
            ObjectWork::List => return Some(plain),
            ObjectWork::Put => {
                // Objects have no name beyond the last number.
                let number = self.next;
                self.next = number.checked_add(1).filter(|next| *next < u32::MAX)?;
                (OpKind::Write, number)
            }
            ObjectWork::Delete => (OpKind::Trim, self.objects.take(&mut self.random)?),
            ObjectWork::Stat => {
                let tag = self.objects.acquire(&mut self.random)?;
                let alone = self.set.work == ObjectWork::Stat;
                let kind = if alone { OpKind::Read } else { OpKind::Stat };
                return Some(Op { kind, tag, ..plain });
            }
            ObjectWork::Get | ObjectWork::Mixed => {
                (OpKind::Read, self.objects.acquire(&mut self.random)?)
            }
        };
        let size = self.set.size(tag);
        let (offset, length) = match self.set.range.filter(|_| kind == OpKind::Read) {
            Some(range) => self.range(size, range),
            None => (0, size),
        };
        Some(Op { kind, offset, length, tag, ..plain })
    }

    /// A random range of an object, at a multiple of the range's length.
    fn range(&mut self, size: u64, range: u64) -> (u64, u64) {
        let from = self.random.below((size / range).max(1)) * range;
        (from, range.min(size - from))
    }
}

impl Source for NumberedObjects {
    fn next(&mut self) -> Next {
        if self.left == 0 {
            return Next::End;
        }
        let work = self.waiting.take().unwrap_or_else(|| self.mix.draw());
        let Some(op) = self.place(work) else {
            self.waiting = Some(work);
            // An operation in flight may add or release an object.
            return if self.in_flight > 0 { Next::Busy } else { Next::End };
        };
        self.left -= 1;
        self.in_flight += 1;
        if let Some(schedule) = &mut self.schedule {
            schedule.advance();
        }
        Next::Io(op)
    }

    fn issued(&mut self, op: &Op, _: &Stamps) {
        if op.kind == OpKind::Write {
            self.put.1 = self.put.1.max(op.tag + 1);
        }
    }

    /// Called for operations with a direction, and for stats that failed.
    fn completed(&mut self, op: &Op, moved: u64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        match op.kind {
            OpKind::Write if moved > 0 => self.objects.add(op.tag),
            OpKind::Read | OpKind::Stat => self.objects.release(op.tag),
            _ => {}
        }
    }

    fn ended(&mut self, op: &Op, _: &mut [u8], _: &Stamps, _: u64) -> Result<(), Fault> {
        if op.kind.direction().is_none() {
            self.completed(op, 0);
        }
        Ok(())
    }

    fn due(&self, _: &Op) -> Option<u64> {
        self.schedule.as_ref().map(|schedule| schedule.due)
    }

    fn started(&mut self, now: u64) {
        if let Some(schedule) = &mut self.schedule {
            schedule.origin = now;
        }
    }
}

impl RecordSource for NumberedObjects {
    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        let (from, to) = self.put;
        builder.job.objects = Some(ObjectsPut { below: self.set.below.clone(), from, to });
    }
}

/// Draws operations in their shares.
struct OpMix {
    ops: Vec<ObjectWork>,
    /// Number of operations drawn since the last shuffle.
    drawn: usize,
    random: Random,
}

impl OpMix {
    fn new(set: &ObjectSet, seed: u64) -> OpMix {
        let mix = set.mix;
        let shares = [
            (ObjectWork::Get, mix.get),
            (ObjectWork::Stat, mix.stat),
            (ObjectWork::Put, mix.put),
            (ObjectWork::Delete, mix.delete),
        ];
        let ops = match set.work {
            ObjectWork::Mixed => {
                let repeat = |(work, share)| std::iter::repeat_n(work, share as usize);
                shares.into_iter().flat_map(repeat).collect()
            }
            only => vec![only],
        };
        let drawn = ops.len();
        OpMix { ops, drawn, random: Random::new(seed, 1) }
    }

    fn draw(&mut self) -> ObjectWork {
        if self.drawn == self.ops.len() {
            for last in (1..self.ops.len()).rev() {
                self.ops.swap(last, self.random.below(last as u64 + 1) as usize);
            }
            self.drawn = 0;
        }
        self.drawn += 1;
        self.ops[self.drawn - 1]
    }
}

/// The objects that exist.
enum Objects {
    /// The numbers below this one, always.
    All(u32),
    /// A set that changes, without objects that are being deleted.
    Changing {
        present: Vec<u32>,
        /// Operations in flight on each number.
        readers: Vec<u16>,
    },
}

impl Objects {
    fn new(count: u32, changes: bool) -> Objects {
        match changes {
            false => Objects::All(count),
            true => Objects::Changing {
                present: (0..count).collect(),
                readers: vec![0; count as usize],
            },
        }
    }

    /// Draws an object to read; release it afterwards.
    fn acquire(&mut self, random: &mut Random) -> Option<u32> {
        match self {
            Objects::All(count) => (*count > 0).then(|| random.below(u64::from(*count)) as u32),
            Objects::Changing { present, readers } => {
                let at = random.below(present.len() as u64) as usize;
                let number = *present.get(at)?;
                readers[number as usize] += 1;
                Some(number)
            }
        }
    }

    fn release(&mut self, number: u32) {
        if let Objects::Changing { readers, .. } = self {
            let readers = &mut readers[number as usize];
            *readers = readers.saturating_sub(1);
        }
    }

    /// Removes an object that nobody reads.
    fn take(&mut self, random: &mut Random) -> Option<u32> {
        let Objects::Changing { present, readers } = self else { return None };
        let is_free = |at: &usize| present.get(*at).is_some_and(|n| readers[*n as usize] == 0);
        let drawn = (0..DRAWS).map(|_| random.below(present.len() as u64) as usize).find(is_free);
        let at = drawn.or_else(|| (0..present.len()).find(is_free))?;
        Some(present.swap_remove(at))
    }

    fn add(&mut self, number: u32) {
        if let Objects::Changing { present, readers } = self {
            present.push(number);
            let room = readers.len().max(number as usize + 1);
            readers.resize(room, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::ObjectMix;
    use std::collections::BTreeMap;

    fn worker(work: ObjectWork, count: u32) -> Worker {
        let mut worker = Worker::default();
        worker.pattern.seed = 11;
        worker.stop.loops = 1;
        worker.numbered = Some(ObjectSet::new(work, "/b/p/0/", count, 4096));
        worker
    }

    fn numbered(worker: &Worker) -> NumberedObjects {
        NumberedObjects::new(worker, worker.numbered.as_ref().unwrap())
    }

    /// All operations, with `depth` of them under way; the oldest ends first.
    fn operations(mut work: NumberedObjects, depth: usize, most: usize) -> Vec<Op> {
        let (mut all, mut flying) = (Vec::new(), std::collections::VecDeque::new());
        while all.len() < most {
            let next = work.next();
            if let Next::Io(op) = next {
                work.issued(&op, &Stamps::default());
                check(&op, &flying);
                flying.push_back(op);
                all.push(op);
            }
            if next == Next::End {
                break;
            }
            if flying.len() == depth || next == Next::Busy {
                flying.pop_front().into_iter().for_each(|op| end(&mut work, &op));
            }
        }
        all
    }

    fn end(work: &mut NumberedObjects, op: &Op) {
        match op.kind.direction() {
            Some(_) => work.completed(op, op.length),
            None => work.ended(op, &mut [], &Stamps::default(), 0).unwrap(),
        }
    }

    /// Nothing else goes to an object that is deleted, or is not there yet.
    fn check(op: &Op, flying: &std::collections::VecDeque<Op>) {
        for other in flying.iter().filter(|other| other.tag == op.tag) {
            let reads = |op: &Op| matches!(op.kind, OpKind::Read | OpKind::Stat);
            assert!(reads(op) && reads(other), "{op:?} beside {other:?}");
        }
    }

    #[test]
    fn puts_are_numbered_from_0_and_end_with_their_count() {
        let ops = operations(numbered(&worker(ObjectWork::Put, 5)), 1, 100);
        assert_eq!(ops.iter().map(|op| op.tag).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert!(ops.iter().all(|op| op.kind == OpKind::Write && op.length == 4096));
        let endless = operations(numbered(&worker(ObjectWork::Put, 0)), 1, 100);
        assert_eq!(endless.len(), 100);
    }

    #[test]
    fn each_object_is_deleted_once() {
        let ops = operations(numbered(&worker(ObjectWork::Delete, 50)), 4, 1000);
        let mut numbers: Vec<u32> = ops.iter().map(|op| op.tag).collect();
        assert_ne!(numbers, (0..50).collect::<Vec<_>>(), "the order is random");
        numbers.sort_unstable();
        assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn gets_read_only_existing_objects_and_ranges_within_them() {
        let mut ranged = worker(ObjectWork::Get, 8);
        ranged.numbered.as_mut().unwrap().range = Some(1000);
        ranged.stop.time_based = true;
        let ops = operations(numbered(&ranged), 1, 500);
        assert_eq!(ops.len(), 500);
        assert!(ops.iter().all(|op| op.tag < 8 && op.offset + op.length <= 4096));
        assert!(ops.iter().all(|op| op.offset % 1000 == 0 && op.length == 1000));
        let all: std::collections::BTreeSet<u32> = ops.iter().map(|op| op.tag).collect();
        assert_eq!(all.len(), 8);
    }

    #[test]
    fn a_mix_keeps_its_shares_and_uses_no_deleted_object() {
        let mut mixed = worker(ObjectWork::Mixed, 40);
        mixed.stop.time_based = true;
        let work = numbered(&mixed);
        let ops = operations(work, 16, 10_000);
        assert_eq!(ops.len(), 10_000);
        let mut counts: BTreeMap<String, i64> = BTreeMap::new();
        let mut deleted = std::collections::BTreeSet::new();
        for op in &ops {
            *counts.entry(format!("{:?}", op.kind)).or_default() += 1;
            assert!(!deleted.contains(&op.tag), "{op:?}");
            if op.kind == OpKind::Trim {
                deleted.insert(op.tag);
            }
        }
        let shares = [("Read", 4500), ("Stat", 3000), ("Write", 1500), ("Trim", 1000)];
        for (kind, share) in shares {
            assert!((counts[kind] - share).abs() <= 100, "{counts:?}");
        }
    }

    #[test]
    fn a_delete_waits_for_a_free_object_and_ends_without_any() {
        let mut mixed = worker(ObjectWork::Mixed, 1);
        mixed.stop.time_based = true;
        mixed.numbered.as_mut().unwrap().mix = ObjectMix { get: 1, stat: 0, put: 0, delete: 1 };
        let mut work = numbered(&mixed);
        work.mix.ops = vec![ObjectWork::Get, ObjectWork::Delete];
        work.mix.drawn = 0;
        let Next::Io(get) = work.next() else { panic!("a get") };
        assert_eq!((get.kind, work.next()), (OpKind::Read, Next::Busy));
        work.completed(&get, get.length);
        let Next::Io(delete) = work.next() else { panic!("a delete") };
        assert_eq!(delete.kind, OpKind::Trim);
        work.completed(&delete, delete.length);
        assert_eq!(work.next(), Next::End);
    }

    #[test]
    fn a_failed_put_adds_no_object_and_a_completed_put_does() {
        let mut mixed = worker(ObjectWork::Mixed, 1);
        mixed.stop.time_based = true;
        let mut work = numbered(&mixed);
        work.mix.ops = vec![ObjectWork::Put];
        work.mix.drawn = 0;
        for fails in [true, false] {
            let Next::Io(op) = work.next() else { panic!("a put") };
            work.issued(&op, &Stamps::default());
            work.completed(&op, if fails { 0 } else { op.length });
        }
        let Objects::Changing { present, .. } = &work.objects else { panic!("a set that changes") };
        assert_eq!((present.as_slice(), work.put), (&[0, 2][..], (1, 3)));
    }

    #[test]
    fn the_operations_of_a_mix_are_due_at_their_rate() {
        let mut mixed = worker(ObjectWork::Mixed, 10);
        mixed.stop.time_based = true;
        mixed.numbered.as_mut().unwrap().rate = Some(1000);
        let mut work = numbered(&mixed);
        work.started(500);
        let due: Vec<_> = (0..3)
            .map(|_| {
                let Next::Io(op) = work.next() else { panic!("an operation") };
                work.due(&op).unwrap()
            })
            .collect();
        assert_eq!(due, [500, 1_000_500, 2_000_500]);
        assert!(numbered(&worker(ObjectWork::Mixed, 10)).schedule.is_none());
    }
}
