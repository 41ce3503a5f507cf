//! The loop's small turns, each inlined into it.

use crate::clock::Clock;
use crate::engines::Ring;
use crate::hot::Halt;
use crate::meter::{Metering, Stamps};
use crate::ops::{Next, Op, Source};
use crate::pacing::{Admit, Gate};
use crate::steps::{Loop, Slot, Steps};

impl<R, C, S, G, M, X> Loop<'_, R, C, S, G, M, X>
where
    R: Ring,
    C: Clock,
    S: Source,
    G: Gate,
    M: Metering,
    X: Steps<R, M>,
{
    /// The next I/O, unless it has to be looked for.
    #[inline(always)]
    pub(crate) fn at_hand(&mut self, now: u64) -> Option<Op> {
        if self.slots.held_count > 0 {
            self.slots.held_count -= 1;
            return Some(self.slots.held[self.slots.held_count as usize]);
        }
        if let Some(direction) = self.gate.turn(now) {
            self.source.steer(direction);
        }
        self.source.at_hand()
    }

    /// Looks for the next I/O, and puts it where it is at hand.
    #[inline(always)]
    pub(crate) fn look_for_op(&mut self) -> Option<Halt> {
        match self.source.next() {
            Next::Io(op) => {
                self.slots.hold(op);
                None
            }
            // What is in flight may fall short and leave a rest to do.
            Next::End if self.slots.in_flight > 0 => Some(Halt::Drain(Next::Drain)),
            Next::End => Some(Halt::End),
            other => Some(Halt::Drain(other)),
        }
    }

    /// Whether an I/O may start: its source and its gate both have a say. Without a source that
    /// knows of intended moments only the gate is asked.
    #[inline(always)]
    pub(crate) fn admit(&mut self, op: &Op, now: u64) -> Admit {
        if !S::EXTENDED {
            return self.gate.admit(op, self.slots.in_flight, now);
        }
        let due = self.source.intended(op);
        if let Some(until) = due.filter(|due| *due > now) {
            return Admit::Wait { until };
        }
        match self.gate.admit(op, self.slots.in_flight, now) {
            Admit::Now { intended } => Admit::Now { intended: intended.or(due) },
            other => other,
        }
    }

    /// Gives a write its content.
    #[inline(always)]
    pub(crate) fn fill(&mut self, slot: u32, op: &Op) {
        let buffer = self.buffers.slice_mut(slot, op.length as usize);
        if !S::EXTENDED || !self.source.fill(op, buffer) {
            self.payload.fill(buffer, op);
        }
    }

    /// When an I/O is ready: at the stamp it can share, or now, to see how much later that is.
    #[inline(always)]
    pub(crate) fn ready_after(&mut self, since: Option<u64>) -> u64 {
        let Some(since) = since.filter(|_| !S::EXTENDED) else { return self.clock.now() };
        if self.meter.shares_stamp() {
            return since;
        }
        let ready = self.clock.now();
        self.meter.looked_at_seam(ready.saturating_sub(since));
        ready
    }

    /// A slot for the next I/O; one that ends every I/O within the call needs no other than the
    /// first.
    #[inline(always)]
    pub(crate) fn free_slot(&self) -> u32 {
        if R::SYNCHRONOUS { 0 } else { self.slots.free[self.slots.free_count as usize - 1] }
    }

    /// An I/O waits to be handed over.
    #[inline(always)]
    pub(crate) fn note_queued(&mut self, slot: u32, io: Slot) {
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

    /// An I/O ended within the call that queued it.
    #[inline(always)]
    pub(crate) fn count_at_once(&mut self, op: &Op) {
        if let Some(direction) = op.kind.direction() {
            self.meter.issued(direction);
            self.meter.at_once(direction, self.slots.in_flight + 1);
        }
    }

    /// Tells the source of an I/O that the ring took, once.
    #[inline(always)]
    pub(crate) fn tell_issued(&mut self, op: &Op, stamps: &Stamps) {
        if S::EXTENDED {
            self.source.issued(op, stamps);
        }
    }

    /// When what was reaped at `now` ended: then, unless the ring itself saw its moments.
    #[inline(always)]
    pub(crate) fn ended_at(&mut self, index: u32, slot: u32, now: u64) -> u64 {
        let Some(moments) = self.ring.io_times(index) else { return now };
        self.slots.slots[slot as usize].stamps.issued = moments.issued;
        moments.ended
    }
}
