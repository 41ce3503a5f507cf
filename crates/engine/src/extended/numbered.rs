//! Work on numbered objects of a store: which of them is put, fetched, asked about or deleted next.
//!
//! # Rules
//! - A worker's objects are its own. Those that are put get the next number, so what a run put is
//!   known by two numbers.
//! - An object is deleted only while nothing else goes to it, and is not touched any more from then
//!   on; one that was put is touched once its put has ended well.
//! - The kinds of a mix come from one deck, shuffled anew each time it is used up: their shares hold
//!   at all times, and the depth is shared by all of them.

use crate::ops::{Next, Op, OpKind};
use crate::pacing::Schedule;
use crate::random::Random;
use crate::worker::Builder;
use plan::{ObjectSet, ObjectWork, Pacing, RateLimit, Worker};
use record::{Direction, ObjectsPut};

/// How often an object is drawn at random before those that are there are gone through.
const DRAWS: u32 = 16;

/// The operations of a worker, one after the other.
pub(super) struct Numbered {
    set: ObjectSet,
    random: Random,
    deck: Deck,
    /// Drawn, and waits for an object that it can go to.
    drawn: Option<ObjectWork>,
    shelf: Shelf,
    /// Number of the next object that is put.
    next: u32,
    /// One more than the largest number that was handed over to be put; where they begin.
    put: (u32, u32),
    /// Operations that may follow.
    left: u64,
    /// Operations under way.
    in_flight: u64,
    clockwork: Option<Clockwork>,
}

/// When the operations of a mix are due.
struct Clockwork {
    schedule: Schedule,
    origin: u64,
    due: u64,
}

impl Clockwork {
    fn new(worker: &Worker, rate: u64) -> Option<Clockwork> {
        let mut pacing = Pacing { process: worker.pacing.process, ..Pacing::default() };
        // One direction stands for all of them: a schedule counts none but its own.
        pacing.limit.read = Some(RateLimit::Iops(rate));
        let schedule = Schedule::new(&pacing, worker.pattern.seed)?;
        Some(Clockwork { schedule, origin: 0, due: 0 })
    }

    fn advance(&mut self) {
        let due = self.schedule.next(Direction::Read, 1).unwrap_or(0);
        self.due = self.origin.saturating_add(due);
    }
}

impl Numbered {
    /// Prepares a worker's work. Memory: six bytes an object where any are deleted.
    pub fn new(worker: &Worker, set: &ObjectSet) -> Numbered {
        let is_put = set.work == ObjectWork::Put;
        let stop = &worker.stop;
        let each_once = match set.work {
            ObjectWork::Put if set.count == 0 => u64::MAX,
            ObjectWork::Put | ObjectWork::Delete => u64::from(set.count),
            _ if stop.time_based => u64::MAX,
            _ => u64::from(set.count).saturating_mul(stop.loops.max(1)),
        };
        let first = if is_put { 0 } else { set.count };
        let deletes = matches!(set.work, ObjectWork::Delete | ObjectWork::Mixed);
        Numbered {
            random: Random::new(worker.pattern.seed, 0),
            deck: Deck::new(set, worker.pattern.seed),
            drawn: None,
            shelf: Shelf::new(set.count, deletes),
            next: first,
            put: (first, first),
            left: each_once.min(stop.ios.unwrap_or(u64::MAX)),
            in_flight: 0,
            clockwork: set.rate.and_then(|rate| Clockwork::new(worker, rate)),
            set: set.clone(),
        }
    }

    /// The next step.
    pub fn next(&mut self) -> Next {
        if self.left == 0 {
            return Next::End;
        }
        let work = self.drawn.take().unwrap_or_else(|| self.deck.draw());
        let Some(op) = self.place(work) else {
            self.drawn = Some(work);
            // What is under way may bring back an object, or leave one alone.
            return if self.in_flight > 0 { Next::Busy } else { Next::End };
        };
        self.left -= 1;
        self.in_flight += 1;
        if let Some(clockwork) = &mut self.clockwork {
            clockwork.advance();
        }
        Next::Io(op)
    }

    /// The operation on an object that it can go to now.
    fn place(&mut self, work: ObjectWork) -> Option<Op> {
        let plain = Op { kind: OpKind::Read, file: 0, offset: 0, length: 0, tag: 0 };
        let (kind, tag) = match work {
            ObjectWork::List => return Some(plain),
            ObjectWork::Put => {
                // Beyond the last number there is no name.
                let number = self.next;
                self.next = number.checked_add(1).filter(|next| *next < u32::MAX)?;
                (OpKind::Write, number)
            }
            ObjectWork::Delete => (OpKind::Trim, self.shelf.take(&mut self.random)?),
            ObjectWork::Stat => {
                let tag = self.shelf.borrow(&mut self.random)?;
                let alone = self.set.work == ObjectWork::Stat;
                let kind = if alone { OpKind::Read } else { OpKind::Stat };
                return Some(Op { kind, tag, ..plain });
            }
            ObjectWork::Get | ObjectWork::Mixed => {
                (OpKind::Read, self.shelf.borrow(&mut self.random)?)
            }
        };
        let size = self.set.size(tag);
        let (offset, length) = match self.set.range.filter(|_| kind == OpKind::Read) {
            Some(range) => self.range(size, range),
            None => (0, size),
        };
        Some(Op { kind, offset, length, tag, ..plain })
    }

    /// A range of an object, at a multiple of its length.
    fn range(&mut self, size: u64, range: u64) -> (u64, u64) {
        let from = self.random.below((size / range).max(1)) * range;
        (from, range.min(size - from))
    }

    /// An operation is handed over.
    pub fn issued(&mut self, op: &Op) {
        if op.kind == OpKind::Write {
            self.put.1 = self.put.1.max(op.tag + 1);
        }
    }

    /// An operation that moves data, or removes it, ended; 0 bytes: in vain. One without a direction
    /// comes here only then.
    pub fn completed(&mut self, op: &Op, moved: u64) {
        self.in_flight = self.in_flight.saturating_sub(1);
        match op.kind {
            OpKind::Write if moved > 0 => self.shelf.add(op.tag),
            OpKind::Read | OpKind::Stat => self.shelf.give_back(op.tag),
            _ => {}
        }
    }

    /// An operation ended well; of those with a direction that is known already.
    pub fn ended(&mut self, op: &Op) {
        if op.kind.direction().is_none() {
            self.completed(op, 0);
        }
    }

    /// When the operation given last is due; `None`: at once.
    pub fn intended(&self) -> Option<u64> {
        self.clockwork.as_ref().map(|clockwork| clockwork.due)
    }

    /// The worker begins.
    pub fn begins(&mut self, now: u64) {
        if let Some(clockwork) = &mut self.clockwork {
            clockwork.origin = now;
        }
    }

    /// Which objects it put.
    pub fn gather(self, builder: &mut Builder<'_>) {
        let (from, to) = self.put;
        builder.objects_put(ObjectsPut { below: self.set.below, from, to });
    }
}

/// The kinds of operations, in their shares.
struct Deck {
    cards: Vec<ObjectWork>,
    /// How many of them were drawn since they were shuffled.
    drawn: usize,
    random: Random,
}

impl Deck {
    fn new(set: &ObjectSet, seed: u64) -> Deck {
        let mix = set.mix;
        let shares = [
            (ObjectWork::Get, mix.get),
            (ObjectWork::Stat, mix.stat),
            (ObjectWork::Put, mix.put),
            (ObjectWork::Delete, mix.delete),
        ];
        let cards = match set.work {
            ObjectWork::Mixed => {
                let of = |(work, share)| std::iter::repeat_n(work, share as usize);
                shares.into_iter().flat_map(of).collect()
            }
            only => vec![only],
        };
        let drawn = cards.len();
        Deck { cards, drawn, random: Random::new(seed, 1) }
    }

    fn draw(&mut self) -> ObjectWork {
        if self.drawn == self.cards.len() {
            for last in (1..self.cards.len()).rev() {
                self.cards.swap(last, self.random.below(last as u64 + 1) as usize);
            }
            self.drawn = 0;
        }
        self.drawn += 1;
        self.cards[self.drawn - 1]
    }
}

/// The objects that are there.
enum Shelf {
    /// These numbers, always.
    All(u32),
    /// These now; nothing that is being deleted is among them.
    Some {
        there: Vec<u32>,
        /// Operations under way on each number.
        readers: Vec<u16>,
    },
}

impl Shelf {
    fn new(count: u32, changes: bool) -> Shelf {
        match changes {
            false => Shelf::All(count),
            true => Shelf::Some { there: (0..count).collect(), readers: vec![0; count as usize] },
        }
    }

    /// One that is read until it is given back.
    fn borrow(&mut self, random: &mut Random) -> Option<u32> {
        match self {
            Shelf::All(count) => (*count > 0).then(|| random.below(u64::from(*count)) as u32),
            Shelf::Some { there, readers } => {
                let at = random.below(there.len() as u64) as usize;
                let number = *there.get(at)?;
                readers[number as usize] += 1;
                Some(number)
            }
        }
    }

    fn give_back(&mut self, number: u32) {
        if let Shelf::Some { readers, .. } = self {
            let readers = &mut readers[number as usize];
            *readers = readers.saturating_sub(1);
        }
    }

    /// One that nobody reads, for good.
    fn take(&mut self, random: &mut Random) -> Option<u32> {
        let Shelf::Some { there, readers } = self else { return None };
        let is_free = |at: &usize| there.get(*at).is_some_and(|n| readers[*n as usize] == 0);
        let drawn = (0..DRAWS).map(|_| random.below(there.len() as u64) as usize).find(is_free);
        let at = drawn.or_else(|| (0..there.len()).find(is_free))?;
        Some(there.swap_remove(at))
    }

    fn add(&mut self, number: u32) {
        if let Shelf::Some { there, readers } = self {
            there.push(number);
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

    fn numbered(worker: &Worker) -> Numbered {
        Numbered::new(worker, worker.numbered.as_ref().unwrap())
    }

    /// All operations, with `depth` of them under way; the oldest ends first.
    fn operations(mut work: Numbered, depth: usize, most: usize) -> Vec<Op> {
        let (mut all, mut flying) = (Vec::new(), std::collections::VecDeque::new());
        while all.len() < most {
            let next = work.next();
            if let Next::Io(op) = next {
                work.issued(&op);
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

    fn end(work: &mut Numbered, op: &Op) {
        match op.kind.direction() {
            Some(_) => work.completed(op, op.length),
            None => work.ended(op),
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
    fn gets_stay_among_what_is_there_and_ranges_within_objects() {
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
    fn a_mix_keeps_its_shares_and_touches_nothing_that_is_deleted() {
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
    fn what_cannot_be_deleted_now_waits_and_nothing_left_is_the_end() {
        let mut mixed = worker(ObjectWork::Mixed, 1);
        mixed.stop.time_based = true;
        mixed.numbered.as_mut().unwrap().mix = ObjectMix { get: 1, stat: 0, put: 0, delete: 1 };
        let mut work = numbered(&mixed);
        work.deck.cards = vec![ObjectWork::Get, ObjectWork::Delete];
        work.deck.drawn = 0;
        let Next::Io(get) = work.next() else { panic!("a get") };
        assert_eq!((get.kind, work.next()), (OpKind::Read, Next::Busy));
        work.completed(&get, get.length);
        let Next::Io(delete) = work.next() else { panic!("a delete") };
        assert_eq!(delete.kind, OpKind::Trim);
        work.completed(&delete, delete.length);
        assert_eq!(work.next(), Next::End);
    }

    #[test]
    fn what_failed_is_not_there_and_what_was_put_is_known() {
        let mut mixed = worker(ObjectWork::Mixed, 1);
        mixed.stop.time_based = true;
        let mut work = numbered(&mixed);
        work.deck.cards = vec![ObjectWork::Put];
        work.deck.drawn = 0;
        for fails in [true, false] {
            let Next::Io(op) = work.next() else { panic!("a put") };
            work.issued(&op);
            work.completed(&op, if fails { 0 } else { op.length });
        }
        let Shelf::Some { there, .. } = &work.shelf else { panic!("a shelf that changes") };
        assert_eq!((there.as_slice(), work.put), (&[0, 2][..], (1, 3)));
    }

    #[test]
    fn the_operations_of_a_mix_are_due_at_their_rate() {
        let mut mixed = worker(ObjectWork::Mixed, 10);
        mixed.stop.time_based = true;
        mixed.numbered.as_mut().unwrap().rate = Some(1000);
        let mut work = numbered(&mixed);
        work.begins(500);
        let due: Vec<_> = (0..3)
            .map(|_| {
                work.next();
                work.intended().unwrap()
            })
            .collect();
        assert_eq!(due, [500, 1_000_500, 2_000_500]);
        assert_eq!(numbered(&worker(ObjectWork::Mixed, 10)).intended(), None);
    }
}
