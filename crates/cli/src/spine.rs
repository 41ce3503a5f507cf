//! The pipe: job text → Job → Plan → RunRecord → Judged → report.

use crate::inputs::Machine;
use crate::output::{Output, describe, say};
use crate::runner::Runner;
use crate::watch::watch;
use anyhow::Result;
use job::{Action, Dialect, Format, Invocation};
use plan::Plan;
use record::{RunRecord, Severity};
use report::Dress;
use report::header::JobLine;
use report::numbers::SizeStyle;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The version of fio whose formats we print, then our own.
pub const FIO_VERSION: &str = concat!("fio-3.42-fathom-", env!("CARGO_PKG_VERSION"));

const EXIT_ERRORS: u8 = 1;
const EXIT_USAGE: u8 = 2;
/// fio's own, whatever the signal was.
const EXIT_INTERRUPTED_FIO: u8 = 128;

/// `fathom run …` and `fio …`.
pub fn main(dialect: Dialect, arguments: Vec<OsString>) -> ExitCode {
    let program = program(dialect);
    let arguments = match texts(arguments) {
        Ok(arguments) => arguments,
        Err(text) => {
            say(&format!("command line: {text}\n"));
            return ExitCode::from(usage_code(dialect));
        }
    };
    let runner = Runner::new(dialect == Dialect::Fio);
    let machine = Machine::new(runner.machine());
    let invocation = match job::parse(&arguments, dialect, &machine) {
        Ok(invocation) => invocation,
        Err(errors) => {
            say(&format!("{errors}\n"));
            return ExitCode::from(usage_code(dialect));
        }
    };
    let output = match Output::open(invocation.output.as_deref()) {
        Ok(output) => output,
        Err(error) => {
            say(&format!("{program}: error: {}\n", describe(&error)));
            return ExitCode::from(usage_code(dialect));
        }
    };
    match act(dialect, &runner, invocation, output) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("{program}: error: {}\n", describe(&error)));
            ExitCode::from(EXIT_ERRORS)
        }
    }
}

/// The arguments as text. One that is none would, replaced by what can be shown of it, name
/// another file than the one meant.
fn texts(arguments: Vec<OsString>) -> Result<Vec<String>, String> {
    let text = |argument: OsString| {
        argument.into_string().map_err(|raw| {
            format!("'{}' is not UTF-8 text; give names in UTF-8", raw.to_string_lossy())
        })
    };
    arguments.into_iter().map(text).collect()
}

fn program(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Fathom => "fathom",
        Dialect::Fio => "fio",
    }
}

/// fio has one code for everything that goes wrong.
fn usage_code(dialect: Dialect) -> u8 {
    match dialect {
        Dialect::Fathom => EXIT_USAGE,
        Dialect::Fio => EXIT_ERRORS,
    }
}

fn act(
    dialect: Dialect,
    runner: &Runner,
    invocation: Invocation,
    mut output: Output,
) -> Result<ExitCode> {
    let text = match &invocation.action {
        Action::Run => return run(dialect, runner, &invocation, &mut output),
        Action::ParseOnly => Ok(String::new()),
        Action::ShowCmd(text) => Ok(text.clone()),
        Action::CmdHelp(option) => job::help::command(option.as_deref()),
        Action::EngHelp(engine) => job::help::engine(engine.as_deref()),
        Action::Version => Ok(format!("{FIO_VERSION}\n")),
        Action::Help => Ok(job::help::usage(dialect)),
    };
    match text {
        Ok(text) => output.write(&text).map(|()| ExitCode::SUCCESS),
        Err(mistake) => {
            say(&format!("{}: {mistake}\n", program(dialect)));
            Ok(ExitCode::from(usage_code(dialect)))
        }
    }
}

fn run(
    dialect: Dialect,
    runner: &Runner,
    invocation: &Invocation,
    output: &mut Output,
) -> Result<ExitCode> {
    let as_fio = dialect == Dialect::Fio;
    // Better found now than after an hour of measuring.
    if let Some(path) = invocation.record.as_ref().filter(|p| !has_directory(p)) {
        let path = path.display();
        say(&format!("command line: --record={path}: its directory is not there; make it first\n"));
        return Ok(ExitCode::from(usage_code(dialect)));
    }
    let prepared = match runner.prepare(invocation) {
        Ok(prepared) => prepared,
        Err(error) => {
            say(&format!("{error}\n"));
            let code = if as_fio { i32::from(EXIT_ERRORS) } else { error.exit_code() };
            return Ok(ExitCode::from(code as u8));
        }
    };
    let messages = &prepared.messages;
    say(&report::messages::lines(program(dialect), messages));
    if invocation.warnings_fatal && messages.iter().any(|m| m.severity >= Severity::Warning) {
        return Ok(ExitCode::from(usage_code(dialect)));
    }
    let said = messages.len();
    let text = invocation.formats.contains(&Format::Normal);
    if text {
        output.write(&header(invocation, &prepared.plan))?;
    }
    let record = runner.measure(prepared, invocation, |run, signals| {
        watch(run, signals, invocation, output, as_fio, text)
    })?;
    say(&report::messages::lines(program(dialect), &record.messages[said..]));
    // Kept before anything looks at it: what comes after must not cost what was measured. Where it
    // cannot be kept, the report is all that is left of it, and is shown.
    let kept = match &invocation.record {
        Some(path) => report::native::save(&record, path),
        None => Ok(()),
    };
    show(&record, invocation, output, as_fio)?;
    kept?;
    Ok(ExitCode::from(exit_code(&record, as_fio)))
}

/// Whether the directory a file would be made in is there.
fn has_directory(path: &Path) -> bool {
    path.parent().is_none_or(|parent| parent.as_os_str().is_empty() || parent.is_dir())
}

/// What is said before the run: a line a job, the version, how many workers start.
fn header(invocation: &Invocation, plan: &Plan) -> String {
    let mut text = String::new();
    let mut count = [0, 0];
    for (index, job) in (0_u32..).zip(&invocation.jobs) {
        let mut workers = plan.workers.iter().filter(|w| w.job == index);
        let Some(first) = workers.next() else { continue };
        let clones = 1 + workers.count() as u32;
        count[usize::from(job.process.thread)] += clones;
        text += &report::header::job(&job_line(first, clones));
    }
    let [processes, threads] = count;
    text + FIO_VERSION + "\n" + &report::header::starting(threads, processes)
}

fn job_line(worker: &plan::Worker, workers: u32) -> JobLine {
    let workload = worker.workload();
    JobLine {
        name: worker.name.clone(),
        group: worker.group.group,
        rw: workload.rw,
        block_size: workload.block_size,
        ioengine: workload.ioengine,
        iodepth: worker.queue.depth_requested,
        workers,
        style: SizeStyle::of(&worker.show),
    }
}

fn show(
    record: &RunRecord,
    invocation: &Invocation,
    output: &mut Output,
    as_fio: bool,
) -> Result<()> {
    let judged = judge::judge(record);
    let dress = Dress {
        as_fio,
        fio_version: FIO_VERSION.into(),
        terse_version: invocation.terse_version,
        style: output.style(),
    };
    let formats: Vec<report::Format> = invocation
        .formats
        .iter()
        .map(|format| match format {
            Format::Normal => report::Format::Normal,
            Format::Terse => report::Format::Terse,
            Format::Json => report::Format::Json,
            Format::JsonPlus => report::Format::JsonPlus,
        })
        .collect();
    output.write(&report::render(record, &judged, &formats, &dress))?;
    if as_fio {
        say(&report::verdict::for_fio(&judged));
    }
    Ok(())
}

/// 0: ran. 1: errors, or a job did nothing. 128 + signal: interrupted. fio forgives tolerated
/// errors and idle jobs.
fn exit_code(record: &RunRecord, as_fio: bool) -> u8 {
    if let Some(signal) = record.interrupted_by {
        return if as_fio { EXIT_INTERRUPTED_FIO } else { 128_u8.saturating_add(signal as u8) };
    }
    let fatal = record.jobs.is_empty() || record.jobs.iter().any(|j| j.error != 0);
    let tolerated = record.jobs.iter().any(|j| !j.errors.is_empty());
    let idle = record.jobs.iter().any(|j| j.elapsed.0 > 0 && j.did_nothing());
    if fatal || (!as_fio && (tolerated || idle)) { EXIT_ERRORS } else { 0 }
}
