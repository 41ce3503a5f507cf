//! The pipe: job text → Job → Plan → RunRecord → Judged → report.

use crate::archive::Keeper;
use crate::call::{self, Call, SEED, Said, header, program, usage_code};
use crate::exit;
use crate::follow::{Console, follow};
use crate::gate::{self, Gate};
use crate::inputs::Machine;
use crate::interims::Interims;
use crate::metrics::Metrics;
use crate::output::{Output, describe, say};
use crate::repeat;
use crate::replay;
use crate::runner::Runner;
use crate::trigger::Trigger;
use crate::{checksums, client, clocks, debug, idle, server};
use anyhow::{Context, Result};
use job::{Action, Dialect, Invocation, JobErrors};
use record::RunRecord;
use report::{Dress, FIO_VERSION, Format};
use std::ffi::OsString;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

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
    engine::look_at_clock();
    let runner = Runner::new(dialect == Dialect::Fio);
    let machine = Machine::new(runner.machine());
    let (mut invocation, mut others) = match parse(&arguments, dialect, &machine) {
        Ok(parsed) => parsed,
        Err(errors) => {
            say(&format!("{errors}\n"));
            return ExitCode::from(usage_code(dialect));
        }
    };
    if invocation.action == Action::Run {
        let mut all = std::iter::once(&mut invocation).chain(&mut others);
        if let Err(text) = all.try_for_each(|one| replay::attach(one, runner.host())) {
            say(&format!("{text}\n"));
            return ExitCode::from(usage_code(dialect));
        }
        if invocation.merge_only {
            return ExitCode::SUCCESS;
        }
    }
    if let Err(text) = call::check_job_files(&invocation) {
        say(&format!("command line: {text}\n"));
        return ExitCode::from(usage_code(dialect));
    }
    let output = match Output::open(invocation.output.as_deref()) {
        Ok(output) => output,
        Err(error) => {
            say(&format!("{program}: error: {}\n", describe(&error)));
            return ExitCode::from(usage_code(dialect));
        }
    };
    match act(dialect, &runner, &invocation, &others, output) {
        Ok(code) => code,
        Err(error) => {
            say(&format!("{program}: error: {}\n", describe(&error)));
            ExitCode::from(exit::ERRORS)
        }
    }
}

/// What `--help` prints.
fn help(dialect: Dialect) -> String {
    let usage = job::help::usage(dialect);
    match dialect {
        Dialect::Fio => format!("{FIO_VERSION}\n{usage}"),
        Dialect::Fathom => usage,
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

/// The arguments as text. One that is none would, replaced by what can be shown of it, name
/// another file than the one meant.
///
/// # Errors
/// The argument that is none.
pub fn texts(arguments: Vec<OsString>) -> Result<Vec<String>, String> {
    let text = |argument: OsString| {
        argument.into_string().map_err(|raw| {
            format!("'{}' is not UTF-8 text; give names in UTF-8", raw.to_string_lossy())
        })
    };
    arguments.into_iter().map(text).collect()
}

fn act(
    dialect: Dialect,
    runner: &Runner,
    invocation: &Invocation,
    others: &[Invocation],
    mut output: Output,
) -> Result<ExitCode> {
    let text = match &invocation.action {
        Action::Run if invocation.server.is_some() => {
            return server::main(dialect, runner, invocation, output);
        }
        Action::Run | Action::ParseOnly if !invocation.clients.is_empty() => {
            return client::main(&Call { dialect, runner, invocation, others }, &mut output);
        }
        Action::Run => {
            return run(&Call { dialect, runner, invocation, others }, &mut output);
        }
        Action::ParseOnly => Ok(debug::parsed(program(dialect), invocation)),
        Action::ShowCmd(text) | Action::Explain(text) => Ok(text.clone()),
        Action::CmdHelp(option) => job::help::command(option.as_deref()),
        Action::EngHelp(engine) => job::help::engine(engine.as_deref(), dialect),
        Action::InflateLog(path) => return inflate(dialect, path, &mut output),
        Action::ProfileHelp(text) => Ok(text.clone()),
        Action::DebugHelp => Ok(job::debug::help(program(dialect))),
        Action::CrcTest(names) => return checksums::main(dialect, names.as_deref(), &mut output),
        Action::CpuClockTest => return clocks::main(runner.machine(), &mut output),
        Action::IdleCalibrate => Ok(report::tools::calibration(&idle::calibrate(false))),
        Action::Version => Ok(format!("{FIO_VERSION}\n")),
        Action::Help => Ok(help(dialect)),
    };
    match text {
        Ok(text) => output.write(&text).map(|()| ExitCode::SUCCESS),
        Err(mistake) => {
            say(&format!("{}: {mistake}\n", program(dialect)));
            Ok(ExitCode::from(usage_code(dialect)))
        }
    }
}

/// `--inflate-log`: what can be read of a damaged log is printed as well.
fn inflate(dialect: Dialect, path: &str, output: &mut Output) -> Result<ExitCode> {
    let log = File::open(path).with_context(|| format!("--inflate-log={path}"))?;
    let mut text = Vec::new();
    let read = report::logs::inflate(BufReader::new(log), &mut text);
    output.write(&String::from_utf8_lossy(&text))?;
    match read {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            say(&format!("{}: --inflate-log={path}: {error}\n", program(dialect)));
            Ok(ExitCode::from(exit::ERRORS))
        }
    }
}

fn run(call: &Call, output: &mut Output) -> Result<ExitCode> {
    let checked = call.check().and_then(|()| {
        let gate = Gate::new(call.invocation, &repeat::jobs(call))?;
        Ok((gate, Metrics::listen(call.invocation)?))
    });
    let (gate, listener) = match checked {
        Ok(checked) => checked,
        Err(text) => {
            say(&format!("command line: {text}\n"));
            return Ok(ExitCode::from(usage_code(call.dialect)));
        }
    };
    let _served = Metrics::serve(listener, call.runner)?;
    match call.invocation.repeat {
        Some(repeats) => repeat::run(call, &gate, output, repeats),
        None => once(call, &gate, output),
    }
}

/// Which jobs an error ended, where fio says so and what reads a document from standard output does
/// not find it there.
fn say_failures(call: &Call, record: &RunRecord, output: &Output) -> Result<()> {
    let alone = !matches!(output, Output::Stdout) || call.formats() == [Format::Normal];
    match call.as_fio() && call.is_text() && alone {
        true => Output::Stdout.write(&report::normal::failures(record)),
        false => Ok(()),
    }
}

fn once(call: &Call, gate: &Gate, output: &mut Output) -> Result<ExitCode> {
    let (invocation, as_fio) = (call.invocation, call.as_fio());
    let mut said = Said::default();
    let prepared = match call.prepare(invocation, &mut said, output) {
        Ok(prepared) => prepared,
        Err(code) => return Ok(ExitCode::from(code)),
    };
    output.write(&debug::before(program(call.dialect), invocation, &prepared.plan))?;
    if call.is_text() {
        output.write(&header(invocation, &prepared.plan))?;
    }
    let trigger = Trigger::set(&invocation.trigger);
    let mut interims = Interims::new(call, output);
    let mut record = call.runner.measure(prepared, invocation, |under_way| {
        let manner = call.manner();
        let mut console = Console::new(invocation, output, manner, &trigger, Some(&mut interims));
        follow(under_way, invocation.status_interval, &mut console)
    })?;
    let unlogged = match invocation.bandwidth_log {
        true => report::logs::aggregate(&record, Path::new("")),
        false => Vec::new(),
    };
    let logged = unlogged.is_empty();
    record.messages.extend(unlogged);
    let pulled = trigger.failure().map(|text| {
        say(&format!("{}: error: {text}\n", program(call.dialect)));
        exit::ERRORS
    });
    said.say(call, &record.messages, output)?;
    output.write(&debug::after(invocation, &record))?;
    // Kept before anything looks at it: what comes after must not cost what was measured. Where it
    // cannot be kept, the report is all that is left of it, and is shown.
    let kept = match &invocation.record {
        Some(path) => report::native::save(&record, path),
        None => Ok(()),
    };
    let mut keeper = Keeper::alone(call.archive(), call.kind());
    keeper.add(&record);
    let mut judged = judge::judge(&record);
    keeper.judged(&record, &judged);
    let runs = std::slice::from_ref(&record);
    interims.note_since(&record, &mut judged);
    let missed = gate.hold(runs, &mut judged, SEED);
    let dress = Dress { archived_as: keeper.id(), ..call.dress(output) };
    say_failures(call, &record, output)?;
    output.write(&report::render(&record, &judged, &call.formats(), &dress))?;
    call.say_kept(&mut keeper, false, output)?;
    if as_fio {
        call.remark(&report::verdict::for_fio(&judged), output)?;
        gate::say_for_fio(&judged);
    }
    gate.write_junit(runs, &judged)?;
    kept?;
    let errors = match (exit::of(&record, as_fio), logged) {
        (0, true) => None,
        (0, false) => Some(exit::ERRORS),
        (code, _) => Some(code),
    };
    Ok(ExitCode::from(errors.or(pulled).or(missed).unwrap_or(0)))
}
