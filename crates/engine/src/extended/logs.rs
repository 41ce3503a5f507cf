//! The chore that logs: I/Os one by one, by windows, and as histograms.

mod histograms;
mod windows;

use super::Chore;
use crate::logbook::{Pen, Scribe};
use crate::meter::Stamps;
use crate::ops::{Fault, Op};
use crate::steps::Policy;
use crate::sys::{clock, thread};
use crate::worker::Builder;
use histograms::Histograms;
use plan::Worker;
use record::{Direction, LogEntry, LoggedIo, Logs};
use windows::Windows;

/// Notes what ended for the logs of one worker.
pub(crate) struct Logging {
    pen: Pen,
    /// Every I/O gets an entry of its own.
    each: bool,
    windows: Option<Windows>,
    histograms: Option<Histograms>,
    /// The ring is asynchronous: submission and completion are apart.
    queued: bool,
    priority: u16,
    clock: Option<i32>,
    /// Begin of the measured window, from the run's origin.
    zero: u64,
    /// What `clock` showed then.
    clock_at_zero: i64,
    /// The measured window has begun.
    measuring: bool,
}

impl Logging {
    /// For worker `index`, whose ring is asynchronous if `queued`.
    pub fn new(
        worker: &Worker,
        logs: &Logs,
        scribe: &Scribe,
        index: usize,
        queued: bool,
    ) -> Logging {
        let priority = worker.placement.io_priority;
        let directions = Direction::ALL.map(|direction| worker.has(direction));
        Logging {
            pen: scribe.pen(index, logs.entries as usize),
            each: logs.window.is_none(),
            windows: logs.window.map(|length| Windows::new(length.0, logs, directions)),
            histograms: logs.histogram_window.map(|length| Histograms::new(length.0)),
            queued,
            priority: priority.map_or(0, |(c, l, h)| thread::io_priority_value(c, l, h)),
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

    /// As the meter has it: what an I/O is counted as and logged as must agree.
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

impl Chore for Logging {
    fn begins(&mut self, now: u64) {
        self.set_zero(now);
    }

    fn window_begins(&mut self, now: u64) {
        self.set_zero(now);
        self.measuring = true;
    }

    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        let Some(direction) = op.kind.direction().filter(|_| self.measuring) else {
            return Ok(());
        };
        let io = self.entry(op, direction, stamps, now);
        if self.each {
            self.pen.note(LogEntry::Io(io));
        }
        if let Some(windows) = &mut self.windows {
            windows.count(&io);
        }
        if let Some(histograms) = &mut self.histograms {
            histograms.count(&io);
        }
        Ok(())
    }

    fn fell_short(&mut self, op: &Op, moved: u64) {
        let Some(direction) = op.kind.direction().filter(|_| self.measuring) else { return };
        if let Some(windows) = &mut self.windows {
            windows.count_part(direction, moved);
        }
    }

    fn tick(&mut self, _: &mut Policy, now: u64) -> Result<u64, Fault> {
        if !self.measuring {
            return Ok(u64::MAX);
        }
        let now = now.saturating_sub(self.zero);
        let mut next = u64::MAX;
        if let Some(windows) = &mut self.windows {
            next = windows.roll(now, &mut self.pen);
        }
        if let Some(histograms) = &mut self.histograms {
            next = next.min(histograms.roll(now, &mut self.pen));
        }
        Ok(next.saturating_add(self.zero))
    }

    fn gather(mut self: Box<Self>, now: u64, builder: &mut Builder<'_>) {
        let now = now.saturating_sub(self.zero);
        if let Some(windows) = self.windows.take().filter(|_| self.measuring) {
            windows.finish(now, &mut self.pen);
        }
        if let Some(histograms) = self.histograms.take().filter(|_| self.measuring) {
            histograms.finish(now, &mut self.pen);
        }
        builder.logged(self.clock_at_zero);
    }
}
