//! Small steps of the loop, inlined into it.

use crate::clock::Clock;
use crate::engines::Ring;
use crate::hot::op::{LoopSource, Next, Op};
use crate::hot::state::{Halt, Loop, Slot, SlowPath};
use crate::meter::{Metering, Stamps};
use crate::pacing::{Admit, Gate};

impl<R, C, S, G, M, X> Loop<'_, R, C, S, G, M, X>
where
    R: Ring,
    C: Clock,
    S: LoopSource,
    G: Gate,
    M: Metering,
    X: SlowPath<R, M>,
{
    /// The next I/O if it is known without further work.
    #[inline(always)]
    pub(super) fn next_ready(&mut self, now: u64) -> Option<Op> {
        if self.slots.held_count > 0 {
            self.slots.held_count -= 1;
            return Some(self.slots.held[self.slots.held_count as usize]);
        }
        if let Some(direction) = self.gate.turn(now) {
            self.source.steer(direction);
        }
        self.source.next_ready()
    }

    /// Asks the source for the next I/O and holds it for [`Loop::next_ready`].
    #[inline(always)]
    pub(super) fn fetch_op(&mut self) -> Option<Halt> {
        match self.source.next() {
            Next::Io(op) => {
                self.slots.hold(op);
                None
            }
            // An I/O in flight may be short and leave a rest to issue.
            Next::End if self.slots.in_flight > 0 => Some(Halt::Drain(Next::Drain)),
            Next::End => Some(Halt::End),
            other => Some(Halt::Drain(other)),
        }
    }

    /// Whether an I/O may start: not before the source says it is due, and not before the gate
    /// admits it.
    #[inline(always)]
    pub(super) fn admit(&mut self, op: &Op, now: u64) -> Admit {
        if !S::EXTENDED {
            return self.gate.admit(op, self.slots.in_flight, now);
        }
        let due = self.source.due(op);
        if let Some(until) = due.filter(|due| *due > now) {
            return Admit::Wait { until };
        }
        match self.gate.admit(op, self.slots.in_flight, now) {
            Admit::Now { intended } => Admit::Now { intended: intended.or(due) },
            other => other,
        }
    }

    /// Fills the buffer of a write.
    #[inline(always)]
    pub(super) fn fill(&mut self, slot: u32, op: &Op) {
        let buffer = self.buffers.slice_mut(slot, op.length as usize);
        if !S::EXTENDED || !self.source.fill(op, buffer) {
            self.payload.fill(buffer, op);
        }
    }

    /// The ready stamp of an I/O: the one it can share; or a new one, for a sample of how much later
    /// that is.
    #[inline(always)]
    pub(super) fn ready_after(&mut self, since: Option<u64>) -> u64 {
        let Some(since) = since.filter(|_| !S::EXTENDED) else { return self.clock.now() };
        if self.meter.shares_stamp() {
            return since;
        }
        let ready = self.clock.now();
        self.meter.sample_shared_stamp(ready.saturating_sub(since));
        ready
    }

    /// A slot for the next I/O. A synchronous ring needs only the first.
    #[inline(always)]
    pub(super) fn free_slot(&self) -> u32 {
        if R::SYNCHRONOUS { 0 } else { self.slots.free[self.slots.free_count as usize - 1] }
    }

    /// An I/O waits to be submitted.
    #[inline(always)]
    pub(super) fn count_queued(&mut self, slot: u32, io: Slot) {
        let slots = &mut self.slots;
        slots.slots[slot as usize] = io;
        slots.free_count -= 1;
        slots.in_flight += 1;
        slots.waiting[slots.queued as usize] = slot;
        slots.queued += 1;
        if let Some(direction) = io.op.kind.direction() {
            self.meter.issued(direction);
        }
    }

    /// An I/O ended in the call that queued it.
    #[inline(always)]
    pub(super) fn count_inline(&mut self, op: &Op) {
        if let Some(direction) = op.kind.direction() {
            self.meter.issued(direction);
            self.meter.completed_inline(direction, self.slots.in_flight + 1);
        }
    }

    /// Tells the source that the ring has accepted an I/O.
    #[inline(always)]
    pub(super) fn notify_issued(&mut self, op: &Op, stamps: &Stamps) {
        if S::EXTENDED {
            self.source.issued(op, stamps);
        }
    }

    /// When an I/O that was reaped at `now` ended: then, unless the ring has stamps of its own.
    #[inline(always)]
    pub(super) fn ended_at(&mut self, index: u32, slot: u32, now: u64) -> u64 {
        let Some(moments) = self.ring.io_times(index) else { return now };
        self.slots.slots[slot as usize].stamps.issued = moments.issued;
        moments.ended
    }
}
