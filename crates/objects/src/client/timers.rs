//! Timers of connections and requests.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a timer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// Inactivity of a connection.
    Connection {
        /// Its place.
        index: u32,
        /// Generation of the connection at this place.
        generation: u32,
    },
    /// End of the pause of a request.
    Pause {
        /// Its slot.
        slot: u32,
        /// The slot's `turn`.
        turn: u32,
    },
}

/// Timers in the order in which they are due. An obsolete timer is ignored when it is due: removing
/// it, or moving it whenever bytes move, would cost more.
#[derive(Debug, Default)]
pub struct Timers {
    due: BinaryHeap<Reverse<(u64, Timer)>>,
}

impl Timers {
    /// Adds one that is due at `at`, in nanoseconds of the client's clock.
    pub fn add(&mut self, at: u64, timer: Timer) {
        self.due.push(Reverse((at, timer)));
    }

    /// When the next one is due.
    pub fn next(&self) -> Option<u64> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes one that is due by `now`.
    pub fn take(&mut self, now: u64) -> Option<Timer> {
        if self.next()? > now {
            return None;
        }
        self.due.pop().map(|Reverse((_, timer))| timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_come_when_due_and_in_order() {
        let mut timers = Timers::default();
        let pause = |slot| Timer::Pause { slot, turn: 0 };
        for (at, slot) in [(30, 3), (10, 1), (20, 2)] {
            timers.add(at, pause(slot));
        }
        assert_eq!(timers.next(), Some(10));
        assert_eq!(timers.take(9), None);
        assert_eq!(timers.take(25), Some(pause(1)));
        assert_eq!(timers.take(25), Some(pause(2)));
        assert_eq!(timers.take(25), None);
    }
}
