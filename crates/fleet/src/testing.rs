//! An exchange between threads, with clocks that are off by known amounts and ranks that fail.

use crate::exchange::Exchange;
use crate::message::Message;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// So that clocks that are behind are not negative.
const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// Kills a rank while it runs: nothing of it arrives any more, nor anything at it.
#[derive(Clone, Debug, Default)]
pub struct Switch(Arc<AtomicBool>);

impl Switch {
    pub fn kill(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_dead(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The clock of a rank: how far it is ahead of the first, and how fast it drifts.
#[derive(Clone, Copy, Debug, Default)]
pub struct TestClock {
    pub ahead_ns: i64,
    pub drift_ppm: i64,
    /// It does not answer when its clock is asked for.
    pub is_silent: bool,
}

impl TestClock {
    pub fn now(self) -> u64 {
        let time = BEGIN.elapsed().as_nanos() as i64;
        let drifted = time / 1_000_000 * self.drift_ppm;
        YEAR_NS.saturating_add_signed(time + self.ahead_ns + drifted)
    }
}

/// A rank whose messages pass channels.
pub struct ThreadExchange {
    rank: u32,
    inbox: Receiver<(u32, Vec<u8>)>,
    peers: Vec<Sender<(u32, Vec<u8>)>>,
    clock: TestClock,
    /// How far the clock has jumped ahead, in nanoseconds.
    pub jumped: Arc<AtomicI64>,
    switch: Switch,
}

/// As many ranks as there are clocks.
pub fn ranks(clocks: &[TestClock]) -> Vec<(ThreadExchange, Switch)> {
    let (peers, inboxes): (Vec<_>, Vec<_>) = clocks.iter().map(|_| channel()).unzip();
    let rank = |((rank, inbox), clock): ((usize, Receiver<_>), &TestClock)| {
        let switch = Switch::default();
        let exchange = ThreadExchange {
            rank: rank as u32,
            inbox,
            peers: peers.clone(),
            clock: *clock,
            jumped: Arc::default(),
            switch: switch.clone(),
        };
        (exchange, switch)
    };
    inboxes.into_iter().enumerate().zip(clocks).map(rank).collect()
}

impl Exchange for ThreadExchange {
    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.peers.len() as u32
    }

    fn library(&self) -> String {
        "threads".into()
    }

    fn now(&self) -> u64 {
        self.clock.now().saturating_add_signed(self.jumped.load(Ordering::Relaxed))
    }

    fn send(&mut self, to: u32, bytes: Vec<u8>) -> Result<(), String> {
        let is_pong = matches!(Message::of_bytes(&bytes), Ok((_, Message::Pong(..))));
        let is_held_back = is_pong && self.clock.is_silent;
        if !self.switch.is_dead() && !is_held_back {
            // A message to a rank that has ended is lost, as with MPI.
            let _ = self.peers[to as usize].send((self.rank, bytes));
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Option<(u32, Vec<u8>)>, String> {
        Ok(self.inbox.try_recv().ok().filter(|_| !self.switch.is_dead()))
    }

    fn is_idle(&mut self) -> bool {
        true
    }

    fn finish(self: Box<Self>) {}

    fn abort(self: Box<Self>, _: u8) {}
}
