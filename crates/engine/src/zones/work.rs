//! A worker's I/O, placed as zones allow.

use super::keeper::{Keeper, Verdict};
use super::target::{ZonedTarget, ZonedTargets};
use crate::hot::op::{Next, Op, OpKind, Source};
use crate::job_record::JobRecordBuilder;
use crate::sources::RecordSource;
use crate::sources::workload::Workload;
use plan::{Worker, Zbd};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// How long a worker that has nothing in flight waits for others before it looks at the time.
const PATIENCE: Duration = Duration::from_millis(1);
/// I/Os without a place before the time is looked at.
const MOST_SKIPPED: u32 = 1 << 14;

/// One file of the worker.
struct File {
    target: Arc<ZonedTarget>,
    keeper: Keeper,
    /// A device whose zones are reset instead of trimmed.
    device: bool,
    /// Bytes its region holds beyond which zones are reset; what it holds; writes until the next
    /// reset.
    threshold: u64,
    held: u64,
    countdown: u64,
    /// Zones this worker made busy: index and what is to be undone when it never ends.
    busy: Vec<u32>,
}

/// I/O as it is drawn, placed by the rules of zones.
pub(crate) struct ZonedWork {
    workload: Workload,
    files: Vec<File>,
    /// Drawn, and waiting for its zone; whether that is to be reset.
    waiting: Option<(Op, bool)>,
    /// Nothing ended since it had to wait.
    waited: bool,
    skipped: u64,
    /// Skipped I/Os that make it certain that no other can be placed.
    most_skipped: u64,
    /// Writes between two resets beyond the threshold; 0: none are asked for.
    reset_every: u64,
    recover: bool,
    resets: u64,
    /// Zones that were reset for a write; only where somebody asks for them.
    emptied: Option<Vec<Op>>,
    failed: Option<(&'static str, io::Error)>,
    /// An I/O found a place.
    placed: bool,
    /// There was no zone for an I/O.
    stuck: bool,
    /// Where one I/O finds no place, no later one of the pass does.
    one_pass: bool,
}

impl ZonedWork {
    /// The work of a worker whose targets are prepared.
    pub fn new(worker: &Worker, plan: &Zbd, targets: &ZonedTargets) -> ZonedWork {
        let min = worker.min_block().max(1);
        let rw = worker.pattern.rw;
        let mixed = rw.reads() && rw.writes();
        let planned = worker.files.iter().zip(&plan.files).zip(targets.of(worker));
        let files = planned
            .map(|((file, zoned), target)| {
                let region = file.start..file.start + file.length;
                let state = target.state();
                let keeper = Keeper::new(region, &state, plan, min, mixed);
                let held = keeper.held(&state);
                drop(state);
                File {
                    keeper,
                    target,
                    device: zoned.device,
                    threshold: (file.length as f64 * plan.reset_threshold) as u64,
                    held,
                    countdown: plan.reset_every,
                    busy: Vec::new(),
                }
            })
            .collect();
        ZonedWork {
            workload: Workload::new(worker),
            files,
            waiting: None,
            waited: false,
            skipped: 0,
            most_skipped: 2 * (worker.region() / min + 1),
            reset_every: plan.reset_every,
            recover: plan.recover,
            resets: 0,
            emptied: worker.verify.as_ref().map(|_| Vec::new()),
            failed: None,
            placed: false,
            stuck: false,
            one_pass: !mixed && !plan.random,
        }
    }

    /// Draws until an I/O has a place.
    fn draw(&mut self) -> Next {
        let mut looked = 0;
        loop {
            let (op, reset) = match self.waiting.take() {
                Some(waiting) => waiting,
                None => match self.workload.next() {
                    Next::Io(op) => self.begin(op),
                    other => return other,
                },
            };
            match self.place(op, reset) {
                Verdict::Go(placed) => {
                    (self.waited, self.skipped, self.placed) = (false, 0, true);
                    if placed.length < op.length {
                        self.workload.take_back(0, op.length - placed.length);
                    }
                    return Next::Io(placed);
                }
                Verdict::Reset(zone) if self.failed.is_some() => {
                    self.release(op.file, zone);
                    return Next::End;
                }
                Verdict::Reset(_) => self.waiting = Some((op, false)),
                Verdict::Busy => {
                    self.waiting = Some((op, reset));
                    self.wait(op.file);
                    return Next::Busy;
                }
                Verdict::Skip => {
                    (looked, self.skipped) = (looked + 1, self.skipped + 1);
                    self.workload.take_back(1, op.length);
                    if self.one_pass {
                        self.workload.end_pass();
                    }
                    if self.skipped > self.most_skipped {
                        return Next::End;
                    }
                    if looked > MOST_SKIPPED {
                        return Next::Busy;
                    }
                }
                Verdict::Nowhere => {
                    self.stuck = true;
                    return Next::End;
                }
            }
        }
    }

    /// A zone that was reset for a write and not asked for yet.
    pub fn emptied(&mut self) -> Option<Op> {
        self.emptied.as_mut()?.pop()
    }

    /// A new I/O, and whether its zone is to be reset first.
    fn begin(&mut self, op: Op) -> (Op, bool) {
        let file = &mut self.files[op.file as usize];
        file.keeper.begin(&op);
        let mut reset = false;
        if self.reset_every > 0 && op.kind == OpKind::Write && file.held >= file.threshold {
            file.countdown -= 1;
            reset = file.countdown == 0;
            if reset {
                file.countdown = self.reset_every;
            }
        }
        (op, reset)
    }

    fn place(&mut self, op: Op, reset: bool) -> Verdict {
        let file = &mut self.files[op.file as usize];
        let mut state = file.target.state();
        let verdict = file.keeper.place(&mut state, &op, reset);
        match verdict {
            Verdict::Go(mut placed) => {
                let index = state.index(placed.offset);
                let changes = matches!(placed.kind, OpKind::Write | OpKind::Trim);
                if changes && state.zone(index).sequential {
                    file.busy.push(index);
                }
                if placed.kind == OpKind::Trim && file.device {
                    placed.kind = OpKind::ResetZone;
                }
                if placed.kind == OpKind::Write {
                    file.held += placed.length;
                }
                Verdict::Go(placed)
            }
            Verdict::Reset(index) => {
                let zone = state.zone(index).clone();
                drop(state);
                match file.target.device.reset(zone.start, zone.end - zone.start) {
                    Ok(()) => {
                        self.resets += 1;
                        file.held = file.held.saturating_sub(zone.pointer - zone.start);
                        file.target.state().was_reset(index);
                        file.target.tell();
                        if let Some(emptied) = &mut self.emptied {
                            let (offset, length) = (zone.start, zone.end - zone.start);
                            emptied.push(Op { kind: OpKind::ResetZone, offset, length, ..op });
                        }
                    }
                    Err(error) => self.failed = Some(("reset a zone", error)),
                }
                verdict
            }
            other => other,
        }
    }

    /// Lets others have a zone again that this worker took.
    fn release(&mut self, file: u32, index: u32) {
        let target = &self.files[file as usize].target;
        target.state().zone(index).busy = false;
        target.tell();
    }

    /// Passes time when it is others who keep this worker waiting: the loop takes completions of its
    /// own first.
    fn wait(&mut self, file: u32) {
        if self.waited {
            self.files[file as usize].target.wait(PATIENCE);
        }
        self.waited = true;
    }

    /// A write, trim or reset of a zone moved bytes, or failed.
    fn ended(&mut self, op: &Op, moved: u64) {
        let recover = self.recover;
        let file = &mut self.files[op.file as usize];
        let mut state = file.target.state();
        let index = state.index(op.offset);
        if !state.zone(index).sequential {
            return;
        }
        if op.kind == OpKind::Write {
            let finish = file.keeper.wrote(&mut state, op.offset, moved);
            let zone = state.zone(index).clone();
            drop(state);
            if let Some(index) = finish {
                self.finish(op.file, index);
            } else if moved == 0 && recover {
                self.report(op.file, index);
            }
            if !zone.busy || finish.is_some() {
                self.done(op.file, index);
            }
            return;
        }
        if moved > 0 {
            let zone = state.zone(index);
            file.held = file.held.saturating_sub(zone.pointer - zone.start);
            state.was_reset(index);
            file.keeper.close(&mut state, index);
        } else {
            state.zone(index).busy = false;
        }
        drop(state);
        self.done(op.file, index);
    }

    fn done(&mut self, file: u32, index: u32) {
        let file = &mut self.files[file as usize];
        if let Some(at) = file.busy.iter().position(|busy| *busy == index) {
            file.busy.swap_remove(at);
        }
        file.target.tell();
    }

    /// What is left of a zone holds no block: the device need not keep it open.
    fn finish(&mut self, file: u32, index: u32) {
        let file = &mut self.files[file as usize];
        let zone = file.target.state().zone(index).clone();
        match file.target.device.finish(zone.start, zone.end - zone.start) {
            Ok(()) => {
                let mut state = file.target.state();
                state.was_finished(index);
                file.keeper.close(&mut state, index);
            }
            Err(error) => {
                self.failed = Some(("finish a zone", error));
                file.target.state().zone(index).busy = false;
            }
        }
    }

    /// Asks the device where a zone goes on after a write that failed.
    fn report(&mut self, file: u32, index: u32) {
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
        builder.job.zone_resets = self.resets;
        if let Some((what, error)) = &self.failed {
            builder.setup_failed(what, error);
        }
        if self.stuck || (!self.placed && self.skipped > 0) {
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
        self.waited = false;
        if matches!(op.kind, OpKind::Write | OpKind::Trim | OpKind::ResetZone) {
            self.ended(op, moved);
        }
        let kind = if op.kind == OpKind::ResetZone { OpKind::Trim } else { op.kind };
        self.workload.completed(&Op { kind, ..*op }, moved);
    }

    fn window_started(&mut self, _: u64) {
        self.resets = 0;
    }
}

impl Drop for ZonedWork {
    /// An I/O that was never issued must not keep others waiting, nor move the pointer.
    fn drop(&mut self) {
        for file in &mut self.files {
            let mut state = file.target.state();
            for index in file.busy.drain(..) {
                let zone = state.zone(index);
                zone.pointer -= zone.in_flight;
                (zone.busy, zone.in_flight) = (false, 0);
            }
            drop(state);
            file.target.tell();
        }
    }
}
