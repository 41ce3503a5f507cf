//! The lines of a log.

use super::samples::Sample;
use record::{
    Direction, LOG_BINS, LogEntry, LogKind, LoggedHistogram, LoggedIo, LoggedLatency, LoggedWindow,
    Logs, WindowValue, logged_direction,
};

const NS_PER_MS: u64 = 1_000_000;

/// One line of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A sample at a time.
    Sample(Sample),
    /// A histogram: its line without the newline.
    Bins(String),
}

impl Line {
    /// Its text with the newline.
    pub fn text(&self) -> String {
        match self {
            Line::Sample(sample) => sample.text() + "\n",
            Line::Bins(text) => format!("{text}\n"),
        }
    }
}

/// Turns the entries of one log into lines.
pub(super) struct LogLines {
    kind: LogKind,
    logs: Logs,
    /// Per direction, the printed end of the previous window, in milliseconds.
    previous_end_ms: [u64; 3],
    /// Per direction, the bytes or I/Os that rounding has left out so far.
    remainder: [f64; 3],
}

impl LogLines {
    pub fn new(kind: LogKind, logs: &Logs) -> LogLines {
        LogLines { kind, logs: logs.clone(), previous_end_ms: [0; 3], remainder: [0.0; 3] }
    }

    /// The line for an entry; `None` when this log does not show it.
    pub fn line(&mut self, entry: &LogEntry) -> Option<Line> {
        let rate = matches!(self.kind, LogKind::Bandwidth | LogKind::Iops);
        match (self.kind, entry) {
            (LogKind::Histogram, LogEntry::Histogram(histogram)) => Some(self.bins(histogram)),
            (LogKind::Histogram, _) | (_, LogEntry::Histogram(_)) => None,
            (_, LogEntry::Io(io)) => self.io(io).map(Line::Sample),
            (kind, LogEntry::Window(window))
                if window.kinds != 0 && window.kinds & kind.bit() == 0 =>
            {
                None
            }
            (_, LogEntry::Window(window)) if rate => Some(Line::Sample(self.rate(window))),
            (_, LogEntry::Window(window)) => self.latency(window).map(Line::Sample),
        }
    }

    fn io(&self, io: &LoggedIo) -> Option<Sample> {
        let value = match self.kind {
            LogKind::Bandwidth if !self.logs.rates => return None,
            LogKind::Bandwidth => single_bandwidth(io),
            LogKind::Iops => 1,
            LogKind::Slat => io.slat?,
            LogKind::Clat => io.clat,
            LogKind::Lat | LogKind::Histogram => io.lat,
        };
        let has_issue = matches!(self.kind, LogKind::Slat | LogKind::Clat);
        Some(Sample {
            max: (self.logs.value == WindowValue::Both).then_some(0),
            bytes: io.bytes,
            offset: self.logs.offset.then_some(io.offset),
            priority: io.priority,
            issued: self.logs.issue_time.then_some(if has_issue { io.issued } else { 0 }),
            ..self.sample(io.ended / NS_PER_MS, value, logged_direction(io.direction))
        })
    }

    /// The fields common to all samples. Size, offset and priority are 0 in windows.
    fn sample(&self, ms: u64, value: u64, direction: Direction) -> Sample {
        Sample {
            ms: self.time(ms),
            value,
            max: None,
            direction,
            bytes: 0,
            offset: self.logs.offset.then_some(0),
            priority: 0,
            priority_in_full: self.logs.priority,
            issued: self.logs.issue_time.then_some(0),
        }
    }

    /// A time as printed: from time zero, or by the clock that the job chose.
    fn time(&self, ms: u64) -> u64 {
        match self.logs.clock {
            Some(_) => ms.saturating_add_signed(self.logs.zero / NS_PER_MS as i64),
            None => ms,
        }
    }

    /// A rate over a window: over the printed time between two lines. What rounding leaves out is
    /// added to the next line, so that the values times their durations add up to what was moved.
    fn rate(&mut self, window: &LoggedWindow) -> Sample {
        let direction = usize::from(window.direction);
        let ms = window.end.div_ceil(NS_PER_MS);
        let gap =
            match ms.saturating_sub(std::mem::replace(&mut self.previous_end_ms[direction], ms)) {
                0 => 1,
                gap => gap,
            };
        let (amount, unit, fastest) = match self.kind {
            LogKind::Iops => (window.ios, 1.0, window.fastest_ios),
            _ => (window.bytes, 1024.0, window.fastest_bytes / 1024),
        };
        let value = if self.logs.value == WindowValue::Max {
            fastest
        } else {
            let of_one = unit * gap as f64 / 1000.0;
            let due = amount as f64 + self.remainder[direction];
            let value = (due / of_one).round().max(0.0);
            self.remainder[direction] = due - value * of_one;
            value as u64
        };
        let both = self.logs.value == WindowValue::Both;
        let sample = self.sample(ms, value, logged_direction(window.direction));
        Sample { max: both.then_some(value), ..sample }
    }

    /// A window without an I/O has no latency.
    fn latency(&self, window: &LoggedWindow) -> Option<Sample> {
        let latency = match self.kind {
            LogKind::Slat => &window.slat,
            LogKind::Clat => &window.clat,
            _ => &window.lat,
        };
        if latency.count == 0 {
            return None;
        }
        let value = match self.logs.value {
            WindowValue::Max => latency.max,
            WindowValue::Mean | WindowValue::Both => mean(latency),
        };
        let both = self.logs.value == WindowValue::Both;
        let ms = window.end.div_ceil(NS_PER_MS);
        let sample = self.sample(ms, value, logged_direction(window.direction));
        Some(Sample { max: both.then_some(latency.max), ..sample })
    }

    fn bins(&self, histogram: &LoggedHistogram) -> Line {
        let merged = 1_usize << self.logs.coarseness;
        let mut counts = vec![0_u64; LOG_BINS / merged];
        for (bin, count) in &histogram.bins {
            if let Some(sum) = counts.get_mut(usize::from(*bin) / merged) {
                *sum += count;
            }
        }
        let ms = self.time(histogram.end.div_ceil(NS_PER_MS));
        let mut text = format!("{ms}, {}, {}", histogram.direction, histogram.bytes);
        for count in counts {
            text.push_str(", ");
            text.push_str(&count.to_string());
        }
        Line::Bins(text)
    }
}

/// The mean latency to the nearest nanosecond.
fn mean(latency: &LoggedLatency) -> u64 {
    (latency.sum + latency.count / 2) / latency.count
}

/// The bandwidth of one I/O during its latency, in KiB/s.
fn single_bandwidth(io: &LoggedIo) -> u64 {
    let per_second = u128::from(io.bytes) * 1_000_000_000 / 1024;
    per_second.checked_div(u128::from(io.clat)).map_or(0, |rate| rate as u64)
}
