//! THE loop. Order of one I/O: next op, admit, fill, stamp, queue, submit, stamp, reap, stamp,
//! record. What is timed is the I/O alone: content is made before the first stamp.
//!
//! A stamp costs more than all else the loop does. With nothing to fill, to inspect or to wait for
//! between two I/Os, one stamp serves both: that of the end of an I/O done within the call is the
//! beginning of the next, and I/Os handed over together were ready when the first of them was. The
//! loop's bookkeeping is then part of what is measured. How long that takes is looked at every so
//! many times and reported ([`record::Seams`]).
//!
//! Everything is chosen before the loop: it is compiled once for each ring, clock, gate and meter.
//! Nothing in it allocates, locks, logs or calls the system, but for what the ring itself does. An
//! I/O goes by value to whatever is not inlined: once its address is known it lives in memory, and
//! reading it back wider than it was written stalls the processor for longer than the rest takes.
//! Its small turns are in `turns.rs`; what is rare is in `rare.rs` and behind `Steps`.

use crate::clock::Clock;
use crate::engines::{Queued, Ring};
use crate::meter::{Metering, Stamps};
use crate::ops::{Next, OpKind, Source};
use crate::pacing::{Admit, Gate};
use crate::steps::{Flow, Loop, Slot, Steps};
use std::time::Duration;

/// What keeps the loop from issuing more.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Halt {
    /// The queue is full.
    Full,
    /// Nothing may start before this moment.
    Wait(u64),
    /// Nothing may be in flight for what comes next.
    Drain(Next),
    /// There is nothing more to do.
    End,
}

impl<R, C, S, G, M, X> Loop<'_, R, C, S, G, M, X>
where
    R: Ring,
    C: Clock,
    S: Source,
    G: Gate,
    M: Metering,
    X: Steps<R, M>,
{
    /// Runs until the source ends, time is up, an error ends it, or it is asked to stop. Returns
    /// the moment it ended.
    pub fn run(&mut self) -> u64 {
        let mut now = self.clock.now();
        // A source that keeps times is told when it starts.
        let mut flow = if S::EXTENDED { self.tick(now) } else { Flow::On };
        while flow == Flow::On {
            let halt = self.issue(&mut now);
            if self.slots.queued > 0 && self.submit(&mut now) == Flow::End {
                break;
            }
            flow = match halt {
                Halt::Full => self.reap_full(&mut now),
                Halt::Wait(until) => self.wait(until, &mut now),
                Halt::Drain(next) => self.drain(next, &mut now),
                Halt::End => Flow::End,
            };
        }
        self.finish(&mut now);
        now
    }

    /// Issues until the queue is full or something holds it up.
    #[inline(always)]
    fn issue(&mut self, now: &mut u64) -> Halt {
        // A stamp since which nothing but bookkeeping was done.
        let mut since = None;
        while self.slots.in_flight < self.policy.depth {
            if self.live.asked_to_stop() {
                return Halt::End;
            }
            let Some(op) = self.at_hand(*now) else {
                since = None;
                match self.look_for_op() {
                    Some(halt) => return halt,
                    None => continue,
                }
            };
            let intended = match self.admit(&op, *now) {
                Admit::Now { intended } => intended,
                admit => return self.hold_back(op, admit, now),
            };
            let slot = self.free_slot();
            if op.kind == OpKind::Write {
                self.fill(slot, &op);
                since = None;
            }
            let ready = self.ready_after(since);
            let stamps = Stamps { intended: intended.unwrap_or(ready), ready, issued: ready };
            match self.ring.queue(slot, &op) {
                Queued::Done(result) => {
                    *now = self.clock.now();
                    self.tell_issued(&op, &stamps);
                    self.count_at_once(&op);
                    let plain = result == op.length as i64 && *now < self.next_tick;
                    since = (R::SYNCHRONOUS && plain).then_some(*now);
                    let time = self.keep_time(*now);
                    let io = Slot { op, stamps };
                    if self.complete(slot, &io, result, *now) == Flow::End || time == Flow::End {
                        return Halt::End;
                    }
                }
                Queued::Pending => {
                    self.tell_issued(&op, &stamps);
                    self.note_queued(slot, Slot { op, stamps });
                    since = Some(ready);
                    if self.slots.queued >= self.policy.batch {
                        since = None;
                        if self.submit(now) == Flow::End {
                            return Halt::End;
                        }
                    }
                }
                Queued::Full => {
                    self.gate.take_back(&op, intended);
                    self.slots.hold(op);
                    return Halt::Full;
                }
            }
        }
        Halt::Full
    }

    /// Hands over what is queued, with one stamp for all that the kernel took at once.
    #[inline(always)]
    pub(crate) fn submit(&mut self, now: &mut u64) -> Flow {
        let mut attempts = 0;
        while self.slots.queued > 0 {
            let taken = match self.ring.submit() {
                Ok(taken) => taken.min(self.slots.queued),
                Err(error) => return self.ring_failed(error),
            };
            *now = self.clock.now();
            if taken == 0 {
                attempts += 1;
                if self.starve(attempts, now) == Flow::End {
                    return Flow::End;
                }
                continue;
            }
            let slots = &mut self.slots;
            self.meter.submitted(taken, slots.in_flight - (slots.queued - taken));
            for index in 0..taken as usize {
                slots.slots[slots.waiting[index] as usize].stamps.issued = *now;
            }
            if taken < slots.queued {
                slots.waiting.copy_within(taken as usize..slots.queued as usize, 0);
            }
            slots.queued -= taken;
        }
        Flow::On
    }

    /// The queue is full: takes completions until it is low enough to be filled again.
    #[inline(always)]
    fn reap_full(&mut self, now: &mut u64) -> Flow {
        if R::SYNCHRONOUS {
            return self.look_at_clock(now);
        }
        loop {
            let min = self.policy.complete_min.min(self.slots.in_flight).max(1);
            let flow = self.reap(min, None, now);
            if flow == Flow::End || self.slots.in_flight <= self.policy.low {
                return flow;
            }
        }
    }

    /// Takes completions, with one stamp for all that are taken at once.
    #[inline(always)]
    pub(crate) fn reap(&mut self, min: u32, patience: Option<Duration>, now: &mut u64) -> Flow {
        let count = match self.ring.reap(min, self.policy.complete_max, patience) {
            Ok(count) => count,
            Err(error) => return self.ring_failed(error),
        };
        *now = self.clock.now();
        let mut flow = self.keep_time(*now);
        self.meter.reaped(count);
        for index in 0..count {
            let done = self.ring.completion(index);
            let ended = self.ended_at(index, done.slot, *now);
            self.slots.free[self.slots.free_count as usize] = done.slot;
            self.slots.free_count += 1;
            self.slots.in_flight -= 1;
            let io = self.slots.slots[done.slot as usize];
            if self.complete(done.slot, &io, done.result, ended) == Flow::End {
                flow = Flow::End;
            }
        }
        flow
    }

    /// Closes intervals and ends the window before what ends now is counted, so that it is counted
    /// where it belongs.
    #[inline(always)]
    fn keep_time(&mut self, now: u64) -> Flow {
        if now >= self.next_tick { self.tick(now) } else { Flow::On }
    }

    /// Records one I/O that ended.
    #[inline(always)]
    fn complete(&mut self, slot: u32, io: &Slot, result: i64, done: u64) -> Flow {
        let Slot { op, stamps } = io;
        match op.kind.direction() {
            Some(direction) if result == op.length as i64 => {
                self.meter.completed(direction, op.length, stamps, done);
                self.live.count(direction, op.length);
                self.source.completed(op, op.length);
                self.gate.completed(op);
            }
            None if result >= 0 => self.meter.synced(stamps, done),
            _ => return self.fell_short(slot, *op, result),
        }
        if S::EXTENDED { self.inspect(slot, io, done) } else { Flow::On }
    }
}
