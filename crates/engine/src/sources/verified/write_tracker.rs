//! Tracks writes: where they went, which are in flight, and which wait to be read back.

use super::write_map::{Held, Piece, WRITE_MAX, WriteMap, WriteNumber};
use crate::hot::op::{Op, OpKind, UNPACED};
use crate::random::Random;
use plan::{BlockPlan, Verify, Worker};
use record::Direction;
use std::collections::VecDeque;

/// Tag of reads and trims of the verification; writes are tagged with their numbers.
pub(super) const CHECKED: u32 = UNPACED;

/// The writes of a worker.
pub(super) struct WriteTracker {
    maps: Vec<WriteMap>,
    /// Regions and grid of the maps, to create them again.
    regions: Vec<(u64, u64)>,
    grid: u64,
    records: bool,
    /// Number of the last write.
    number: WriteNumber,
    /// Writes, trims and checked reads in flight, in full, even if only a rest is in flight.
    in_flight: Vec<Op>,
    written: u64,
    /// Writes issued in this loop, and how many numbers were given before it.
    issued: u64,
    first_number: WriteNumber,
    /// Numbers in this loop of writes that were given up.
    given_up: Vec<u64>,
    /// What the last synchronisation covers, and those in flight.
    synced: Option<Extent>,
    syncing: VecDeque<Extent>,
    backlog: Option<Backlog>,
    trims: Option<TrimQueue>,
}

/// How far writing came: writes issued, and the numbers (from 0) of those whose end is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub issued: u64,
    pub open: Vec<u64>,
}

/// Blocks that wait to be read back.
struct Backlog {
    every: u64,
    batch: u64,
    left: u64,
    queue: VecDeque<Op>,
}

/// Blocks that are trimmed before they are read back.
struct TrimQueue {
    percent: u32,
    every: u64,
    batch: u64,
    since: u64,
    left: u64,
    queue: VecDeque<Op>,
    random: Random,
}

impl WriteTracker {
    pub fn new(worker: &Worker, verify: &Verify) -> WriteTracker {
        let regions: Vec<(u64, u64)> =
            worker.files.iter().map(|file| (file.start, file.length)).collect();
        let backlog = (verify.backlog > 0).then(|| Backlog {
            every: verify.backlog,
            batch: verify.backlog_batch,
            left: 0,
            queue: VecDeque::new(),
        });
        let mut writes = WriteTracker {
            maps: Vec::new(),
            regions,
            grid: grid(worker),
            records: verify.read_back
                || verify.only
                || backlog.is_some()
                || verify.trimming.is_some(),
            number: 0,
            in_flight: Vec::with_capacity(worker.queue.depth as usize),
            written: 0,
            issued: 0,
            first_number: 0,
            given_up: Vec::new(),
            synced: None,
            syncing: VecDeque::new(),
            backlog,
            trims: verify.trimming.map(|trimming| TrimQueue {
                percent: u32::from(trimming.percent),
                every: trimming.backlog,
                batch: trimming.batch,
                since: 0,
                left: 0,
                queue: VecDeque::new(),
                random: Random::new(worker.pattern.seed, 9),
            }),
        };
        if worker.pattern.rw.writes() && writes.records {
            let new = |(start, length): &(u64, u64)| WriteMap::new(*start, *length, writes.grid);
            writes.maps = writes.regions.iter().map(new).collect();
        }
        writes
    }

    /// Tags a write with its number.
    pub fn number(&mut self, op: Op) -> Op {
        if op.kind != OpKind::Write {
            return op;
        }
        self.number = if self.number >= WRITE_MAX { 1 } else { self.number + 1 };
        Op { tag: self.number, ..op }
    }

    /// The number of the last write.
    pub fn last(&self) -> WriteNumber {
        self.number
    }

    /// Whether an I/O overlaps a write in flight, or a write overlaps any I/O in flight.
    pub fn must_wait(&self, op: &Op) -> bool {
        let counts = op.kind != OpKind::Read || op.tag == CHECKED;
        counts
            && op.kind.direction().is_some()
            && self.in_flight.iter().any(|other| overlap(other, op))
    }

    /// An I/O, or the rest of one, is issued.
    pub fn issued(&mut self, op: &Op) {
        let counts = match op.kind {
            OpKind::Write | OpKind::Trim => true,
            OpKind::Read => op.tag == CHECKED,
            OpKind::Fsync | OpKind::Fdatasync => {
                self.syncing.push_back(self.reached());
                false
            }
            OpKind::ResetZone => {
                self.emptied(op);
                false
            }
            OpKind::SyncFileRange(_) | OpKind::Stat => false,
        };
        if !counts || self.find(op).is_some() {
            return;
        }
        self.in_flight.push(*op);
        self.issued += u64::from(op.kind == OpKind::Write);
        if let Some(map) = self.maps.get_mut(op.file as usize) {
            match op.kind {
                OpKind::Write => map.write(op.offset, op.length, op.tag),
                OpKind::Trim if op.tag == CHECKED => map.trim(op.offset, op.length),
                OpKind::Trim => map.forget(op.offset, op.length),
                _ => {}
            }
        }
    }

    /// The I/O in flight that this is or belongs to.
    fn find(&self, op: &Op) -> Option<usize> {
        self.in_flight.iter().position(|other| {
            (other.kind, other.tag, other.file) == (op.kind, op.tag, op.file)
                && (other.offset..other.offset + other.length).contains(&op.offset)
                && (op.kind == OpKind::Write
                    || op.offset + op.length <= other.offset + other.length)
        })
    }

    /// Offset and length of the whole write that this is or belongs to; `None` for other operations.
    pub fn whole(&self, op: &Op) -> Option<(u64, u64)> {
        if op.kind != OpKind::Write {
            return None;
        }
        let first = self.find(op).map_or(op, |at| &self.in_flight[at]);
        Some((first.offset, first.length))
    }

    /// An I/O ended well.
    pub fn ended(&mut self, op: &Op) {
        if let OpKind::Fsync | OpKind::Fdatasync = op.kind {
            self.synced = self.syncing.pop_front();
            return;
        }
        let Some(at) = self.find(op) else { return };
        let first = self.in_flight.swap_remove(at);
        if first.kind != OpKind::Write {
            return;
        }
        self.written += 1;
        if let Some(trims) = &mut self.trims {
            trims.add(&first);
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.queue.push_back(first);
            if backlog.queue.len() as u64 >= backlog.every {
                backlog.left = backlog.batch;
            }
        }
    }

    /// Records an I/O of an earlier run. Unless it is `certain` that it completed, its content is unknown.
    pub fn replayed(&mut self, op: &Op, certain: bool) {
        self.issued(op);
        if certain {
            self.ended(op);
        } else {
            self.failed(op);
        }
    }

    /// An I/O was given up: its content is unknown.
    pub fn failed(&mut self, op: &Op) {
        if let OpKind::Fsync | OpKind::Fdatasync = op.kind {
            self.syncing.pop_front();
        }
        if let Some(at) = self.find(op) {
            let first = self.in_flight.swap_remove(at);
            if first.kind == OpKind::Write {
                self.given_up.push(self.number_in_loop(&first));
            }
            self.forget(&first);
        }
    }

    /// A zone was emptied.
    pub fn emptied(&mut self, zone: &Op) {
        self.forget(zone);
    }

    fn forget(&mut self, op: &Op) {
        if op.kind != OpKind::Read
            && let Some(map) = self.maps.get_mut(op.file as usize)
        {
            map.forget(op.offset, op.length);
        }
    }

    /// Nothing is in flight: the content of writes with a rest that was never issued is unknown.
    pub fn settle(&mut self) {
        for op in std::mem::take(&mut self.in_flight) {
            self.forget(&op);
        }
    }

    /// Another loop starts: earlier writes are not read back.
    pub fn forget_all(&mut self) {
        self.written = 0;
        self.in_flight.clear();
        (self.issued, self.first_number) = (0, self.number);
        (self.synced, self.syncing) = (None, VecDeque::new());
        self.given_up.clear();
        if let Some(trims) = &mut self.trims {
            (trims.since, trims.left) = (0, 0);
            trims.queue.clear();
        }
        if let Some(backlog) = &mut self.backlog {
            backlog.left = 0;
            backlog.queue.clear();
        }
        for (map, (start, length)) in self.maps.iter_mut().zip(&self.regions) {
            *map = WriteMap::new(*start, *length, self.grid);
        }
    }

    /// Whether anything was written in this loop.
    pub fn any(&self) -> bool {
        self.written > 0 && self.records
    }

    /// Whether blocks are read back between writes.
    pub fn has_backlog(&self) -> bool {
        self.backlog.is_some()
    }

    /// The writes issued in this loop and those that are not complete; with `synced`, as they were at
    /// the last synchronisation.
    pub fn extent(&self, synced: bool) -> Extent {
        if synced { self.synced.clone().unwrap_or_default() } else { self.reached() }
    }

    fn reached(&self) -> Extent {
        let writes = self.in_flight.iter().filter(|op| op.kind == OpKind::Write);
        let in_flight = writes.map(|op| self.number_in_loop(op));
        let open = in_flight.chain(self.given_up.iter().rev().copied()).collect();
        Extent { issued: self.issued, open }
    }

    /// The number of a write in this loop, from 0.
    fn number_in_loop(&self, op: &Op) -> u64 {
        let given = match op.tag.checked_sub(self.first_number) {
            Some(given) => given,
            None => op.tag + (WRITE_MAX - self.first_number),
        };
        u64::from(given.max(1)) - 1
    }

    /// The next trim, if enough was written.
    pub fn due_trim(&mut self) -> Option<Op> {
        let trims = self.trims.as_mut().filter(|trims| trims.left > 0)?;
        trims.left -= 1;
        let op = self.queued_trim();
        if let (None, Some(trims)) = (op, &mut self.trims) {
            trims.left = 0;
        }
        op
    }

    /// The next block to trim that was not overwritten.
    pub fn queued_trim(&mut self) -> Option<Op> {
        loop {
            let write = self.trims.as_mut()?.queue.pop_front()?;
            let stands = |piece: &Piece| {
                piece.holds == Held::Write(write.tag) && piece.length == write.length
            };
            if self.pieces(write.file, write.offset, write.length).iter().any(stands) {
                return Some(Op { kind: OpKind::Trim, tag: CHECKED, ..write });
            }
        }
    }

    /// The next read of a backlog that has reached its limit.
    pub fn due_read(&mut self) -> Option<Op> {
        let backlog = self.backlog.as_mut().filter(|backlog| backlog.left > 0)?;
        backlog.left -= 1;
        let op = self.queued_read();
        if op.is_none()
            && let Some(backlog) = &mut self.backlog
        {
            backlog.left = 0;
        }
        op
    }

    /// The next block to read back that was not overwritten.
    pub fn queued_read(&mut self) -> Option<Op> {
        loop {
            let write = self.backlog.as_mut()?.queue.pop_front()?;
            let stands = |piece: &Piece| {
                piece.holds == Held::Write(write.tag) || piece.holds == Held::Trimmed
            };
            if self.pieces(write.file, write.offset, write.length).iter().any(stands) {
                return Some(Op { kind: OpKind::Read, tag: CHECKED, ..write });
            }
        }
    }

    /// The known content of these bytes of a file.
    pub fn pieces(&self, file: u32, offset: u64, length: u64) -> Vec<Piece> {
        let Some(map) = self.maps.get(file as usize) else { return Vec::new() };
        let (mut from, end) = (offset, offset + length);
        let mut pieces = Vec::new();
        while let Some(piece) = map.next(from, end) {
            from = piece.start + piece.length;
            pieces.push(piece);
            if from >= end {
                break;
            }
        }
        pieces
    }

    /// The first piece of a file beyond `from`.
    pub fn next_piece(&self, file: u32, from: u64) -> Option<Piece> {
        self.maps.get(file as usize)?.next(from, u64::MAX)
    }
}

impl TrimQueue {
    fn add(&mut self, write: &Op) {
        if self.random.percent(self.percent) {
            self.queue.push_back(*write);
        }
        self.since += 1;
        if self.every > 0 && self.since >= self.every {
            (self.since, self.left) = (0, self.batch);
        }
    }
}

fn overlap(a: &Op, b: &Op) -> bool {
    a.file == b.file && a.offset < b.offset + b.length && b.offset < a.offset + a.length
}

/// The coarsest grid on which all writes start and end.
pub(super) fn grid(worker: &Worker) -> u64 {
    let sizes = |plan: &BlockPlan| match plan {
        BlockPlan::Fixed(size) => *size,
        BlockPlan::Range { min, step, .. } => common(*min, *step),
        BlockPlan::Split(entries) => entries.iter().fold(0, |grid, (size, _)| common(grid, *size)),
    };
    // Writes to a zone start at its write pointer, which is anywhere.
    if worker.zbd.is_some() {
        return 1;
    }
    let pattern = &worker.pattern;
    let used = Direction::ALL.into_iter().filter(|direction| worker.has(*direction));
    // A backward job restarts at the end of its region.
    let ends = worker.files.iter().filter(|_| pattern.skip < 0).map(|file| file.length);
    let zones = worker.placing.strides.iter().flat_map(|zones| [zones.range, zones.skip]);
    let steps = ends.chain(zones).fold(pattern.skip.unsigned_abs(), common);
    used.fold(steps, |grid, direction| {
        common(common(grid, sizes(&pattern.blocks[direction])), pattern.align[direction])
    })
}

/// The greatest common divisor; 0 is a multiple of everything.
fn common(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes(verify: Option<u64>) -> WriteTracker {
        let mut worker = Worker::default();
        worker.pattern.rw = plan::ReadWrite::RandWrite;
        worker.pattern.blocks.write = BlockPlan::Split(vec![(4096, 50), (6144, 50)]);
        worker.files = vec![plan::File { length: 1 << 20, ..plan::File::default() }];
        let backlog = verify.unwrap_or(0);
        let verify = Verify { backlog, backlog_batch: backlog, ..super::super::tests::verify() };
        WriteTracker::new(&worker, &verify)
    }

    fn op(kind: OpKind, offset: u64, length: u64) -> Op {
        Op { kind, file: 0, offset, length, tag: 0 }
    }

    #[test]
    fn io_that_overlaps_a_write_in_flight_waits() {
        let mut writes = writes(None);
        assert_eq!(writes.grid, 2048);
        let first = writes.number(op(OpKind::Write, 4096, 4096));
        assert_eq!(first.tag, 1);
        writes.issued(&first);
        let over = writes.number(op(OpKind::Write, 6144, 4096));
        assert!(writes.must_wait(&over));
        assert!(!writes.must_wait(&op(OpKind::Write, 8192, 4096)));
        assert!(
            !writes.must_wait(&op(OpKind::Read, 4096, 4096)),
            "a read of the mix is not checked"
        );
        let rest = Op { offset: 5120, length: 3072, ..first };
        assert_eq!(writes.whole(&rest), Some((4096, 4096)));
        writes.issued(&rest);
        writes.ended(&rest);
        assert!(!writes.must_wait(&over) && writes.any());
        writes.issued(&over);
        writes.failed(&Op { length: 0, ..over });
        let known: Vec<_> =
            writes.pieces(0, 0, 1 << 20).iter().map(|p| (p.start, p.length)).collect();
        assert_eq!(known, [(4096, 2048)]);
    }

    #[test]
    fn a_failed_read_is_not_confused_with_its_neighbour() {
        let mut writes = writes(None);
        let reads = [0, 4096].map(|at| Op { tag: CHECKED, ..op(OpKind::Read, at, 4096) });
        reads.iter().for_each(|read| writes.issued(read));
        writes.failed(&Op { length: 0, ..reads[1] });
        assert!(writes.must_wait(&reads[0]) && !writes.must_wait(&reads[1]));
        writes.ended(&reads[0]);
        assert!(!writes.must_wait(&reads[0]));
    }

    #[test]
    fn a_batch_smaller_than_the_backlog_alternates_with_as_many_writes() {
        let mut writes = writes(Some(8));
        writes.backlog.as_mut().unwrap().batch = 4;
        let mut order = String::new();
        for at in 0..16 {
            let write = writes.number(op(OpKind::Write, at * 4096, 4096));
            writes.issued(&write);
            writes.ended(&write);
            order.push('w');
            std::iter::from_fn(|| writes.due_read()).for_each(|_| order.push('r'));
        }
        assert_eq!(order, "wwwwwwwwrrrrwwwwrrrrwwwwrrrr");
    }

    #[test]
    fn writes_are_numbered_from_0_in_each_loop() {
        let mut writes = writes(None);
        for _ in 0..2 {
            let all: Vec<Op> =
                (0..4).map(|at| writes.number(op(OpKind::Write, at * 4096, 4096))).collect();
            all.iter().for_each(|write| writes.issued(write));
            writes.ended(&all[0]);
            writes.failed(&Op { length: 0, ..all[1] });
            writes.issued(&op(OpKind::Fsync, 0, 0));
            writes.ended(&all[3]);
            assert_eq!(writes.extent(false), Extent { issued: 4, open: vec![2, 1] });
            assert_eq!(writes.extent(true), Extent::default());
            writes.ended(&op(OpKind::Fsync, 0, 0));
            let mut synced = writes.extent(true);
            synced.open.sort_unstable();
            assert_eq!(synced, Extent { issued: 4, open: vec![1, 2, 3] });
            writes.forget_all();
        }
    }

    #[test]
    fn a_backlog_is_read_once_it_has_grown() {
        let mut writes = writes(Some(2));
        for (count, at) in [0, 8192, 0].into_iter().enumerate() {
            assert_eq!(writes.due_read(), None, "after {count} writes");
            if count == 2 {
                break;
            }
            let write = writes.number(op(OpKind::Write, at, 4096));
            writes.issued(&write);
            writes.ended(&write);
            if count == 1 {
                let reads: Vec<_> = std::iter::from_fn(|| writes.due_read()).collect();
                assert_eq!(reads.iter().map(|r| r.offset).collect::<Vec<_>>(), [0, 8192]);
                assert!(reads.iter().all(|r| r.kind == OpKind::Read && r.tag == CHECKED));
            }
        }
    }
}
