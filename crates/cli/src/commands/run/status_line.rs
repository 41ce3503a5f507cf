//! The status line: where and how often it is shown.

use crate::output::{Output, say};
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
    /// What comes after the line begins with a line of its own.
    followed: bool,
    drawn: bool,
    /// The next line does not go over the one that is there.
    newline: bool,
    begun: bool,
}

/// A line due no later than this after the end of a run is its last.
const NEARLY: Duration = Duration::from_millis(100);

impl StatusTicker {
    /// `None` when no line is to be shown. Under the name fio it goes to standard output, where
    /// programs that follow fio look for it, unless that is taken by a report that is no text; else
    /// to stderr, so that reports stay clean.
    pub fn new(
        invocation: &Invocation,
        output: &Output,
        as_fio: bool,
        text: bool,
    ) -> Option<StatusTicker> {
        let to_stdout = matches!(output, Output::Stdout);
        let terminal = match as_fio {
            true => std::io::stdout().is_terminal(),
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
        say(text);
        Ok(())
    }

    /// Shows the line when its time has come.
    ///
    /// # Errors
    /// Those of standard output.
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

    /// Shows a line over the one that is there or, when that has stood long enough, below it.
    fn draw(&mut self, line: String) -> Result<()> {
        let newline = std::mem::take(&mut self.newline) && self.drawn;
        (self.drawn, self.begun) = (self.redraw, true);
        self.put(&if newline { format!("\n{line}") } else { line })
    }

    /// Shows, as fio does, that the run is over, unless it was over before there was a line; then
    /// leaves the line.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn finish(&mut self, snapshot: impl FnOnce() -> Snapshot) -> Result<()> {
        if self.on_stdout && (self.begun || Instant::now() + NEARLY >= self.next) {
            let line = self.line.last(&snapshot());
            self.draw(line)?;
        }
        self.leave()
    }

    /// Takes the line that is being redrawn away, to make room for another.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn clear(&mut self) -> Result<()> {
        // ECMA-48: carriage return, then EL, erase to the end of the line. What is no terminal is
        // told apart by the carriage return, as fio's line is.
        let drawn = std::mem::take(&mut self.drawn);
        if drawn && self.terminal { self.put("\r\x1b[K") } else { Ok(()) }
    }

    /// Leaves the line that is being redrawn.
    ///
    /// # Errors
    /// Those of standard output.
    pub fn leave(&mut self) -> Result<()> {
        let drawn = std::mem::take(&mut self.drawn);
        if drawn && !self.followed { self.put("\n") } else { Ok(()) }
    }
}
