//! The status line: where and how often it is shown.

use crate::output::{Output, say};
use anyhow::Result;
use job::{Eta, Invocation};
use record::Snapshot;
use report::status::StatusLine;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Where and how often the status line is shown.
pub struct Ticker {
    line: StatusLine,
    every: Duration,
    newline_every: Option<Duration>,
    next: Instant,
    next_newline: Instant,
    redraw: bool,
    on_stdout: bool,
    drawn: bool,
}

impl Ticker {
    /// `None` when no line is to be shown. Under the name fio it belongs to the text on standard
    /// output, where programs that follow fio look for it; else it goes to stderr, so that reports
    /// stay clean.
    pub fn new(
        invocation: &Invocation,
        output: &Output,
        as_fio: bool,
        text: bool,
    ) -> Option<Ticker> {
        let followed = invocation.eta == Eta::Always && matches!(output, Output::Stdout);
        let on_stdout = as_fio && text && (followed || output.is_terminal());
        let terminal = on_stdout || std::io::stderr().is_terminal();
        let shown = match invocation.eta {
            Eta::Never => false,
            Eta::Always => true,
            Eta::Auto => terminal && (text || !as_fio),
        };
        let every = invocation.eta_interval.map_or(Duration::from_secs(1), |n| {
            Duration::from_nanos(n.0).max(Duration::from_millis(100))
        });
        let newline_every = invocation.eta_newline.map(|n| Duration::from_nanos(n.0));
        let now = Instant::now();
        shown.then(|| Ticker {
            line: StatusLine::new(),
            every,
            newline_every,
            next: now + every,
            next_newline: now + newline_every.unwrap_or_default(),
            redraw: terminal,
            on_stdout,
            drawn: false,
        })
    }

    fn put(&self, output: &mut Output, text: &str) -> Result<()> {
        if self.on_stdout {
            return output.write(text);
        }
        say(text);
        Ok(())
    }

    /// Shows the line when its time has come.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn tick(&mut self, snapshot: impl FnOnce() -> Snapshot, output: &mut Output) -> Result<()> {
        let now = Instant::now();
        if now < self.next {
            return Ok(());
        }
        self.next += self.every;
        let snapshot = snapshot();
        let mut text = match self.redraw {
            true => self.line.redraw(&snapshot),
            false => self.line.update(&snapshot) + "\n",
        };
        self.drawn = self.redraw;
        if let Some(every) = self.newline_every.filter(|_| now >= self.next_newline && self.redraw)
        {
            text.push('\n');
            self.next_newline += every;
            self.drawn = false;
        }
        self.put(output, &text)
    }

    /// Takes the line that is being redrawn away, to make room for another.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn clear(&mut self, output: &mut Output) -> Result<()> {
        // ECMA-48: carriage return, then EL, erase to the end of the line.
        if std::mem::take(&mut self.drawn) { self.put(output, "\r\x1b[K") } else { Ok(()) }
    }

    /// Leaves the line that is being redrawn.
    ///
    /// # Errors
    /// Those of `output`.
    pub fn leave(&mut self, output: &mut Output) -> Result<()> {
        if std::mem::take(&mut self.drawn) { self.put(output, "\n") } else { Ok(()) }
    }
}
