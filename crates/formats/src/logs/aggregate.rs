//! The bandwidth of all jobs together (`--bandwidth-log`).

use super::failure::cannot_write;
use super::lines::LogLines;
use record::{Direction, LogEntry, LogKind, LoggedWindow, Logs, Message, RunRecord};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Writes agg-read_bw.log, agg-write_bw.log and agg-trim_bw.log into `directory`: a line an interval
/// of the run's time series, from the start of the first worker, 0 where nothing moved. Returns a
/// message for each file that cannot be written.
pub fn write_aggregate(record: &RunRecord, directory: &Path) -> Vec<Message> {
    let mut messages = Vec::new();
    for direction in Direction::ALL {
        let path = directory.join(format!("agg-{}_bw.log", direction.name()));
        let mut log = LogLines::new(LogKind::Bandwidth, &Logs::default());
        let windows = windows(record, direction);
        let lines = windows.into_iter().filter_map(|w| log.line(&LogEntry::Window(w)));
        let text: String = lines.map(|line| line.text()).collect();
        if let Err(error) = fs::write(&path, text) {
            messages.push(Message::error(None, cannot_write(&path.display().to_string(), &error)));
        }
    }
    messages
}

/// The bytes of all workers by window of the series' step, which is the same for all.
fn windows(record: &RunRecord, direction: Direction) -> Vec<LoggedWindow> {
    let intervals = || record.jobs.iter().flat_map(|job| &job.intervals);
    let ends = intervals().map(|interval| (interval.start + interval.length).0);
    let (Some(zero), Some(end)) = (intervals().map(|i| i.start.0).min(), ends.max()) else {
        return Vec::new();
    };
    let step = record.jobs.iter().map(|job| job.interval_step.0).max().unwrap_or(0).max(1);
    let mut moved: BTreeMap<u64, u64> = BTreeMap::new();
    for interval in intervals() {
        *moved.entry(interval.start.0 / step).or_default() += interval.bytes[direction];
    }
    let last = moved.keys().next_back().copied().unwrap_or(0);
    (zero / step..=last)
        .map(|index| LoggedWindow {
            start: (index * step).max(zero) - zero,
            end: if index == last { end } else { (index + 1) * step } - zero,
            direction: direction as u8,
            bytes: moved.get(&index).copied().unwrap_or(0),
            ..LoggedWindow::default()
        })
        .collect()
}
