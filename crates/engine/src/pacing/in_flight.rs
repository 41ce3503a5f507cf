//! The I/Os in flight of a worker that must not overlap.

use crate::hot::op::Op;

/// The ranges in flight. No two of them share a byte.
#[derive(Clone, Debug)]
pub(super) struct InFlight {
    ranges: Vec<(u32, u64, u64)>,
}

impl InFlight {
    /// For up to `depth` I/Os.
    pub fn new(depth: u32) -> InFlight {
        InFlight { ranges: Vec::with_capacity(depth as usize + 1) }
    }

    /// Adds an I/O; false if it overlaps with one in flight.
    #[inline]
    pub fn enter(&mut self, op: &Op) -> bool {
        let (file, start, end) = range(op);
        let free = |other: &(u32, u64, u64)| other.0 != file || other.2 <= start || end <= other.1;
        let enters = self.ranges.iter().all(free);
        if enters {
            self.ranges.push((file, start, end));
        }
        enters
    }

    /// Removes an I/O that ended.
    #[inline]
    pub fn leave(&mut self, op: &Op) {
        let range = range(op);
        if let Some(at) = self.ranges.iter().position(|other| *other == range) {
            self.ranges.swap_remove(at);
        }
    }
}

fn range(op: &Op) -> (u32, u64, u64) {
    (op.file, op.offset, op.offset.saturating_add(op.length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hot::op::OpKind;

    fn op(file: u32, offset: u64, length: u64) -> Op {
        Op { kind: OpKind::Write, file, offset, length, tag: 0 }
    }

    #[test]
    fn only_overlapping_io_waits() {
        let mut in_flight = InFlight::new(4);
        assert!(in_flight.enter(&op(0, 4096, 4096)));
        for (other, enters) in [
            (op(0, 0, 4096), true),
            (op(0, 8192, 1), true),
            (op(1, 4096, 4096), true),
            (op(0, 8191, 1), false),
            (op(0, 0, 4097), false),
            (op(0, 5000, 10), false),
            (op(0, 0, 100_000), false),
        ] {
            assert_eq!(in_flight.clone().enter(&other), enters, "{other:?}");
        }
        in_flight.leave(&op(0, 4096, 4096));
        assert!(in_flight.enter(&op(0, 0, 100_000)));
    }
}
