//! A run as a picture on the terminal, in place of the status line.

use super::request::{OutputMode, program};
use crate::output::{Held, Output, Stream, hold};
use anyhow::Result;
use job::{Dialect, Eta, Invocation};
use live::feed::Subscription;
use live::run::{Moment, RunInfo, RunScreen};
use live::{Action, Event, Palette, Terminal};
use record::Severity;
use runner::Pauses;
use runner::RunInProgress;
use signal_hook::consts::SIGINT;
use signal_hook::low_level;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A run that is over sooner is not worth a picture.
const LONG: f64 = 5.0;
/// How often it is asked how long the run will take.
const ASKED_EVERY: Duration = Duration::from_millis(250);

/// Whether there is to be a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LiveMode {
    Never,
    /// Once it is known that the run takes long.
    WhereLong,
    Always,
}

impl LiveMode {
    fn of(invocation: &Invocation, output: &Output, mode: OutputMode) -> LiveMode {
        if mode.as_fio || !is_possible() {
            return LiveMode::Never;
        }
        let lines = invocation.status_interval.is_some() || !mode.text && output.is_terminal();
        match invocation.live {
            Some(true) => LiveMode::Always,
            Some(false) => LiveMode::Never,
            // Who asks for lines, or for none, gets what they ask for.
            None if lines || invocation.eta != Eta::Auto || !invocation.debug.areas.is_empty() => {
                LiveMode::Never
            }
            None => LiveMode::WhereLong,
        }
    }
}

/// Whether standard output is a terminal that can show a picture.
fn is_possible() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
    io::stdout().is_terminal() && !dumb
}

/// What is wrong with `--live` where it was given.
///
/// # Errors
/// Why there can be no picture, and what to do.
pub fn check(invocation: &Invocation, dialect: Dialect) -> Result<(), String> {
    if invocation.live != Some(true) {
        return Ok(());
    }
    if dialect == Dialect::Fio {
        return Err(format!(
            "--live: not under the name {}, whose --eta has a status line; \
                            say 'fathom run --live'",
            program(dialect)
        ));
    }
    if !invocation.debug.areas.is_empty() {
        return Err("--live: --debug writes lines where the picture would be; \
                    leave one of them out"
            .into());
    }
    match is_possible() {
        true => Ok(()),
        false => {
            Err("--live: standard output is no terminal that can show a picture; leave it out, \
                      or follow the run from another terminal with 'fathom watch --run'"
                .into())
        }
    }
}

/// The picture, once there is one.
pub struct LiveView {
    wanted: LiveMode,
    ask_at: Instant,
    picture: Option<Picture>,
}

impl LiveView {
    /// For a run; nothing is drawn yet.
    pub fn new(invocation: &Invocation, output: &Output, mode: OutputMode) -> LiveView {
        let wanted = LiveMode::of(invocation, output, mode);
        LiveView { wanted, ask_at: Instant::now(), picture: None }
    }

    /// Whether it is time to take the terminal.
    pub fn is_due(&mut self, run: &RunInProgress) -> bool {
        match self.wanted {
            LiveMode::Never => false,
            LiveMode::Always => self.picture.is_none(),
            LiveMode::WhereLong => {
                let now = Instant::now();
                if self.picture.is_some() || now < self.ask_at {
                    return false;
                }
                self.ask_at = now + ASKED_EVERY;
                let snapshot = run.run.snapshot();
                let left = report::status::remaining_seconds(&snapshot).unwrap_or(0.0);
                run.signals.caught().is_none() && snapshot.at.seconds() + left > LONG
            }
        }
    }

    /// Takes the terminal. Where it cannot be had there is no picture, now or later.
    ///
    /// # Errors
    /// When the signals that stop and continue a program cannot be heard.
    pub fn start(&mut self, run: &RunInProgress) -> Result<()> {
        self.picture = Picture::take(run)?;
        if self.picture.is_none() {
            self.wanted = LiveMode::Never;
        }
        Ok(())
    }

    /// A moment has passed; whether there is a picture.
    pub fn poll(&mut self, run: &RunInProgress) -> bool {
        let Some(picture) = &mut self.picture else { return false };
        if picture.poll(run).is_err() {
            // The terminal is gone. The run is not.
            self.leave();
        }
        self.picture.is_some()
    }

    /// Gives the terminal back; what was said meanwhile is said again. There is no picture any more.
    pub fn leave(&mut self) {
        self.wanted = LiveMode::Never;
        self.picture = None;
    }
}

/// A picture on the terminal. In this order its parts are given back.
struct Picture {
    terminal: Terminal,
    /// What is said meanwhile.
    held: Held,
    pauses: Pauses,
    screen: RunScreen,
    shown: Option<Arc<Moment>>,
    _wanted: Subscription,
}

impl Picture {
    /// Takes the terminal; `None` where it cannot be had.
    fn take(run: &RunInProgress) -> Result<Option<Picture>> {
        let pauses = Pauses::catch()?;
        run.signals.catch_hang_up()?;
        let colour = Output::Stdout.style().colour;
        let Ok(terminal) = Terminal::open(Palette { colour }) else { return Ok(None) };
        let head = run.hub.latest().map_or_else(RunInfo::default, |(head, _)| (*head).clone());
        let mut picture = Picture {
            terminal,
            held: hold(),
            pauses,
            screen: RunScreen::new(head),
            shown: None,
            _wanted: run.hub.subscribe(),
        };
        // One that cannot be drawn on is found out at the next glance.
        let _ = picture.draw();
        Ok(Some(picture))
    }

    fn draw(&mut self) -> io::Result<()> {
        let screen = &mut self.screen;
        self.terminal.draw_with(|frame, palette| live::run::draw(frame, screen, palette))
    }

    /// Draws what is new, and does what keys ask for.
    fn poll(&mut self, run: &RunInProgress) -> io::Result<()> {
        let mut draws = self.take_news(run);
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
                // As if the terminal had sent it: a second time ends it at once.
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

    /// Takes what happened since; whether anything did.
    fn take_news(&mut self, run: &RunInProgress) -> bool {
        let said = self.held.news();
        let mut is_new = !said.is_empty();
        for (stream, text) in said {
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
