//! Trims that are followed by a write of what they trimmed.

use crate::ops::{Op, OpKind};
use std::collections::VecDeque;

/// Trimmed ranges that wait for their write.
///
/// A write is given only once its trim has ended: with both under way the device may do them in
/// either order, and the data would be gone.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    ready: VecDeque<Op>,
    trims_in_flight: u32,
    largest_write: u64,
}

impl Pairs {
    /// For up to `depth` trims in flight, with writes of at most `largest_write` bytes.
    pub fn new(depth: u32, largest_write: u64) -> Pairs {
        Pairs {
            // Twice: a full queue hands I/O back, which then waits outside of it.
            ready: VecDeque::with_capacity(2 * depth as usize + 2),
            trims_in_flight: 0,
            largest_write: largest_write.max(1),
        }
    }

    /// A trim was issued.
    pub fn issued(&mut self) {
        self.trims_in_flight += 1;
    }

    /// A trim has ended; what it did not do is not written.
    pub fn trimmed(&mut self, op: &Op, moved: u64) {
        self.trims_in_flight = self.trims_in_flight.saturating_sub(1);
        if moved > 0 {
            self.ready.push_back(Op { kind: OpKind::Write, length: moved, ..*op });
        }
    }

    /// The next write, in pieces when the trim was larger than writes are.
    pub fn next_write(&mut self) -> Option<Op> {
        let range = self.ready.front_mut()?;
        let piece = Op { length: range.length.min(self.largest_write), ..*range };
        range.offset += piece.length;
        range.length -= piece.length;
        if range.length == 0 {
            self.ready.pop_front();
        }
        Some(piece)
    }

    /// Whether trims have not ended yet. Asked before the end, which waits for all of them.
    pub fn outstanding(&self) -> bool {
        self.trims_in_flight > 0
    }

    /// Nothing is in flight any more.
    pub fn drained(&mut self) {
        self.trims_in_flight = 0;
    }
}
