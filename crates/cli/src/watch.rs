//! Watching a run: signals, the status line, layout messages.

use crate::interims::Interims;
use crate::output::{Output, say};
use crate::runner::UnderWay;
use crate::trigger::Trigger;
use anyhow::Result;
use engine::Event;
use job::{Eta, Invocation};
use record::Snapshot;
use report::status::StatusLine;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often signals are looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// The signals that end a run early.
pub struct Signals {
    caught: Arc<AtomicUsize>,
}

impl Signals {
    /// From now on SIGINT and SIGTERM are noted; a second one ends the program at once.
    pub fn catch() -> Result<Signals> {
        let caught = Arc::new(AtomicUsize::new(0));
        let second = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            let status = 128 + signal;
            // In this order: the first signal arms what the second one meets.
            signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(&second))?;
            signal_hook::flag::register(signal, Arc::clone(&second))?;
            signal_hook::flag::register_usize(signal, Arc::clone(&caught), signal as usize)?;
        }
        // A limit on file sizes is met as an error of the write, not by ending the program.
        signal_hook::flag::register(
            signal_hook::consts::SIGXFSZ,
            Arc::new(AtomicBool::new(false)),
        )?;
        Ok(Signals { caught })
    }

    /// The signal that came.
    pub fn caught(&self) -> Option<i32> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as i32),
        }
    }
}

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

/// How what happens meanwhile is told.
#[derive(Clone, Copy)]
pub struct Manner {
    /// As fio does.
    pub as_fio: bool,
    /// The report is text, among others, and takes what fio writes into it.
    pub text: bool,
    /// Nothing but errors goes to stderr.
    pub quiet: bool,
}

/// Watches until the run has ended, reporting it meanwhile where `interims` are given.
pub fn watch(
    under_way: &UnderWay,
    invocation: &Invocation,
    output: &mut Output,
    manner: Manner,
    trigger: &Trigger,
    mut interims: Option<&mut Interims>,
) -> Result<()> {
    let Manner { as_fio, text, quiet } = manner;
    let UnderWay { run, signals, .. } = *under_way;
    let mut ticker = Ticker::new(invocation, output, as_fio, text);
    let mut stopping = false;
    loop {
        let ended = run.wait(GLANCE);
        for event in run.events() {
            let Event::LayingOut { job, files, bytes } = event;
            if let Some(ticker) = &mut ticker {
                ticker.clear(output)?;
            }
            let line = report::header::layout(&job, files, bytes);
            match (text, quiet) {
                (true, _) => output.write(&line)?,
                (false, true) => {}
                (false, false) => say(&line),
            }
        }
        for line in run.traced() {
            output.write(&line)?;
        }
        if ended {
            break;
        }
        if let (Some(signal), false) = (signals.caught(), stopping) {
            stopping = true;
            if let Some(ticker) = &mut ticker {
                ticker.leave(output)?;
            }
            match (as_fio, text) {
                (true, true) => {
                    output.write(&format!("\nfio: terminating on signal {signal}\n"))?
                }
                (true, false) => say(&format!("fio: terminating on signal {signal}\n")),
                (false, _) => say(&format!(
                    "fathom: terminating on signal {signal}; once more ends it at once\n"
                )),
            }
            run.stop();
        }
        if trigger.goes_off() {
            run.stop();
        }
        if let Some(report) = interims.as_mut().and_then(|interims| interims.due(under_way)) {
            if let Some(ticker) = &mut ticker {
                ticker.clear(output)?;
            }
            output.write(&report)?;
        }
        if let Some(ticker) = &mut ticker {
            ticker.tick(|| run.snapshot(), output)?;
        }
    }
    match &mut ticker {
        Some(ticker) => ticker.leave(output),
        None => Ok(()),
    }
}
