//! The status line: where and how often it is shown.

use crate::output::{Output, write_stderr};
use anyhow::Result;
use job::{Eta, Invocation};
use record::Snapshot;
use report::status::StatusLine;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Where and how often the status line is shown.
pub struct StatusTicker {
    line: StatusLine,
    every: Duration,
    newline_every: Option<Duration>,
    next: Instant,
    next_newline: Instant,
    redraw: bool,
    on_stdout: bool,
    terminal: bool,
    /// Whether the text after the line starts with a newline of its own.
    followed: bool,
    drawn: bool,
    /// Whether the next line leaves the current one in place.
    newline: bool,
    begun: bool,
}

/// A line that is due within this time after the end of a run is still shown.
const LAST_LINE_MARGIN: Duration = Duration::from_millis(100);

impl StatusTicker {
    /// `None` when no line is to be shown. As fio, the line goes to standard output, where programs that
    /// control fio read it, unless a report other than text goes there. Otherwise it goes to standard
    /// error.
    pub fn new(
        invocation: &Invocation,
        output: &Output,
        as_fio: bool,
        text: bool,
    ) -> Option<StatusTicker> {
        let to_stdout = matches!(output, Output::Stdout);
        let terminal = match as_fio {
            true => Output::Stdout.is_terminal(),
            false => std::io::stderr().is_terminal(),
        };
        let taken = as_fio && to_stdout && !text;
        let shown = match invocation.eta {
            Eta::Never => false,
            Eta::Always => !taken,
            Eta::Auto => terminal && !taken,
        };
        let every = invocation.eta_interval.map_or(Duration::from_secs(1), |n| {
            Duration::from_nanos(n.0).max(Duration::from_millis(100))
        });
        let newline_every = invocation.eta_newline.map(|n| Duration::from_nanos(n.0));
        let now = Instant::now();
        shown.then(|| StatusTicker {
            line: StatusLine::new(),
            every,
            newline_every,
            next: now + every,
            next_newline: now + newline_every.unwrap_or_default(),
            redraw: as_fio || terminal,
            on_stdout: as_fio,
            terminal,
            followed: as_fio && to_stdout,
            drawn: false,
            newline: false,
            begun: false,
        })
    }

    fn put(&self, text: &str) -> Result<()> {
        if self.on_stdout {
            return Output::Stdout.write(text);
        }
        write_stderr(text);
        Ok(())
    }

    /// Shows the line if it is due.
    pub fn tick(&mut self, snapshot: impl FnOnce() -> Snapshot) -> Result<()> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next += self.every;
        let text = match self.redraw {
            true => self.line.redraw(&snapshot()),
            false => self.line.update(&snapshot()) + "\n",
        };
        self.draw(text)?;
        if let Some(every) = self.newline_every.filter(|_| now >= self.next_newline) {
            self.newline = self.redraw;
            self.next_newline += every;
        }
        Ok(())
    }

    /// Draws a line over the current one, or below it if `newline` is set.
    fn draw(&mut self, line: String) -> Result<()> {
        let newline = std::mem::take(&mut self.newline) && self.drawn;
        (self.drawn, self.begun) = (self.redraw, true);
        self.put(&if newline { format!("\n{line}") } else { line })
    }

    /// As fio, shows the final state of the run, unless it ended before the first line; then leaves the
    /// line.
    pub fn finish(&mut self, snapshot: impl FnOnce() -> Snapshot) -> Result<()> {
        if self.on_stdout && (self.begun || Instant::now() + LAST_LINE_MARGIN >= self.next) {
            let line = self.line.last(&snapshot());
            self.draw(line)?;
        }
        self.leave()
    }

    /// Erases the line, to make room for other text.
    pub fn clear(&mut self) -> Result<()> {
        // ECMA-48: carriage return, then EL, erase to the end of the line. In a file or pipe, the
        // carriage return of the next line separates them, as in fio's output.
        let drawn = std::mem::take(&mut self.drawn);
        if drawn && self.terminal { self.put("\r\x1b[K") } else { Ok(()) }
    }

    /// Leaves the line in place and goes to the next one.
    pub fn leave(&mut self) -> Result<()> {
        let drawn = std::mem::take(&mut self.drawn);
        if drawn && !self.followed { self.put("\n") } else { Ok(()) }
    }
}
