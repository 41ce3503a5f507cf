//! I/O counted in windows of equal length.

use crate::logbook::LogHandle;
use record::{Direction, LogEntry, LoggedIo, LoggedWindow, Logs, WindowValue};

/// The windows of one worker's logs. Times count from the start of the measured window.
pub(super) struct Windows {
    /// The logs they are for.
    kinds: u8,
    length: u64,
    /// Length of the parts of a window; the log has the highest rate of a part.
    part: u64,
    part_start: u64,
    next: u64,
    current: [LoggedWindow; 3],
    /// I/Os and bytes in the current part.
    in_part: [(u64, u64); 3],
    /// The window before, not logged yet: a short rest at the end is added to it.
    last: Option<[LoggedWindow; 3]>,
    /// Directions that are logged even in a window without I/O.
    always: [bool; 3],
}

impl Windows {
    pub fn new(kinds: u8, length: u64, logs: &Logs, always: [bool; 3]) -> Windows {
        let parted = logs.value == WindowValue::Max && logs.part.0 < length;
        let parts = if parted { length / logs.part.0.max(1) } else { 1 };
        let mut windows = Windows {
            kinds,
            length,
            part: length / parts.max(1),
            part_start: 0,
            next: 0,
            current: [LoggedWindow::default(); 3],
            in_part: [(0, 0); 3],
            last: None,
            always,
        };
        windows.next = windows.part;
        windows.begin(0);
        windows
    }

    pub fn count(&mut self, io: &LoggedIo) {
        let index = usize::from(io.direction);
        let window = &mut self.current[index];
        window.ios += 1;
        window.bytes += io.bytes;
        if let Some(slat) = io.slat {
            window.slat.record(slat);
        }
        window.clat.record(io.clat);
        window.lat.record(io.lat);
        self.in_part[index].0 += 1;
        self.in_part[index].1 += io.bytes;
    }

    /// Counts the bytes of a short I/O.
    pub fn count_part(&mut self, direction: Direction, bytes: u64) {
        self.current[direction as usize].bytes += bytes;
        self.in_part[direction as usize].1 += bytes;
    }

    /// Closes the parts and windows that ended by `now`. Returns when the next part ends.
    pub fn roll(&mut self, now: u64, log: &mut LogHandle) -> u64 {
        while self.next <= now {
            let end = self.next;
            self.close_part(end);
            if end == self.window_end() {
                self.close(end, log);
            }
            // The last part includes the remainder of the division.
            let rest = self.window_end() - end;
            self.next = end + if rest < 2 * self.part { rest } else { self.part };
        }
        self.next
    }

    fn window_end(&self) -> u64 {
        self.current[0].start + self.length
    }

    /// Closes the last window at `end`.
    pub fn finish(mut self, end: u64, log: &mut LogHandle) {
        self.roll(end, log);
        self.close_part(end);
        let length = end - self.current[0].start;
        match &mut self.last {
            // A short rest, left by an I/O that ended late, is added to the last window.
            Some(last) if length < self.length / 10 => {
                for (window, rest) in last.iter_mut().zip(self.current) {
                    window.add(&LoggedWindow { end, ..rest });
                }
            }
            _ if length > 0 => self.close(end, log),
            _ => {}
        }
        self.log_last(log);
    }

    fn begin(&mut self, start: u64) {
        let kinds = self.kinds;
        let window = |direction| LoggedWindow { kinds, start, direction, ..Default::default() };
        self.current = [0, 1, 2].map(window);
    }

    fn close_part(&mut self, end: u64) {
        let length = u128::from(end.saturating_sub(self.part_start));
        let rate =
            |count: u64| (u128::from(count) * 1_000_000_000).checked_div(length).unwrap_or(0);
        for (window, (ios, bytes)) in self.current.iter_mut().zip(&mut self.in_part) {
            window.fastest_ios = window.fastest_ios.max(rate(std::mem::take(ios)) as u64);
            window.fastest_bytes = window.fastest_bytes.max(rate(std::mem::take(bytes)) as u64);
        }
        self.part_start = end;
    }

    fn close(&mut self, end: u64, log: &mut LogHandle) {
        self.log_last(log);
        self.last = Some(self.current.map(|window| LoggedWindow { end, ..window }));
        self.begin(end);
    }

    fn log_last(&mut self, log: &mut LogHandle) {
        let windows = self.last.take().into_iter().flatten().zip(self.always);
        for (window, always) in windows {
            if always || window.ios > 0 || window.bytes > 0 {
                log.add(LogEntry::Window(window));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logbook::LogThread;
    use plan::Worker;
    use record::{LogKind, Nanos};

    /// The windows of length 100 of reads (end, bytes); the last one ends at `end`.
    fn logged(logs: &Logs, ios: &[(u64, u64)], end: u64) -> Vec<LoggedWindow> {
        let kept = Logs { files: vec![(LogKind::Iops, "x".into())], ..Logs::default() };
        let worker = Worker { logs: Some(kept), ..Worker::default() };
        let log_thread = LogThread::start(&[worker], &std::sync::Arc::default()).unwrap();
        let mut log = log_thread.handle(0, 4);
        let mut windows = Windows::new(0, 100, logs, [true, false, false]);
        for &(ended, bytes) in ios {
            windows.roll(ended, &mut log);
            windows.count(&LoggedIo {
                ended,
                bytes,
                clat: ended,
                lat: ended,
                ..Default::default()
            });
        }
        windows.finish(end, &mut log);
        drop(log);
        let mut all = Vec::new();
        let take = |entry| {
            if let LogEntry::Window(window) = entry {
                all.push(window)
            }
        };
        log_thread.finish().entries(0, take).unwrap();
        all
    }

    fn spans(windows: &[LoggedWindow]) -> Vec<(u64, u64, u64)> {
        windows.iter().map(|w| (w.start, w.end, w.bytes)).collect()
    }

    #[test]
    fn every_window_has_a_line_and_the_last_may_be_shorter() {
        let ios = [(10, 1), (99, 2), (100, 4), (450, 8)];
        assert_eq!(
            spans(&logged(&Logs::default(), &ios, 450)),
            [(0, 100, 3), (100, 200, 4), (200, 300, 0), (300, 400, 0), (400, 450, 8)]
        );
    }

    #[test]
    fn a_late_end_is_no_window_of_its_own() {
        let windows = logged(&Logs::default(), &[(50, 1), (150, 2), (204, 4)], 204);
        assert_eq!(spans(&windows), [(0, 100, 1), (100, 204, 6)]);
        assert_eq!(spans(&logged(&Logs::default(), &[(3, 1)], 3)), [(0, 3, 1)], "the only one");
    }

    #[test]
    fn the_greatest_rate_is_of_a_part_of_the_window() {
        let logs = Logs { value: WindowValue::Max, part: Nanos(30), ..Logs::default() };
        let windows = logged(&logs, &[(5, 33), (40, 66), (50, 33), (99, 33)], 100);
        assert_eq!(spans(&windows), [(0, 100, 165)]);
        assert_eq!(windows[0].fastest_bytes, 99 * 1_000_000_000 / 33);
        assert_eq!(windows[0].fastest_ios, 2 * 1_000_000_000 / 33);
    }
}
