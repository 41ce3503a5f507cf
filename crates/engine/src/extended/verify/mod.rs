//! Verification: blocks are written with content that proves what it is, and read back.
//!
//! # Rules
//! - Each loop writes; when it is done, everything drains, is synchronised and leaves the page
//!   cache, and what was written is read back, in the order of writing where no block is written
//!   twice and by offset otherwise. With a backlog, blocks are read back while writing goes on.
//! - Writes are remembered when they are handed to the kernel. One that overlaps another in flight
//!   waits for it: else nobody could know which of both is to be found.
//! - What a failed or cut write left behind is not checked.
//! - Time that is up ends writing, not reading back; a worker asked to end does neither.
//! - Reads of a job that only reads are checked as they come. Those of a mix are not, as with fio.

mod check;
mod checksum;
mod content;
mod diagnosis;
mod dump;
mod header;
mod ledger;
mod reader;
mod writes;

use crate::meter::Stamps;
use crate::ops::{Fault, Next, Op, OpKind, Source, UNPACED};
use crate::source::Workload;
use crate::worker::Builder;
use check::{Checker, Found, Knowing, Request};
use content::Content;
use ledger::{Holds, Piece};
use plan::{Verify, Worker};
use reader::{Reader, replays};
use record::{Direction, Nanos};
use std::collections::VecDeque;
use writes::Writes;

/// Tag of reads that are checked; writes are tagged with their stamps.
const CHECKED: u32 = UNPACED;
/// Faults kept back until it is known whether the file is the job's own.
const FOREIGN_MAX: usize = 1000;

/// What the worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its work.
    Working,
    /// What was written goes to the target, and everything in flight ends before.
    Draining,
    Settling,
    /// Reading back.
    Reading,
    /// What comes after the reading.
    Leaving,
    /// Nothing more.
    Done,
}

/// A worker's I/O with content that is checked.
pub(crate) struct Verified {
    verify: Verify,
    work: Workload,
    /// The work as it was when the loop began.
    loop_start: Workload,
    content: Content,
    checker: Checker,
    writes: Writes,
    reader: Option<Reader>,
    stage: Stage,
    /// What the work asked for when reading back began.
    after: Next,
    only_reads: bool,
    replays: bool,
    mixes: bool,
    /// I/Os of the work in this loop.
    drawn: u64,
    waiting: Option<Op>,
    open: OpenNow,
    phases: Phases,
    owns: bool,
    foreign: Vec<Fault>,
    late: VecDeque<Fault>,
    scratch: Vec<u8>,
    now: u64,
}

/// Which files are open, for work that opens only some at a time.
struct OpenNow {
    limited: bool,
    open: Vec<bool>,
}

/// How long each part took, in nanoseconds.
#[derive(Default)]
struct Phases {
    worked: u64,
    read: u64,
    current: Option<(u64, u64)>,
}

impl Phases {
    fn note(&mut self, from: u64, to: u64) {
        let (begin, end) = self.current.get_or_insert((from, to));
        *begin = (*begin).min(from);
        *end = (*end).max(to);
    }

    fn lasted(&mut self) -> u64 {
        self.current.take().map_or(0, |(begin, end)| end - begin)
    }
}

impl Verified {
    /// The worker's I/O, where it verifies.
    pub fn new(worker: &Worker, aux_path: &str) -> Option<Verified> {
        let verify = worker.verify.clone()?;
        let work = Workload::new(worker);
        let only_reads = !worker.pattern.rw.writes();
        let knowing = match (only_reads, verify.only) {
            (true, _) => Knowing::Nothing,
            (false, true) => Knowing::Order,
            (false, false) => Knowing::All,
        };
        let count = worker.files.len();
        let open_at_once = worker.selection.open_at_once(count as u32) as usize;
        Some(Verified {
            loop_start: work.clone(),
            content: Content::new(worker, &verify),
            checker: Checker::new(worker, &verify, knowing, aux_path),
            writes: Writes::new(worker, &verify),
            reader: None,
            stage: Stage::Working,
            after: Next::End,
            only_reads,
            replays: replays(worker),
            mixes: worker.pattern.rw.reads() && worker.pattern.rw.writes(),
            drawn: 0,
            waiting: None,
            open: OpenNow {
                limited: open_at_once < count,
                open: (0..count).map(|file| file < open_at_once).collect(),
            },
            phases: Phases::default(),
            owns: false,
            foreign: Vec::new(),
            late: VecDeque::new(),
            scratch: Vec::new(),
            now: 0,
            work,
            verify,
        })
    }

    /// The next step of the work itself, with the reads of a backlog in between.
    fn work_on(&mut self) -> Option<Next> {
        if let Some(op) = self.waiting.take() {
            return Some(self.hand_out(op));
        }
        if let Some(op) = self.writes.due_read() {
            return Some(self.hand_out(op));
        }
        let next = if self.verify.only { self.walk() } else { self.work.next() };
        match next {
            Next::Io(op) => {
                self.drawn += 1;
                let op = self.writes.named(op);
                return Some(self.hand_out(op));
            }
            Next::Open(file) => self.open.open[file as usize] = true,
            Next::Close(file) => self.open.open[file as usize] = false,
            Next::LoopEnd | Next::End if self.reads_back() => {
                self.after = next;
                self.stage = Stage::Draining;
                return None;
            }
            Next::LoopEnd => self.begin_loop(),
            _ => {}
        }
        Some(next)
    }

    /// Goes through the work without doing it, up to the end of the loop.
    fn walk(&mut self) -> Next {
        loop {
            match self.work.next() {
                Next::Io(op) => {
                    self.drawn += 1;
                    let op = self.writes.named(op);
                    self.writes.issued(&op);
                    self.writes.ended(&op);
                    self.work.completed(&op, op.length);
                }
                end @ (Next::LoopEnd | Next::End) => return end,
                _ => {}
            }
        }
    }

    /// Gives an I/O out, unless it overlaps a write in flight.
    fn hand_out(&mut self, op: Op) -> Next {
        if self.writes.must_wait(&op) {
            self.waiting = Some(op);
            return Next::Busy;
        }
        Next::Io(op)
    }

    fn reads_back(&self) -> bool {
        (self.verify.read_back || self.verify.only) && self.writes.any()
    }

    fn begin_loop(&mut self) {
        self.loop_start = self.work.clone();
        self.drawn = 0;
        self.writes.forget_all();
    }

    fn begin_reading(&mut self) {
        self.writes.settle();
        self.phases.worked += self.phases.lasted();
        self.reader = Some(if self.writes.has_backlog() {
            Reader::Backlog
        } else if self.replays {
            Reader::Replay { work: Box::new(self.loop_start.clone()), left: self.drawn }
        } else {
            Reader::Sweep { files: self.open.open.len() as u32, file: 0, from: 0 }
        });
        self.stage = Stage::Reading;
    }

    fn read_on(&mut self) -> Option<Next> {
        if let Some(op) = self.waiting.take() {
            return Some(self.open_for(op));
        }
        let op = self.reader.as_mut().and_then(|reader| reader.next(&mut self.writes));
        match op {
            Some(op) => Some(self.open_for(Op { tag: CHECKED, ..op })),
            None => {
                self.stage = Stage::Leaving;
                Some(Next::Drain)
            }
        }
    }

    /// Opens the file of an I/O first, where not all are open.
    fn open_for(&mut self, op: Op) -> Next {
        let OpenNow { limited, open } = &mut self.open;
        if !*limited || open[op.file as usize] {
            return Next::Io(op);
        }
        self.waiting = Some(op);
        if let Some(other) = open.iter().position(|open| *open) {
            open[other] = false;
            return Next::Close(other as u32);
        }
        open[op.file as usize] = true;
        Next::Open(op.file)
    }

    fn leave(&mut self) -> Option<Next> {
        self.phases.read += self.phases.lasted();
        self.reader = None;
        self.stage = if self.after == Next::End { Stage::Done } else { Stage::Working };
        self.begin_loop();
        Some(std::mem::replace(&mut self.after, Next::End)).filter(|next| *next != Next::End)
    }

    fn request(&self, op: &Op) -> Request {
        let pieces = if self.only_reads {
            let whole = Piece {
                start: op.offset,
                length: op.length,
                holds: Holds::Write(1),
                head: true,
                tail: true,
            };
            vec![whole]
        } else {
            self.writes.pieces(op.file, op.offset, op.length)
        };
        Request { op: *op, pieces, last: self.writes.last() }
    }

    /// Which fault of what was found counts now.
    fn judge(&mut self, found: Found) -> Option<Fault> {
        self.owns |= found.own;
        match found.foreign {
            Some(fault) if self.foreign.len() < FOREIGN_MAX => self.foreign.push(fault),
            _ => {}
        }
        if self.owns {
            self.late.extend(self.foreign.drain(..));
        }
        found.fault.or_else(|| self.late.pop_front())
    }

    fn checks(&self, op: &Op) -> bool {
        op.kind == OpKind::Read && (op.tag == CHECKED || self.only_reads)
    }

    fn check(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        let request = self.request(op);
        let found = self.checker.check(&request, buffer);
        self.judge(found).map_or(Ok(()), Err)
    }

    /// The worker ended: what was found too late for an I/O, and how long each direction took.
    pub fn gather(mut self, builder: &mut Builder<'_>) {
        for fault in std::mem::take(&mut self.late) {
            builder.fault(&fault);
        }
        let rest = self.phases.lasted();
        match self.stage {
            Stage::Reading | Stage::Leaving => self.phases.read += rest,
            _ => self.phases.worked += rest,
        }
        if self.only_reads || self.phases.read == 0 {
            return;
        }
        let reads_while_working = self.writes.has_backlog() || self.mixes;
        let worked = if reads_while_working { self.phases.worked } else { 0 };
        builder.set_runtime(Direction::Read, Nanos(self.phases.read + worked));
        for direction in [Direction::Write, Direction::Trim] {
            builder.set_runtime(direction, Nanos(self.phases.worked));
        }
    }
}

impl Source for Verified {
    const EXTENDED: bool = true;

    fn next(&mut self) -> Next {
        loop {
            let step = match self.stage {
                Stage::Working => self.work_on(),
                Stage::Draining => {
                    self.stage = Stage::Settling;
                    Some(Next::Drain)
                }
                Stage::Settling => {
                    self.begin_reading();
                    self.open.open.fill(!self.open.limited);
                    Some(Next::Settle)
                }
                Stage::Reading => self.read_on(),
                Stage::Leaving => self.leave(),
                Stage::Done => Some(Next::End),
            };
            if let Some(next) = step {
                return next;
            }
        }
    }

    fn steer(&mut self, direction: Direction) {
        if self.stage == Stage::Working {
            self.work.steer(direction);
        }
    }

    fn completed(&mut self, op: &Op, moved: u64) {
        if op.tag != CHECKED {
            self.work.completed(op, moved);
        }
        if moved == 0 {
            self.writes.failed(op);
        }
    }

    fn fill(&mut self, op: &Op, buffer: &mut [u8]) -> bool {
        let Some((offset, length)) = self.writes.whole(op) else { return false };
        if (offset, length) == (op.offset, op.length) {
            self.content.make(buffer, offset, op.tag, self.now);
            return true;
        }
        // The rest of a write that fell short: the same block again, from there on.
        self.scratch.resize(length as usize, 0);
        self.content.make(&mut self.scratch, offset, op.tag, self.now);
        let from = (op.offset - offset) as usize;
        buffer.copy_from_slice(&self.scratch[from..from + buffer.len()]);
        true
    }

    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        self.now = stamps.ready;
        self.phases.note(stamps.ready, stamps.ready);
        self.writes.issued(op);
    }

    fn ended(
        &mut self,
        op: &Op,
        buffer: &mut [u8],
        stamps: &Stamps,
        now: u64,
    ) -> Result<(), Fault> {
        self.phases.note(stamps.ready, now);
        self.writes.ended(op);
        if self.checks(op) {
            return self.check(op, buffer);
        }
        self.late.pop_front().map_or(Ok(()), Err)
    }

    fn window_begins(&mut self, _: u64) {
        self.phases = Phases::default();
    }

    fn part(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        if self.checks(op) { self.check(op, buffer) } else { Ok(()) }
    }

    fn beyond_end(&mut self, op: &Op) -> Option<Fault> {
        self.checks(op).then(|| self.checker.short(op))
    }

    fn goes_on(&mut self) -> bool {
        if self.stage != Stage::Working || !self.reads_back() {
            return false;
        }
        self.waiting = None;
        self.after = Next::End;
        self.stage = Stage::Draining;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::VerifyMethod;

    /// Verification with nothing out of the ordinary.
    pub(super) fn verify() -> Verify {
        Verify {
            method: VerifyMethod::Crc32c,
            read_back: true,
            only: false,
            interval: 0,
            offset: 0,
            pattern: None,
            pattern_interval: 0,
            fatal: false,
            dump: false,
            threads: 0,
            cpus: Vec::new(),
            backlog: 0,
            backlog_batch: 1,
            state_load: false,
            state_save: false,
            only_fsynced: false,
            write_sequence: true,
            header_seed: true,
            trimming: None,
        }
    }
}
