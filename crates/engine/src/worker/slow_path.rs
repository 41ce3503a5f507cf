//! The rare steps of a worker's loop: time, ramp, intervals, files, errors.

use super::rate_floor::RateFloor;
use crate::engines::Ring;
use crate::files::{Action, FileError, OpenFiles};
use crate::hot::op::{Fault, Next, Op};
use crate::hot::state::{Flow, SlowPath, Ticked};
use crate::interim::InterimResults;
use crate::job_record::{JobRecordBuilder, Severity};
use crate::live::LiveWorker;
use crate::meter::{Meter, Metering};
use plan::{Medium, Worker};
use record::{CpuUse, Exchange, WorkerState};
use std::io;

/// How often a worker checks whether `ramp_size` was moved.
const RAMP_CHECK_NS: u64 = 1_000_000;

/// An answer that comes later than this after the end of the runtime is reported.
const LATE_ANSWER_NS: u64 = 1_000_000_000;

/// The rare steps of a worker.
pub(crate) struct WorkerSlowPath<'a, 'w> {
    pub worker: &'w Worker,
    pub live: &'a LiveWorker,
    pub files: OpenFiles<'w>,
    pub builder: &'a mut JobRecordBuilder<'w>,
    /// End of the ramp, from the run's origin; 0 once it is over.
    pub ramp_end: u64,
    /// `ramp_size` in bytes, and a function that returns the bytes moved so far by all workers of the
    /// report.
    pub ramp_bytes: Option<(u64, &'a dyn Fn() -> u64)>,
    /// End of the measured window; `u64::MAX` without a runtime.
    pub deadline: u64,
    /// CPU use up to the start of the window.
    pub cpu_before: CpuUse,
    /// Returns the CPU use so far.
    pub usage: &'a dyn Fn() -> CpuUse,
    pub floor: Option<RateFloor>,
    pub interim: Option<InterimResults<'a>>,
}

impl WorkerSlowPath<'_, '_> {
    /// Makes what was written durable, if the job asks for it. Returns whether it does.
    ///
    /// As in fio, the time is part of the run: the rate of a job with `end_fsync` or `fsync_on_close`
    /// is that at which data reached the target.
    pub fn sync_at_end(&mut self) -> bool {
        let syncing = &self.worker.syncing;
        let asked = syncing.end_fsync || syncing.end_syncfs || syncing.fsync_on_close;
        if asked {
            self.live.set_state(WorkerState::Fsyncing);
            let synced = self.files.sync_at_end();
            self.file_result(synced);
        }
        asked
    }

    /// Warns about requests to an object store that delayed the end of the run.
    pub fn warn_late_answers(&mut self, ended: u64) {
        let delay = ended.saturating_sub(self.deadline);
        let asked = self.worker.queue.engine.medium() == Medium::Objects;
        if asked && delay > LATE_ANSWER_NS {
            self.builder.warn(format!(
                "the last answer came, or was given up, {:.1} s after the time was up; that is part \
                 of the time measured",
                delay as f64 / 1e9
            ));
        }
    }

    fn file_result(&mut self, result: Result<(), FileError>) -> Flow {
        match result {
            Ok(()) => Flow::Continue,
            Err(error) => {
                self.builder.file_failed(&error);
                Flow::End
            }
        }
    }

    fn open<R: Ring>(&mut self, ring: &mut R, file: u32) -> Flow {
        let opened = self.files.open(file).and_then(|fd| {
            ring.file_changed(file, fd).map_err(|e| {
                let path = &self.worker.files[file as usize].path;
                FileError::new(Action::Inspect, path, e)
            })
        });
        self.file_result(opened)
    }

    fn close<R: Ring>(&mut self, ring: &mut R, file: u32) -> Flow {
        // The ring drops the descriptor first, so that it never holds one that was reused.
        if let Err(error) = ring.file_changed(file, -1) {
            return self.engine_failed(error);
        }
        let closed = self.files.close(file);
        self.file_result(closed)
    }

    /// Between two loops every file is synchronised, closed and opened again as the options say, so
    /// that each loop starts alike: with an invalidated cache, or new files.
    fn end_loop<R: Ring>(&mut self, ring: &mut R) -> Flow {
        let synced = self.files.sync_at_end();
        if self.file_result(synced) == Flow::End || self.close_all(ring) == Flow::End {
            return Flow::End;
        }
        if self.worker.selection.unlink_each_loop {
            let removed = self.files.unlink_all();
            if self.file_result(removed) == Flow::End {
                return Flow::End;
            }
        }
        self.open_again(ring)
    }

    /// Writes everything back; opening the files again drops them from the page cache.
    fn settle<R: Ring>(&mut self, ring: &mut R) -> Flow {
        self.live.set_state(WorkerState::Fsyncing);
        let synced = self.files.sync_all();
        if self.file_result(synced) == Flow::End || self.close_all(ring) == Flow::End {
            return Flow::End;
        }
        self.live.set_state(WorkerState::Verifying);
        self.open_again(ring)
    }

    fn close_all<R: Ring>(&mut self, ring: &mut R) -> Flow {
        let count = self.worker.files.len() as u32;
        let failed = (0..count).any(|file| self.close(ring, file) == Flow::End);
        if failed { Flow::End } else { Flow::Continue }
    }

    fn open_again<R: Ring>(&mut self, ring: &mut R) -> Flow {
        let count = self.worker.files.len() as u32;
        // With fewer files open than there are, the source asks for each.
        let all_open = self.worker.selection.open_at_once(count) == count;
        let reopened = !all_open || (0..count).all(|file| self.open(ring, file) == Flow::Continue);
        if reopened { Flow::Continue } else { Flow::End }
    }

    /// For engines that open no files: at the end of a loop, removes names if the job asks for it, and
    /// frees memory so that the next loop faults it in again.
    fn step_without_files<R: Ring>(&mut self, ring: &mut R, next: Next) -> Flow {
        if next != Next::LoopEnd {
            return Flow::Continue;
        }
        for file in 0..self.worker.files.len() as u32 {
            if let Err(error) = ring.file_changed(file, -1) {
                return self.engine_failed(error);
            }
        }
        let removes = self.worker.selection.unlink_each_loop;
        if removes && self.worker.queue.engine.has_targets() {
            let removed = self.files.unlink_all();
            return self.file_result(removed);
        }
        Flow::Continue
    }

    fn engine_failed(&mut self, error: io::Error) -> Flow {
        self.builder.errors.setup("use the I/O engine", &error);
        let name = self.worker.queue.engine.name();
        self.builder.error(format!("ioengine {name} failed: {error}"));
        Flow::End
    }

    /// Whether `ramp_size` was moved.
    fn ramp_bytes_moved(&self) -> bool {
        self.ramp_bytes.is_none_or(|(bytes, moved)| moved() >= bytes)
    }

    /// The time of the next tick.
    fn next_due(&self, boundary: u64, now: u64) -> u64 {
        let ramp = match self.ramp_end {
            0 => u64::MAX,
            // Bytes are checked at intervals, not at each I/O.
            end if self.ramp_bytes.is_some() => end.max(now + RAMP_CHECK_NS),
            end => end,
        };
        let floor = self.floor.as_ref().map_or(u64::MAX, |f| f.next);
        let interim = self.interim.as_ref().filter(|_| self.ramp_end == 0);
        let interim = interim.map_or(u64::MAX, |interim| interim.next_check(now));
        boundary.min(ramp).min(self.deadline).min(floor).min(interim)
    }

    /// Publishes interim results if they are due. All workers do so at the same times.
    fn publish_interim<const LATENCY: bool, const QUEUED: bool, const RATED: bool>(
        &mut self,
        exchange: impl FnOnce() -> Option<Exchange>,
        meter: &Meter<LATENCY, QUEUED, RATED>,
        now: u64,
    ) {
        let measures = self.ramp_end == 0;
        let Some(interim) = self.interim.as_mut().filter(|_| measures) else { return };
        if !interim.take_due(now) {
            return;
        }
        let cpu = cpu_since(&self.cpu_before, &(self.usage)());
        let metered = meter.clone().finish(now);
        let mut job = self.builder.interim(metered, interim.started, now, cpu);
        job.exchange = exchange();
        interim.publish(job);
    }
}

impl<R: Ring, const LATENCY: bool, const QUEUED: bool, const RATED: bool>
    SlowPath<R, Meter<LATENCY, QUEUED, RATED>> for WorkerSlowPath<'_, '_>
{
    fn tick(
        &mut self,
        ring: &mut R,
        meter: &mut Meter<LATENCY, QUEUED, RATED>,
        now: u64,
    ) -> Ticked {
        let mut window_started = false;
        if self.ramp_end != 0 && now >= self.ramp_end && self.ramp_bytes_moved() {
            self.ramp_end = 0;
            if let Some(runtime) = self.worker.stop.runtime {
                self.deadline = now.saturating_add(runtime.0);
            }
            if let Some(floor) = &mut self.floor {
                floor.begin(self.live, now);
            }
            <Self as SlowPath<R, _>>::restart_window(self, meter, now);
            window_started = true;
            self.live.set_state(WorkerState::Running);
            self.live.set_running_since(now);
        } else {
            meter.roll(now);
        }
        let mut flow = if now >= self.deadline { Flow::End } else { Flow::Continue };
        let floor = self.floor.as_mut().filter(|f| now >= f.next && self.ramp_end == 0);
        if let Some(text) = floor.and_then(|f| f.check(self.worker, self.live, now)) {
            self.builder.errors.setup("keep the rate", &io::Error::other(text.clone()));
            self.builder.error(text);
            flow = Flow::End;
        }
        self.publish_interim(|| ring.exchange_so_far(), meter, now);
        Ticked { next: self.next_due(meter.next_boundary(), now), flow, window_started }
    }

    fn restart_window(&mut self, meter: &mut Meter<LATENCY, QUEUED, RATED>, now: u64) {
        meter.restart(now);
        self.cpu_before = (self.usage)();
    }

    fn file_step(&mut self, ring: &mut R, next: Next) -> Flow {
        match next {
            Next::Settle => {
                self.live.set_state(WorkerState::Verifying);
                self.floor.iter_mut().for_each(|floor| floor.paused = true);
            }
            Next::LoopEnd if self.ramp_end == 0 => self.live.set_state(WorkerState::Running),
            _ => {}
        }
        if !self.worker.queue.engine.opens_files() {
            return self.step_without_files(ring, next);
        }
        match next {
            Next::Open(file) => self.open(ring, file),
            Next::Close(file) => self.close(ring, file),
            Next::Forget { file, offset, length } => {
                self.files.forget(file, offset, length);
                Flow::Continue
            }
            Next::LoopEnd => self.end_loop(ring),
            Next::Settle => self.settle(ring),
            Next::Io(_) | Next::Drain | Next::Busy | Next::End => Flow::Continue,
        }
    }

    fn short_io(
        &mut self,
        meter: &mut Meter<LATENCY, QUEUED, RATED>,
        op: &Op,
        result: i64,
    ) -> (Option<Op>, Flow) {
        if result > 0 {
            if let Some(direction) = op.kind.direction() {
                meter.short(direction, result as u64);
            }
            let moved = result as u64;
            let rest = Op { offset: op.offset + moved, length: op.length - moved, ..*op };
            return (Some(rest), Flow::Continue);
        }
        // Nothing moved and no error: the file is shorter than the region.
        let errno = if result == 0 { libc::EIO } else { -result as i32 };
        if matches!(errno, libc::ENOSPC | libc::EDQUOT) && self.worker.stop.fill_device {
            return (None, Flow::End);
        }
        match (self.worker.queue.engine.medium(), errno) {
            // The peer has closed the connection.
            (Medium::Socket, libc::ESHUTDOWN) => return (None, Flow::End),
            // The run was stopped before the server answered: an error of neither.
            (Medium::Objects | Medium::Store, libc::ECANCELED) => return (None, Flow::End),
            _ => {}
        }
        let (severity, text) = self.builder.errors.io(op, errno);
        text.into_iter().for_each(|text| self.builder.error(text));
        if severity == Severity::Fatal {
            return (None, Flow::End);
        }
        if let Some(direction) = op.kind.direction() {
            meter.dropped(direction);
        }
        (None, Flow::Continue)
    }

    fn fault(&mut self, op: Option<&Op>, fault: &Fault) -> Flow {
        let severity = self.builder.fault(op, fault);
        if severity == Severity::Fatal { Flow::End } else { Flow::Continue }
    }

    fn ring_failed(&mut self, error: io::Error) -> Flow {
        self.engine_failed(error)
    }
}

/// CPU use between two readings.
pub(super) fn cpu_since(before: &CpuUse, now: &CpuUse) -> CpuUse {
    CpuUse {
        user: now.user - before.user,
        system: now.system - before.system,
        run_delay: now.run_delay.zip(before.run_delay).map(|(now, before)| now - before),
        context_switches: now.context_switches - before.context_switches,
        major_faults: now.major_faults - before.major_faults,
        minor_faults: now.minor_faults - before.minor_faults,
    }
}
