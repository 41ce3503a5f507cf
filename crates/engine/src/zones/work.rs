//! A worker's I/O on zoned targets.

use super::placement::{Placement, ZonePlacer};
use super::target::{ZonedTarget, ZonedTargets};
use crate::hot::op::{Next, Op, OpKind, Source};
use crate::job_record::JobRecordBuilder;
use crate::sources::RecordSource;
use crate::sources::workload::Workload;
use plan::{Worker, Zbd};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long a worker with nothing in flight waits for other workers before it checks the time.
const WAIT_MAX: Duration = Duration::from_millis(1);
/// Skipped I/Os before the loop checks the time.
const SKIPS_PER_CALL: u32 = 1 << 14;

/// One file of the worker.
struct File {
    target: Arc<ZonedTarget>,
    placer: ZonePlacer,
    /// Its zones are reset, not discarded.
    resets: bool,
    /// Bytes of data from which on zones are reset.
    reset_threshold: u64,
    /// Zones that this worker reserved.
    busy: Vec<u32>,
}

/// Drawn I/O, placed by the rules of zones.
pub(crate) struct ZonedWork {
    workload: Workload,
    files: Vec<File>,
    /// The I/O that waits for its zone.
    waiting: Option<Op>,
    /// It waits, and nothing has ended since.
    has_waited: bool,
    skipped: u64,
    /// After so many skipped I/Os no other can be placed.
    max_skipped: u64,
    /// Writes between two resets above the threshold; 0: no such resets.
    reset_every: u64,
    recover: bool,
    resets: u64,
    /// Zones that were reset for a write; only kept for verification.
    emptied: Option<Vec<Op>>,
    failed: Option<(&'static str, io::Error)>,
    /// At least one I/O was placed.
    has_placed: bool,
    /// No I/O can be placed any more.
    is_impossible: bool,
    /// The first skipped I/O ends the pass.
    ends_at_first_skip: bool,
    /// Random I/O of different sizes covers each byte of a zone once.
    covers_bytes: bool,
}

impl ZonedWork {
    /// The work of a worker whose targets are prepared.
    pub fn new(worker: &Worker, plan: &Zbd, targets: &ZonedTargets) -> ZonedWork {
        let min = worker.min_block().max(1);
        let rw = worker.pattern.rw;
        let mixed = rw.reads() && rw.writes();
        let planned = worker.files.iter().zip(&plan.files).zip(targets.of_worker(worker));
        let files = planned
            .map(|((file, zoned), target)| {
                let region = file.start..file.start + file.length;
                let mut state = target.state();
                let placer = ZonePlacer::new(region, &state, plan, min, mixed);
                // Oracle: only those who write say which zones count.
                if plan.reset_every > 0 && rw.writes() {
                    state.count(placer.zones(), plan.reset_every);
                }
                drop(state);
                File {
                    placer,
                    target,
                    resets: zoned.device || !zoned.discards,
                    reset_threshold: (file.length as f64 * plan.reset_threshold) as u64,
                    busy: Vec::new(),
                }
            })
            .collect();
        let workload = Workload::new(worker);
        ZonedWork {
            covers_bytes: workload.covers_bytes(),
            workload,
            files,
            waiting: None,
            has_waited: false,
            skipped: 0,
            max_skipped: 2 * (worker.region() / min + 1),
            reset_every: plan.reset_every,
            recover: plan.recover,
            resets: 0,
            emptied: worker.verify.as_ref().map(|_| Vec::new()),
            failed: None,
            has_placed: false,
            is_impossible: false,
            ends_at_first_skip: !mixed && !plan.random,
        }
    }

    /// Draws until an I/O can be placed.
    fn draw(&mut self) -> Next {
        let mut skipped_now = 0;
        loop {
            let op = match self.waiting.take() {
                Some(waiting) => waiting,
                None => match self.workload.next() {
                    Next::Io(op) => self.begin(op),
                    Next::LoopEnd => {
                        self.files.iter_mut().for_each(|file| file.placer.pass_ended());
                        return Next::LoopEnd;
                    }
                    other => return other,
                },
            };
            match self.place(op) {
                Placement::Go(placed) => {
                    (self.has_waited, self.skipped, self.has_placed) = (false, 0, true);
                    if placed.length < op.length {
                        self.workload.shorten(&op, placed.length);
                    }
                    return Next::Io(placed);
                }
                Placement::Reset(zone) => {
                    self.release(op.file, zone);
                    return Next::End;
                }
                Placement::Busy => {
                    self.waiting = Some(op);
                    self.wait(op.file);
                    return Next::Busy;
                }
                Placement::Skip => {
                    (skipped_now, self.skipped) = (skipped_now + 1, self.skipped + 1);
                    self.workload.take_back(1, op.length);
                    if self.ends_at_first_skip {
                        self.workload.end_pass();
                    }
                    if self.skipped > self.max_skipped {
                        return Next::End;
                    }
                    if skipped_now > SKIPS_PER_CALL {
                        return Next::Busy;
                    }
                }
                Placement::Impossible => {
                    self.is_impossible = true;
                    return Next::End;
                }
            }
        }
    }

    /// Takes a zone that was reset for a write.
    pub fn emptied(&mut self) -> Option<Op> {
        self.emptied.as_mut()?.pop()
    }

    /// Begins a drawn I/O. What reaches into the next zone is left to another I/O of the pass.
    fn begin(&mut self, op: Op) -> Op {
        let file = &mut self.files[op.file as usize];
        file.placer.begin(&op);
        if !self.covers_bytes || op.kind != OpKind::Write {
            return op;
        }
        let state = file.target.state();
        let zone = &state.zones[state.index(op.offset) as usize];
        let length = op.length.min(zone.end.saturating_sub(op.offset));
        drop(state);
        if length < op.length {
            self.workload.shorten(&op, length);
        }
        Op { length, ..op }
    }

    /// Places an I/O, after it has reset the zone if need be. [`Placement::Reset`] if that failed.
    fn place(&mut self, op: Op) -> Placement {
        let file = &mut self.files[op.file as usize];
        let mut state = file.target.state();
        let counts =
            self.reset_every > 0 && op.kind == OpKind::Write && state.held >= file.reset_threshold;
        let due = counts && state.writes_until_reset <= 1;
        let mut placement = file.placer.place(&mut state, &op, due);
        if let Placement::Reset(index) = placement {
            let zone = state.zone(index).clone();
            drop(state);
            if let Err(error) = file.target.device.reset(zone.start, zone.end - zone.start) {
                self.failed = Some(("reset a zone", error));
                return placement;
            }
            self.resets += 1;
            if let Some(emptied) = &mut self.emptied {
                let (offset, length) = (zone.start, zone.end - zone.start);
                emptied.push(Op { kind: OpKind::ResetZone, offset, length, ..op });
            }
            // Under one lock with the write: the zone must not go to another worker in between.
            state = file.target.state();
            state.was_reset(index);
            placement = file.placer.place(&mut state, &op, false);
            file.target.notify();
        }
        let Placement::Go(placed) = &mut placement else { return placement };
        if counts {
            state.writes_until_reset = match due {
                true => self.reset_every,
                false => state.writes_until_reset - 1,
            };
        }
        let index = state.index(placed.offset);
        let changes = matches!(placed.kind, OpKind::Write | OpKind::Trim);
        if changes && state.zone(index).sequential {
            file.busy.push(index);
        }
        if placed.kind == OpKind::Trim && file.resets {
            placed.kind = OpKind::ResetZone;
        }
        placement
    }

    /// Gives a reserved zone back.
    fn release(&mut self, file: u32, index: u32) {
        let target = &self.files[file as usize].target;
        target.state().zone(index).busy = false;
        target.notify();
    }

    /// Waits for other workers, but only if called twice without a completion: the loop takes its own
    /// completions first.
    fn wait(&mut self, file: u32) {
        if self.has_waited {
            self.files[file as usize].target.wait(WAIT_MAX);
        }
        self.has_waited = true;
    }

    /// A write, trim or reset ended with `moved` bytes (0 after an error).
    fn change_ended(&mut self, op: &Op, moved: u64) {
        let recover = self.recover;
        let file = &mut self.files[op.file as usize];
        let mut state = file.target.state();
        let index = state.index(op.offset);
        if !state.zone(index).sequential {
            return;
        }
        if op.kind == OpKind::Write {
            let finish = file.placer.write_ended(&mut state, op.offset, moved);
            let zone = state.zone(index).clone();
            drop(state);
            if let Some(index) = finish {
                self.finish(op.file, index);
            } else if moved == 0 && recover {
                self.recover_pointer(op.file, index);
            }
            if !zone.busy || finish.is_some() {
                self.unreserve(op.file, index);
            }
            return;
        }
        if moved > 0 {
            state.was_reset(index);
            file.placer.close(&mut state, index);
        } else {
            state.zone(index).busy = false;
        }
        drop(state);
        self.unreserve(op.file, index);
    }

    fn unreserve(&mut self, file: u32, index: u32) {
        let file = &mut self.files[file as usize];
        if let Some(at) = file.busy.iter().position(|busy| *busy == index) {
            file.busy.swap_remove(at);
        }
        file.target.notify();
    }

    /// Finishes a zone whose rest is too small for a block.
    fn finish(&mut self, file: u32, index: u32) {
        let file = &mut self.files[file as usize];
        let zone = file.target.state().zone(index).clone();
        match file.target.device.finish(zone.start, zone.end - zone.start) {
            Ok(()) => {
                let mut state = file.target.state();
                state.was_finished(index);
                file.placer.close(&mut state, index);
            }
            Err(error) => {
                self.failed = Some(("finish a zone", error));
                file.target.state().zone(index).busy = false;
            }
        }
    }

    /// Reads the write pointer from the device after a failed write.
    fn recover_pointer(&mut self, file: u32, index: u32) {
        let file = &mut self.files[file as usize];
        let start = file.target.state().zone(index).start;
        match file.target.device.report(start) {
            Ok(reports) => {
                if let Some(report) = reports.first() {
                    file.target.state().was_reported(index, report);
                }
            }
            Err(error) => self.failed = Some(("report a zone", error)),
        }
    }
}

impl RecordSource for ZonedWork {
    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        builder.job.zone_resets = Some(self.resets);
        if let Some((what, error)) = &self.failed {
            builder.setup_failed(what, error);
        }
        if self.is_impossible || (!self.has_placed && self.skipped > 0) {
            builder.warn(
                "it ended because no zone is left for its I/O: none holds data to read or trim, \
                 or none of those that may be open lies in its region",
            );
        }
    }
}

impl Source for ZonedWork {
    fn next(&mut self) -> Next {
        if self.failed.is_some() { Next::End } else { self.draw() }
    }

    fn steer(&mut self, direction: record::Direction) {
        self.workload.steer(direction);
    }

    fn completed(&mut self, op: &Op, moved: u64) {
        self.has_waited = false;
        if matches!(op.kind, OpKind::Write | OpKind::Trim | OpKind::ResetZone) {
            self.change_ended(op, moved);
        }
        let kind = if op.kind == OpKind::ResetZone { OpKind::Trim } else { op.kind };
        self.workload.completed(&Op { kind, ..*op }, moved);
    }

    fn window_started(&mut self, _: u64) {
        self.resets = 0;
    }
}

impl Drop for ZonedWork {
    /// I/O that was never issued must not block other workers, nor move a write pointer.
    fn drop(&mut self) {
        for file in &mut self.files {
            let mut state = file.target.state();
            for index in file.busy.drain(..) {
                let zone = state.zone(index);
                let pointer = zone.pointer - zone.in_flight;
                (zone.busy, zone.in_flight) = (false, 0);
                state.move_pointer(index, pointer);
            }
            drop(state);
            file.target.notify();
        }
    }
}
