//! `fathom watch`: live figures of disks, CPUs and memory, on a screen or as lines.

mod layers;
mod log;
mod run_feed;
mod show;
pub mod signals;
mod source;

use crate::output::can_draw;
use crate::suites;
use anyhow::Result;
use clap::Args;
use host::ApplicationQuery;
use log::Log;
use record::Nanos;
use show::{LineFormat, LineWriter};
use signals::WatchSignals;
use source::{LiveSource, ReplaySource, SampleSource};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Shortest interval. The kernel counts disk time in milliseconds and CPU time in hundredths of a
/// second.
const INTERVAL_MIN: Nanos = Nanos::from_millis(100);

/// Where control groups are mounted.
const GROUPS: &str = "/sys/fs/cgroup";

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom watch /data
  fathom watch --plain --interval=500ms
  fathom watch --pid 4711 --count=60 /var/lib/postgresql
  fathom watch --layers /var/lib/postgresql
  fathom watch --run";

/// Arguments of `fathom watch`.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "Keys: q, Esc or Ctrl-C quit; arrows or j and k select a disk; p pauses; ? \
                        shows help. docs/WATCH.md explains each figure and its source."
)]
pub struct Arguments {
    /// Directory, file or block device; shows the disks under it, layer by layer [default: all disks]
    #[arg(value_name = "PATH|DEVICE")]
    path: Option<OsString>,
    /// Also show what this process and its descendants have in flight
    #[arg(long, value_name = "PID", conflicts_with_all = ["cgroup", "replay", "run"])]
    pid: Option<u32>,
    /// Also show what the processes of this control group have in flight: its directory, also relative
    /// to /sys/fs/cgroup
    #[arg(long, value_name = "PATH", conflicts_with_all = ["replay", "run"])]
    cgroup: Option<PathBuf>,
    /// Also time the layers of all I/Os in the kernel, and name the processes that make them; needs
    /// root or capabilities
    #[arg(long, conflicts_with_all = ["replay", "run"])]
    layers: bool,
    /// Time between two samples, 100ms or more: 1s, 500ms, 1m
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = interval)]
    interval: Nanos,
    /// End after this number of intervals
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// Write lines; the default when standard output is not a terminal
    #[arg(long)]
    plain: bool,
    /// Write lines, with one for each CPU
    #[arg(long, conflicts_with = "json")]
    per_cpu: bool,
    /// Write one line of JSON per interval
    #[arg(long, conflicts_with = "plain")]
    json: bool,
    /// Also append the samples to this file, as JSON lines
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Replay a log: on a screen at the recorded pace, as lines all at once
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "interval", "log"])]
    replay: Option<PathBuf>,
    /// Show the run of another process, by its process id or the only run in progress
    #[arg(
        long,
        value_name = "PID",
        num_args = 0..=1,
        require_equals = true,
        conflicts_with_all = ["path", "interval", "per_cpu", "log", "replay"]
    )]
    run: Option<Option<u32>>,
}

/// Shows samples until a signal, a key or a limit ends it.
pub fn main(arguments: &Arguments) -> Result<u8> {
    let form = form(arguments);
    let on_screen = form.is_none();
    if let Some(pid) = arguments.run {
        return run_feed::watch(pid, form, &mut interval_limit(arguments));
    }
    if let Some(file) = &arguments.replay {
        let mut replay = ReplaySource::open(file, on_screen)?;
        let code = show(arguments, &mut replay, None, form)?;
        replay.report_damaged_lines();
        return Ok(code);
    }
    let application = match (arguments.pid, &arguments.cgroup) {
        (Some(pid), _) => Some(ApplicationQuery::Process(pid)),
        (None, Some(path)) => Some(ApplicationQuery::Group(Path::new(GROUPS).join(path))),
        (None, None) => None,
    };
    let mut live = LiveSource::open(arguments.path.as_deref(), arguments.interval, application)?;
    if arguments.layers {
        live.time_layers();
    }
    let log = arguments.log.as_deref().map(Log::open).transpose()?;
    show(arguments, &mut live, log, form)
}

fn show(
    arguments: &Arguments,
    source: &mut impl SampleSource,
    log: Option<Log>,
    form: Option<LineFormat>,
) -> Result<u8> {
    let signals = WatchSignals::catch(form.is_none())?;
    let mut is_last = interval_limit(arguments);
    match form {
        Some(form) => show::lines(source, log, LineWriter::new(form), &signals, &mut is_last)?,
        None => show::screen(source, log, &signals, &mut is_last)?,
    }
    Ok(signals.exit_code())
}

/// A function that is called after each interval and returns whether it was the last.
fn interval_limit(arguments: &Arguments) -> impl FnMut() -> bool + use<> {
    let mut rest = arguments.count;
    move || {
        rest = rest.map(|rest| rest.saturating_sub(1));
        rest == Some(0)
    }
}

/// The format of lines; `None` for a screen.
fn form(arguments: &Arguments) -> Option<LineFormat> {
    match (arguments.json, arguments.plain || arguments.per_cpu) {
        (true, _) => Some(LineFormat::Json),
        (false, false) if can_draw() => None,
        (false, _) => Some(LineFormat::Plain { per_cpu: arguments.per_cpu }),
    }
}

fn interval(text: &str) -> Result<Nanos, String> {
    match suites::time(text) {
        Ok(time) if time >= INTERVAL_MIN => Ok(time),
        Ok(_) => Err("expected 100ms or more: the kernel's counters are no finer".into()),
        Err(_) => Err("expected a time such as 1s, 500ms or 1m".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_times_of_100_ms_or_more() {
        assert_eq!(interval("1s"), Ok(Nanos::SECOND));
        assert_eq!(interval("250ms"), Ok(Nanos::from_millis(250)));
        assert_eq!(interval("2"), Ok(Nanos(2 * Nanos::SECOND.0)));
        for wrong in ["0", "99ms", "-1", "soon", ""] {
            assert!(interval(wrong).is_err(), "{wrong}");
        }
    }
}
