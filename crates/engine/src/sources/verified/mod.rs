//! Verification: blocks are written with content that identifies the write, and read back.
//!
//! # Rules
//! - After each loop everything drains, is synchronised and dropped from the page cache. Then the
//!   blocks are read back: in the order of writing if no block is written twice, else by offset. With a
//!   backlog, blocks are read back between writes.
//! - A write is recorded when it is issued. A write that overlaps another in flight waits for it, because
//!   the order of the two would be unknown.
//! - The blocks of a failed or short write are not checked.
//! - The end of the runtime ends writing, not reading back; a worker that is asked to end does neither.
//! - Reads of a job that only reads are checked. Reads of a mix are not, as in fio.

mod check;
mod check_pool;
mod content;
mod diagnosis;
mod dump;
mod expected;
mod header;
mod open_set;
mod phase_times;
mod read_back;
mod state;
#[cfg(test)]
mod tests;
mod work;
mod write_map;
mod write_tracker;

use super::RecordSource;
use crate::hot::op::{Fault, Next, Op, OpKind, Source};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use crate::sources::workload::Workload;
use crate::zones::ZonedTargets;
use check::{CheckResult, Checker, Knowledge, Request};
use check_pool::CheckPool;
use content::Content;
pub(crate) use expected::ExpectedBlocks;
use open_set::OpenSet;
use phase_times::PhaseTimes;
use plan::{Verify, Worker};
use read_back::{ReadBack, replays};
use record::{Bytes, Direction, Nanos};
use state::{Known, State};
use std::collections::VecDeque;
use work::{VerifiedWork, work};
use write_map::{Held, Piece};
use write_tracker::{CHECKED, Extent, WriteTracker};

/// Maximum faults kept until the end, or until it is known whether this job wrote the file.
const FAULTS_MAX: usize = 1000;

/// The stage of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Issues its own work.
    Working,
    /// Trims blocks before they are read back.
    Trimming,
    /// Waits until nothing is in flight.
    Draining,
    /// Writes everything back to the target.
    Settling,
    /// Reads back.
    Reading,
    /// Ends reading back.
    Leaving,
    Done,
}

/// A source whose content is verified.
pub(crate) struct Verified {
    verify: Verify,
    work: Box<dyn VerifiedWork>,
    /// A copy of the work at the start of the loop, if it can be replayed.
    loop_start: Option<Box<Workload>>,
    content: Content,
    checker: Checker,
    writes: WriteTracker,
    reader: Option<ReadBack>,
    stage: Stage,
    /// The step of the work that reading back precedes.
    after: Next,
    only_reads: bool,
    /// Whether blocks are read back in the order of writing.
    replays: bool,
    mixes: bool,
    /// Number of I/Os of the work in this loop.
    drawn: u64,
    /// An I/O that was drawn and cannot be issued yet.
    waiting: Option<Op>,
    open: OpenSet,
    phases: PhaseTimes,
    /// Whether blocks of this job were found in the file.
    owns: bool,
    /// Faults that may come from another writer, until this job's own blocks are found.
    foreign: Vec<(Op, Fault)>,
    /// Faults found after their I/O had ended.
    late: VecDeque<(Op, Fault)>,
    /// Number of faults that are not kept.
    uncounted: u64,
    pool: Option<CheckPool>,
    /// State of an earlier run: how far it wrote.
    loaded: Option<State>,
    /// Why the worker cannot run.
    refused: Option<Fault>,
    /// Directory of states and dumps.
    directory: String,
    identity: State,
    files: u32,
    /// I/Os and bytes of the writes that `verify_only` plans.
    planned: (u64, u64),
    checked: u64,
    scratch: Vec<u8>,
    now: u64,
}

impl Verified {
    pub fn new(worker: &Worker, verify: &Verify, aux_path: &str, zones: &ZonedTargets) -> Verified {
        let work = work(worker, zones);
        let only_reads = !worker.pattern.rw.writes();
        let knowledge = match (only_reads, verify.only) {
            (true, _) => Knowledge::Nothing,
            (false, true) => Knowledge::Order,
            (false, false) => Knowledge::All,
        };
        let mut verified = Verified {
            loop_start: work.replay(),
            content: Content::new(worker, verify),
            checker: Checker::new(worker, verify, knowledge, aux_path),
            writes: WriteTracker::new(worker, verify),
            reader: None,
            stage: Stage::Working,
            after: Next::End,
            only_reads,
            replays: replays(worker),
            mixes: worker.pattern.rw.reads() && worker.pattern.rw.writes(),
            drawn: 0,
            waiting: None,
            open: OpenSet::new(worker),
            phases: PhaseTimes::default(),
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
                seed: worker.pattern.rw.is_random().then_some(worker.pattern.seed),
                known: Known::default(),
            },
            files: worker.files.len() as u32,
            planned: (0, 0),
            checked: 0,
            scratch: Vec::new(),
            now: 0,
            work,
            verify: verify.clone(),
        };
        verified.prepare();
        verified
    }

    /// Starts the threads that check, and loads the state of an earlier run.
    fn prepare(&mut self) {
        if self.verify.threads > 0 {
            let started = CheckPool::start(self.verify.threads, &self.verify.cpus, &self.checker);
            match started {
                Ok(pool) => self.pool = Some(pool),
                Err(error) => {
                    self.refuse(format!("verify_async: no thread can be started: {error}"))
                }
            }
        }
        if self.verify.state_load {
            match State::load(&self.directory, &self.identity) {
                Ok(state) => self.loaded = Some(state),
                Err(error) => self.refuse(error),
            }
        }
    }

    fn refuse(&mut self, text: String) {
        self.refused = Some(Fault { errno: libc::EINVAL, operation: "set up", text, ends: true });
    }

    /// The next step of the work, or a read of the backlog.
    fn next_work(&mut self) -> Option<Next> {
        if let Some(op) = self.waiting.take() {
            return Some(self.try_issue(op));
        }
        if let Some(op) = self.writes.due_trim().or_else(|| self.writes.due_read()) {
            return Some(self.try_issue(op));
        }
        let next = if self.verify.only { self.replay_work() } else { self.work.next() };
        while let Some(zone) = self.work.take_emptied_zone() {
            self.writes.emptied(&zone);
        }
        match next {
            Next::Io(op) => {
                self.drawn += 1;
                let op = self.writes.number(op);
                let is_expected = if self.only_reads { self.expects(&op) } else { Some(true) };
                if is_expected.is_none() {
                    self.stage = Stage::Done;
                }
                return is_expected.unwrap_or(false).then(|| self.try_issue(op));
            }
            // Reading back opens and closes files itself: each I/O opens the file it needs.
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

    /// Draws all the work without issuing it, to know what to read back (`verify_only`).
    fn replay_work(&mut self) -> Next {
        loop {
            match self.work.next() {
                Next::Io(op) => {
                    self.drawn += 1;
                    let op = self.writes.number(op);
                    self.work.completed(&op, op.length);
                    if op.kind == OpKind::Write {
                        self.planned = (self.planned.0 + 1, self.planned.1 + op.length);
                    }
                    match self.expects(&op) {
                        Some(certain) => self.writes.replayed(&op, certain),
                        None => return Next::End,
                    }
                }
                // Several loops write blocks more than once.
                Next::LoopEnd => self.replays = false,
                Next::End => return Next::End,
                _ => {}
            }
        }
    }

    /// Issues an I/O, unless it overlaps a write in flight or its file is not open.
    fn try_issue(&mut self, op: Op) -> Next {
        let step = match self.writes.must_wait(&op) {
            true => Some(Next::Busy),
            false => self.open.step_for(op.file),
        };
        if step.is_some() {
            self.waiting = Some(op);
        }
        step.unwrap_or(Next::Io(op))
    }

    /// Whether the loaded state says that a block was written; `None` if neither it nor a later one was.
    fn expects(&mut self, op: &Op) -> Option<bool> {
        let Some(state) = &self.loaded else { return Some(true) };
        if !self.only_reads && op.kind != OpKind::Write {
            return Some(true);
        }
        let number = self.checked;
        self.checked += 1;
        state.expects(number, op.file, op.offset)
    }

    /// The next trim before reading back.
    fn next_trim(&mut self) -> Option<Next> {
        let op = self.waiting.take().or_else(|| self.writes.queued_trim());
        if op.is_none() {
            self.stage = Stage::Draining;
        }
        op.map(|op| self.try_issue(op))
    }

    fn reads_back(&self) -> bool {
        (self.verify.read_back || self.verify.only) && self.writes.any()
    }

    fn begin_loop(&mut self) {
        self.open.reset();
        self.loop_start = self.work.replay();
        self.drawn = 0;
        self.writes.forget_all();
    }

    fn begin_reading(&mut self) {
        self.writes.settle();
        self.phases.worked += self.phases.end();
        self.reader = Some(match self.loop_start.take().filter(|_| self.replays) {
            _ if self.writes.has_backlog() => ReadBack::Backlog,
            Some(work) => ReadBack::Replay { work, left: self.drawn },
            None => ReadBack::Sweep { files: self.files, file: 0, from: 0 },
        });
        self.stage = Stage::Reading;
    }

    fn next_read(&mut self) -> Option<Next> {
        if let Some(op) = self.waiting.take() {
            return Some(self.try_issue(op));
        }
        let op = self.reader.as_mut().and_then(|reader| reader.next(&mut self.writes));
        match op {
            Some(op) => Some(self.try_issue(Op { tag: CHECKED, ..op })),
            None => {
                self.stage = Stage::Leaving;
                Some(Next::Drain)
            }
        }
    }

    fn leave(&mut self) -> Option<Next> {
        while let Some(found) = self.pool.as_mut().and_then(CheckPool::wait) {
            self.add_result(found);
        }
        self.phases.read += self.phases.end();
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
                holds: Held::Write(1),
                head: true,
                tail: true,
            };
            vec![whole]
        } else {
            self.writes.pieces(op.file, op.offset, op.length)
        };
        Request { op: *op, pieces, last: self.writes.last() }
    }

    /// Keeps the faults of a check. Faults that may mean another writer are held back.
    fn add_result(&mut self, found: CheckResult) {
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

    /// Returns a fault that ends the worker, if there is one.
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
            while let Some(found) = self.pool.as_mut().and_then(CheckPool::found) {
                self.add_result(found);
            }
            return self.fatal();
        }
        let mut found = self.checker.check(&request, buffer);
        let fault = found.fault.take();
        self.add_result(found);
        fault.map_or_else(|| self.fatal(), Err)
    }

    /// Saves how far this run wrote, for a later run.
    fn save_state(&self, builder: &mut JobRecordBuilder<'_>) {
        if !self.verify.state_save || self.only_reads || self.verify.only {
            return;
        }
        let Extent { issued, open } = self.writes.extent(self.verify.only_fsynced);
        let state = State { known: Known::Issued { issued, open }, ..self.identity.clone() };
        if let Err(text) = state.save(&self.directory) {
            builder.warn(text);
        }
    }
}

impl Source for Verified {
    fn next(&mut self) -> Next {
        loop {
            if self.refused.is_some() {
                return Next::End;
            }
            let step = match self.stage {
                Stage::Working => self.next_work(),
                Stage::Trimming => self.next_trim(),
                Stage::Draining => {
                    self.stage = Stage::Settling;
                    Some(Next::Drain)
                }
                Stage::Settling => {
                    self.begin_reading();
                    self.open.reset();
                    Some(Next::Settle)
                }
                Stage::Reading => self.next_read(),
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
        // The rest of a short write: the same block from this offset on.
        self.scratch.resize(length as usize, 0);
        self.content.make(&mut self.scratch, offset, op.tag, self.now);
        let from = (op.offset - offset) as usize;
        buffer.copy_from_slice(&self.scratch[from..from + buffer.len()]);
        true
    }

    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        self.now = stamps.ready;
        self.phases.extend(stamps.ready, stamps.ready);
        self.writes.issued(op);
    }

    fn ended(
        &mut self,
        op: &Op,
        buffer: &mut [u8],
        stamps: &Stamps,
        now: u64,
    ) -> Result<(), Fault> {
        self.phases.extend(stamps.ready, now);
        self.writes.ended(op);
        if self.checks(op) {
            return self.check(op, buffer);
        }
        self.fatal()
    }

    fn window_started(&mut self, now: u64) {
        self.work.window_started(now);
        self.phases = PhaseTimes::default();
    }

    fn part_ended(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        if self.checks(op) { self.check(op, buffer) } else { Ok(()) }
    }

    fn read_past_end(&mut self, op: &Op) -> Option<Fault> {
        self.checks(op).then(|| self.checker.short(op))
    }

    fn resumes_after_end(&mut self) -> bool {
        if self.stage != Stage::Working || !self.reads_back() {
            return false;
        }
        self.waiting = None;
        self.after = Next::End;
        self.stage = Stage::Trimming;
        true
    }
}

impl RecordSource for Verified {
    /// Reports faults that were found too late for an I/O, and the runtime of each direction.
    fn record(&mut self, now: u64, builder: &mut JobRecordBuilder<'_>) {
        self.work.record(now, builder);
        while let Some(found) = self.pool.as_mut().and_then(CheckPool::wait) {
            self.add_result(found);
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
        if self.verify.only {
            let writes = &mut builder.job.results.write;
            (writes.ios, writes.bytes) = (self.planned.0, Bytes(self.planned.1));
        }
        let rest = self.phases.end();
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
