//! Trims that are followed by a write of the same range (`trimwrite`).

use crate::hot::op::{Op, OpKind};
use std::collections::VecDeque;

/// Trimmed ranges that wait for their write.
///
/// A write is issued only once its trim has ended: the device may reorder I/O in flight and trim the
/// new data.
#[derive(Clone, Debug)]
pub(crate) struct TrimWrites {
    ready: VecDeque<Op>,
    trims_in_flight: u32,
    largest_write: u64,
}

impl TrimWrites {
    /// For up to `depth` trims in flight, with writes of at most `largest_write` bytes.
    pub fn new(depth: u32, largest_write: u64) -> TrimWrites {
        TrimWrites {
            // Twice the depth: I/O that a full ring refuses is held outside of it.
            ready: VecDeque::with_capacity(2 * depth as usize + 2),
            trims_in_flight: 0,
            largest_write: largest_write.max(1),
        }
    }

    /// A trim was issued.
    pub fn issued(&mut self) {
        self.trims_in_flight += 1;
    }

    /// A trim has ended and trimmed `moved` bytes, which are written next.
    pub fn trimmed(&mut self, op: &Op, moved: u64) {
        self.trims_in_flight = self.trims_in_flight.saturating_sub(1);
        if moved > 0 {
            self.ready.push_back(Op { kind: OpKind::Write, length: moved, ..*op });
        }
    }

    /// The next write; a trim larger than a write takes several.
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

    /// Whether trims are in flight, which the end has to wait for.
    pub fn outstanding(&self) -> bool {
        self.trims_in_flight > 0
    }

    /// Nothing is in flight any more.
    pub fn drained(&mut self) {
        self.trims_in_flight = 0;
    }
}
