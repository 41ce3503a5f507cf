//! Exchange of messages between ranks.

use engine::Mpi;
use std::time::{Duration, Instant};

/// Moves messages between the ranks of a fleet. No call waits for another rank, except
/// [`Exchange::finish`].
pub trait Exchange {
    /// The number of this rank, from 0.
    fn rank(&self) -> u32;

    /// The number of ranks.
    fn size(&self) -> u32;

    /// What moves the messages, with its version.
    fn library(&self) -> String;

    /// The clock of this rank in nanoseconds. It never goes back; clocks of hosts differ.
    fn now(&self) -> u64;

    /// Begins to send a message.
    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), String>;

    /// The next message that has arrived, with its sender.
    ///
    /// # Errors
    /// When nothing can be received any more.
    fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, String>;

    /// Whether all messages have left.
    fn is_idle(&mut self) -> bool;

    /// Ends the exchange. May wait for the other ranks to end it.
    fn finish(self: Box<Self>);

    /// Ends all ranks, those that hang included, as this process ends with this exit code.
    fn abort(self: Box<Self>, code: u8);
}

/// The exchange by MPI.
pub struct MpiExchange {
    /// MPI.
    pub mpi: Mpi,
    /// Whether the launcher ends all ranks when one ends with another exit code than 0. Then
    /// `MPI_Abort` is not called: mpirun would drop output that it has not read yet.
    pub ends_all_by_itself: bool,
}

impl Exchange for MpiExchange {
    fn rank(&self) -> u32 {
        self.mpi.rank()
    }

    fn size(&self) -> u32 {
        self.mpi.size()
    }

    fn library(&self) -> String {
        self.mpi.library().to_owned()
    }

    fn now(&self) -> u64 {
        // Not the wall clock: that jumps when somebody sets it.
        let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), String> {
        self.mpi.send(to, bytes)
    }

    fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, String> {
        self.mpi.receive()
    }

    fn is_idle(&mut self) -> bool {
        self.mpi.is_idle().unwrap_or(true)
    }

    fn finish(self: Box<Self>) {
        self.mpi.finish();
    }

    fn abort(self: Box<Self>, code: u8) {
        if !self.ends_all_by_itself {
            self.mpi.abort(code);
        }
    }
}

/// The same moment as an instant and on the clock of an exchange. A thread can lose its CPU between
/// two readings, so the closest of several pairs counts.
fn both_clocks(exchange: &dyn Exchange) -> (Instant, u64) {
    let pair = || {
        let (begin, own) = (Instant::now(), exchange.now());
        (begin.elapsed(), begin, own)
    };
    let (gap, begin, own) = (0..4).map(|_| pair()).fold(pair(), |best, next| best.min(next));
    (begin + gap / 2, own)
}

/// A moment on the clock of an exchange as an instant.
pub(crate) fn instant_of(exchange: &dyn Exchange, at: u64) -> Instant {
    let (now, own) = both_clocks(exchange);
    match at.checked_sub(own) {
        Some(later) => now + Duration::from_nanos(later),
        None => now.checked_sub(Duration::from_nanos(own - at)).unwrap_or(now),
    }
}

/// An instant on the clock of an exchange.
pub(crate) fn clock_of(exchange: &dyn Exchange, at: Instant) -> u64 {
    let (now, own) = both_clocks(exchange);
    match at.checked_duration_since(now) {
        Some(later) => own + later.as_nanos() as u64,
        None => own.saturating_sub((now - at).as_nanos() as u64),
    }
}

/// Waits until everything has left, at most `limit`.
pub(crate) fn drain(exchange: &mut dyn Exchange, limit: Duration) {
    let begin = Instant::now();
    while !exchange.is_idle() && begin.elapsed() < limit {
        std::thread::sleep(Duration::from_micros(200));
    }
}
