//! `fathom run` and `fio`: parse, then the action that the command line asks for. [`once::run`] is the
//! way of one run.

mod checksum_test;
mod client;
mod clock_test;
mod connection;
pub mod console;
mod debug;
mod gate;
mod interim;
mod live_view;
mod metrics;
mod once;
mod repeat;
pub mod request;
mod server;
mod status_line;

use crate::exit;
use crate::output::{Output, describe, say};
use anyhow::{Context, Result};
use job::{Action, Dialect, Invocation, JobErrors};
use report::FIO_VERSION;
use request::{RunRequest, check_job_files, program, usage_code};
use runner::Runner;
use runner::inputs::Machine;
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;

/// `fathom run …`.
pub fn fathom(words: &[OsString]) -> u8 {
    main(Dialect::Fathom, words)
}

/// `fio …`.
pub fn fio(words: &[OsString]) -> u8 {
    main(Dialect::Fio, words)
}

/// Why nothing was run: a line for the user.
struct UsageError(String);

fn main(dialect: Dialect, words: &[OsString]) -> u8 {
    engine::look_at_clock();
    let runner = Runner::new(dialect == Dialect::Fio);
    let (invocation, others) = match read(dialect, words, &runner) {
        Ok(read) => read,
        Err(UsageError(text)) => {
            say(&format!("{text}\n"));
            return usage_code(dialect);
        }
    };
    if invocation.action == Action::Run && invocation.merge_only {
        return 0;
    }
    let failed = |error: anyhow::Error, code| {
        say(&format!("{}: error: {}\n", program(dialect), describe(&error)));
        code
    };
    let output = match Output::open(invocation.output.as_deref()) {
        Ok(output) => output,
        Err(error) => return failed(error, usage_code(dialect)),
    };
    act(dialect, &runner, &invocation, &others, output)
        .unwrap_or_else(|error| failed(error, exit::ERRORS))
}

/// The invocation, and those that run in turn with it, with the traces that they replay.
fn read(
    dialect: Dialect,
    words: &[OsString],
    runner: &Runner,
) -> Result<(Invocation, Vec<Invocation>), UsageError> {
    let usage = |text: String| UsageError(format!("command line: {text}"));
    let arguments = utf8_arguments(words).map_err(usage)?;
    let machine = Machine::new(runner.machine());
    let (mut invocation, mut others) =
        parse(&arguments, dialect, &machine).map_err(|errors| UsageError(errors.to_string()))?;
    if invocation.action == Action::Run {
        let mut all = std::iter::once(&mut invocation).chain(&mut others);
        all.try_for_each(|one| runner::replay::attach(one, runner.host())).map_err(UsageError)?;
    }
    check_job_files(&invocation).map_err(usage)?;
    Ok((invocation, others))
}

/// What `--help` prints.
fn help(dialect: Dialect) -> String {
    match dialect {
        Dialect::Fio => format!("{FIO_VERSION}\n{}", job::help::usage(dialect)),
        Dialect::Fathom => job::help::overview(),
    }
}

/// The invocation, and those that run in turn with it.
fn parse(
    arguments: &[String],
    dialect: Dialect,
    machine: &Machine,
) -> Result<(Invocation, Vec<Invocation>), JobErrors> {
    let invocation = job::parse(arguments, dialect, machine)?;
    let other =
        |file: &String| job::parse_instead(arguments, std::slice::from_ref(file), dialect, machine);
    let others = invocation.interleave.iter().map(other).collect::<Result<_, _>>()?;
    Ok((invocation, others))
}

/// The arguments as text. Replacing what is not UTF-8 would name another file than the one meant.
///
/// # Errors
/// The argument that is not UTF-8.
pub fn utf8_arguments(arguments: &[OsString]) -> Result<Vec<String>, String> {
    let text = |argument: &OsString| {
        argument.to_str().map(str::to_owned).ok_or_else(|| {
            format!("'{}' is not UTF-8 text; give names in UTF-8", argument.to_string_lossy())
        })
    };
    arguments.iter().map(text).collect()
}

fn act(
    dialect: Dialect,
    runner: &Runner,
    invocation: &Invocation,
    others: &[Invocation],
    mut output: Output,
) -> Result<u8> {
    let text = match &invocation.action {
        Action::Run if invocation.server.is_some() => {
            return server::main(dialect, runner, invocation, output);
        }
        Action::Run | Action::ParseOnly if !invocation.clients.is_empty() => {
            return client::main(&RunRequest { dialect, runner, invocation, others }, &mut output);
        }
        Action::Run => {
            return once::main(&RunRequest { dialect, runner, invocation, others }, &mut output);
        }
        Action::ParseOnly => Ok(debug::parsed(program(dialect), invocation)),
        Action::ShowCmd(text) | Action::Explain(text) => Ok(text.clone()),
        Action::CmdHelp(option) => job::help::command(option.as_deref()),
        Action::EngHelp(engine) => job::help::engine(engine.as_deref(), dialect),
        Action::InflateLog(path) => return inflate(dialect, path, &mut output),
        Action::ProfileHelp(text) => Ok(text.clone()),
        Action::DebugHelp => Ok(job::debug::help(program(dialect))),
        Action::CrcTest(names) => {
            return checksum_test::main(dialect, names.as_deref(), &mut output);
        }
        Action::CpuClockTest => return clock_test::main(runner.machine(), &mut output),
        Action::IdleCalibrate => Ok(report::tools::calibration(&runner::idle::calibrate(false))),
        Action::Version => Ok(format!("{FIO_VERSION}\n")),
        Action::Help => Ok(help(dialect)),
        Action::HelpAll => Ok(job::help::all_options()),
    };
    match text {
        Ok(text) => output.write(&text).map(|()| 0),
        Err(mistake) => {
            say(&format!("{}: {mistake}\n", program(dialect)));
            Ok(usage_code(dialect))
        }
    }
}

/// `--inflate-log`: what can be read of a damaged log is printed as well.
fn inflate(dialect: Dialect, path: &str, output: &mut Output) -> Result<u8> {
    let log = File::open(path).with_context(|| format!("--inflate-log={path}"))?;
    let mut text = Vec::new();
    let read = report::logs::inflate(BufReader::new(log), &mut text);
    output.write(&String::from_utf8_lossy(&text))?;
    match read {
        Ok(()) => Ok(0),
        Err(error) => {
            say(&format!("{}: --inflate-log={path}: {error}\n", program(dialect)));
            Ok(exit::ERRORS)
        }
    }
}
