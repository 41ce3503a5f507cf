//! One histogram of completion latency per window.

use crate::logbook::LogHandle;
use record::{LOG_BINS, LogEntry, LoggedHistogram, LoggedIo, log_bin};

/// The histograms of one worker's log. Times count from the start of the measured window.
pub(super) struct Histograms {
    length: u64,
    next: u64,
    directions: [DirectionHistogram; 3],
}

struct DirectionHistogram {
    count: u64,
    /// Size of the last I/O.
    bytes: u64,
    bins: Vec<u64>,
}

impl Histograms {
    pub fn new(length: u64) -> Histograms {
        let empty = || DirectionHistogram { count: 0, bytes: 0, bins: vec![0; LOG_BINS] };
        Histograms { length, next: length, directions: [empty(), empty(), empty()] }
    }

    pub fn count(&mut self, io: &LoggedIo) {
        let histogram = &mut self.directions[usize::from(io.direction)];
        histogram.count += 1;
        histogram.bytes = io.bytes;
        histogram.bins[log_bin(io.clat)] += 1;
    }

    /// Closes the windows that ended by `now`. Returns when the next one ends.
    pub fn roll(&mut self, now: u64, log: &mut LogHandle) -> u64 {
        if self.next <= now {
            self.close(self.next, log);
            self.next = (now / self.length + 1) * self.length;
        }
        self.next
    }

    /// Closes the last window at `end`.
    pub fn finish(mut self, end: u64, log: &mut LogHandle) {
        self.roll(end, log);
        self.close(end, log);
    }

    fn close(&mut self, end: u64, log: &mut LogHandle) {
        for (direction, histogram) in (0_u8..).zip(&mut self.directions) {
            if histogram.count == 0 {
                continue;
            }
            let filled = (0_u16..).zip(&histogram.bins).filter(|(_, count)| **count > 0);
            let bins = filled.map(|(bin, count)| (bin, *count)).collect();
            log.add(LogEntry::Histogram(LoggedHistogram {
                end,
                direction,
                bytes: histogram.bytes,
                bins,
            }));
            histogram.bins.fill(0);
            histogram.count = 0;
        }
    }
}
