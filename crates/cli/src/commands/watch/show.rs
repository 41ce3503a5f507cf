//! Shows samples: as lines, or on a screen.

use super::log::Log;
use super::signals::WatchSignals;
use super::source::SampleSource;
use crate::output::{Output, describe};
use anyhow::{Context, Result};
use chrono::{DateTime, Local};
use live::log::{Entry, Start};
use live::plain::Plain;
use live::{Action, Event, Interval, Intervals, Palette, Screen, Terminal, Title, json};
use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

/// Time between two polls of signals.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Format of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFormat {
    /// Columns.
    Plain {
        /// With one line for each CPU.
        per_cpu: bool,
    },
    /// JSON.
    Json,
}

/// Writes lines.
pub enum LineWriter {
    /// Columns, and whether times have milliseconds.
    Plain(Plain, bool),
    /// JSON.
    Json,
}

impl LineWriter {
    /// A writer of this format.
    pub fn new(form: LineFormat) -> LineWriter {
        match form {
            LineFormat::Plain { per_cpu } => LineWriter::Plain(Plain::new(per_cpu), false),
            LineFormat::Json => LineWriter::Json,
        }
    }

    fn begin(&mut self, start: &Start) {
        if let LineWriter::Plain(_, with_millis) = self {
            *with_millis = !start.interval_ns.is_multiple_of(1_000_000_000);
        }
    }

    fn text(&mut self, intervals: &Intervals, interval: &Interval) -> Result<String> {
        let Interval { unix_ms, rates } = interval;
        Ok(match self {
            LineWriter::Plain(plain, with_millis) => {
                plain.lines(&clock(*unix_ms, *with_millis), intervals.stack(), rates)
            }
            LineWriter::Json => json::line(*unix_ms, intervals.stack(), rates)?,
        })
    }
}

/// Writes lines until the source ends, a signal comes, the reader closes the pipe, or `is_last`
/// returns true after an interval.
///
/// # Errors
/// When the source, standard output or the log fails.
pub fn lines(
    source: &mut impl SampleSource,
    mut log: Option<Log>,
    mut lines: LineWriter,
    signals: &WatchSignals,
    is_last: &mut dyn FnMut() -> bool,
) -> Result<()> {
    let mut intervals = Intervals::default();
    let end = lines_until(source, &mut log, &mut lines, signals, is_last, &mut intervals);
    if let (Ok(true), LineWriter::Plain(..)) = (&end, &lines) {
        write(&summary(&intervals))?;
    }
    end.map(|_| ())
}

/// What the watched application had in flight; empty without one.
fn summary(intervals: &Intervals) -> String {
    let watched = intervals.application();
    watched.map_or(String::new(), |(sample, seconds)| live::application_summary(sample, seconds))
}

/// Writes lines until it is over. Returns false when the reader closed the pipe.
fn lines_until(
    source: &mut impl SampleSource,
    log: &mut Option<Log>,
    lines: &mut LineWriter,
    signals: &WatchSignals,
    is_last: &mut dyn FnMut() -> bool,
    intervals: &mut Intervals,
) -> Result<bool> {
    while let Some(due) = source.due() {
        if !wait(due, signals) {
            return Ok(true);
        }
        for entry in source.next_entries()? {
            log.iter_mut().try_for_each(|log| log.add(&entry))?;
            if let Entry::Watch(start) = &entry {
                lines.begin(start);
            }
            let Some(interval) = intervals.push(entry) else { continue };
            if !write(&lines.text(intervals, &interval)?)? {
                return Ok(false);
            }
            if is_last() {
                return Ok(true);
            }
        }
    }
    Ok(true)
}

/// Waits until `due`. Returns false when a signal came first.
fn wait(due: Instant, signals: &WatchSignals) -> bool {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if signals.must_end() || left.is_zero() {
            return !signals.must_end();
        }
        std::thread::sleep(left.min(POLL_INTERVAL));
    }
}

/// Writes to standard output and flushes. Returns false when the reader closed the pipe.
pub(super) fn write(text: &str) -> Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).context("cannot write to standard output"),
    }
}

/// Draws until a key or a signal ends it, or `is_last` returns true after an interval.
///
/// # Errors
/// When the source, the terminal or the log fails.
pub fn screen(
    source: &mut impl SampleSource,
    log: Option<Log>,
    signals: &WatchSignals,
    is_last: &mut dyn FnMut() -> bool,
) -> Result<()> {
    let palette = Palette { colour: has_colours() };
    let terminal = Terminal::open(palette).map_err(|error| {
        let why = describe(&error.into());
        anyhow::anyhow!("cannot draw on this terminal ({why}); --plain writes lines instead")
    })?;
    let (screen, intervals) = (Screen::new(Title::default()), Intervals::default());
    let mut session = ScreenSession { terminal, screen, intervals, log };
    let end = session.run(source, signals, is_last);
    let summary = summary(&session.intervals);
    drop(session);
    // After a hang-up, drawing fails as well. The exit code of the signal is the better answer.
    if signals.must_end() {
        return Ok(());
    }
    write(&summary)?;
    end
}

/// The screen and its state.
struct ScreenSession {
    terminal: Terminal,
    screen: Screen,
    intervals: Intervals,
    log: Option<Log>,
}

impl ScreenSession {
    fn run(
        &mut self,
        source: &mut impl SampleSource,
        signals: &WatchSignals,
        is_last: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        while !signals.must_end() {
            if self.step(source, is_last)? || self.react(source, signals)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Draws the entries that are due. Returns true after the last interval.
    fn step(
        &mut self,
        source: &mut impl SampleSource,
        is_last: &mut dyn FnMut() -> bool,
    ) -> Result<bool> {
        let Some(due) = source.due() else { return Ok(false) };
        let waits = source.can_wait() && self.screen.is_paused();
        if waits || due > Instant::now() {
            return Ok(false);
        }
        let mut ended = false;
        let entries = source.next_entries()?;
        if entries.is_empty() {
            return Ok(false);
        }
        for entry in entries {
            self.log.iter_mut().try_for_each(|log| log.add(&entry))?;
            if let Entry::Watch(start) = &entry {
                self.screen.set_title(title(start, source.pace()));
            }
            let interval = self.intervals.push(entry);
            self.screen.set_stack(self.intervals.stack().clone());
            if let Some(Interval { unix_ms, rates }) = interval {
                self.screen.add_interval(rates, &clock(unix_ms, false));
                ended |= is_last();
            }
        }
        if source.due().is_none() {
            self.screen.set_note("end of the log; q quits".into());
        }
        self.terminal.draw(&mut self.screen)?;
        Ok(ended)
    }

    /// Waits for keys and signals and handles them. Returns true to quit.
    fn react(&mut self, source: &impl SampleSource, signals: &WatchSignals) -> Result<bool> {
        let left = source.due().map(|due| due.saturating_duration_since(Instant::now()));
        let patience = match left {
            Some(left) if !(source.can_wait() && self.screen.is_paused()) => {
                left.min(POLL_INTERVAL)
            }
            _ => POLL_INTERVAL,
        };
        let asked = match self.terminal.wait(patience)? {
            Some(Event::Key(key)) => self.screen.press(key),
            Some(Event::Resized) => Action::Draw,
            None => Action::Nothing,
        };
        if asked == Action::Quit {
            return Ok(true);
        }
        if asked == Action::Suspend || signals.is_to_stop() {
            self.terminal.suspend(|| signals.stop())?;
        } else if signals.was_continued() {
            self.terminal.reopen()?;
        } else if asked == Action::Redraw {
            self.terminal.clear()?;
        } else if asked == Action::Nothing {
            return Ok(false);
        }
        self.terminal.draw(&mut self.screen)?;
        Ok(false)
    }
}

fn title(start: &Start, pace: String) -> Title {
    let what = start.path.clone().unwrap_or_else(|| "all disks".into());
    let what = format!("{what}  {}  {}", start.hostname, start.kernel);
    // The terminal would interpret control characters.
    let what = what.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    Title { program: "fathom watch".into(), what, pace }
}

/// Whether to use colours, by the same rules as for reports.
pub(super) fn has_colours() -> bool {
    Output::Stdout.style().colour
}

/// A time of day in the local time zone.
pub(super) fn clock(unix_ms: u64, with_millis: bool) -> String {
    let form = if with_millis { "%H:%M:%S%.3f" } else { "%H:%M:%S" };
    let moment = i64::try_from(unix_ms).ok().and_then(DateTime::from_timestamp_millis);
    moment.map(|moment| moment.with_timezone(&Local).format(form).to_string()).unwrap_or_default()
}
