//! The loop's rare turns, kept out of its line.

use crate::clock::Clock;
use crate::engines::Ring;
use crate::hot::Halt;
use crate::meter::Metering;
use crate::ops::{Next, Op, OpKind, Source};
use crate::pacing::{Admit, Gate};
use crate::steps::{Flow, Loop, Slot, Steps, Ticked, Wish};
use std::io;
use std::time::Duration;

/// A sleep ends late by the timer's slack and the way back to a CPU; the last stretch before a
/// scheduled start is therefore spent spinning.
const SPIN_NS: u64 = 60_000;
/// A worker that sleeps looks this often whether it is to end.
pub(crate) const LONGEST_SLEEP_NS: u64 = 50_000_000;
/// How long a submission the kernel had no resources for rests before it is tried again, and how
/// often with nothing in flight whose end could free some.
const STARVED_NS: u64 = 1_000_000;
const MOST_ATTEMPTS: u32 = 1000;
/// A ring that failed this often is not waited on any more.
const MOST_FAILURES: u32 = 3;

impl<R, C, S, G, M, X> Loop<'_, R, C, S, G, M, X>
where
    R: Ring,
    C: Clock,
    S: Source,
    G: Gate,
    M: Metering,
    X: Steps<R, M>,
{
    #[cold]
    pub(crate) fn hold_back(&mut self, op: Op, admit: Admit, now: &mut u64) -> Halt {
        self.slots.hold(op);
        *now = self.clock.now();
        match admit {
            Admit::Wait { until } => Halt::Wait(until),
            // The first to end ends the wait.
            Admit::Busy => Halt::Wait(u64::MAX),
            _ => Halt::Drain(Next::Drain),
        }
    }

    /// Passes the time until `until`, or until something ends or is due before.
    #[cold]
    pub(crate) fn wait(&mut self, until: u64, now: &mut u64) -> Flow {
        *now = self.clock.now();
        let rest = until.min(self.next_tick).saturating_sub(*now).min(LONGEST_SLEEP_NS);
        if self.slots.in_flight > 0 {
            // Close to the moment, a timeout would come too late: poll.
            let (min, patience) = if rest > SPIN_NS { (1, rest - SPIN_NS) } else { (0, 0) };
            return self.reap(min, Some(Duration::from_nanos(patience)), now);
        }
        self.clock.pass(rest.saturating_sub(SPIN_NS));
        *now = self.clock.now();
        if *now >= self.next_tick { self.tick(*now) } else { Flow::On }
    }

    /// A ring that ends every I/O within the call has no other reason to give one back than that it
    /// waited in vain until the time was up.
    #[cold]
    pub(crate) fn look_at_clock(&mut self, now: &mut u64) -> Flow {
        *now = self.clock.now();
        if *now >= self.next_tick { self.tick(*now) } else { Flow::On }
    }

    /// Waits until nothing is in flight, then does what needs that.
    #[cold]
    pub(crate) fn drain(&mut self, next: Next, now: &mut u64) -> Flow {
        if next == Next::Busy {
            return self.make_way(now);
        }
        while self.slots.in_flight > 0 {
            if self.reap(1, None, now) == Flow::End {
                return Flow::End;
            }
        }
        match next {
            Next::Open(_) | Next::Close(_) | Next::Forget { .. } | Next::LoopEnd | Next::Settle => {
                self.steps.file_step(&mut self.ring, next)
            }
            Next::Io(_) | Next::Drain | Next::Busy | Next::End => Flow::On,
        }
    }

    /// Something has to end before more can be issued.
    fn make_way(&mut self, now: &mut u64) -> Flow {
        if self.slots.in_flight > 0 { self.reap(1, None, now) } else { self.wait(0, now) }
    }

    /// Takes what is still in flight; it belongs to the run. A ring that goes on failing was
    /// reported and keeps what it has.
    #[cold]
    pub(crate) fn finish(&mut self, now: &mut u64) {
        while self.slots.in_flight > 0 && self.slots.failures < MOST_FAILURES {
            // Both say that time is up, again and again: only their failures count here.
            if self.slots.queued > 0 {
                let _ = self.submit(now);
            }
            if self.slots.in_flight > self.slots.queued {
                let _ = self.reap(1, None, now);
            }
        }
    }

    /// The kernel took nothing: it is out of resources until something completes, of this worker or,
    /// with nothing of it in flight, of others.
    #[cold]
    pub(crate) fn starve(&mut self, attempts: u32, now: &mut u64) -> Flow {
        if self.slots.in_flight > self.slots.queued {
            return self.reap(1, Some(Duration::from_nanos(STARVED_NS)), now);
        }
        if attempts > MOST_ATTEMPTS {
            return self.ring_failed(io::ErrorKind::WouldBlock.into());
        }
        self.clock.pass(STARVED_NS);
        *now = self.clock.now();
        Flow::On
    }

    #[cold]
    pub(crate) fn ring_failed(&mut self, error: io::Error) -> Flow {
        self.slots.failures += 1;
        self.steps.ring_failed(error)
    }

    #[cold]
    pub(crate) fn fell_short(&mut self, slot: u32, op: Op, result: i64) -> Flow {
        if S::EXTENDED
            && let Some(flow) = self.inspect_part(slot, &op, result)
        {
            return flow;
        }
        let (rest, flow) = self.steps.fell_short(&mut self.meter, &op, result);
        let moved = result.max(0) as u64;
        if let Some(direction) = op.kind.direction() {
            self.live.count_part(direction, moved);
        }
        self.source.completed(&Op { length: moved, ..op }, moved);
        if S::EXTENDED {
            self.source.fell_short(&op, moved);
        }
        self.gate.completed(&op);
        if let (Some(rest), Flow::On) = (rest, flow) {
            self.slots.hold(rest);
        }
        flow
    }

    /// Lets the source look at an I/O that moved less than it should. A fault of it that is more
    /// than the shortness stands for the whole I/O.
    fn inspect_part(&mut self, slot: u32, op: &Op, result: i64) -> Option<Flow> {
        if result == 0 {
            let fault = self.source.beyond_end(op)?;
            self.source.completed(&Op { length: 0, ..*op }, 0);
            self.gate.completed(op);
            return Some(self.steps.fault(Some(op), &fault));
        }
        let length = u64::try_from(result).ok()?;
        let buffer = self.buffers.slice_mut(slot, length as usize);
        let fault = self.source.part(&Op { length, ..*op }, buffer).err()?;
        (self.steps.fault(Some(op), &fault) == Flow::End).then_some(Flow::End)
    }

    /// Lets the source look at an I/O that ended well.
    pub(crate) fn inspect(&mut self, slot: u32, io: &Slot, done: u64) -> Flow {
        let Slot { op, stamps } = io;
        // A trim has no buffer, and what synchronises a range has a length but moves nothing.
        let moves = matches!(op.kind, OpKind::Read | OpKind::Write);
        let moved = if moves { op.length } else { 0 };
        // Objects that nobody looks at are received elsewhere.
        let buffer = self.buffers.slice_mut(slot, (moved as usize).min(self.buffers.length()));
        match self.source.ended(op, buffer, stamps, done) {
            Ok(()) => Flow::On,
            Err(fault) => self.steps.fault(Some(op), &fault),
        }
    }

    /// Does what the source asked for beside I/O.
    fn heed(&mut self, now: u64) -> Flow {
        match std::mem::take(&mut self.policy.wish) {
            Wish::None => Flow::On,
            Wish::End => Flow::End,
            Wish::Restart => {
                self.steps.restart(&mut self.meter, now);
                self.ring.window_begins(now);
                Flow::On
            }
        }
    }

    #[cold]
    pub(crate) fn tick(&mut self, now: u64) -> Flow {
        let Ticked { next, flow, window_begins } =
            self.steps.tick(&mut self.ring, &mut self.meter, now);
        self.next_tick = next;
        if window_begins {
            self.ring.window_begins(now);
        }
        if !S::EXTENDED || flow == Flow::End {
            return flow;
        }
        if window_begins {
            self.source.window_begins(now);
        }
        match self.source.tick(&mut self.policy, now) {
            Ok(wanted) => {
                self.next_tick = next.min(wanted);
                self.heed(now)
            }
            Err(fault) => self.steps.fault(None, &fault),
        }
    }
}
