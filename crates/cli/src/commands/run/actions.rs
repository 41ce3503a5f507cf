//! Actions other than a run: help, versions, checks of job files and of the machine.

use super::request::{program, usage_code};
use super::{checksum_test, clock_test, debug};
use crate::exit;
use crate::output::{Output, write_stderr};
use anyhow::{Context, Result};
use job::{Action, Dialect, Invocation};
use report::FIO_VERSION;
use runner::Runner;
use std::fs::File;
use std::io::BufReader;

/// Carries out the action of an invocation that runs no job.
///
/// # Errors
/// When output cannot be written, or a file cannot be read.
pub fn perform(
    dialect: Dialect,
    runner: &Runner,
    invocation: &Invocation,
    output: &mut Output,
) -> Result<u8> {
    if let (Action::CmdHelp(Some(name)), Dialect::Fio) = (&invocation.action, dialect)
        && job::help::command(Some(name)).is_err()
    {
        // Oracle: the exit code is 0.
        write_stderr(&format!("No such command: {name}\n"));
        return output.write(&job::help::closest(name)).map(|()| 0);
    }
    let text = match &invocation.action {
        // The caller handles runs.
        Action::Run => Ok(String::new()),
        Action::ParseOnly => Ok(debug::parsed(program(dialect), invocation)),
        Action::ShowCmd(text) | Action::Explain(text) | Action::ProfileHelp(text) => {
            Ok(text.clone())
        }
        Action::CmdHelp(option) => job::help::command(option.as_deref()),
        Action::EngHelp(engine) => job::help::engine(engine.as_deref(), dialect),
        Action::InflateLog(path) => return inflate(dialect, path, output),
        Action::DebugHelp => Ok(job::debug::help(program(dialect))),
        Action::CrcTest(names) => return checksum_test::main(dialect, names.as_deref(), output),
        Action::CpuClockTest => return clock_test::main(runner.machine(), output),
        Action::IdleCalibrate => Ok(report::normal::calibration(&runner::idle::calibrate(false))),
        Action::Version => Ok(format!("{}\n", report::version_line(invocation.compat))),
        Action::Help => Ok(help(dialect)),
        Action::HelpAll => Ok(job::help::all_options()),
    };
    match text {
        Ok(text) => output.write(&text).map(|()| 0),
        Err(mistake) => {
            write_stderr(&format!("{}: {mistake}\n", program(dialect)));
            Ok(usage_code(dialect))
        }
    }
}

/// As fio without arguments: the help, and what is missing.
pub fn without_arguments(dialect: Dialect) -> u8 {
    // The exit code says the same, whether standard output can be written or not.
    let _ = Output::Stdout.write(&help(dialect));
    write_stderr("No job(s) defined\n");
    usage_code(dialect)
}

/// The text of `--help`.
fn help(dialect: Dialect) -> String {
    match dialect {
        Dialect::Fio => format!("{FIO_VERSION}\n{}", job::help::usage(dialect)),
        Dialect::Fathom => job::help::overview(),
    }
}

/// `--inflate-log`: also prints the readable part of a damaged log.
fn inflate(dialect: Dialect, path: &str, output: &mut Output) -> Result<u8> {
    let log = File::open(path).with_context(|| format!("--inflate-log={path}"))?;
    let mut text = Vec::new();
    let read = formats::logs::inflate(BufReader::new(log), &mut text);
    output.write(&String::from_utf8_lossy(&text))?;
    match read {
        Ok(()) => Ok(0),
        Err(error) => {
            write_stderr(&format!("{}: --inflate-log={path}: {error}\n", program(dialect)));
            Ok(exit::ERRORS)
        }
    }
}
