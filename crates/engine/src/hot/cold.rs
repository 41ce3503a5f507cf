//! Rare steps of the loop, kept out of its code.

use crate::clock::Clock;
use crate::engines::Ring;
use crate::hot::op::{LoopRequest, LoopSource, Next, Op, OpKind};
use crate::hot::state::{Flow, Halt, Loop, Slot, SlowPath, Ticked};
use crate::meter::Metering;
use crate::pacing::{Admit, Gate};
use std::io;
use std::time::Duration;

/// A sleep ends late by the timer's slack and the wake-up, so the loop spins for this long before a
/// scheduled start.
const SPIN_NS: u64 = 60_000;
/// A worker that sleeps checks this often whether it was asked to stop.
pub(crate) const LONGEST_SLEEP_NS: u64 = 50_000_000;
/// Pause before a submission is retried that the kernel had no resources for.
const RETRY_NS: u64 = 1_000_000;
/// Maximum retries with nothing in flight whose end could free resources.
const ATTEMPTS_MAX: u32 = 1000;
/// A ring that failed this often is not waited for any more.
const RING_FAILURES_MAX: u32 = 3;

impl<R, C, S, G, M, X> Loop<'_, R, C, S, G, M, X>
where
    R: Ring,
    C: Clock,
    S: LoopSource,
    G: Gate,
    M: Metering,
    X: SlowPath<R, M>,
{
    #[cold]
    pub(crate) fn hold_back(&mut self, op: Op, admit: Admit, now: &mut u64) -> Halt {
        self.slots.hold(op);
        *now = self.clock.now();
        match admit {
            Admit::Wait { until } => Halt::Wait(until),
            // Until any I/O ends.
            Admit::Busy => Halt::Wait(u64::MAX),
            _ => Halt::Drain(Next::Drain),
        }
    }

    /// Waits until `until`, or until an I/O ends or a tick is due.
    #[cold]
    pub(crate) fn wait(&mut self, until: u64, now: &mut u64) -> Flow {
        *now = self.clock.now();
        let rest = until.min(self.next_tick).saturating_sub(*now).min(LONGEST_SLEEP_NS);
        if self.slots.in_flight > 0 {
            // A timeout close to the start would end too late: poll.
            let (min, timeout) = if rest > SPIN_NS { (1, rest - SPIN_NS) } else { (0, 0) };
            return self.reap(min, Some(Duration::from_nanos(timeout)), now);
        }
        self.clock.pass(rest.saturating_sub(SPIN_NS));
        self.check_time(now)
    }

    /// Ticks if that is due. A synchronous ring is full only if it waited in vain until the time was
    /// up.
    #[cold]
    pub(crate) fn check_time(&mut self, now: &mut u64) -> Flow {
        *now = self.clock.now();
        if *now >= self.next_tick { self.tick(*now) } else { Flow::Continue }
    }

    /// Waits until nothing is in flight, then does the step that needs that.
    #[cold]
    pub(crate) fn drain(&mut self, next: Next, now: &mut u64) -> Flow {
        if next == Next::Busy {
            let waits = self.slots.in_flight > 0;
            return if waits { self.reap(1, None, now) } else { self.wait(0, now) };
        }
        while self.slots.in_flight > 0 {
            if self.reap(1, None, now) == Flow::End {
                return Flow::End;
            }
        }
        match next {
            Next::Open(_) | Next::Close(_) | Next::Forget { .. } | Next::LoopEnd | Next::Settle => {
                self.slow.file_step(&mut self.ring, next)
            }
            Next::Io(_) | Next::Drain | Next::Busy | Next::End => Flow::Continue,
        }
    }

    /// Takes the completions of all I/O in flight, which belongs to the run, unless the ring keeps
    /// failing.
    #[cold]
    pub(crate) fn reap_all(&mut self, now: &mut u64) {
        while self.slots.in_flight > 0 && self.slots.ring_failures < RING_FAILURES_MAX {
            // Both return `End` once time is up: only failures of the ring count here.
            if self.slots.queued > 0 {
                let _ = self.submit(now);
            }
            if self.slots.in_flight > self.slots.queued {
                let _ = self.reap(1, None, now);
            }
        }
    }

    /// The kernel took nothing: it has no resources until an I/O of this worker or of another
    /// completes.
    #[cold]
    pub(crate) fn wait_for_resources(&mut self, attempts: u32, now: &mut u64) -> Flow {
        if self.slots.in_flight > self.slots.queued {
            return self.reap(1, Some(Duration::from_nanos(RETRY_NS)), now);
        }
        if attempts > ATTEMPTS_MAX {
            return self.ring_failed(io::ErrorKind::WouldBlock.into());
        }
        self.clock.pass(RETRY_NS);
        *now = self.clock.now();
        Flow::Continue
    }

    #[cold]
    pub(crate) fn ring_failed(&mut self, error: io::Error) -> Flow {
        self.slots.ring_failures += 1;
        self.slow.ring_failed(error)
    }

    #[cold]
    pub(crate) fn short_io(&mut self, slot: u32, op: Op, result: i64) -> Flow {
        if S::EXTENDED
            && let Some(flow) = self.inspect_short(slot, &op, result)
        {
            return flow;
        }
        let (rest, flow) = self.slow.short_io(&mut self.meter, &op, result);
        let moved = result.max(0) as u64;
        if let Some(direction) = op.kind.direction() {
            self.live.count_part(direction, moved);
        }
        self.source.completed(&Op { length: moved, ..op }, moved);
        if S::EXTENDED {
            self.source.short(&op, moved);
        }
        self.gate.completed(&op);
        if let (Some(rest), Flow::Continue) = (rest, flow) {
            self.slots.hold(rest);
        }
        flow
    }

    /// Lets the source inspect a short I/O. A fault that ends the worker, or a read past the end of
    /// the file, replaces the handling of the short I/O.
    fn inspect_short(&mut self, slot: u32, op: &Op, result: i64) -> Option<Flow> {
        if result == 0 {
            let fault = self.source.read_past_end(op)?;
            self.source.completed(&Op { length: 0, ..*op }, 0);
            self.gate.completed(op);
            return Some(self.slow.fault(Some(op), &fault));
        }
        let length = u64::try_from(result).ok()?;
        let buffer = self.buffers.slice_mut(slot, length as usize);
        let fault = self.source.part_ended(&Op { length, ..*op }, buffer).err()?;
        (self.slow.fault(Some(op), &fault) == Flow::End).then_some(Flow::End)
    }

    /// Lets the source inspect an I/O that ended well.
    pub(crate) fn inspect(&mut self, slot: u32, io: &Slot, done: u64) -> Flow {
        let Slot { op, stamps } = io;
        // Trims and sync_file_range have a length but no buffer.
        let moves = matches!(op.kind, OpKind::Read | OpKind::Write);
        let moved = if moves { op.length } else { 0 };
        // Objects that are not inspected are received elsewhere and may exceed the buffer.
        let buffer = self.buffers.slice_mut(slot, (moved as usize).min(self.buffers.length()));
        match self.source.ended(op, buffer, stamps, done) {
            Ok(()) => Flow::Continue,
            Err(fault) => self.slow.fault(Some(op), &fault),
        }
    }

    /// Applies the source's request.
    fn apply_request(&mut self, now: u64) -> Flow {
        match std::mem::take(&mut self.policy.request) {
            LoopRequest::None => Flow::Continue,
            LoopRequest::End => Flow::End,
            LoopRequest::Restart => {
                self.slow.restart_window(&mut self.meter, now);
                self.ring.window_begins(now);
                Flow::Continue
            }
        }
    }

    #[cold]
    pub(crate) fn tick(&mut self, now: u64) -> Flow {
        let Ticked { next, flow, window_started } =
            self.slow.tick(&mut self.ring, &mut self.meter, now);
        self.next_tick = next;
        if window_started {
            self.ring.window_begins(now);
        }
        if !S::EXTENDED || flow == Flow::End {
            return flow;
        }
        if window_started {
            self.source.window_started(now);
        }
        match self.source.tick(&mut self.policy, now) {
            Ok(wanted) => {
                self.next_tick = next.min(wanted);
                self.apply_request(now)
            }
            Err(fault) => self.slow.fault(None, &fault),
        }
    }
}
