//! The state of the loop, and the trait of the steps that it leaves to its owner.

use crate::hot::op::{Fault, Next, Op, OpKind, QueuePolicy};
use crate::live::LiveWorker;
use crate::meter::Stamps;
use crate::payload::Payload;
use crate::sys::buffers::BufferArea;

/// One I/O in flight: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Slot {
    pub op: Op,
    pub stamps: Stamps,
}

/// Whether the loop continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Continue,
    /// Issue no more; take completions of I/O in flight and end.
    End,
}

/// Why the loop stopped issuing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Halt {
    /// The queue is full.
    Full,
    /// Nothing may start before this time.
    Wait(u64),
    /// Nothing may be in flight for this step.
    Drain(Next),
    /// There is no more work.
    End,
}

/// Result of a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticked {
    /// Time of the next tick.
    pub next: u64,
    pub flow: Flow,
    /// The ramp is over: the measured window starts now.
    pub window_started: bool,
}

/// Rare steps outside of the loop's code. They may allocate and call the system.
pub trait SlowPath<R, M> {
    /// The time of the tick has come: an interval boundary, the end of the ramp or of the runtime.
    fn tick(&mut self, ring: &mut R, meter: &mut M, now: u64) -> Ticked;
    /// The measured window restarts.
    fn restart_window(&mut self, meter: &mut M, now: u64);
    /// The source opens or closes a file, or a loop has ended. Nothing is in flight.
    fn file_step(&mut self, ring: &mut R, next: Next) -> Flow;
    /// An I/O moved less than its length: `result` is bytes or a negative errno. Returns the I/O to
    /// issue in its place, if any.
    fn short_io(&mut self, meter: &mut M, op: &Op, result: i64) -> (Option<Op>, Flow);
    /// The source found a fault in an I/O, or, without one, a reason to end.
    fn fault(&mut self, op: Option<&Op>, fault: &Fault) -> Flow;
    /// The ring itself failed.
    fn ring_failed(&mut self, error: std::io::Error) -> Flow;
}

/// The slots of a worker. All slices have their final size from the start.
pub struct Slots {
    /// By slot number.
    pub slots: Box<[Slot]>,
    /// Unused slots: the first `free_count` elements.
    pub free: Box<[u32]>,
    pub free_count: u32,
    /// Slots queued since the last submission: the first `queued` elements.
    pub waiting: Box<[u32]>,
    pub queued: u32,
    /// Number of I/Os queued or submitted and not reaped.
    pub in_flight: u32,
    /// I/Os to issue before new ones, such as the rest of a short I/O: the first `held_count`
    /// elements.
    pub held: Box<[Op]>,
    pub held_count: u32,
    /// Number of failures of the ring.
    pub ring_failures: u32,
}

impl Slots {
    /// One slot for each I/O in flight.
    pub fn new(depth: u32) -> Slots {
        let idle = Op { kind: OpKind::Read, file: 0, offset: 0, length: 0, tag: 0 };
        let slot = Slot { op: idle, stamps: Stamps::default() };
        // Every I/O in flight may leave a rest; one more may wait for its start.
        let held = depth as usize + 1;
        Slots {
            slots: vec![slot; depth as usize].into(),
            free: (0..depth).rev().collect(),
            free_count: depth,
            waiting: vec![0; depth as usize].into(),
            queued: 0,
            in_flight: 0,
            held: vec![idle; held].into(),
            held_count: 0,
            ring_failures: 0,
        }
    }

    /// Holds an I/O back; it is issued before any new one.
    #[inline]
    pub fn hold(&mut self, op: Op) {
        self.held[self.held_count as usize] = op;
        self.held_count += 1;
    }
}

/// A worker's loop and everything it touches.
pub struct Loop<'a, R, C, S, G, M, X> {
    pub ring: R,
    pub clock: C,
    pub source: S,
    /// Decides when an I/O may start.
    pub gate: G,
    pub meter: M,
    pub slow: X,
    /// Fills the buffers of writes.
    pub payload: Payload,
    /// Memory of the slots.
    pub buffers: &'a mut BufferArea,
    /// Live figures and the stop flag.
    pub live: &'a LiveWorker,
    pub policy: QueuePolicy,
    pub slots: Slots,
    /// Time of the next tick.
    pub next_tick: u64,
}
