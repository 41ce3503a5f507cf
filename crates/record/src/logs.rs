//! The logs of a worker, and their entries.

use crate::{Direction, Nanos, named};
use serde::{Deserialize, Serialize};

/// The kind of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogKind {
    /// Bandwidth, in KiB/s.
    Bandwidth,
    /// I/Os per second.
    Iops,
    /// Submission latency, in nanoseconds.
    Slat,
    /// Completion latency, in nanoseconds.
    Clat,
    /// Total latency, in nanoseconds.
    Lat,
    /// Histograms of completion latency.
    Histogram,
}

named! {
    LogKind: Bandwidth "bw", Iops "iops", Slat "slat", Clat "clat", Lat "lat", Histogram "clat_hist"
}

impl LogKind {
    /// Its bit in [`LoggedWindow::kinds`].
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The value in a line about a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowValue {
    /// The mean.
    #[default]
    Mean,
    /// The maximum.
    Max,
    /// Both, in two columns. The maximum of rates is their mean.
    Both,
}

/// The logs of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Logs {
    /// The files, by kind.
    pub files: Vec<(LogKind, String)>,
    /// Whether several workers write to one file, one after the other.
    pub shared: bool,
    /// Length of the window of a line; `None`: one line per I/O.
    pub window: Option<Nanos>,
    /// Length of the windows of bandwidth logs, if it differs (`bwavgtime` below `log_avg_msec`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_window: Option<Nanos>,
    /// Length of the windows of IOPS logs, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_window: Option<Nanos>,
    /// The part of a window over which a rate is measured if the line holds the maximum.
    pub part: Nanos,
    /// The value in a line about a window.
    pub value: WindowValue,
    /// Length of the window of a histogram; `None` without histograms.
    pub histogram_window: Option<Nanos>,
    /// Number of times that a histogram's bins are halved, 0 to 6.
    pub coarseness: u8,
    /// Whether lines include the offset.
    pub offset: bool,
    /// Whether lines include the priority as the kernel encodes it, and not only whether it is
    /// high.
    pub priority: bool,
    /// Whether lines include the time of issue.
    pub issue_time: bool,
    /// Whether single I/Os have a bandwidth (off with `disable_bw_measurement`); windows always
    /// have one.
    pub rates: bool,
    /// The clock of the times, as clock_gettime numbers it; `None`: time since time zero.
    pub clock: Option<i32>,
    /// The time of that clock at time zero, in nanoseconds.
    pub zero: i64,
    /// Whether files are stored compressed.
    pub store_compressed: bool,
    /// Number of entries collected at a time.
    pub entries: u32,
    /// Bytes of entries that are compressed at a time until they are written; `None`: not
    /// compressed.
    pub compression: Option<u64>,
    /// CPUs that compress; empty: any.
    pub compression_cpus: Vec<u32>,
    /// Reasons why files are missing or incomplete, one sentence each.
    pub failures: Vec<String>,
}

/// An entry, from which lines of logs are written. Times are in nanoseconds from time zero, the
/// start of the worker's measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LogEntry {
    /// An I/O.
    Io(LoggedIo),
    /// The I/Os that ended in a window.
    Window(LoggedWindow),
    /// Completion latencies in a window.
    Histogram(LoggedHistogram),
}

/// One I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedIo {
    /// Its end.
    pub ended: u64,
    /// Its issue.
    pub issued: u64,
    /// The direction: 0 read, 1 write, 2 trim.
    pub direction: u8,
    /// Bytes moved.
    pub bytes: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Priority as the kernel encodes it.
    pub priority: u16,
    /// Submission latency, if there is one.
    pub slat: Option<u64>,
    /// Completion latency.
    pub clat: u64,
    /// Total latency.
    pub lat: u64,
}

/// Latencies of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedLatency {
    /// Number of latencies.
    pub count: u64,
    /// Their sum, in nanoseconds.
    pub sum: u64,
    /// The maximum, in nanoseconds.
    pub max: u64,
}

impl LoggedLatency {
    /// Adds a latency, in nanoseconds.
    pub fn record(&mut self, latency: u64) {
        self.count += 1;
        self.sum += latency;
        self.max = self.max.max(latency);
    }

    /// Adds those of `other`.
    pub fn add(&mut self, other: &LoggedLatency) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

/// The I/Os of one direction that ended in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedWindow {
    /// The logs that it is for: bit n for the n-th [`LogKind`]; 0 for all.
    pub kinds: u8,
    /// Its start.
    pub start: u64,
    /// Its end.
    pub end: u64,
    /// The direction: 0 read, 1 write, 2 trim.
    pub direction: u8,
    /// Number of I/Os.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Submission latencies.
    pub slat: LoggedLatency,
    /// Completion latencies.
    pub clat: LoggedLatency,
    /// Total latencies.
    pub lat: LoggedLatency,
    /// Maximum bandwidth of a part of the window, in bytes per second.
    pub fastest_bytes: u64,
    /// Maximum rate of a part of the window, in I/Os per second.
    pub fastest_ios: u64,
}

impl LoggedWindow {
    /// Adds `other`, which follows it.
    pub fn add(&mut self, other: &LoggedWindow) {
        self.end = other.end;
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.slat.add(&other.slat);
        self.clat.add(&other.clat);
        self.lat.add(&other.lat);
        self.fastest_bytes = self.fastest_bytes.max(other.fastest_bytes);
        self.fastest_ios = self.fastest_ios.max(other.fastest_ios);
    }
}

/// Completion latencies of one direction in a window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHistogram {
    /// Its end.
    pub end: u64,
    /// The direction: 0 read, 1 write, 2 trim.
    pub direction: u8,
    /// Size of its last I/O, in bytes.
    pub bytes: u64,
    /// The non-empty bins ([`log_bin`]) in rising order, with their counts.
    pub bins: Vec<(u16, u64)>,
}

/// The direction with this number in an entry.
pub fn logged_direction(number: u8) -> Direction {
    Direction::ALL.into_iter().find(|d| *d as u8 == number).unwrap_or(Direction::Read)
}

/// Bins of a histogram log: 29 octaves of 64.
pub const LOG_BINS: usize = 29 * 64;

/// The bin of a histogram log for a latency of `ns`: 64 bins per octave; the bins of the first two
/// octaves are a nanosecond wide, and the last bin counts all longer latencies.
pub fn log_bin(ns: u64) -> usize {
    let octave = (63 - (ns | 64).leading_zeros() as usize) - 6;
    (octave * 64 + (ns >> octave) as usize).min(LOG_BINS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_of_a_histogram_log_follow_each_other_without_a_gap() {
        assert_eq!([0, 1, 63, 64, 127].map(log_bin), [0, 1, 63, 64, 127]);
        assert_eq!(
            [128, 129, 130, 255, 256, 259, 260].map(log_bin),
            [128, 128, 129, 191, 192, 192, 193]
        );
        let mut before = 0;
        for ns in 0..1_000_000 {
            let bin = log_bin(ns);
            assert!(bin == before || bin == before + 1, "{ns}");
            before = bin;
        }
        assert_eq!(log_bin(u64::MAX), LOG_BINS - 1);
    }

    #[test]
    fn a_window_takes_in_the_rest() {
        let latency = |values: &[u64]| {
            let mut all = LoggedLatency::default();
            values.iter().for_each(|v| all.record(*v));
            all
        };
        let mut window =
            LoggedWindow { end: 10, ios: 2, clat: latency(&[3, 5]), ..Default::default() };
        window.add(&LoggedWindow {
            start: 10,
            end: 11,
            ios: 1,
            clat: latency(&[9]),
            ..Default::default()
        });
        assert_eq!((window.start, window.end, window.ios), (0, 11, 3));
        assert_eq!(window.clat, LoggedLatency { count: 3, sum: 17, max: 9 });
    }
}
