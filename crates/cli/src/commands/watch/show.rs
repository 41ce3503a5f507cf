//! Showing what is seen: lines for a pipe, or a picture.

use super::ends::Ends;
use super::keep::Log;
use super::source::Source;
use crate::output::{Output, describe};
use anyhow::{Context, Result};
use chrono::{DateTime, Local};
use live::log::{Entry, Start};
use live::plain::Plain;
use live::{Action, Event, Interval, Intervals, Palette, Screen, Terminal, Title, json};
use std::io::{self, ErrorKind, Write};
use std::time::{Duration, Instant};

/// How often signals are looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// What lines look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Columns.
    Plain {
        /// With a line for each CPU.
        per_cpu: bool,
    },
    /// JSON.
    Json,
}

/// Writes lines.
pub enum Lines {
    /// Columns, and whether moments are told to the millisecond.
    Plain(Plain, bool),
    /// JSON.
    Json,
}

impl Lines {
    /// Of a form.
    pub fn new(form: Form) -> Lines {
        match form {
            Form::Plain { per_cpu } => Lines::Plain(Plain::new(per_cpu), false),
            Form::Json => Lines::Json,
        }
    }

    fn begin(&mut self, start: &Start) {
        if let Lines::Plain(_, to_the_millisecond) = self {
            *to_the_millisecond = !start.interval_ns.is_multiple_of(1_000_000_000);
        }
    }

    fn text(&mut self, intervals: &Intervals, interval: &Interval) -> Result<String> {
        let Interval { unix_ms, rates } = interval;
        Ok(match self {
            Lines::Plain(plain, to_the_millisecond) => {
                plain.lines(&clock(*unix_ms, *to_the_millisecond), intervals.stack(), rates)
            }
            Lines::Json => json::line(*unix_ms, intervals.stack(), rates)?,
        })
    }
}

/// Writes lines until there are no more, a signal comes, or nobody reads them. `last` is asked after
/// each interval whether it was the last.
///
/// # Errors
/// Those of the source, of standard output and of the log.
pub fn lines(
    source: &mut impl Source,
    mut log: Option<Log>,
    mut lines: Lines,
    ends: &Ends,
    last: &mut dyn FnMut() -> bool,
) -> Result<()> {
    let mut intervals = Intervals::default();
    while let Some(due) = source.due() {
        if !wait(due, ends) {
            return Ok(());
        }
        for entry in source.take()? {
            log.iter_mut().try_for_each(|log| log.add(&entry))?;
            if let Entry::Watch(start) = &entry {
                lines.begin(start);
            }
            let Some(interval) = intervals.push(entry) else { continue };
            if !write(&lines.text(&intervals, &interval)?)? || last() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Waits for a moment; false when a signal came first.
fn wait(due: Instant, ends: &Ends) -> bool {
    loop {
        let left = due.saturating_duration_since(Instant::now());
        if ends.came() || left.is_zero() {
            return !ends.came();
        }
        std::thread::sleep(left.min(GLANCE));
    }
}

/// Writes and flushes; false when the reader went away, which is no error.
pub(super) fn write(text: &str) -> Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        result => result.map(|()| true).context("cannot write to standard output"),
    }
}

/// Draws until it is told to quit, or a signal comes, or the last interval was shown.
///
/// # Errors
/// Those of the source, of the terminal and of the log.
pub fn screen(
    source: &mut impl Source,
    log: Option<Log>,
    ends: &Ends,
    last: &mut dyn FnMut() -> bool,
) -> Result<()> {
    let palette = Palette { colour: coloured() };
    let terminal = Terminal::open(palette).map_err(|error| {
        let why = describe(&error.into());
        anyhow::anyhow!("cannot draw on this terminal ({why}); --plain writes lines instead")
    })?;
    let (screen, intervals) = (Screen::new(Title::default()), Intervals::default());
    let mut session = Session { terminal, screen, intervals, log };
    let end = session.go_on(source, ends, last);
    // A terminal that hung up fails to be drawn on; the signal says it better.
    if ends.came() { Ok(()) } else { end }
}

/// A picture under way.
struct Session {
    terminal: Terminal,
    screen: Screen,
    intervals: Intervals,
    log: Option<Log>,
}

impl Session {
    fn go_on(
        &mut self,
        source: &mut impl Source,
        ends: &Ends,
        last: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        while !ends.came() {
            if self.step(source, last)? || self.react(source, ends)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes what is due and draws it; true after the last interval.
    fn step(&mut self, source: &mut impl Source, last: &mut dyn FnMut() -> bool) -> Result<bool> {
        let Some(due) = source.due() else { return Ok(false) };
        let waits = source.is_patient() && self.screen.is_paused();
        if waits || due > Instant::now() {
            return Ok(false);
        }
        let mut ended = false;
        for entry in source.take()? {
            self.log.iter_mut().try_for_each(|log| log.add(&entry))?;
            if let Entry::Watch(start) = &entry {
                self.screen.set_title(title(start, source.pace()));
            }
            let interval = self.intervals.push(entry);
            self.screen.set_stack(self.intervals.stack().clone());
            if let Some(Interval { unix_ms, rates }) = interval {
                self.screen.add_interval(rates, &clock(unix_ms, false));
                ended |= last();
            }
        }
        if source.due().is_none() {
            self.screen.set_note("the log ends here; q quits".into());
        }
        self.terminal.draw(&mut self.screen)?;
        Ok(ended)
    }

    /// Waits a while for keys and signals and does what they ask; true to quit.
    fn react(&mut self, source: &impl Source, ends: &Ends) -> Result<bool> {
        let left = source.due().map(|due| due.saturating_duration_since(Instant::now()));
        let patience = match left {
            Some(left) if !(source.is_patient() && self.screen.is_paused()) => left.min(GLANCE),
            _ => GLANCE,
        };
        let asked = match self.terminal.wait(patience)? {
            Some(Event::Key(key)) => self.screen.press(key),
            Some(Event::Resized) => Action::Draw,
            None => Action::Nothing,
        };
        if asked == Action::Quit {
            return Ok(true);
        }
        if asked == Action::Suspend || ends.is_to_stop() {
            self.terminal.suspend(|| ends.stop())?;
        } else if ends.was_continued() {
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
    // What a terminal would obey is not shown.
    let what = what.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    Title { program: "fathom watch".into(), what, pace }
}

/// Whether there are to be colours, by the rules that hold for reports.
pub(super) fn coloured() -> bool {
    Output::Stdout.style().colour
}

/// A moment in local time.
pub(super) fn clock(unix_ms: u64, to_the_millisecond: bool) -> String {
    let form = if to_the_millisecond { "%H:%M:%S%.3f" } else { "%H:%M:%S" };
    let moment = i64::try_from(unix_ms).ok().and_then(DateTime::from_timestamp_millis);
    moment.map(|moment| moment.with_timezone(&Local).format(form).to_string()).unwrap_or_default()
}
