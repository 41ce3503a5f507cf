//! `fathom watch --run`: shows a run of another process, from its live feed.

use super::show::{LineFormat, clock, has_colours, write};
use super::signals::WatchSignals;
use crate::exit;
use crate::output::write_stderr;
use anyhow::{Context, Result, bail};
use live::feed::{self, FeedProcess, FeedReader, Line};
use live::run::{RunInfo, RunScreen, plain};
use live::{Action, Event, Palette, Terminal};
use record::Severity;
use runner::Refusal;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// Time between two polls of signals and keys.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Shows the run of a process until it ends. `pid` may be `None` if there is only one such process.
///
/// # Errors
/// When no process, or more than one, fits.
pub fn watch(
    pid: Option<u32>,
    form: Option<LineFormat>,
    is_last: &mut dyn FnMut() -> bool,
) -> Result<u8> {
    let listed = find(pid)?;
    let feed = FeedReader::connect(&listed.path)
        .with_context(|| format!("process {}: its run has ended", listed.pid))?;
    let signals = WatchSignals::catch(form.is_none())?;
    let mut watch = FeedWatch { feed, ended: None, head: None };
    match form {
        Some(form) => watch.lines(form, &signals, is_last)?,
        None => watch.picture(&signals, is_last)?,
    }
    if signals.must_end() { Ok(signals.exit_code()) } else { Ok(watch.code()) }
}

/// The process to watch.
fn find(pid: Option<u32>) -> Result<FeedProcess> {
    let all = feed::list(&feed::default_directory())?;
    let to_line = |listed: &FeedProcess| {
        let name = listed.info.as_ref().map_or("", |head| head.name.as_str());
        format!("\n  --run={}  {}", listed.pid, printable(name))
    };
    let list = || all.iter().map(to_line).collect::<String>();
    match (pid, all.as_slice()) {
        (None, [one]) => Ok(one.clone()),
        (None, []) => Err(Refusal::usage("--run: no run of this user is in progress")),
        (None, _) => {
            Err(Refusal::usage(format!("--run: several runs are in progress; name one:{}", list())))
        }
        (Some(pid), _) => match all.iter().find(|listed| listed.pid == pid) {
            Some(one) => Ok(one.clone()),
            None if all.is_empty() => Err(Refusal::usage(format!(
                "--run: process {pid} has no run in progress, nor has any other of this user"
            ))),
            None => Err(Refusal::usage(format!(
                "--run: process {pid} has no run in progress; these have:{}",
                list()
            ))),
        },
    }
}

/// The text with control characters replaced: a terminal would obey them.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

struct FeedWatch {
    feed: FeedReader,
    head: Option<RunInfo>,
    /// The end of the latest run.
    ended: Option<live::run::RunEnd>,
}

impl FeedWatch {
    /// The next line of the feed; `None` when the process has ended.
    ///
    /// # Errors
    /// When no line came within [`POLL_INTERVAL`] (see [`is_late`]), when the feed cannot be read, and
    /// when the process ended without publishing how its run ended.
    fn next(&mut self) -> Result<Option<Line>> {
        match self.feed.next_line_within(POLL_INTERVAL) {
            Ok(None) => {
                if self.ended.is_none() {
                    bail!("the process ended without saying how its run ended");
                }
                Ok(None)
            }
            Ok(Some(line)) => {
                match &line {
                    Line::Run(head) => (self.head, self.ended) = (Some(head.clone()), None),
                    Line::Ended(ended) => self.ended = Some(ended.clone()),
                    Line::Moment(_) | Line::Saved(_) => {}
                }
                Ok(Some(line))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn lines(
        &mut self,
        form: LineFormat,
        signals: &WatchSignals,
        is_last: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let mut begun = false;
        while !signals.must_end() {
            let line = match self.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(error) if is_late(&error) => continue,
                Err(error) => return Err(error),
            };
            let is_moment = matches!(line, Line::Moment(_));
            let text = match (form, &line) {
                (LineFormat::Json, line) => line.text(),
                (LineFormat::Plain { .. }, Line::Moment(moment)) => {
                    let head = if begun { "" } else { plain::HEAD };
                    begun = true;
                    head.to_owned() + &plain::lines(&clock(moment.unix_ms, false), moment)
                }
                (LineFormat::Plain { .. }, _) => continue,
            };
            if !write(&text)? || is_moment && is_last() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn picture(&mut self, signals: &WatchSignals, is_last: &mut dyn FnMut() -> bool) -> Result<()> {
        let mut terminal = Terminal::open(Palette { colour: has_colours() })
            .context("cannot draw on this terminal; --plain writes lines instead")?;
        let end = self.draw(&mut terminal, signals, is_last);
        drop(terminal);
        // After a hang-up, drawing fails as well. The exit code of the signal is the better answer.
        match end {
            Err(error) if !signals.must_end() => Err(error),
            _ => {
                self.report_end();
                Ok(())
            }
        }
    }

    fn draw(
        &mut self,
        terminal: &mut Terminal,
        signals: &WatchSignals,
        is_last: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let mut screen = RunScreen::of_other_process(RunInfo::default());
        while !signals.must_end() {
            let mut draws = true;
            match self.next() {
                Ok(Some(Line::Run(head))) => screen = RunScreen::of_other_process(head),
                Ok(Some(Line::Moment(moment))) => {
                    screen.set_moment(*moment);
                    if is_last() {
                        return Ok(());
                    }
                }
                Ok(Some(Line::Ended(_))) => {
                    screen.add_message(Severity::Note, "this run has ended")
                }
                Ok(Some(Line::Saved(kept))) => {
                    screen.add_message(
                        Severity::Note,
                        &format!("kept in the archive as {}", kept.id),
                    );
                }
                Ok(None) => return Ok(()),
                Err(error) if is_late(&error) => draws = false,
                Err(error) => return Err(error),
            }
            let Some(asked) = react(terminal, &mut screen, signals)? else { return Ok(()) };
            if draws || asked {
                terminal
                    .draw_with(|frame, palette| live::run::draw(frame, &mut screen, palette))?;
            }
        }
        Ok(())
    }

    /// Prints how the run ended, if it has.
    fn report_end(&self) {
        let Some(ended) = &self.ended else { return };
        let name = self.head.as_ref().map_or("the run", |head| head.name.as_str());
        let how = match (ended.interrupted_by, ended.errors) {
            (Some(signal), _) => format!("was ended by signal {signal}"),
            (None, 0) => "ended without an error".to_owned(),
            (None, errors) => format!("ended with {errors} errors"),
        };
        write_stderr(&format!("{} {how}\n", printable(name)));
    }

    /// 1 if the run ended with errors, else 0.
    fn code(&self) -> u8 {
        let failed = self.ended.as_ref().is_some_and(|ended| ended.errors > 0);
        if failed { exit::ERRORS } else { 0 }
    }
}

/// Whether an error only means that no line came in time.
fn is_late(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted))
}

/// Handles keys and signals. Returns whether to draw; `None` to quit.
fn react(
    terminal: &mut Terminal,
    screen: &mut RunScreen,
    signals: &WatchSignals,
) -> Result<Option<bool>> {
    let mut draws = false;
    while let Some(event) = terminal.wait(Duration::ZERO)? {
        let asked = match event {
            Event::Key(key) => screen.press(key),
            Event::Resized => Action::Draw,
        };
        match asked {
            Action::Quit => return Ok(None),
            Action::Suspend => terminal.suspend(|| signals.stop())?,
            Action::Redraw => terminal.clear()?,
            Action::Draw | Action::Nothing => {}
        }
        draws |= asked != Action::Nothing;
    }
    if signals.is_to_stop() {
        terminal.suspend(|| signals.stop())?;
        draws = true;
    } else if signals.was_continued() {
        terminal.reopen()?;
        draws = true;
    }
    Ok(Some(draws))
}
