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
mod drawn;
mod dump;
mod header;
mod ledger;
mod opening;
mod phases;
mod pool;
mod reader;
mod state;
#[cfg(test)]
mod trials;
mod writes;

pub(crate) use checksum::digest;

use crate::meter::Stamps;
use crate::ops::{Fault, Next, Op, OpKind, Source, UNPACED};
use crate::source::Workload;
use crate::worker::Builder;
use crate::zones::ZonedTargets;
use check::{Checker, Found, Knowing, Request};
use content::Content;
use drawn::Drawn;
use ledger::{Holds, Piece};
use opening::Opening;
use phases::Phases;
use plan::{Verify, Worker};
use pool::Pool;
use reader::{Reader, replays};
use record::{Direction, Nanos};
use state::State;
use std::collections::VecDeque;
use writes::Writes;

/// Tag of reads that are checked; writes are tagged with their stamps.
const CHECKED: u32 = UNPACED;
/// Faults kept back until it is known whether the file is the job's own, or until the end.
const FAULTS_MAX: usize = 1000;

/// What the worker is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Its work.
    Working,
    /// Trimming what is to be found empty.
    Trimming,
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
    work: Drawn,
    /// The work as it was when the loop began, where it can be gone through again.
    loop_start: Option<Box<Workload>>,
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
    open: Opening,
    phases: Phases,
    owns: bool,
    foreign: Vec<(Op, Fault)>,
    late: VecDeque<(Op, Fault)>,
    /// More of them than are kept.
    uncounted: u64,
    pool: Option<Pool>,
    /// What an earlier run left: how far to go.
    loaded: Option<State>,
    /// Why nothing can be done at all.
    refused: Option<Fault>,
    /// Where states and dumps go.
    directory: String,
    identity: State,
    checked: u64,
    scratch: Vec<u8>,
    now: u64,
}

impl Verified {
    /// The worker's I/O, where it verifies.
    pub fn new(worker: &Worker, aux_path: &str, zones: &ZonedTargets) -> Option<Verified> {
        let verify = worker.verify.clone()?;
        let work = Drawn::new(worker, zones);
        let only_reads = !worker.pattern.rw.writes();
        let knowing = match (only_reads, verify.only) {
            (true, _) => Knowing::Nothing,
            (false, true) => Knowing::Order,
            (false, false) => Knowing::All,
        };
        let mut verified = Verified {
            loop_start: work.again(),
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
            open: Opening::new(worker),
            phases: Phases::default(),
            owns: false,
            foreign: Vec::new(),
            late: VecDeque::new(),
            uncounted: 0,
            pool: None,
            loaded: None,
            refused: None,
            directory: aux_path.to_owned(),
            identity: State {
                name: worker.name.clone(),
                worker: u64::from(worker.number.saturating_sub(1)),
                depth: worker.queue.depth,
                files: worker.files.len() as u32,
                ..State::default()
            },
            checked: 0,
            scratch: Vec::new(),
            now: 0,
            work,
            verify,
        };
        verified.prepare();
        Some(verified)
    }

    /// Starts the threads that check, and reads how far an earlier run came.
    fn prepare(&mut self) {
        if self.verify.threads > 0 {
            let started = Pool::start(self.verify.threads, &self.verify.cpus, &self.checker);
            match started {
                Ok(pool) => self.pool = Some(pool),
                Err(error) => {
                    self.refuse(format!("verify_async: no thread can be started: {error}"))
                }
            }
        }
        if self.verify.state_load {
            let State { name, worker, .. } = &self.identity;
            match State::load(&self.directory, name, *worker) {
                Ok(state) => self.loaded = Some(state),
                Err(error) => self.refuse(error),
            }
        }
    }

    fn refuse(&mut self, text: String) {
        self.refused = Some(Fault { errno: libc::EINVAL, operation: "set up", text, ends: true });
    }

    /// The next step of the work itself, with the reads of a backlog in between.
    fn work_on(&mut self) -> Option<Next> {
        if let Some(op) = self.waiting.take() {
            return Some(self.hand_out(op));
        }
        if let Some(op) = self.writes.due_trim().or_else(|| self.writes.due_read()) {
            return Some(self.hand_out(op));
        }
        let next = if self.verify.only { self.walk() } else { self.work.next() };
        while let Some(zone) = self.work.emptied() {
            self.writes.emptied(&zone);
        }
        match next {
            Next::Io(op) => {
                self.drawn += 1;
                let op = self.writes.named(op);
                match if self.only_reads { self.expects(&op) } else { Some(true) } {
                    Some(true) => {}
                    Some(false) => return None,
                    None => {
                        self.stage = Stage::Done;
                        return None;
                    }
                }
                return Some(self.hand_out(op));
            }
            // Reading back may have closed and opened others: what an I/O needs is opened for it.
            Next::Open(_) if self.open.limited() => return None,
            Next::Close(file) if !self.open.close(file) => return None,
            Next::LoopEnd | Next::End if self.reads_back() => {
                self.after = next;
                self.stage = Stage::Trimming;
                return None;
            }
            Next::LoopEnd => self.begin_loop(),
            _ => {}
        }
        Some(next)
    }

    /// Goes through all the work without doing it: what it leaves in the end is read back.
    fn walk(&mut self) -> Next {
        loop {
            match self.work.next() {
                Next::Io(op) => {
                    self.drawn += 1;
                    let op = self.writes.named(op);
                    self.work.completed(&op, op.length);
                    match self.expects(&op) {
                        Some(certain) => self.writes.walked(&op, certain),
                        None => return Next::End,
                    }
                }
                // Blocks of several loops come more than once.
                Next::LoopEnd => self.replays = false,
                Next::End => return Next::End,
                _ => {}
            }
        }
    }

    /// Gives an I/O out, unless it overlaps a write in flight or its file is not open.
    fn hand_out(&mut self, op: Op) -> Next {
        let step = match self.writes.must_wait(&op) {
            true => Some(Next::Busy),
            false => self.open.step_for(op.file),
        };
        if step.is_some() {
            self.waiting = Some(op);
        }
        step.unwrap_or(Next::Io(op))
    }

    /// Whether a block was certainly written, by the state that was loaded; `None` when neither it
    /// nor any later one was.
    fn expects(&mut self, op: &Op) -> Option<bool> {
        let Some(state) = &self.loaded else { return Some(true) };
        if !self.only_reads && op.kind != OpKind::Write {
            return Some(true);
        }
        let number = self.checked;
        self.checked += 1;
        state.expects(number, op.file, op.offset)
    }

    /// What is still to be trimmed before reading back.
    fn trim_on(&mut self) -> Option<Next> {
        let op = self.waiting.take().or_else(|| self.writes.queued_trim());
        if op.is_none() {
            self.stage = Stage::Draining;
        }
        op.map(|op| self.hand_out(op))
    }

    fn reads_back(&self) -> bool {
        (self.verify.read_back || self.verify.only) && self.writes.any()
    }

    fn begin_loop(&mut self) {
        self.open.reset();
        self.loop_start = self.work.again();
        self.drawn = 0;
        self.writes.forget_all();
    }

    fn begin_reading(&mut self) {
        self.writes.settle();
        self.phases.worked += self.phases.lasted();
        self.reader = Some(match self.loop_start.take().filter(|_| self.replays) {
            _ if self.writes.has_backlog() => Reader::Backlog,
            Some(work) => Reader::Replay { work, left: self.drawn },
            None => Reader::Sweep { files: self.identity.files, file: 0, from: 0 },
        });
        self.stage = Stage::Reading;
    }

    fn read_on(&mut self) -> Option<Next> {
        if let Some(op) = self.waiting.take() {
            return Some(self.hand_out(op));
        }
        let op = self.reader.as_mut().and_then(|reader| reader.next(&mut self.writes));
        match op {
            Some(op) => Some(self.hand_out(Op { tag: CHECKED, ..op })),
            None => {
                self.stage = Stage::Leaving;
                Some(Next::Drain)
            }
        }
    }

    fn leave(&mut self) -> Option<Next> {
        while let Some(found) = self.pool.as_mut().and_then(Pool::wait) {
            self.take(found);
        }
        self.phases.read += self.phases.lasted();
        self.reader = None;
        let after = std::mem::replace(&mut self.after, Next::End);
        if after == Next::End {
            self.stage = Stage::Done;
            return None;
        }
        self.stage = Stage::Working;
        self.begin_loop();
        Some(after)
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

    /// Keeps what was found; what only shows that others wrote here is kept back.
    fn take(&mut self, found: Found) {
        self.owns |= found.own;
        let op = found.op;
        if let Some(fault) = found.foreign
            && self.foreign.len() < FAULTS_MAX
        {
            self.foreign.push((op, fault));
        }
        if self.owns {
            self.late.extend(self.foreign.drain(..));
        }
        if let Some(fault) = found.fault {
            match self.late.len() < FAULTS_MAX {
                true => self.late.push_back((op, fault)),
                false => self.uncounted += 1,
            }
        }
    }

    /// A fault that is to end the worker.
    fn fatal(&mut self) -> Result<(), Fault> {
        let ends = self.late.front().is_some_and(|(_, fault)| fault.ends);
        if ends && let Some((_, fault)) = self.late.pop_front() {
            return Err(fault);
        }
        Ok(())
    }

    fn checks(&self, op: &Op) -> bool {
        op.kind == OpKind::Read && (op.tag == CHECKED || self.only_reads)
    }

    fn check(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        let request = self.request(op);
        if let Some(pool) = &mut self.pool {
            pool.check(request, buffer);
            while let Some(found) = self.pool.as_mut().and_then(Pool::found) {
                self.take(found);
            }
            return self.fatal();
        }
        let mut found = self.checker.check(&request, buffer);
        let fault = found.fault.take();
        self.take(found);
        fault.map_or_else(|| self.fatal(), Err)
    }

    /// Keeps how far writing came for a later run.
    fn save_state(&self, builder: &mut Builder<'_>) {
        if !self.verify.state_save || self.only_reads || self.verify.only {
            return;
        }
        let (written, last) = self.writes.completed(self.verify.only_fsynced);
        let state = State { written, last, ..self.identity.clone() };
        if let Err(text) = state.save(&self.directory) {
            builder.warn(text);
        }
    }

    /// The worker ended: what was found too late for an I/O, and how long each direction took.
    pub fn gather(mut self, builder: &mut Builder<'_>) {
        self.work.gather(builder);
        while let Some(found) = self.pool.as_mut().and_then(Pool::wait) {
            self.take(found);
        }
        for (op, fault) in std::mem::take(&mut self.late) {
            builder.fault(Some(&op), &fault);
        }
        if self.uncounted > 0 {
            builder.warn(format!("verify: {} more blocks do not match", self.uncounted));
        }
        if let Some(fault) = &self.refused {
            builder.fault(None, fault);
            return;
        }
        self.save_state(builder);
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
            if self.refused.is_some() {
                return Next::End;
            }
            let step = match self.stage {
                Stage::Working => self.work_on(),
                Stage::Trimming => self.trim_on(),
                Stage::Draining => {
                    self.stage = Stage::Settling;
                    Some(Next::Drain)
                }
                Stage::Settling => {
                    self.begin_reading();
                    self.open.reset();
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
        self.fatal()
    }

    fn window_begins(&mut self, now: u64) {
        self.work.window_begins(now);
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
        self.stage = Stage::Trimming;
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
