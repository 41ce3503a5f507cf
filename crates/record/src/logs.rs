//! Logs: what a worker was asked to write down, and what it saw.

use crate::{Direction, Nanos, named};
use serde::{Deserialize, Serialize};

/// What a log is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogKind {
    /// Bandwidth, in KiB/s.
    Bandwidth,
    /// I/Os a second.
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

/// What a line about a window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowValue {
    /// The mean.
    #[default]
    Mean,
    /// The greatest.
    Max,
    /// Both, in two columns. The greatest of rates is their mean.
    Both,
}

/// The logs of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Logs {
    /// The files, by what they are about.
    pub files: Vec<(LogKind, String)>,
    /// Several workers may write to one file, one after the other.
    pub shared: bool,
    /// Length of the windows that a line is about; `None`: a line an I/O.
    pub window: Option<Nanos>,
    /// Length of the windows of bandwidth logs, if it differs (`bwavgtime` below `log_avg_msec`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth_window: Option<Nanos>,
    /// Length of the windows of IOPS logs, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops_window: Option<Nanos>,
    /// Part of a window over which a rate is taken where the greatest is asked for.
    pub part: Nanos,
    /// What a line about a window holds.
    pub value: WindowValue,
    /// Length of the windows of histograms; `None`: there are none.
    pub histogram_window: Option<Nanos>,
    /// How often the number of a histogram's bins is halved, 0 to 6.
    pub coarseness: u8,
    /// Lines name the offset.
    pub offset: bool,
    /// Lines name the priority as the kernel encodes it, not only whether it is high.
    pub priority: bool,
    /// Lines name the moment of issue.
    pub issue_time: bool,
    /// Single I/Os have a bandwidth (off with `disable_bw_measurement`); windows always have.
    pub rates: bool,
    /// The clock that times are told by, as clock_gettime numbers them; `None`: from time zero.
    pub clock: Option<i32>,
    /// What that clock showed at time zero, in nanoseconds.
    pub zero: i64,
    /// Files are stored compressed.
    pub store_compressed: bool,
    /// Entries gathered at a time.
    pub entries: u32,
    /// Bytes of entries compressed at a time while they wait to be written; `None`: not compressed.
    pub compression: Option<u64>,
    /// CPUs on which that is done; empty: any.
    pub compression_cpus: Vec<u32>,
    /// Why files are missing or not complete, a sentence each.
    pub failures: Vec<String>,
}

/// One line of logs to be. Moments are nanoseconds from time zero: the begin of the worker's
/// measured window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LogEntry {
    /// An I/O.
    Io(LoggedIo),
    /// What ended within a window.
    Window(LoggedWindow),
    /// Completion latencies within a window.
    Histogram(LoggedHistogram),
}

/// One I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedIo {
    /// When it ended.
    pub ended: u64,
    /// When it was issued.
    pub issued: u64,
    /// Which way, as a number: 0 read, 1 write, 2 trim.
    pub direction: u8,
    /// Bytes moved.
    pub bytes: u64,
    /// Where, in bytes from the file's beginning.
    pub offset: u64,
    /// Priority as the kernel encodes it.
    pub priority: u16,
    /// Submission latency, where there is one.
    pub slat: Option<u64>,
    /// Completion latency.
    pub clat: u64,
    /// Total latency.
    pub lat: u64,
}

/// Latencies of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedLatency {
    /// How many.
    pub count: u64,
    /// Their sum, in nanoseconds.
    pub sum: u64,
    /// The greatest, in nanoseconds.
    pub max: u64,
}

impl LoggedLatency {
    /// Counts one, in nanoseconds.
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

/// What ended within a window in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedWindow {
    /// The logs it is for: bit n for the n-th [`LogKind`]; 0 for all.
    pub kinds: u8,
    /// Its begin.
    pub start: u64,
    /// Its end.
    pub end: u64,
    /// Which way, as a number: 0 read, 1 write, 2 trim.
    pub direction: u8,
    /// I/Os.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Submission latencies.
    pub slat: LoggedLatency,
    /// Completion latencies.
    pub clat: LoggedLatency,
    /// Total latencies.
    pub lat: LoggedLatency,
    /// Greatest bandwidth of a part of the window, in bytes a second.
    pub fastest_bytes: u64,
    /// Most I/Os a second in a part of the window.
    pub fastest_ios: u64,
}

impl LoggedWindow {
    /// Takes in `other`, which follows it.
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

/// Completion latencies within a window in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHistogram {
    /// Its end.
    pub end: u64,
    /// Which way, as a number: 0 read, 1 write, 2 trim.
    pub direction: u8,
    /// Size of its last I/O, in bytes.
    pub bytes: u64,
    /// The bins that are not empty ([`log_bin`]), rising, and what they count.
    pub bins: Vec<(u16, u64)>,
}

/// Which way `number` stands for in an entry.
pub fn logged_direction(number: u8) -> Direction {
    Direction::ALL.into_iter().find(|d| *d as u8 == number).unwrap_or(Direction::Read)
}

/// Bins of a histogram log: 29 octaves of 64.
pub const LOG_BINS: usize = 29 * 64;

/// The bin of a histogram log that counts a latency of `ns`: 64 bins an octave, those of the first
/// two a nanosecond wide; the last one counts all that is longer.
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
