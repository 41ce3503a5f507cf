//! What ends within windows of equal length.

use crate::logbook::Pen;
use record::{Direction, LogEntry, LoggedIo, LoggedWindow, Logs, WindowValue};

/// The windows of one worker's logs. Moments count from time zero.
pub(super) struct Windows {
    length: u64,
    /// Length of the parts over which the greatest rate is sought.
    part: u64,
    part_start: u64,
    next: u64,
    current: [LoggedWindow; 3],
    /// I/Os and bytes since the part began.
    in_part: [(u64, u64); 3],
    /// The window before, not noted yet: a rest too short for a line of its own joins it.
    last: Option<[LoggedWindow; 3]>,
    /// Directions that have a line even in a window without I/O.
    always: [bool; 3],
}

impl Windows {
    pub fn new(length: u64, logs: &Logs, always: [bool; 3]) -> Windows {
        let parted = logs.value == WindowValue::Max && logs.part.0 < length;
        let parts = if parted { length / logs.part.0.max(1) } else { 1 };
        let mut windows = Windows {
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

    /// Bytes of an I/O whose rest is still to be done.
    pub fn count_part(&mut self, direction: Direction, bytes: u64) {
        self.current[direction as usize].bytes += bytes;
        self.in_part[direction as usize].1 += bytes;
    }

    /// Closes what ended by `now`; returns when the next part ends.
    pub fn roll(&mut self, now: u64, pen: &mut Pen) -> u64 {
        while self.next <= now {
            let end = self.next;
            self.close_part(end);
            if end == self.window_end() {
                self.close(end, pen);
            }
            // The last part takes what the division of the window left.
            let rest = self.window_end() - end;
            self.next = end + if rest < 2 * self.part { rest } else { self.part };
        }
        self.next
    }

    fn window_end(&self) -> u64 {
        self.current[0].start + self.length
    }

    /// Closes the last window at `end`.
    pub fn finish(mut self, end: u64, pen: &mut Pen) {
        self.roll(end, pen);
        self.close_part(end);
        let length = end - self.current[0].start;
        match &mut self.last {
            // What ends late, because the last I/O did, is no window of its own.
            Some(last) if length < self.length / 10 => {
                for (window, rest) in last.iter_mut().zip(self.current) {
                    window.add(&LoggedWindow { end, ..rest });
                }
            }
            _ if length > 0 => self.close(end, pen),
            _ => {}
        }
        self.note_last(pen);
    }

    fn begin(&mut self, start: u64) {
        self.current =
            [0, 1, 2].map(|direction| LoggedWindow { start, direction, ..LoggedWindow::default() });
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

    fn close(&mut self, end: u64, pen: &mut Pen) {
        self.note_last(pen);
        self.last = Some(self.current.map(|window| LoggedWindow { end, ..window }));
        self.begin(end);
    }

    fn note_last(&mut self, pen: &mut Pen) {
        let windows = self.last.take().into_iter().flatten().zip(self.always);
        for (window, always) in windows {
            if always || window.ios > 0 || window.bytes > 0 {
                pen.note(LogEntry::Window(window));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logbook::Scribe;
    use plan::Worker;
    use record::{LogKind, Nanos};

    /// What is noted of I/Os (end, bytes), all reads, by windows of 100 that end at `end`.
    fn noted(logs: &Logs, ios: &[(u64, u64)], end: u64) -> Vec<LoggedWindow> {
        let kept = Logs { files: vec![(LogKind::Iops, "x".into())], ..Logs::default() };
        let worker = Worker { logs: Some(kept), ..Worker::default() };
        let scribe = Scribe::start(&[worker], &std::sync::Arc::default()).unwrap();
        let mut pen = scribe.pen(0, 4);
        let mut windows = Windows::new(100, logs, [true, false, false]);
        for &(ended, bytes) in ios {
            windows.roll(ended, &mut pen);
            windows.count(&LoggedIo {
                ended,
                bytes,
                clat: ended,
                lat: ended,
                ..Default::default()
            });
        }
        windows.finish(end, &mut pen);
        drop(pen);
        let mut all = Vec::new();
        let take = |entry| {
            if let LogEntry::Window(window) = entry {
                all.push(window)
            }
        };
        scribe.finish().entries(0, take).unwrap();
        all
    }

    fn spans(windows: &[LoggedWindow]) -> Vec<(u64, u64, u64)> {
        windows.iter().map(|w| (w.start, w.end, w.bytes)).collect()
    }

    #[test]
    fn every_window_has_a_line_and_the_last_is_as_long_as_it_was() {
        let ios = [(10, 1), (99, 2), (100, 4), (450, 8)];
        assert_eq!(
            spans(&noted(&Logs::default(), &ios, 450)),
            [(0, 100, 3), (100, 200, 4), (200, 300, 0), (300, 400, 0), (400, 450, 8)]
        );
    }

    #[test]
    fn a_late_end_is_no_window_of_its_own() {
        let windows = noted(&Logs::default(), &[(50, 1), (150, 2), (204, 4)], 204);
        assert_eq!(spans(&windows), [(0, 100, 1), (100, 204, 6)]);
        assert_eq!(spans(&noted(&Logs::default(), &[(3, 1)], 3)), [(0, 3, 1)], "the only one");
    }

    #[test]
    fn the_greatest_rate_is_that_of_a_part() {
        let logs = Logs { value: WindowValue::Max, part: Nanos(30), ..Logs::default() };
        let windows = noted(&logs, &[(5, 33), (40, 66), (50, 33), (99, 33)], 100);
        assert_eq!(spans(&windows), [(0, 100, 165)]);
        assert_eq!(windows[0].fastest_bytes, 99 * 1_000_000_000 / 33);
        assert_eq!(windows[0].fastest_ios, 2 * 1_000_000_000 / 33);
    }
}
