//! Runs a worker's loop: waits for the start, runs, and records the results.

use super::command;
use super::failure::Failure;
use super::loops::ReadyWorker;
use super::rate_floor::RateFloor;
use super::slow_path::{WorkerSlowPath, cpu_since};
use crate::clock::Clock;
use crate::engines::{Ring, WaitLimit};
use crate::files::OpenFiles;
use crate::hot::cold::LONGEST_SLEEP_NS;
use crate::hot::op::{LoopRequest, LoopSource, QueuePolicy};
use crate::hot::state::{Loop, Slots};
use crate::live::LiveWorker;
use crate::meter::Meter;
use crate::pacing::Gate;
use crate::payload::Payload;
use crate::run_shared::RunShared;
use crate::sources::RecordSource;
use crate::sys::buffers::BufferArea;
use plan::{Engine, Queue, Worker};
use record::{Direction, Nanos, WorkerState};
use std::time::Duration;

impl<'w> ReadyWorker<'_, 'w> {
    /// Runs the loop and records its results. Returns the files.
    pub fn run_loop<R, C, G, S, const LATENCY: bool, const QUEUED: bool, const RATED: bool>(
        self,
        mut ring: R,
        clock: C,
        gate: G,
        mut source: S,
    ) -> Result<OpenFiles<'w>, Failure>
    where
        R: Ring,
        C: Clock,
        G: Gate,
        S: LoopSource + RecordSource,
    {
        let (worker, shared) = (self.worker(), self.shared);
        let live = &shared.live[self.index];
        let payload = prepared_payload(worker, self.buffers);
        if !self.link.wait_for_start() || !wait_for_delay(shared, self.index) {
            return Ok(self.files);
        }
        command::before(worker, live)?;
        ring.begin(&until(worker, live).with_interrupt(shared.stop.clone()))?;
        let started = clock.now();
        ring.window_begins(started);
        let moved = || bytes_moved(shared, worker);
        let helpers = ring.helpers();
        let usage = || helpers.iter().fold(shared.usage(), |own, them| own.and(&them.usage()));
        let times = Times::new(worker, started);
        self.builder.set_start_clock();
        source.started(started);
        times.publish(live);
        let all = Loop {
            slow: WorkerSlowPath {
                worker,
                live,
                files: self.files,
                builder: self.builder,
                ramp_end: times.ramp_end,
                ramp_bytes: ramp_bytes(worker, &moved),
                deadline: times.deadline,
                cpu_before: usage(),
                usage: &usage,
                floor: RateFloor::new(worker, started),
                interim: Some(shared.interim(self.index, started)),
            },
            ring,
            clock,
            source,
            gate,
            meter: Meter::<LATENCY, QUEUED, RATED>::new(started, series_step(worker, shared)),
            payload,
            buffers: self.buffers,
            live,
            policy: queue_policy(&worker.queue),
            slots: Slots::new(worker.queue.depth),
            // The first tick comes at once and returns the time of the next.
            next_tick: 0,
        };
        Ok(all.run_and_record(started))
    }
}

impl<'w, R, C, S, G, const LATENCY: bool, const QUEUED: bool, const RATED: bool>
    Loop<'_, R, C, S, G, Meter<LATENCY, QUEUED, RATED>, WorkerSlowPath<'_, 'w>>
where
    R: Ring,
    C: Clock,
    S: LoopSource + RecordSource,
    G: Gate,
{
    /// Runs the loop and records its results. Returns the files.
    fn run_and_record(mut self, started: u64) -> OpenFiles<'w> {
        let ended = self.run_to_end();
        let warnings = self.ring.end();
        let exchange = self.ring.exchange();
        let Loop { slow, meter, mut source, .. } = self;
        let cpu = cpu_since(&slow.cpu_before, &(slow.usage)());
        slow.builder.job.exchange = exchange;
        warnings.into_iter().for_each(|text| slow.builder.warn(text));
        slow.builder.set_measured(meter.finish(ended), started, ended, cpu);
        source.record(ended, slow.builder);
        slow.files
    }

    /// Runs the loop, and again for work that the end of the runtime does not cancel. Then makes
    /// what was written durable. Returns the time of the end.
    fn run_to_end(&mut self) -> u64 {
        let mut ended = self.run();
        self.slow.warn_late_answers(ended);
        while !self.live.asked_to_stop()
            && !self.slow.builder.errors.ended()
            && self.source.resumes_after_end()
        {
            self.slow.deadline = u64::MAX;
            // I/O held back when time was up is dropped.
            self.slots.held_count = 0;
            ended = self.run();
        }
        if self.slow.sync_at_end() {
            let begun = std::mem::replace(&mut ended, self.clock.now());
            self.slow.builder.job.end_sync = Some(Nanos(ended - begun));
        }
        ended
    }
}

/// The times of a worker that starts now, in nanoseconds from the run's origin.
struct Times {
    started: u64,
    /// End of the ramp; 0 without a ramp.
    ramp_end: u64,
    /// End of the measured window; `u64::MAX` if it is not known yet.
    deadline: u64,
}

impl Times {
    fn new(worker: &Worker, started: u64) -> Times {
        let stop = &worker.stop;
        let ramp_end = started.saturating_add(stop.ramp.0);
        // The end of a ramp in bytes is not known in advance.
        let runtime = stop.runtime.filter(|_| stop.ramp_bytes == 0);
        Times {
            started,
            ramp_end: if stop.ramp.0 > 0 || stop.ramp_bytes > 0 { ramp_end } else { 0 },
            deadline: runtime.map_or(u64::MAX, |runtime| ramp_end.saturating_add(runtime.0)),
        }
    }

    fn publish(&self, live: &LiveWorker) {
        live.set_started(self.started);
        if self.ramp_end > 0 {
            live.set_state(WorkerState::Ramp);
        } else {
            live.set_state(WorkerState::Running);
            live.set_running_since(self.started);
        }
    }
}

/// The content of writes, and the buffers of all slots ready for it.
fn prepared_payload(worker: &Worker, buffers: &mut BufferArea) -> Payload {
    let mut payload = Payload::new(worker);
    for slot in 0..worker.queue.depth {
        payload.prepare(buffers.slice_mut(slot, worker.max_buffer() as usize));
    }
    payload
}

/// Nanoseconds of an interval of the time series. Without a series the whole window is one interval.
fn series_step(worker: &Worker, shared: &RunShared) -> u64 {
    if worker.measuring.series { shared.plan.interval.0.max(1) } else { u64::MAX }
}

/// The bytes after which a ramp ends, and what counts them; `None`: no ramp ends by bytes.
fn ramp_bytes<'a>(
    worker: &Worker,
    moved: &'a dyn Fn() -> u64,
) -> Option<(u64, &'a dyn Fn() -> u64)> {
    (worker.stop.ramp_bytes > 0).then_some((worker.stop.ramp_bytes, moved))
}

/// When a ring stops waiting for something outside of the loop.
fn until(worker: &Worker, live: &LiveWorker) -> WaitLimit {
    let timeout = worker.stop.runtime.map(|runtime| runtime.0.saturating_add(worker.stop.ramp.0));
    WaitLimit::new(live.stop_flag(), timeout.map(Duration::from_nanos))
}

/// How the queue is kept full. By default, an eighth of the depth is submitted and reaped at a time:
/// - One at a time costs a system call per I/O.
/// - Submitting all that fits makes the device see bursts with gaps (on a virtual disk at depth 32
///   that cost a fifth of the IOPS) and blurs the time of issue.
/// - Reaping all that has completed leaves less in flight than the job asks for (13.5 of 16 on that
///   disk, at the same IOPS), so that latencies are those of a smaller depth.
///
/// Exceptions: offloaded I/O goes to its thread one at a time, as in fio, where batches are for
/// workers that submit themselves. posixaio and http start an I/O when it is queued, so its issue
/// stamp must not wait for others. vsync counts an I/O per call unless the job says otherwise, as in
/// fio; what it submits ends together. http completions carry their own stamps: all are taken, so
/// that no connection waits.
fn queue_policy(queue: &Queue) -> QueuePolicy {
    let share = (queue.depth / 8).clamp(1, 32);
    let policy = QueuePolicy {
        depth: queue.depth,
        batch: 1,
        complete_min: 1,
        complete_max: share,
        low: queue.depth,
        request: LoopRequest::None,
    };
    if queue.offload {
        return policy;
    }
    let (batch, complete_max) = match queue.engine {
        Engine::Posixaio => (1, queue.complete_max.unwrap_or(share)),
        Engine::Vsync => (1, queue.depth),
        // So many trims share a command.
        Engine::IoUringCmd if queue.options.nvme.ranges > 1 => {
            (queue.options.nvme.ranges as u32, queue.complete_max.unwrap_or(queue.depth))
        }
        engine if engine == Engine::Http || engine.is_store() => {
            (1, queue.complete_max.unwrap_or(queue.depth))
        }
        _ => (share, queue.complete_max.unwrap_or(share)),
    };
    QueuePolicy {
        batch: queue.batch_submit.unwrap_or(batch).clamp(1, queue.depth),
        complete_min: queue.complete_min,
        complete_max: complete_max.max(1),
        low: queue.low,
        ..policy
    }
}

/// Bytes moved so far by all workers of the report that `worker` belongs to.
fn bytes_moved(shared: &RunShared, worker: &Worker) -> u64 {
    let workers = shared.plan.workers.iter().zip(shared.live.iter());
    let group = workers.filter(|(other, _)| other.group == worker.group);
    group.map(|(_, live)| Direction::ALL.iter().map(|d| live.bytes(*d)).sum::<u64>()).sum()
}

/// Waits for `startdelay`. Returns false if the run ends before.
fn wait_for_delay(shared: &RunShared, index: usize) -> bool {
    let delay = shared.plan.workers[index].start.delay;
    let until = shared.clock.now().saturating_add(delay.0);
    while !shared.live[index].asked_to_stop() {
        let rest = until.saturating_sub(shared.clock.now());
        if rest == 0 {
            return true;
        }
        std::thread::sleep(Duration::from_nanos(rest.min(LONGEST_SLEEP_NS)));
    }
    false
}
