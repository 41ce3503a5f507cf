//! THE loop. Order of one I/O: next op, admit, fill, stamp, queue, submit, stamp, reap, stamp,
//! record. What is timed is the I/O alone: content is made before the first stamp.
//!
//! A stamp costs more than the rest of the loop. If nothing is filled, inspected or waited for
//! between two I/Os, they share a stamp: the end of an I/O that completed in the call that queued it
//! is the start of the next, and I/Os submitted together are ready when the first of them is. The
//! loop's bookkeeping is then part of the latency. The loop measures that time for a sample of the
//! I/Os and reports it ([`record::SharedStamps`]).
//!
//! All choices are made before the loop: it is compiled once for each ring, clock, gate and meter.
//! Nothing in it allocates, locks, logs or calls the system, except the ring itself. An I/O is passed
//! by value to functions that are not inlined: once its address is taken it lives in memory, and a
//! read that is wider than the write before it stalls the processor for longer than the rest takes.
//! Small steps are in `inline.rs`, rare ones in `cold.rs` and behind `SlowPath`.

pub(crate) mod cold;
mod inline;
pub(crate) mod op;
pub(crate) mod state;

use crate::clock::Clock;
use crate::engines::{Queued, Ring};
use crate::hot::op::{LoopSource, OpKind};
use crate::hot::state::{Flow, Halt, Loop, Slot, SlowPath};
use crate::meter::{Metering, Stamps};
use crate::pacing::{Admit, Gate};
use std::time::Duration;

impl<R, C, S, G, M, X> Loop<'_, R, C, S, G, M, X>
where
    R: Ring,
    C: Clock,
    S: LoopSource,
    G: Gate,
    M: Metering,
    X: SlowPath<R, M>,
{
    /// Runs until the source ends, time is up, an error ends it, or it is asked to stop. Returns the
    /// time of the end.
    pub fn run(&mut self) -> u64 {
        let mut now = self.clock.now();
        // The first tick tells an extended source when the loop starts.
        let mut flow = if S::EXTENDED { self.tick(now) } else { Flow::Continue };
        while flow == Flow::Continue {
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
        self.reap_all(&mut now);
        now
    }

    /// Issues until the queue is full or something stops it.
    #[inline(always)]
    fn issue(&mut self, now: &mut u64) -> Halt {
        // A stamp that the next I/O can share: only bookkeeping was done since.
        let mut since = None;
        while self.slots.in_flight < self.policy.depth {
            if self.live.asked_to_stop() {
                return Halt::End;
            }
            let Some(op) = self.next_ready(*now) else {
                since = None;
                match self.fetch_op() {
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
                    self.notify_issued(&op, &stamps);
                    self.count_inline(&op);
                    let plain = result == op.length as i64 && *now < self.next_tick;
                    since = (R::SYNCHRONOUS && plain).then_some(*now);
                    let time = self.keep_time(*now);
                    let io = Slot { op, stamps };
                    if self.complete(slot, &io, result, *now) == Flow::End || time == Flow::End {
                        return Halt::End;
                    }
                }
                Queued::Pending => {
                    self.notify_issued(&op, &stamps);
                    self.count_queued(slot, Slot { op, stamps });
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

    /// Submits the queued I/Os, with one stamp for all that the kernel took at once.
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
                if self.wait_for_resources(attempts, now) == Flow::End {
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
        Flow::Continue
    }

    /// The queue is full: takes completions until it may be filled again.
    #[inline(always)]
    fn reap_full(&mut self, now: &mut u64) -> Flow {
        if R::SYNCHRONOUS {
            return self.check_time(now);
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
    pub(crate) fn reap(&mut self, min: u32, timeout: Option<Duration>, now: &mut u64) -> Flow {
        let count = match self.ring.reap(min, self.policy.complete_max, timeout) {
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

    /// Closes intervals and ends the window before an I/O that ends now is counted, so that it is
    /// counted in the right one.
    #[inline(always)]
    fn keep_time(&mut self, now: u64) -> Flow {
        if now >= self.next_tick { self.tick(now) } else { Flow::Continue }
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
            _ => return self.short_io(slot, *op, result),
        }
        if S::EXTENDED { self.inspect(slot, io, done) } else { Flow::Continue }
    }
}
