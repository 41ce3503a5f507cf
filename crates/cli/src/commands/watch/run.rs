//! `fathom watch --run`: what a run does that somebody else started, from its feed.

use super::ends::Ends;
use super::show::{Form, clock, coloured, write};
use crate::exit;
use crate::output::say;
use anyhow::{Context, Result, bail};
use live::feed::{self, FeedProcess, FeedReader, Line};
use live::run::{RunInfo, RunScreen, plain};
use live::{Action, Event, Palette, Terminal};
use record::Severity;
use runner::Refusal;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// How often signals and keys are looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// Watches the run of a process, or the only one there is, until it ends.
///
/// # Errors
/// When there is none, or several and none is named.
pub fn watch(pid: Option<u32>, form: Option<Form>, last: &mut dyn FnMut() -> bool) -> Result<u8> {
    let listed = find(pid)?;
    let follow = FeedReader::connect(&listed.path)
        .with_context(|| format!("process {} does not run anything any more", listed.pid))?;
    let ends = Ends::catch(form.is_none())?;
    let mut watching = Watching { follow, ended: None, head: None };
    match form {
        Some(form) => watching.lines(form, &ends, last)?,
        None => watching.picture(&ends, last)?,
    }
    match ends.came() {
        true => Ok(ends.exit_code()),
        false => Ok(watching.code()),
    }
}

/// The process that is meant.
fn find(pid: Option<u32>) -> Result<FeedProcess> {
    let all = feed::list(&feed::default_directory())?;
    let told = |listed: &FeedProcess| {
        let name = listed.info.as_ref().map_or("", |head| head.name.as_str());
        format!("\n  --run={}  {}", listed.pid, shown(name))
    };
    let list = || all.iter().map(told).collect::<String>();
    match (pid, all.as_slice()) {
        (None, [one]) => Ok(one.clone()),
        (None, []) => Err(Refusal::usage("--run: nothing of this user runs now")),
        (None, _) => Err(Refusal::usage(format!("--run: several runs go on, name one:{}", list()))),
        (Some(pid), _) => match all.iter().find(|listed| listed.pid == pid) {
            Some(one) => Ok(one.clone()),
            None if all.is_empty() => Err(Refusal::usage(format!(
                "--run: process {pid} runs nothing now, nor does any other of this user"
            ))),
            None => Err(Refusal::usage(format!(
                "--run: process {pid} runs nothing now; these do:{}",
                list()
            ))),
        },
    }
}

/// What a terminal would obey is not shown as it is.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

struct Watching {
    follow: FeedReader,
    head: Option<RunInfo>,
    /// How the last run ended.
    ended: Option<live::run::RunEnd>,
}

impl Watching {
    /// The next line if one comes within a glance, which is an error that [`is_late`] knows where
    /// none does; `None`: the process has ended.
    ///
    /// # Errors
    /// Those of reading, and when the process ended without saying how its run did.
    fn next(&mut self) -> Result<Option<Line>> {
        match self.follow.next_line_within(GLANCE) {
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

    fn lines(&mut self, form: Form, ends: &Ends, last: &mut dyn FnMut() -> bool) -> Result<()> {
        let mut begun = false;
        while !ends.came() {
            let line = match self.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(error) if is_late(&error) => continue,
                Err(error) => return Err(error),
            };
            let is_moment = matches!(line, Line::Moment(_));
            let text = match (form, &line) {
                (Form::Json, line) => line.text(),
                (Form::Plain { .. }, Line::Moment(moment)) => {
                    let head = if begun { "" } else { plain::HEAD };
                    begun = true;
                    head.to_owned() + &plain::lines(&clock(moment.unix_ms, false), moment)
                }
                (Form::Plain { .. }, _) => continue,
            };
            if !write(&text)? || is_moment && last() {
                return Ok(());
            }
        }
        Ok(())
    }

    fn picture(&mut self, ends: &Ends, last: &mut dyn FnMut() -> bool) -> Result<()> {
        let mut terminal = Terminal::open(Palette { colour: coloured() })
            .context("cannot draw on this terminal; --plain writes lines instead")?;
        let end = self.draw(&mut terminal, ends, last);
        drop(terminal);
        // A terminal that hung up fails to be drawn on; the signal says it better.
        match end {
            Err(error) if !ends.came() => Err(error),
            _ => {
                self.tell();
                Ok(())
            }
        }
    }

    fn draw(
        &mut self,
        terminal: &mut Terminal,
        ends: &Ends,
        last: &mut dyn FnMut() -> bool,
    ) -> Result<()> {
        let mut screen = RunScreen::of_other_process(RunInfo::default());
        while !ends.came() {
            let mut draws = true;
            match self.next() {
                Ok(Some(Line::Run(head))) => screen = RunScreen::of_other_process(head),
                Ok(Some(Line::Moment(moment))) => {
                    screen.set_moment(*moment);
                    if last() {
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
            let Some(asked) = react(terminal, &mut screen, ends)? else { return Ok(()) };
            if draws || asked {
                terminal
                    .draw_with(|frame, palette| live::run::draw(frame, &mut screen, palette))?;
            }
        }
        Ok(())
    }

    /// Says how the run ended, where it has.
    fn tell(&self) {
        let Some(ended) = &self.ended else { return };
        let name = self.head.as_ref().map_or("the run", |head| head.name.as_str());
        let how = match (ended.interrupted_by, ended.errors) {
            (Some(signal), _) => format!("was ended by signal {signal}"),
            (None, 0) => "ended without an error".to_owned(),
            (None, errors) => format!("ended with {errors} errors"),
        };
        say(&format!("{} {how}\n", shown(name)));
    }

    /// That of the run that was watched to its end: 0, or 1 where it had errors.
    fn code(&self) -> u8 {
        let failed = self.ended.as_ref().is_some_and(|ended| ended.errors > 0);
        if failed { exit::ERRORS } else { 0 }
    }
}

/// Whether only nothing came in time.
fn is_late(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<io::Error>().map(io::Error::kind);
    matches!(kind, Some(ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted))
}

/// Does what keys and signals ask for; whether to draw, `None` to quit.
fn react(terminal: &mut Terminal, screen: &mut RunScreen, ends: &Ends) -> Result<Option<bool>> {
    let mut draws = false;
    while let Some(event) = terminal.wait(Duration::ZERO)? {
        let asked = match event {
            Event::Key(key) => screen.press(key),
            Event::Resized => Action::Draw,
        };
        match asked {
            Action::Quit => return Ok(None),
            Action::Suspend => terminal.suspend(|| ends.stop())?,
            Action::Redraw => terminal.clear()?,
            Action::Draw | Action::Nothing => {}
        }
        draws |= asked != Action::Nothing;
    }
    if ends.is_to_stop() {
        terminal.suspend(|| ends.stop())?;
        draws = true;
    } else if ends.was_continued() {
        terminal.reopen()?;
        draws = true;
    }
    Ok(Some(draws))
}
