//! Logs of single I/Os, of windows, and of histograms.

mod histograms;
mod windows;

use super::IoObserver;
use crate::hot::op::{Fault, Op, QueuePolicy};
use crate::job_record::{JobRecordBuilder, default_priority};
use crate::logbook::{LogHandle, LogThread};
use crate::meter::Stamps;
use crate::sys::clock;
use histograms::Histograms;
use plan::Worker;
use record::{Direction, LogEntry, LogKind, LoggedIo, Logs, Nanos};
use windows::Windows;

/// Logs the I/O of one worker.
pub(crate) struct IoLogs {
    log: LogHandle,
    /// Each I/O has an entry.
    each: bool,
    /// For each length of a window.
    windows: Vec<Windows>,
    histograms: Option<Histograms>,
    /// The ring is asynchronous: submission and completion have stamps of their own.
    queued: bool,
    priority: u16,
    clock: Option<i32>,
    /// Start of the measured window, from the run's origin.
    zero: u64,
    /// Time of `clock` at `zero`.
    clock_at_zero: i64,
    /// The measured window has started.
    measuring: bool,
}

/// The lengths of windows, and the logs that each is for.
fn lengths(logs: &Logs) -> Vec<(u8, Nanos)> {
    let Some(common) = logs.window else { return Vec::new() };
    let mut lengths: Vec<(u8, Nanos)> = Vec::new();
    for (kind, _) in &logs.files {
        let length = match kind {
            LogKind::Bandwidth => logs.bandwidth_window.unwrap_or(common),
            LogKind::Iops => logs.iops_window.unwrap_or(common),
            LogKind::Slat | LogKind::Clat | LogKind::Lat => common,
            LogKind::Histogram => continue,
        };
        match lengths.iter_mut().find(|(_, known)| *known == length) {
            Some((kinds, _)) => *kinds |= kind.bit(),
            None => lengths.push((kind.bit(), length)),
        }
    }
    lengths
}

impl IoLogs {
    /// For worker `index`, whose ring is asynchronous if `queued`.
    pub fn new(
        worker: &Worker,
        logs: &Logs,
        log_thread: &LogThread,
        index: usize,
        queued: bool,
    ) -> IoLogs {
        let directions = Direction::ALL.map(|direction| worker.has(direction));
        IoLogs {
            log: log_thread.handle(index, logs.entries as usize),
            each: logs.window.is_none(),
            windows: lengths(logs)
                .into_iter()
                .map(|(kinds, length)| Windows::new(kinds, length.0, logs, directions))
                .collect(),
            histograms: logs.histogram_window.map(|length| Histograms::new(length.0)),
            queued,
            priority: default_priority(worker),
            clock: logs.clock,
            zero: 0,
            clock_at_zero: 0,
            measuring: worker.stop.ramp.0 == 0,
        }
    }

    fn set_zero(&mut self, now: u64) {
        self.zero = now;
        self.clock_at_zero = self.clock.map_or(0, clock::now);
    }

    /// Latencies must agree with those of the meter.
    fn entry(&self, op: &Op, direction: Direction, stamps: &Stamps, now: u64) -> LoggedIo {
        let issued = if self.queued { stamps.issued } else { stamps.ready };
        let clat = now.saturating_sub(issued);
        LoggedIo {
            ended: now.saturating_sub(self.zero),
            issued: issued.saturating_sub(self.zero),
            direction: direction as u8,
            bytes: op.length,
            offset: op.offset,
            priority: self.priority,
            slat: self.queued.then(|| stamps.issued.saturating_sub(stamps.ready)),
            clat,
            lat: if self.queued { now.saturating_sub(stamps.ready) } else { clat },
        }
    }
}

impl IoObserver for IoLogs {
    fn started(&mut self, now: u64) {
        self.set_zero(now);
    }

    fn window_started(&mut self, now: u64) {
        self.set_zero(now);
        self.measuring = true;
    }

    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        let Some(direction) = op.kind.direction().filter(|_| self.measuring) else {
            return Ok(());
        };
        let io = self.entry(op, direction, stamps, now);
        if self.each {
            self.log.add(LogEntry::Io(io));
        }
        self.windows.iter_mut().for_each(|windows| windows.count(&io));
        if let Some(histograms) = &mut self.histograms {
            histograms.count(&io);
        }
        Ok(())
    }

    fn short(&mut self, op: &Op, moved: u64) {
        let Some(direction) = op.kind.direction().filter(|_| self.measuring) else { return };
        self.windows.iter_mut().for_each(|windows| windows.count_part(direction, moved));
    }

    fn tick(&mut self, _: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        if !self.measuring {
            return Ok(u64::MAX);
        }
        let now = now.saturating_sub(self.zero);
        let mut next = u64::MAX;
        for windows in &mut self.windows {
            next = next.min(windows.roll(now, &mut self.log));
        }
        if let Some(histograms) = &mut self.histograms {
            next = next.min(histograms.roll(now, &mut self.log));
        }
        Ok(next.saturating_add(self.zero))
    }

    fn record(&mut self, now: u64, builder: &mut JobRecordBuilder<'_>) {
        let now = now.saturating_sub(self.zero);
        for windows in std::mem::take(&mut self.windows) {
            if self.measuring {
                windows.finish(now, &mut self.log);
            }
        }
        if let Some(histograms) = self.histograms.take().filter(|_| self.measuring) {
            histograms.finish(now, &mut self.log);
        }
        builder.job.log_wait = Nanos(self.log.waited().as_nanos() as u64);
        if let Some(logs) = &mut builder.job.logs {
            logs.zero = self.clock_at_zero;
        }
    }
}
