//! The rare steps of a worker's loop: time, ramp, series, files, errors.

use super::build::Builder;
use super::errors::Verdict;
use super::loops::spent;
use crate::engines::Ring;
use crate::files::OpenFiles;
use crate::live::LiveWorker;
use crate::meter::Meter;
use crate::mutex::lock;
use crate::ops::{Fault, Next, Op};
use crate::steps::{Flow, Steps, Ticked};
use plan::{Medium, Worker};
use record::{CpuUse, Direction, Exchange, JobRecord, Message, Nanos, WorkerState};
use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// How often a worker looks whether `ramp_size` was moved.
const RAMP_LOOK_NS: u64 = 1_000_000;

/// How often a worker looks whether it was asked to lay out what it has.
pub const LOOK_AT_LEAST: Duration = Duration::from_millis(100);

/// Answers that come so long after the time was up are told of.
const DELAY_WORTH_SAYING_NS: u64 = 1_000_000_000;

/// What the rare steps need.
pub(crate) struct WorkerSteps<'a, 'w> {
    pub worker: &'w Worker,
    pub live: &'a LiveWorker,
    pub files: OpenFiles<'w>,
    pub builder: &'a mut Builder<'w>,
    /// End of the ramp, from the run's origin; 0 once it is over.
    pub ramp_end: u64,
    /// Bytes before the window and how many were moved so far, with the others of its report;
    /// `None` once they are.
    pub ramp_bytes: Option<(u64, &'a dyn Fn() -> u64)>,
    /// End of the measured window; `u64::MAX` without a runtime.
    pub deadline: u64,
    /// Cost up to the start of the window.
    pub cpu_before: CpuUse,
    /// What the thread has used so far.
    pub usage: &'a dyn Fn() -> CpuUse,
    pub floor: Option<RateFloor>,
    pub interim: Option<Interim<'a>>,
}

/// What was measured so far is laid out for others: at each multiple of `--status-interval`, and
/// when they ask for it.
pub(crate) struct Interim<'a> {
    every: Option<u64>,
    /// The next multiple, from the run's origin.
    next: u64,
    /// When the worker began, from the run's origin.
    started: u64,
    /// How often it was asked for, and was when it was laid out last.
    asked: &'a AtomicU64,
    answered: u64,
    slot: &'a Mutex<Option<JobRecord>>,
}

impl<'a> Interim<'a> {
    pub fn new(
        every: Option<Nanos>,
        started: u64,
        asked: &'a AtomicU64,
        slot: &'a Mutex<Option<JobRecord>>,
    ) -> Self {
        let every = every.map(|every| every.0.max(1));
        let next = every.map_or(u64::MAX, |every| (started / every + 1) * every);
        Interim { every, next, started, asked, answered: 0, slot }
    }

    /// Whether it is to be laid out now; once for each reason there was.
    fn is_due(&mut self, now: u64) -> bool {
        let asked = self.asked.load(Ordering::Relaxed);
        let due = now >= self.next || asked != self.answered;
        self.answered = asked;
        if let (true, Some(every)) = (now >= self.next, self.every) {
            self.next = (now / every + 1) * every;
        }
        due
    }

    /// When to look again.
    fn next_look(&self, now: u64) -> u64 {
        self.next.min(now.saturating_add(LOOK_AT_LEAST.as_nanos() as u64))
    }
}

/// How long a worker may take to get going before its rate is judged. Oracle: two seconds.
const SETTLING_NS: u64 = 2_000_000_000;

/// `rate_min` and `rate_iops_min`: checked over windows of `rate_cycle`, while the worker does what
/// it is measured by. Reading back what was written has no rate.
pub(crate) struct RateFloor {
    cycle: u64,
    next: u64,
    since: [(u64, u64); 3],
    paused: bool,
}

impl RateFloor {
    /// Of a worker that begins at `started` and is measured from `measured` on.
    pub fn new(worker: &Worker, started: u64, measured: u64) -> Option<RateFloor> {
        let pacing = &worker.pacing;
        let wanted = Direction::ALL
            .iter()
            .any(|d| pacing.min_bytes[*d].is_some() || pacing.min_iops[*d].is_some());
        let cycle = pacing.cycle.0.max(1_000_000);
        wanted.then(|| {
            let next = measured.max(started.saturating_add(SETTLING_NS));
            RateFloor { cycle, next, since: [(0, 0); 3], paused: true }
        })
    }

    /// A window begins.
    fn begin(&mut self, live: &LiveWorker, now: u64) {
        self.since = Direction::ALL.map(|d| (live.ios(d), live.bytes(d)));
        self.next = now.saturating_add(self.cycle);
    }

    /// What fell below its floor in the window that ends now.
    fn check(&mut self, worker: &Worker, live: &LiveWorker, now: u64) -> Option<String> {
        let (before, end) = (self.since, self.next);
        self.begin(live, now);
        if self.paused {
            self.paused = live.state() != WorkerState::Running;
            return None;
        }
        let seconds = now.saturating_sub(end).saturating_add(self.cycle) as f64 / 1e9;
        for direction in Direction::ALL {
            let (before, after) = (before[direction as usize], self.since[direction as usize]);
            let (ios, bytes) = (after.0 - before.0, after.1 - before.1);
            let pacing = &worker.pacing;
            let floors = [
                ("rate_min", pacing.min_bytes[direction], bytes, "bytes/s"),
                ("rate_iops_min", pacing.min_iops[direction], ios, "IOPS"),
            ];
            for (option, floor, done, unit) in floors {
                let rate = done as f64 / seconds;
                if let Some(floor) = floor.filter(|f| rate < *f as f64) {
                    return Some(format!(
                        "{option} not met: {} reached {rate:.0} {unit}, {floor} were asked for",
                        direction.name()
                    ));
                }
            }
        }
        None
    }
}

impl WorkerSteps<'_, '_> {
    fn message(&mut self, text: String) {
        self.builder.messages.push(Message::error(Some(&self.worker.name), text));
    }

    /// Makes what was written durable, where that is asked for; whether it was.
    ///
    /// Oracle: its time is part of the run, so that the rate of a job with `end_fsync` or
    /// `fsync_on_close` is the one at which data reached the target.
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

    /// Tells of requests to an object store that kept the run from ending when its time was up.
    pub fn tell_of_delay(&mut self, ended: u64) {
        let delay = ended.saturating_sub(self.deadline);
        let asked = self.worker.queue.engine.medium() == Medium::Objects;
        if asked && delay > DELAY_WORTH_SAYING_NS {
            let text = format!(
                "the last answer came, or was given up, {:.1} s after the time was up; that is part \
                 of the time measured",
                delay as f64 / 1e9
            );
            self.builder.messages.push(Message::warning(Some(&self.worker.name), text));
        }
    }

    fn file_result(&mut self, result: Result<(), crate::files::FileError>) -> Flow {
        match result {
            Ok(()) => Flow::On,
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
                crate::files::FileError::new(crate::files::Action::Inspect, path, e)
            })
        });
        self.file_result(opened)
    }

    fn close<R: Ring>(&mut self, ring: &mut R, file: u32) -> Flow {
        // The ring lets go first, so that it never holds a descriptor that means another file.
        if let Err(error) = ring.file_changed(file, -1) {
            return self.engine_failed(error);
        }
        let closed = self.files.close(file);
        self.file_result(closed)
    }

    /// Between two loops every file is synchronised, closed and opened again as the job's options
    /// say, so that the next loop meets it as the first one did: invalidated, or made anew.
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

    /// Everything written goes to the target; files opened again are dropped from the page cache.
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
        if failed { Flow::End } else { Flow::On }
    }

    fn open_again<R: Ring>(&mut self, ring: &mut R) -> Flow {
        let count = self.worker.files.len() as u32;
        // With fewer files open than there are, the source asks for each.
        let all_open = self.worker.selection.open_at_once(count) == count;
        let reopened = !all_open || (0..count).all(|file| self.open(ring, file) == Flow::On);
        if reopened { Flow::On } else { Flow::End }
    }

    /// Engines that open no files have only the end of a loop to act on: names are removed where
    /// that is asked for, and memory is given back so that it is touched for the first time again.
    fn step_without_files<R: Ring>(&mut self, ring: &mut R, next: Next) -> Flow {
        if next != Next::LoopEnd {
            return Flow::On;
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
        Flow::On
    }

    fn engine_failed(&mut self, error: io::Error) -> Flow {
        self.builder.errors.setup("use the I/O engine", &error);
        let name = self.worker.queue.engine.name();
        self.message(format!("ioengine {name} failed: {error}"));
        Flow::End
    }

    /// Whether as many bytes were moved as come before the window.
    fn has_moved_enough(&self) -> bool {
        self.ramp_bytes.is_none_or(|(bytes, moved)| moved() >= bytes)
    }

    /// The next moment anything is due.
    fn next_due(&self, boundary: u64, now: u64) -> u64 {
        let ramp = match self.ramp_end {
            0 => u64::MAX,
            // Bytes are looked at once in a while, not at each I/O.
            end if self.ramp_bytes.is_some() => end.max(now + RAMP_LOOK_NS),
            end => end,
        };
        let floor = self.floor.as_ref().map_or(u64::MAX, |f| f.next);
        let interim = self.interim.as_ref().filter(|_| self.ramp_end == 0);
        let interim = interim.map_or(u64::MAX, |interim| interim.next_look(now));
        boundary.min(ramp).min(self.deadline).min(floor).min(interim)
    }

    /// Lays out what was measured so far, if that is due. Workers do so at the same moments.
    fn lay_out<const LATENCY: bool, const QUEUED: bool, const RATED: bool>(
        &mut self,
        exchange: impl FnOnce() -> Option<Exchange>,
        meter: &Meter<LATENCY, QUEUED, RATED>,
        now: u64,
    ) {
        let measures = self.ramp_end == 0;
        let Some(interim) = self.interim.as_mut().filter(|_| measures) else { return };
        if !interim.is_due(now) {
            return;
        }
        let cpu = spent(&self.cpu_before, &(self.usage)());
        let mut so_far = self.builder.so_far(meter.clone().finish(now), interim.started, now, cpu);
        so_far.exchange = exchange();
        *lock(interim.slot) = Some(so_far);
    }
}

impl<R: Ring, const LATENCY: bool, const QUEUED: bool, const RATED: bool>
    Steps<R, Meter<LATENCY, QUEUED, RATED>> for WorkerSteps<'_, '_>
{
    fn tick(
        &mut self,
        ring: &mut R,
        meter: &mut Meter<LATENCY, QUEUED, RATED>,
        now: u64,
    ) -> Ticked {
        let mut window_begins = false;
        if self.ramp_end != 0 && now >= self.ramp_end && self.has_moved_enough() {
            self.ramp_end = 0;
            if let Some(runtime) = self.worker.stop.runtime {
                self.deadline = now.saturating_add(runtime.0);
            }
            if let Some(floor) = &mut self.floor {
                floor.begin(self.live, now);
            }
            <Self as Steps<R, _>>::restart(self, meter, now);
            window_begins = true;
            self.live.set_state(WorkerState::Running);
            self.live.set_running_since(now);
        } else {
            meter.roll(now);
        }
        let mut flow = if now >= self.deadline { Flow::End } else { Flow::On };
        let floor = self.floor.as_mut().filter(|f| now >= f.next && self.ramp_end == 0);
        if let Some(text) = floor.and_then(|f| f.check(self.worker, self.live, now)) {
            self.builder.errors.setup("keep the rate", &io::Error::other(text.clone()));
            self.message(text);
            flow = Flow::End;
        }
        self.lay_out(|| ring.exchange_so_far(), meter, now);
        Ticked { next: self.next_due(meter.next_boundary(), now), flow, window_begins }
    }

    fn restart(&mut self, meter: &mut Meter<LATENCY, QUEUED, RATED>, now: u64) {
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
                Flow::On
            }
            Next::LoopEnd => self.end_loop(ring),
            Next::Settle => self.settle(ring),
            Next::Io(_) | Next::Drain | Next::Busy | Next::End => Flow::On,
        }
    }

    fn fell_short(
        &mut self,
        meter: &mut Meter<LATENCY, QUEUED, RATED>,
        op: &Op,
        result: i64,
    ) -> (Option<Op>, Flow) {
        use crate::meter::Metering;
        if result > 0 {
            if let Some(direction) = op.kind.direction() {
                meter.short(direction, result as u64);
            }
            let moved = result as u64;
            let rest = Op { offset: op.offset + moved, length: op.length - moved, ..*op };
            return (Some(rest), Flow::On);
        }
        // Nothing moved and no error: the end of the file was reached before the end of the region.
        let errno = if result == 0 { libc::EIO } else { -result as i32 };
        if matches!(errno, libc::ENOSPC | libc::EDQUOT) && self.worker.stop.fill_device {
            return (None, Flow::End);
        }
        // The other side has closed the connection: nothing more is to come or to go.
        let connected = self.worker.queue.engine.medium() == Medium::Socket;
        if errno == libc::ESHUTDOWN && connected {
            return (None, Flow::End);
        }
        // The run was called off, and the server did not answer soon: no error of either.
        let asked = self.worker.queue.engine.medium() == Medium::Objects;
        if errno == libc::ECANCELED && asked {
            return (None, Flow::End);
        }
        let (verdict, text) = self.builder.errors.io(op, errno);
        if let Some(text) = text {
            self.message(text);
        }
        match verdict {
            Verdict::Fatal => (None, Flow::End),
            Verdict::Tolerated => {
                if let Some(direction) = op.kind.direction() {
                    meter.dropped(direction);
                }
                (None, Flow::On)
            }
        }
    }

    fn fault(&mut self, op: Option<&Op>, fault: &Fault) -> Flow {
        let (verdict, text) = self.builder.errors.fault(op, fault);
        if let Some(text) = text {
            self.message(text);
        }
        if verdict == Verdict::Fatal { Flow::End } else { Flow::On }
    }

    fn ring_failed(&mut self, error: io::Error) -> Flow {
        self.engine_failed(error)
    }
}
