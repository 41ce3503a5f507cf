//! The live view: figures and graphs of a run on the terminal, in place of the status line.

use super::request::OutputMode;
use crate::output::{HeldOutput, Output, Stream, can_draw, hold};
use anyhow::Result;
use job::{Eta, Invocation};
use live::feed::Subscription;
use live::run::{Moment, RunInfo, RunScreen};
use live::{Action, Event, Palette, Terminal};
use record::Severity;
use runner::{Pauses, RunInProgress};
use signal_hook::consts::SIGINT;
use signal_hook::low_level;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Shorter runs, in seconds, get no live view unless `--live` asks for it.
const LONG_RUN_S: f64 = 5.0;
/// Time between two estimates of the length of the run.
const ESTIMATE_INTERVAL: Duration = Duration::from_millis(250);

/// When to show the live view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LiveMode {
    Never,
    /// As soon as the run is known to take long.
    LongRuns,
    Always,
}

impl LiveMode {
    fn new(invocation: &Invocation, output: &Output, mode: OutputMode) -> LiveMode {
        if mode.as_fio || !can_draw() {
            return LiveMode::Never;
        }
        let lines = invocation.status_interval.is_some() || !mode.text && output.is_terminal();
        match invocation.live {
            Some(true) => LiveMode::Always,
            Some(false) => LiveMode::Never,
            // Options that ask for lines, or for no lines, take precedence.
            None if lines || invocation.eta != Eta::Auto || !invocation.debug.areas.is_empty() => {
                LiveMode::Never
            }
            None => LiveMode::LongRuns,
        }
    }
}

/// The live view of a run, and when to show it.
pub struct LiveView {
    mode: LiveMode,
    next_estimate: Instant,
    screen: Option<LiveScreen>,
}

impl LiveView {
    /// The live view of a run that has not started. Draws nothing.
    pub fn new(invocation: &Invocation, output: &Output, mode: OutputMode) -> LiveView {
        let mode = LiveMode::new(invocation, output, mode);
        LiveView { mode, next_estimate: Instant::now(), screen: None }
    }

    /// Whether to call [`LiveView::start`] now.
    pub fn is_due(&mut self, run: &RunInProgress) -> bool {
        match self.mode {
            LiveMode::Never => false,
            LiveMode::Always => self.screen.is_none(),
            LiveMode::LongRuns => {
                let now = Instant::now();
                if self.screen.is_some() || now < self.next_estimate {
                    return false;
                }
                self.next_estimate = now + ESTIMATE_INTERVAL;
                let snapshot = run.run.snapshot();
                let left = snapshot.remaining_seconds().unwrap_or(0.0);
                run.signals.caught().is_none() && snapshot.at.seconds() + left > LONG_RUN_S
            }
        }
    }

    /// Takes over the terminal. If that fails, the run has no live view.
    ///
    /// # Errors
    /// When the handlers of SIGTSTP and SIGCONT cannot be installed.
    pub fn start(&mut self, run: &RunInProgress) -> Result<()> {
        self.screen = LiveScreen::open(run)?;
        if self.screen.is_none() {
            self.mode = LiveMode::Never;
        }
        Ok(())
    }

    /// Draws what is new. Returns whether the live view is shown.
    pub fn poll(&mut self, run: &RunInProgress) -> bool {
        let Some(screen) = &mut self.screen else { return false };
        if screen.poll(run).is_err() {
            // The terminal is gone, but the run goes on.
            self.leave();
        }
        self.screen.is_some()
    }

    /// Ends the live view, restores the terminal, and prints the text that was held back.
    pub fn leave(&mut self) {
        self.mode = LiveMode::Never;
        self.screen = None;
    }
}

/// The live view on the terminal. The order of the fields is the order in which they are dropped.
struct LiveScreen {
    terminal: Terminal,
    held: HeldOutput,
    pauses: Pauses,
    screen: RunScreen,
    shown: Option<Arc<Moment>>,
    _subscription: Subscription,
}

impl LiveScreen {
    /// Takes over the terminal; `None` if that fails.
    fn open(run: &RunInProgress) -> Result<Option<LiveScreen>> {
        let pauses = Pauses::catch()?;
        run.signals.catch_hang_up()?;
        let colour = Output::Stdout.style().colour;
        let Ok(terminal) = Terminal::open(Palette { colour }) else { return Ok(None) };
        let head = run.hub.latest().map_or_else(RunInfo::default, |(head, _)| (*head).clone());
        let mut live = LiveScreen {
            terminal,
            held: hold(),
            pauses,
            screen: RunScreen::new(head),
            shown: None,
            _subscription: run.hub.subscribe(),
        };
        // If this fails, so does the next poll, which ends the live view.
        let _ = live.draw();
        Ok(Some(live))
    }

    fn draw(&mut self) -> io::Result<()> {
        let screen = &mut self.screen;
        self.terminal.draw_with(|frame, palette| live::run::draw(frame, screen, palette))
    }

    /// Handles keys and signals, and draws what is new.
    fn poll(&mut self, run: &RunInProgress) -> io::Result<()> {
        let mut draws = self.update(run);
        while let Some(event) = self.terminal.wait(Duration::ZERO)? {
            let asked = match event {
                Event::Key(key) => self.screen.press(key),
                Event::Resized => Action::Draw,
            };
            match asked {
                Action::Nothing => {}
                Action::Draw => draws = true,
                Action::Redraw => {
                    self.terminal.clear()?;
                    draws = true;
                }
                Action::Suspend => {
                    self.terminal.suspend(|| self.pauses.stop())?;
                    draws = true;
                }
                // The same effect as Ctrl-C: a second one ends the program at once.
                Action::Quit => low_level::raise(SIGINT)?,
            }
        }
        if self.pauses.is_to_stop() {
            self.terminal.suspend(|| self.pauses.stop())?;
            draws = true;
        } else if self.pauses.was_continued() {
            self.terminal.reopen()?;
            draws = true;
        }
        if draws { self.draw() } else { Ok(()) }
    }

    /// Adds new text and the latest figures to the screen. Returns whether there were any.
    fn update(&mut self, run: &RunInProgress) -> bool {
        let texts = self.held.take_new();
        let mut is_new = !texts.is_empty();
        for (stream, text) in texts {
            let severity = match stream {
                Stream::Out => Severity::Note,
                Stream::Err => Severity::Warning,
            };
            self.screen.add_message(severity, &text);
        }
        let latest = run.hub.latest().and_then(|(_, moment)| moment);
        if let Some(moment) = latest {
            let known = self.shown.as_ref().is_some_and(|shown| Arc::ptr_eq(shown, &moment));
            if !known {
                self.screen.set_moment((*moment).clone());
                self.shown = Some(moment);
                is_new = true;
            }
        }
        is_new
    }
}
