//! `fathom run` and `fio`. [`main`] parses the command line and dispatches; [`run`] is a plain run.

mod access;
mod actions;
mod checksum_test;
mod client;
mod clock_test;
pub mod command_line;
mod connection;
pub mod console;
mod debug;
mod gate;
mod interim;
mod live_view;
mod metrics;
mod repeat;
pub mod request;
mod server;
mod several_ranks;
mod status_line;

use crate::exit;
use crate::output::{Output, describe, write_stderr};
use anyhow::Result;
use command_line::UsageError;
use console::Console;
use gate::Gate;
use host::Launcher;
use job::{Action, Dialect, Invocation};
use metrics::Metrics;
use record::{Format, RunRecord};
use report::{RenderOptions, Subject};
use request::{RunRequest, SEED, ShownMessages, header, program, usage_code};
use runner::Runner;
use std::ffi::OsString;
use std::net::TcpListener;

/// Parses the command line and carries it out. Returns the exit code.
pub fn main(dialect: Dialect, words: &[OsString]) -> u8 {
    engine::prepare_clock();
    if dialect == Dialect::Fio && words.is_empty() {
        return actions::without_arguments(dialect);
    }
    let runner = Runner::new(dialect == Dialect::Fio);
    let failed = |error: anyhow::Error, code| {
        write_stderr(&format!("{}: error: {}\n", program(dialect), describe(&error)));
        code
    };
    let read = command_line::read(dialect, words, &runner);
    let is_run = |read: &(Invocation, _)| {
        read.0.action == Action::Run && read.0.server.is_none() && read.0.clients.is_empty()
    };
    // fio knows no ranks: each process is a run of its own.
    if let Some(launcher) = Launcher::of_this_process().filter(|_| dialect == Dialect::Fathom)
        && read.as_ref().is_ok_and(is_run) | read.is_err()
    {
        return several_ranks::main(&runner, launcher, read)
            .unwrap_or_else(|error| failed(error, exit::ERRORS));
    }
    let (invocation, others) = match read {
        Ok(read) => read,
        Err(UsageError(text)) => {
            write_stderr(&format!("{text}\n"));
            return usage_code(dialect);
        }
    };
    if invocation.action == Action::Run && invocation.merge_only {
        return 0;
    }
    let mut output = match Output::open(invocation.output.as_deref()) {
        Ok(output) => output,
        Err(error) => return failed(error, usage_code(dialect)),
    };
    let request = RunRequest { dialect, runner: &runner, invocation: &invocation, others: &others };
    let done = match invocation.action {
        Action::Run if invocation.server.is_some() => {
            server::main(dialect, &runner, &invocation, output)
        }
        Action::Run | Action::ParseOnly if !invocation.clients.is_empty() => {
            client::main(&request, &mut output)
        }
        Action::Run => run(&request, &mut output),
        _ => actions::perform(dialect, &runner, &invocation, &mut output),
    };
    done.unwrap_or_else(|error| failed(error, exit::ERRORS))
}

/// A plain run: check, plan, execute, gate, render, exit code.
fn run(request: &RunRequest, output: &mut Output) -> Result<u8> {
    let (invocation, as_fio) = (request.invocation, request.as_fio());
    let (gate, listener) = match check(request) {
        Ok(checked) => checked,
        Err(text) => {
            write_stderr(&format!("command line: {text}\n"));
            return Ok(usage_code(request.dialect));
        }
    };
    let _server = Metrics::serve(listener, request.runner)?;
    if let Some(repeats) = invocation.repeat {
        return repeat::run(request, &gate, output, repeats);
    }
    let mut shown = ShownMessages::default();
    let planned = match request.plan(invocation, &mut shown, output) {
        Ok(planned) => planned,
        Err(code) => return Ok(code),
    };
    output.write(&debug::before(program(request.dialect), invocation, &planned.plan))?;
    if request.is_text() {
        output.write(&header(invocation, &planned.plan))?;
    }
    let mut archive = request.archive();
    let mut console = Console::with_interim_reports(request, invocation, output);
    let record = request.runner.execute(planned, invocation, &mut console)?;
    let mut judged = archive.add_and_judge(&record);
    let trigger_failure = console.trigger_failure();
    let has_aggregated_logs = console.has_aggregated_logs();
    console.add_since_last_report(&record, &mut judged);

    let runs = std::slice::from_ref(&record);
    let gate_code = gate.apply(runs, &mut judged, SEED);
    shown.show(request, &record.messages, output)?;
    output.write(&debug::after(invocation, &record))?;
    show_failures(request, &record, output)?;
    let options = RenderOptions { archived_as: archive.id(), ..request.render_options(output) };
    let subject = Subject::Run(&record, &judged);
    output.write(&report::render(subject, request.formats(), &options))?;
    request.show_archive(&mut archive, false, record.intent(), output)?;
    if as_fio {
        request.remark(&report::verdict::lines_for_fio(&judged), output)?;
        gate::show_for_fio(&judged);
    }
    gate.write_junit(runs, &judged)?;
    archive.run_file_result()?;

    if let Some(text) = &trigger_failure {
        write_stderr(&format!("{}: error: {text}\n", program(request.dialect)));
    }
    let own_failure = !has_aggregated_logs || trigger_failure.is_some();
    let codes = [exit::of_run(&record, as_fio), u8::from(own_failure) * exit::ERRORS];
    Ok(codes.into_iter().find(|code| *code != 0).or(gate_code).unwrap_or(0))
}

/// Checks the options in combination. Returns the conditions and the listener of `--metrics`.
fn check<'a>(request: &RunRequest<'a>) -> Result<(Gate<'a>, Option<TcpListener>), String> {
    request.check()?;
    let gate = Gate::new(request.invocation, &repeat::jobs(request))?;
    Ok((gate, Metrics::listen(request.invocation)?))
}

/// As fio, prints the jobs that an error ended to standard output, unless a document is written there.
fn show_failures(request: &RunRequest, record: &RunRecord, output: &Output) -> Result<()> {
    let is_text_only = !matches!(output, Output::Stdout) || request.formats() == [Format::Normal];
    match request.as_fio() && request.is_text() && is_text_only {
        true => Output::Stdout.write(&report::normal::failures(record)),
        false => Ok(()),
    }
}
