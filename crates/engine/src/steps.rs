//! What the loop is made of and the rare steps it leaves to others.

use crate::live::LiveWorker;
use crate::meter::Stamps;
use crate::ops::{Fault, Next, Op, OpKind};
use crate::payload::Payload;
use crate::sys::buffers::BufferArea;

/// One I/O in flight: a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub struct Slot {
    /// The I/O.
    pub op: Op,
    /// Its moments.
    pub stamps: Stamps,
}

/// What a source asks the loop for, beside I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// Nothing.
    #[default]
    None,
    /// The measured window is to begin anew: what was measured before does not count.
    Restart,
    /// The worker is to end; nothing went wrong.
    End,
}

/// How the queue is kept full; see `plan::Queue`.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// Most I/Os in flight.
    pub depth: u32,
    /// I/Os handed over at once.
    pub batch: u32,
    /// Completions waited for when the queue is full.
    pub complete_min: u32,
    /// Completions taken at once.
    pub complete_max: u32,
    /// Once full, the queue is refilled when no more than this are in flight.
    pub low: u32,
    /// What the source asks for, to be heeded after its tick.
    pub wish: Wish,
}

/// Whether the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    On,
    /// Issue no more; take what is in flight and end.
    End,
}

/// What a tick did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticked {
    /// The next moment anything is due.
    pub next: u64,
    /// Whether the loop goes on.
    pub flow: Flow,
    /// The ramp is over: the measured window begins now.
    pub window_begins: bool,
}

/// The rare steps, out of the loop's line. They may allocate and call the system.
pub trait Steps<R, M> {
    /// The clock passed the moment asked for: interval boundaries, end of ramp, end of time.
    fn tick(&mut self, ring: &mut R, meter: &mut M, now: u64) -> Ticked;
    /// The measured window begins anew.
    fn restart(&mut self, meter: &mut M, now: u64);
    /// The source wants a file opened or closed, or a loop has ended. Nothing is in flight.
    fn file_step(&mut self, ring: &mut R, next: Next) -> Flow;
    /// An I/O moved less than it should: `result` is bytes or a negative errno. May give an I/O to
    /// issue in its place.
    fn fell_short(&mut self, meter: &mut M, op: &Op, result: i64) -> (Option<Op>, Flow);
    /// The source found something wrong with an I/O, or, without one, a reason to end.
    fn fault(&mut self, op: Option<&Op>, fault: &Fault) -> Flow;
    /// The ring itself failed.
    fn ring_failed(&mut self, error: std::io::Error) -> Flow;
}

/// The slots of a worker: which are free, which wait to be submitted, which I/Os are held back.
/// All boxes have their final size from the start.
pub struct Slots {
    /// By slot number.
    pub slots: Box<[Slot]>,
    /// Slots not in use: the first `free_count` elements.
    pub free: Box<[u32]>,
    /// How many are free.
    pub free_count: u32,
    /// Slots queued since the last submission, the first `queued` elements.
    pub waiting: Box<[u32]>,
    /// How many wait.
    pub queued: u32,
    /// How many are queued or submitted and not reaped.
    pub in_flight: u32,
    /// I/Os that were looked for, could not be issued yet, or are rests of short ones: the first
    /// `held_count` elements.
    pub held: Box<[Op]>,
    /// How many are held.
    pub held_count: u32,
    /// How often the ring failed.
    pub failures: u32,
}

impl Slots {
    /// As many slots as I/Os may be in flight.
    pub fn new(depth: u32) -> Slots {
        let idle = Op { kind: OpKind::Read, file: 0, offset: 0, length: 0, tag: 0 };
        let slot = Slot { op: idle, stamps: Stamps::default() };
        // Every I/O in flight may leave a rest, beside the one that waits for its moment.
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
            failures: 0,
        }
    }

    /// Holds an I/O back, to be issued before any new one.
    #[inline]
    pub fn hold(&mut self, op: Op) {
        self.held[self.held_count as usize] = op;
        self.held_count += 1;
    }
}

/// A worker's loop: everything it touches.
pub struct Loop<'a, R, C, S, G, M, X> {
    /// Takes I/O and gives completions.
    pub ring: R,
    /// Gives stamps.
    pub clock: C,
    /// Gives I/O.
    pub source: S,
    /// Says when.
    pub gate: G,
    /// Counts.
    pub meter: M,
    /// Does what is rare.
    pub steps: X,
    /// Makes content.
    pub payload: Payload,
    /// Memory of the slots.
    pub buffers: &'a mut BufferArea,
    /// Figures others may read, and the wish to stop.
    pub live: &'a LiveWorker,
    /// How the queue is kept full.
    pub policy: Policy,
    /// What is in flight.
    pub slots: Slots,
    /// When the next `tick` is due.
    pub next_tick: u64,
}
