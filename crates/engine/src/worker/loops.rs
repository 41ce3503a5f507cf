//! Which loop a worker runs: ring, clock, gate and meter are chosen here, once.

use super::build::{Builder, usual_priority};
use super::steps::{RateFloor, WorkerSteps};
use super::{Failure, command};
use crate::clock::{Clock, RunClock};
use crate::engines::http::Http;
use crate::engines::io_uring::IoUring;
use crate::engines::libaio::Libaio;
use crate::engines::mmap::Mmap;
use crate::engines::null::{NullQueue, NullSync};
use crate::engines::offload::Offload;
use crate::engines::posixaio::Posixaio;
use crate::engines::psync::Psync;
use crate::engines::pvsync::Pvsync;
use crate::engines::pvsync2::Pvsync2;
use crate::engines::sync::Sync;
use crate::engines::sync_ring::SyncRing;
use crate::engines::vsync::Vsync;
use crate::engines::{IoSettings, Ring, RingFile, RingSetup, WaitLimit};
use crate::extended::{Extended, Gathering};
use crate::files::{OpenFiles, pattern_advice};
use crate::live::LiveWorker;
use crate::meter::Meter;
use crate::pacing::{Gate, OpenGate, PacedGate};
use crate::payload::Payload;
use crate::rare::LONGEST_SLEEP_NS;
use crate::run::{Line, Shared};
use crate::steps::{Loop, Policy, Slots, Wish};
use crate::sys::buffers::BufferArea;
use plan::{Engine, Queue, Worker};
use record::{CpuUse, Direction, Message, Nanos, WorkerState};
use std::time::Duration;

/// In kernels since 6.11.
const RWF_ATOMIC: u32 = 0x40;

/// A worker with its memory and its first files open.
pub(super) struct Prepared<'a, 'w> {
    pub shared: &'w Shared,
    pub index: usize,
    pub buffers: &'a mut BufferArea,
    pub files: OpenFiles<'w>,
}

impl<'w> Prepared<'_, 'w> {
    /// Runs the loop from the start of the worker's batch to its end, and gives the files back.
    pub fn run(self, line: &Line, builder: &mut Builder<'w>) -> Result<OpenFiles<'w>, Failure> {
        let queue = &self.shared.plan.workers[self.index].queue;
        if queue.offload {
            return self.general::<Offload, true>(line, builder);
        }
        match queue.engine {
            Engine::Null if queue.depth == 1 => self.with::<NullSync, false>(line, builder),
            Engine::Null => self.with::<NullQueue, true>(line, builder),
            Engine::Sync => self.with::<Sync, false>(line, builder),
            Engine::Psync => self.with::<Psync, false>(line, builder),
            Engine::Vsync => self.with::<Vsync, true>(line, builder),
            Engine::Pvsync => self.with::<Pvsync, false>(line, builder),
            Engine::Pvsync2 => self.with::<Pvsync2, false>(line, builder),
            Engine::Mmap => self.with::<Mmap, false>(line, builder),
            Engine::Libaio => self.with::<Libaio, true>(line, builder),
            Engine::Posixaio => self.with::<Posixaio, true>(line, builder),
            Engine::IoUring => self.with::<IoUring, true>(line, builder),
            Engine::Http => self.general::<Http, true>(line, builder),
            _ => self.general::<SyncRing, false>(line, builder),
        }
    }

    /// Makes the ring, and reads the zones, as far as it goes without other workers.
    fn ring<R: Ring>(&self) -> Result<R, Failure> {
        let worker = &self.shared.plan.workers[self.index];
        self.shared.zones.prepare(worker).map_err(|e| Failure::Setup("use the zones", e))?;
        let rings: Vec<RingFile> = (0_u32..)
            .zip(&worker.files)
            .map(|(index, file)| RingFile {
                path: file.path.clone(),
                fd: self.files.fd(index),
                start: file.start,
                length: file.length,
            })
            .collect();
        let setup = RingSetup {
            worker,
            depth: worker.queue.depth,
            buffers: self.buffers,
            options: &worker.queue.options,
            files: &rings,
            io: IoSettings {
                io_priority: usual_priority(worker),
                direct: worker.queue.direct,
                writes: worker.pattern.rw.writes()
                    && !worker.verify.as_ref().is_some_and(|verify| verify.only),
                write_flags: if worker.queue.atomic { RWF_ATOMIC } else { 0 },
                advice: pattern_advice(worker),
                clock: self.shared.clock,
            },
            overlaps: worker.placing.serialize_overlap.then_some(&self.shared.overlaps),
        };
        let mut ring = R::open(&setup).map_err(|e| Failure::Setup("set up the I/O engine", e))?;
        ring.prepare()?;
        Ok(ring)
    }

    /// Rings whose I/O costs so much that one loop does for all workers that have them.
    fn general<R: Ring, const QUEUED: bool>(
        self,
        line: &Line,
        builder: &mut Builder<'w>,
    ) -> Result<OpenFiles<'w>, Failure> {
        const { assert!(QUEUED != R::SYNCHRONOUS) };
        let worker = &self.shared.plan.workers[self.index];
        let ring = self.ring::<R>()?;
        let source = Extended::always(worker, self.shared, self.index, QUEUED);
        let gate = PacedGate::always(worker, &self.shared.around());
        let clock = self.shared.clock;
        self.go::<_, _, _, _, true, QUEUED, true>(ring, clock, gate, source, line, builder)
    }

    fn with<R: Ring, const QUEUED: bool>(
        self,
        line: &Line,
        builder: &mut Builder<'w>,
    ) -> Result<OpenFiles<'w>, Failure> {
        const { assert!(QUEUED != R::SYNCHRONOUS) };
        let worker = &self.shared.plan.workers[self.index];
        let ring = self.ring::<R>()?;
        let around = self.shared.around();
        let source = match Extended::new(worker, self.shared, self.index, QUEUED) {
            Err(workload) => *workload,
            Ok(source) => {
                let (gate, clock) = (PacedGate::always(worker, &around), self.shared.clock);
                return self.go::<_, _, _, _, true, QUEUED, true>(
                    ring, clock, gate, source, line, builder,
                );
            }
        };
        let wants_latency = worker.measuring.clat || worker.measuring.lat || worker.measuring.slat;
        let gate = PacedGate::new(worker, &around);
        match (self.shared.clock, gate) {
            (RunClock::Tsc(clock), None) if wants_latency => self
                .go::<_, _, _, _, true, QUEUED, false>(
                    ring, clock, OpenGate, source, line, builder,
                ),
            (RunClock::Tsc(clock), None) => self.go::<_, _, _, _, false, QUEUED, false>(
                ring, clock, OpenGate, source, line, builder,
            ),
            (RunClock::Tsc(clock), Some(gate)) if gate.is_scheduled() => {
                self.go::<_, _, _, _, true, QUEUED, true>(ring, clock, gate, source, line, builder)
            }
            (RunClock::Tsc(clock), Some(gate)) => {
                self.go::<_, _, _, _, true, QUEUED, false>(ring, clock, gate, source, line, builder)
            }
            (RunClock::Monotonic(clock), None) => self.go::<_, _, _, _, true, QUEUED, false>(
                ring, clock, OpenGate, source, line, builder,
            ),
            (RunClock::Monotonic(clock), Some(gate)) if gate.is_scheduled() => {
                self.go::<_, _, _, _, true, QUEUED, true>(ring, clock, gate, source, line, builder)
            }
            (RunClock::Monotonic(clock), Some(gate)) => {
                self.go::<_, _, _, _, true, QUEUED, false>(ring, clock, gate, source, line, builder)
            }
        }
    }

    fn go<R, C, G, S, const LATENCY: bool, const QUEUED: bool, const RATED: bool>(
        self,
        mut ring: R,
        clock: C,
        gate: G,
        mut source: S,
        line: &Line,
        builder: &mut Builder<'w>,
    ) -> Result<OpenFiles<'w>, Failure>
    where
        R: Ring,
        C: Clock,
        G: Gate,
        S: Gathering,
    {
        let Prepared { shared, index, buffers, files } = self;
        let (worker, live) = (&shared.plan.workers[index], &shared.live[index]);
        let mut payload = Payload::new(worker);
        for slot in 0..worker.queue.depth {
            payload.prepare(buffers.slice_mut(slot, worker.max_buffer() as usize));
        }
        if !line.wait_for_start() || !wait_for_delay(shared, index) {
            return Ok(files);
        }
        command::before(worker, live)?;
        ring.begin(&until(worker, live).with_interrupt(shared.called_off()))?;
        let started = clock.now();
        ring.window_begins(started);
        let ramp = worker.stop.ramp.0;
        let ramps = ramp > 0 || worker.stop.ramp_bytes > 0;
        let moved = || moved_together(shared, worker);
        // Until as much was moved as the ramp has, no end is known.
        let timed = worker.stop.runtime.filter(|_| worker.stop.ramp_bytes == 0);
        let deadline = timed.map_or(u64::MAX, |r| started.saturating_add(ramp).saturating_add(r.0));
        live.set_started(started);
        builder.begins();
        source.begins(started);
        live.set_state(if ramps { WorkerState::Ramp } else { WorkerState::Running });
        if !ramps {
            live.set_running_since(started);
        }
        let floor = RateFloor::new(worker, started, started.saturating_add(ramp));
        // Without a series the whole window is one interval.
        let step = if worker.measuring.series { shared.plan.interval.0.max(1) } else { u64::MAX };
        let helpers = ring.helpers();
        let usage = || helpers.iter().fold(shared.usage(), |own, them| own.and(&them.usage()));
        let steps = WorkerSteps {
            worker,
            live,
            files,
            builder,
            ramp_end: if ramps { started.saturating_add(ramp) } else { 0 },
            ramp_bytes: Some(worker.stop.ramp_bytes).filter(|b| *b > 0).map(|b| (b, &moved as _)),
            deadline,
            cpu_before: usage(),
            usage: &usage,
            floor,
            interim: Some(shared.interim(index, started)),
        };
        let mut all = Loop {
            ring,
            clock,
            source,
            gate,
            meter: Meter::<LATENCY, QUEUED, RATED>::new(started, step),
            steps,
            payload,
            buffers,
            live,
            policy: policy(&worker.queue),
            slots: Slots::new(worker.queue.depth),
            // The first tick comes at once and says when the next is due.
            next_tick: 0,
        };
        let mut ended = all.run();
        all.steps.tell_of_delay(ended);
        while !live.asked_to_stop() && !all.steps.builder.errors.ended() && all.source.goes_on() {
            all.steps.deadline = u64::MAX;
            // What was held back when time was up is not done any more.
            all.slots.held_count = 0;
            ended = all.run();
        }
        if all.steps.sync_at_end() {
            let begun = std::mem::replace(&mut ended, all.clock.now());
            all.steps.builder.synchronised(Nanos(ended - begun));
        }
        let notes = all.ring.end();
        all.steps.builder.exchanged(all.ring.exchange());
        let cpu = spent(&all.steps.cpu_before, &usage());
        let Loop { steps, meter, source, .. } = all;
        let notes = notes.into_iter().map(|text| Message::warning(Some(&worker.name), text));
        steps.builder.messages.extend(notes);
        steps.builder.measured(meter.finish(ended), started, ended, cpu);
        source.gather(ended, steps.builder);
        Ok(steps.files)
    }
}

/// When those give up that wait for something outside of the loop.
fn until(worker: &Worker, live: &LiveWorker) -> WaitLimit {
    let patience = worker.stop.runtime.map(|runtime| runtime.0.saturating_add(worker.stop.ramp.0));
    WaitLimit::new(live.told_to_stop(), patience.map(Duration::from_nanos))
}

/// How the queue is kept full. Unless the job says otherwise, an eighth of the depth is handed over
/// and taken back at a time: one by one costs a system call an I/O; handing over all that fits at
/// once makes the device see bursts with gaps between them (on a virtual disk at depth 32 that cost
/// a fifth of the IOPS) and blurs the moment of issue; taking back all that has completed leaves
/// less in flight than the job asks for (13.5 of 16 there, at the same IOPS), so its latencies
/// would be those of a smaller depth.
///
/// What is offloaded goes to its thread at once, each I/O by itself: as fio has it, batches are for
/// who submits itself.
///
/// posixaio starts an I/O when it is queued: the stamp of its issue has no other to wait for. What
/// vsync is handed over ends together, and is one I/O unless the job says otherwise, as in fio. http
/// starts a request when it is queued, and its completions bring their own moments: all that are
/// there are taken, so that no connection waits.
fn policy(queue: &Queue) -> Policy {
    let share = (queue.depth / 8).clamp(1, 32);
    if queue.offload {
        let (depth, complete_max) = (queue.depth, share);
        return Policy {
            depth,
            batch: 1,
            complete_min: 1,
            complete_max,
            low: depth,
            wish: Wish::None,
        };
    }
    let (batch, complete_max) = match queue.engine {
        Engine::Posixaio => (1, queue.complete_max.unwrap_or(share)),
        Engine::Vsync => (1, queue.depth),
        Engine::Http => (1, queue.complete_max.unwrap_or(queue.depth)),
        _ => (share, queue.complete_max.unwrap_or(share)),
    };
    Policy {
        depth: queue.depth,
        batch: queue.batch_submit.unwrap_or(batch).clamp(1, queue.depth),
        complete_min: queue.complete_min,
        complete_max: complete_max.max(1),
        low: queue.low,
        wish: Wish::None,
    }
}

/// Bytes moved so far by all workers of one report.
fn moved_together(shared: &Shared, worker: &Worker) -> u64 {
    let workers = shared.plan.workers.iter().zip(shared.live.iter());
    let together = workers.filter(|(other, _)| other.group == worker.group);
    together.map(|(_, live)| Direction::ALL.iter().map(|d| live.bytes(*d)).sum::<u64>()).sum()
}

/// Waits `startdelay`; false when the run ends before.
fn wait_for_delay(shared: &Shared, index: usize) -> bool {
    let delay = shared.plan.workers[index].start.delay;
    let until = shared.clock.now().saturating_add(delay.0);
    while !shared.live[index].asked_to_stop() {
        let rest = until.saturating_sub(shared.clock.now());
        if rest == 0 {
            return true;
        }
        let step = rest.min(LONGEST_SLEEP_NS);
        std::thread::sleep(std::time::Duration::from_nanos(step));
    }
    false
}

/// What was used between two looks.
pub(super) fn spent(before: &CpuUse, now: &CpuUse) -> CpuUse {
    CpuUse {
        user: now.user - before.user,
        system: now.system - before.system,
        run_delay: now.run_delay.zip(before.run_delay).map(|(now, before)| now - before),
        context_switches: now.context_switches - before.context_switches,
        major_faults: now.major_faults - before.major_faults,
        minor_faults: now.minor_faults - before.minor_faults,
    }
}
