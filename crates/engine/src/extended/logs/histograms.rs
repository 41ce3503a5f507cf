//! Histograms of completion latency, a window each.

use crate::logbook::Pen;
use record::{LOG_BINS, LogEntry, LoggedHistogram, LoggedIo, log_bin};

/// The histograms of one worker's log. Moments count from time zero.
pub(super) struct Histograms {
    length: u64,
    next: u64,
    lanes: [Lane; 3],
}

struct Lane {
    count: u64,
    /// Size of the last I/O.
    bytes: u64,
    bins: Vec<u64>,
}

impl Histograms {
    pub fn new(length: u64) -> Histograms {
        let lane = || Lane { count: 0, bytes: 0, bins: vec![0; LOG_BINS] };
        Histograms { length, next: length, lanes: [lane(), lane(), lane()] }
    }

    pub fn count(&mut self, io: &LoggedIo) {
        let lane = &mut self.lanes[usize::from(io.direction)];
        lane.count += 1;
        lane.bytes = io.bytes;
        lane.bins[log_bin(io.clat)] += 1;
    }

    /// Closes the windows that ended by `now`; returns when the next one ends.
    pub fn roll(&mut self, now: u64, pen: &mut Pen) -> u64 {
        if self.next <= now {
            self.close(self.next, pen);
            self.next = (now / self.length + 1) * self.length;
        }
        self.next
    }

    /// Closes the last window at `end`.
    pub fn finish(mut self, end: u64, pen: &mut Pen) {
        self.roll(end, pen);
        self.close(end, pen);
    }

    fn close(&mut self, end: u64, pen: &mut Pen) {
        for (direction, lane) in (0_u8..).zip(&mut self.lanes) {
            if lane.count == 0 {
                continue;
            }
            let filled = (0_u16..).zip(&lane.bins).filter(|(_, count)| **count > 0);
            let bins = filled.map(|(bin, count)| (bin, *count)).collect();
            pen.note(LogEntry::Histogram(LoggedHistogram {
                end,
                direction,
                bytes: lane.bytes,
                bins,
            }));
            lane.bins.fill(0);
            lane.count = 0;
        }
    }
}
