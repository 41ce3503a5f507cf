//! `fathom watch`: what the machine does now, as a picture or as lines.

mod ends;
mod keep;
mod run;
mod show;
mod source;

use crate::suites::{self};
use anyhow::Result;
use clap::Args;
use ends::Ends;
use keep::Log;
use record::Nanos;
use runner::Refusal;
use show::{Form, Lines};
use source::{Live, Replay, Source};
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

/// The shortest interval: the kernel's counters of time are whole milliseconds, those of CPUs
/// hundredths of a second.
const INTERVAL_MIN: Nanos = Nanos::from_millis(100);

/// What stands above the options in the help.
const EXAMPLES: &str = "\
Examples:
  fathom watch /data
  fathom watch --plain --interval=500ms
  fathom watch --run";

/// What `fathom watch` takes.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "Keys: q, Esc or Ctrl-C quit; arrows or j and k select a disk; p pauses; ? \
                        helps. docs/WATCH.md says what each figure is and where it comes from."
)]
pub struct Arguments {
    /// A directory, a file or a block device: the disks under it are shown, layer by layer. Without
    /// one: all disks.
    #[arg(value_name = "PATH|DEVICE")]
    path: Option<OsString>,
    /// Time between two looks: 1s, 500ms, 1m; 100ms at least.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Nanos,
    /// End after so many intervals.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Write lines: what is done where standard output is no terminal.
    #[arg(long)]
    plain: bool,
    /// In lines, one for each CPU too.
    #[arg(long, conflicts_with = "json")]
    per_cpu: bool,
    /// Write a line of JSON an interval.
    #[arg(long, conflicts_with = "plain")]
    json: bool,
    /// Keep what is seen in a file, as JSON lines; a log that is there is gone on with.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Show what a log holds: as a picture at the pace it was recorded, as lines at once.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "interval", "log"])]
    replay: Option<PathBuf>,
    /// Show what a run does that goes on elsewhere: that of a process, or the only one there is.
    #[arg(
        long,
        value_name = "PID",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["path", "interval", "per_cpu", "log", "replay"]
    )]
    run: Option<Option<u32>>,
}

/// Watches.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let form = form(arguments);
    let on_screen = form.is_none();
    if let Some(pid) = arguments.run {
        return run::watch(pid, form, &mut last(arguments));
    }
    if let Some(file) = &arguments.replay {
        let mut replay = Replay::open(file, on_screen)?;
        let code = show(arguments, &mut replay, None, form)?;
        replay.tell();
        return Ok(code);
    }
    let mut live = Live::under(arguments.path.as_deref(), arguments.interval)?;
    let log = arguments.log.as_deref().map(Log::open).transpose()?;
    show(arguments, &mut live, log, form)
}

fn show(
    arguments: &Arguments,
    source: &mut impl Source,
    log: Option<Log>,
    form: Option<Form>,
) -> Result<u8> {
    let ends = Ends::catch(form.is_none())?;
    let mut last = last(arguments);
    match form {
        Some(form) => show::lines(source, log, Lines::new(form), &ends, &mut last)?,
        None => show::screen(source, log, &ends, &mut last)?,
    }
    Ok(ends.exit_code())
}

/// Says after each interval whether it was the last one.
fn last(arguments: &Arguments) -> impl FnMut() -> bool + use<> {
    let mut rest = arguments.count;
    move || {
        rest = rest.map(|rest| rest.saturating_sub(1));
        rest == Some(0)
    }
}

/// The form of lines; `None` for a picture.
fn form(arguments: &Arguments) -> Option<Form> {
    let dumb = std::env::var_os("TERM").is_none_or(|name| name.is_empty() || name == "dumb");
    let picture = std::io::stdout().is_terminal() && !dumb;
    match (arguments.json, arguments.plain || arguments.per_cpu) {
        (true, _) => Some(Form::Json),
        (false, false) if picture => None,
        (false, _) => Some(Form::Plain { per_cpu: arguments.per_cpu }),
    }
}

fn interval(text: &str) -> Result<Nanos, String> {
    match suites::time(text) {
        Ok(time) if time >= INTERVAL_MIN => Ok(time),
        Ok(_) => Err("expected 100ms or more: the kernel counts no finer".into()),
        Err(_) => Err("expected a time such as 1s, 500ms or 1m".into()),
    }
}

/// What is wrong with a file that was named, as a mistake on the command line.
fn wrong_file(option: &str, file: &std::path::Path, why: impl std::fmt::Display) -> anyhow::Error {
    let why = why.to_string();
    let why = why.split(" (os error ").next().unwrap_or_default();
    Refusal::usage(format!("--{option}: '{}': {why}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_times_that_counters_can_tell() {
        assert_eq!(interval("1s"), Ok(Nanos::SECOND));
        assert_eq!(interval("250ms"), Ok(Nanos::from_millis(250)));
        assert_eq!(interval("2"), Ok(Nanos(2 * Nanos::SECOND.0)));
        for wrong in ["0", "99ms", "-1", "soon", ""] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
