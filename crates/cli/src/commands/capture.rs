//! `fathom capture`: records what applications ask of storage, and what reaches the devices.

mod convert;
mod overwrite;
pub(super) mod scope;
mod show;

use super::watch::signals::WatchSignals;
use crate::exit;
use crate::output::write_stderr;
use crate::suites;
use anyhow::{Context, Result};
use capture::{Capture, Command, Output, Totals, Unseen};
use clap::{Args, Subcommand, ValueEnum};
use overwrite::check_output;
use record::{Bytes, human};
use runner::Refusal;
use scope::{Scope, Wanted};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use trace::ftr::Header;

/// Pause between two looks at what the kernel sent.
const PAUSE: Duration = Duration::from_millis(5);
/// A command that is asked to end has so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// Least bound of a trace's size.
const SIZE_MIN: Bytes = Bytes(2 << 20);

/// The examples in the help, above the options.
const EXAMPLES: &str = "\
Examples:
  fathom capture -o make.ftr -- make -j4
  fathom capture /var/lib/postgresql --seconds=60 -o db.ftr
  fathom capture --pid 4711 --level=application -o app.ftr
  fathom capture show db.ftr
  fathom capture convert strace.txt -o app.ftr";

/// Arguments of `fathom capture`.
#[derive(Args)]
#[command(
    before_help = EXAMPLES,
    after_help = "Needs root, or CAP_BPF and CAP_PERFMON. Ctrl-C ends a capture; what was seen until then is \
                  kept. Exit code: that of COMMAND; otherwise 0, 1 for errors, 2 for usage, 3 if refused. \
                  docs/CAPTURE.md describes what is seen and what it costs.",
    args_conflicts_with_subcommands = true
)]
pub struct Arguments {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Only files at this path or below, and the disks under it; of a block device, its own I/O and that
    /// of the filesystem on it [default: all files and disks]
    #[arg(value_name = "PATH|DEVICE")]
    path: Option<OsString>,
    /// Only this process, its threads, and the processes that it starts from now on
    #[arg(long, value_name = "PID", conflicts_with_all = ["cgroup", "command"])]
    pid: Option<u32>,
    /// Only processes of this control group (version 2) and the groups below it: its directory, also
    /// relative to where control groups are mounted
    #[arg(long, value_name = "PATH", conflicts_with = "command")]
    cgroup: Option<PathBuf>,
    /// End after this number of seconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seconds: Option<u64>,
    /// File for the trace
    #[arg(short, long, value_name = "FILE", default_value = "trace.ftr")]
    output: PathBuf,
    /// What to record: the calls of applications, the requests of block devices, or both
    #[arg(long, value_enum, default_value_t = Level::Both)]
    level: Level,
    /// Write hashes in the place of the names of files and threads
    #[arg(long)]
    anonymous: bool,
    /// Keep the latest part only, in two files that together have at most this size: FILE and FILE.1
    #[arg(long, value_name = "SIZE", value_parser = suites::size)]
    max_size: Option<Bytes>,
    /// At the end, read samples of the written blocks, and record for each file how far they can be
    /// compressed and how many are equal
    #[arg(long)]
    sample_contents: bool,
    /// Run this command, and record it and the processes that it starts, from the first instruction on
    #[arg(value_name = "COMMAND", last = true)]
    command: Vec<OsString>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Level {
    Application,
    Device,
    Both,
}

#[derive(Subcommand)]
enum Verb {
    /// Show what a trace holds: counts of files, threads and devices, sizes, a timeline.
    Show(show::Arguments),
    /// Make a trace of what another tool recorded: strace, blktrace, an iolog of fio.
    Convert(convert::Arguments),
}

/// Captures, or carries out the verb.
pub fn main(arguments: &Arguments) -> Result<u8> {
    match &arguments.verb {
        Some(Verb::Show(arguments)) => show::main(arguments),
        Some(Verb::Convert(arguments)) => convert::main(arguments),
        None => capture(arguments),
    }
}

fn capture(arguments: &Arguments) -> Result<u8> {
    let path = &arguments.output;
    if arguments.max_size.is_some_and(|size| size < SIZE_MIN) {
        return Err(Refusal::usage("--max-size: expected 2m or more: two files share it"));
    }
    let scope = Scope::find(&Wanted {
        path: arguments.path.as_deref(),
        pid: arguments.pid,
        group: arguments.cgroup.as_deref(),
        is_command: !arguments.command.is_empty(),
        application: arguments.level != Level::Device,
        device: arguments.level != Level::Application,
        anonymous: arguments.anonymous,
    })?;
    check_output(path)?;
    let signals = WatchSignals::catch(false)?;
    let mut command = match arguments.command.as_slice() {
        [] => None,
        words => Some(Command::prepare(words).context("cannot start the command")?),
    };
    let output = Output::create(path, header(arguments), arguments.max_size.map(|size| size.0))
        .with_context(|| format!("cannot write '{}'", path.display()))?;
    let started = Capture::start(scope.settings, scope.naming, arguments.sample_contents, output);
    let mut capture = match started {
        Ok(capture) => capture,
        Err(why) => {
            // Nothing was captured: the file has only a header.
            let _ = std::fs::remove_file(path);
            return Err(Refusal::target(format!("cannot capture: {why}")));
        }
    };
    for what in capture.unseen() {
        write_stderr(&format!("fathom: warning: {}\n", unseen(*what)));
    }
    if let Some(command) = &command {
        let begun = capture.watch(command.process()).map_err(|why| why.to_string());
        begun.map_err(Refusal::target)?;
        command.begin().context("cannot start the command")?;
    } else {
        write_stderr("fathom: capturing; Ctrl-C ends\n");
    }
    let ended = follow(arguments, &mut capture, command.as_mut(), &signals);
    let totals = capture.finish().with_context(|| format!("cannot write '{}'", path.display()))?;
    write_stderr(&(in_words(&totals, path) + "\n"));
    match ended? {
        Some(status) if !signals.must_end() => Ok(code(status)),
        _ => Ok(signals.exit_code()),
    }
}

/// Drains the capture until it is to end. Returns how the command ended.
fn follow(
    arguments: &Arguments,
    capture: &mut Capture,
    mut command: Option<&mut Command>,
    signals: &WatchSignals,
) -> Result<Option<ExitStatus>> {
    let begun = Instant::now();
    let end = arguments.seconds.map(|seconds| begun + Duration::from_secs(seconds));
    let mut asked: Option<Instant> = None;
    loop {
        capture
            .drain()
            .with_context(|| format!("cannot write '{}'", arguments.output.display()))?;
        let is_over = signals.must_end() || end.is_some_and(|end| Instant::now() >= end);
        match &mut command {
            Some(command) => {
                if let Some(status) = command.ended().context("cannot wait for the command")? {
                    return Ok(Some(status));
                }
                if is_over && asked.is_none() {
                    asked = Some(Instant::now());
                    command.terminate();
                }
                if asked.is_some_and(|asked| asked.elapsed() > PATIENCE) {
                    return Ok(None);
                }
            }
            None if is_over => return Ok(None),
            None => {
                let is_gone = |pid: u32| !Path::new("/proc").join(pid.to_string()).exists();
                if arguments.pid.is_some_and(is_gone) {
                    return Ok(None);
                }
            }
        }
        std::thread::sleep(PAUSE);
    }
}

/// The exit code of a command, as a shell returns it.
fn code(status: ExitStatus) -> u8 {
    let signal = || status.signal().map(|signal| exit::interrupted(signal, false));
    status.code().map(|code| code as u8).or_else(signal).unwrap_or(exit::ERRORS)
}

fn unseen(what: Unseen) -> &'static str {
    match what {
        Unseen::IoUring => "this kernel does not show what io_uring does",
        Unseen::Faults => "this kernel does not show page faults of mapped files",
        Unseen::Submitters => {
            "this kernel shows requests of devices as those of the thread that issued them"
        }
    }
}

fn in_words(totals: &Totals, path: &Path) -> String {
    let counted = |number: u64, noun| human::counted(number as usize, noun);
    let mut text = format!(
        "fathom: {} of {} by {} in {}, {} lost: {} ({})",
        counted(totals.events, "event"),
        counted(totals.files, "file"),
        counted(totals.threads, "thread"),
        human::time(totals.duration_ns as f64),
        totals.lost,
        path.display(),
        human::size(totals.bytes as f64),
    );
    if totals.has_older {
        let older = Output::older(path);
        text.push_str(&format!("; the part before it: {}", older.display()));
    }
    text
}

fn header(arguments: &Arguments) -> Header {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let words = |words: &[OsString]| {
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    };
    let subject = match (arguments.pid, &arguments.cgroup) {
        _ if arguments.anonymous => String::new(),
        (Some(pid), _) => format!("process {pid}"),
        (_, Some(group)) => format!("control group {}", group.display()),
        _ if !arguments.command.is_empty() => words(&arguments.command),
        _ => words(arguments.path.as_slice()),
    };
    Header {
        source: "capture".into(),
        began_unix_ns: Some(now.as_nanos() as u64),
        subject,
        application: arguments.level != Level::Device,
        device: arguments.level != Level::Application,
        anonymous: arguments.anonymous,
    }
}
