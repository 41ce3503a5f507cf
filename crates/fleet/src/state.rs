//! What the program and the thread of the exchange share, and tell each other.

use crate::message::{Assignment, Enrolment, Task};
use crate::part::OwnResult;
use record::{Fleet as FleetRecord, JobRecord, RankRecord};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Settings of a fleet.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A rank that is not heard of for so long is lost; see the crate.
    pub timeout: Duration,
    /// The name of this host.
    pub host: String,
}

/// The number of the barrier after the layout; those at which workers start have larger ones.
pub(crate) const LAID_OUT: u32 = 1;

/// What a rank is to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Orders {
    /// Run, beside these processes of other ranks on this machine.
    Run(Vec<u32>),
    /// This rank refused, and others run: hand over nothing.
    Watch,
    /// Do not run: every rank refused. Rank 0 gets all of them.
    Dismissed(Vec<RankRecord>),
}

/// The sum of all ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sum {
    /// The ranks.
    pub fleet: FleetRecord,
    /// Workers, each the sum of those with its job and clone number.
    pub jobs: Vec<JobRecord>,
}

/// What the program asks of the thread.
pub(crate) enum Command {
    Task(Task),
    Enrol(Box<Enrolment>),
    Reached(u32),
    Ended(Option<Box<OwnResult>>),
    Leave(u8),
}

/// What the thread tells the program.
pub(crate) enum Event {
    Joined {
        rank: u32,
        size: u32,
        library: String,
    },
    /// Rank 0 has heard of all: their hosts, empty for those that are lost.
    Assembled(Vec<String>),
    Task(Assignment),
    Orders(Orders),
    Sum(Box<Sum>),
    Left,
    Failed(String),
}

/// What both see at any time.
#[derive(Default)]
pub(crate) struct Shared {
    pub progress: AtomicU64,
    /// The signal that ends the run; 0: none.
    pub stop: AtomicI32,
    /// The I/O of this rank hangs, and is not waited for any more.
    pub is_abandoned: AtomicBool,
    gate: Mutex<GateState>,
    pub moved: Condvar,
}

#[derive(Default)]
pub(crate) struct GateState {
    pub asked: u32,
    pub released: u32,
    pub at: Option<Instant>,
    pub is_open: bool,
}

impl Shared {
    pub fn gate(&self) -> MutexGuard<'_, GateState> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the gate for the next run, unless a signal has come.
    pub fn reset(&self) {
        let mut gate = self.gate();
        *gate = GateState { is_open: gate.is_open, ..GateState::default() };
        self.progress.store(0, Ordering::Relaxed);
    }

    /// Lets the run on beyond a barrier, to start at an instant.
    pub fn release(&self, barrier: u32, at: Option<Instant>) {
        let mut gate = self.gate();
        (gate.released, gate.at) = (gate.released.max(barrier), at);
        self.moved.notify_all();
    }

    /// Lets the run on beyond all barriers: it is to end.
    pub fn open(&self) {
        self.gate().is_open = true;
        self.moved.notify_all();
    }

    /// Ends the run.
    pub fn stop(&self, signal: i32) {
        self.stop.store(signal, Ordering::Relaxed);
        self.open();
    }
}

/// How the exchange ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Farewell {
    /// All ranks end it together.
    Together,
    /// Some are lost: this one ends all.
    Abort(u8),
    /// Some are lost: rank 0 ends all.
    Alone,
}
