//! The way of a run: check, plan, execute, gate, render, exit code.

use super::console::Console;
use super::gate::{self, Gate};
use super::metrics::Metrics;
use super::request::{RunRequest, SEED, ShownMessages, header, program, usage_code};
use super::{debug, repeat};
use crate::exit;
use crate::output::{Output, say};
use anyhow::Result;
use record::RunRecord;
use report::{Dress, Format};
use runner::{Execution, RunArchive};

/// Checks the options together, then runs once or as many times as `--repeat` asks.
///
/// # Errors
/// When output or records cannot be written, or threads cannot be had.
pub fn main(request: &RunRequest, output: &mut Output) -> Result<u8> {
    let checked = request.check().and_then(|()| {
        let gate = Gate::new(request.invocation, &repeat::jobs(request))?;
        Ok((gate, Metrics::listen(request.invocation)?))
    });
    let (gate, listener) = match checked {
        Ok(checked) => checked,
        Err(text) => {
            say(&format!("command line: {text}\n"));
            return Ok(usage_code(request.dialect));
        }
    };
    let _server = Metrics::serve(listener, request.runner)?;
    match request.invocation.repeat {
        Some(repeats) => repeat::run(request, &gate, output, repeats),
        None => run(request, &gate, output),
    }
}

fn run(request: &RunRequest, gate: &Gate, output: &mut Output) -> Result<u8> {
    let (invocation, as_fio) = (request.invocation, request.as_fio());
    let mut shown = ShownMessages::default();
    let planned = match request.plan(invocation, &mut shown, output) {
        Ok(planned) => planned,
        Err(code) => return Ok(code),
    };
    output.write(&debug::before(program(request.dialect), invocation, &planned.plan))?;
    if request.is_text() {
        output.write(&header(invocation, &planned.plan))?;
    }
    let mut archive = RunArchive::for_one_run(request.archive(), request.kind())
        .with_run_file(invocation.record.clone());
    let mut console = Console::with_interim_reports(request, invocation, output);
    let Execution { record, mut judged } =
        request.runner.execute(planned, invocation, &mut archive, &mut console)?;
    let trigger_failure = console.trigger_failure();
    let aggregated = console.has_aggregated_logs();
    console.add_since_last_report(&record, &mut judged);

    let runs = std::slice::from_ref(&record);
    let gate_code = gate.apply(runs, &mut judged, SEED);
    shown.show(request, &record.messages, output)?;
    output.write(&debug::after(invocation, &record))?;
    show_failures(request, &record, output)?;
    let dress = Dress { archived_as: archive.id(), ..request.dress(output) };
    output.write(&report::render(&record, &judged, &request.formats(), &dress))?;
    request.show_archive(&mut archive, false, output)?;
    if as_fio {
        request.remark(&report::verdict::for_fio(&judged), output)?;
        gate::show_for_fio(&judged);
    }
    gate.write_junit(runs, &judged)?;
    archive.run_file_result()?;

    let trigger_code = trigger_failure.map(|text| {
        say(&format!("{}: error: {text}\n", program(request.dialect)));
        exit::ERRORS
    });
    let run_code = match exit::of(&record, as_fio) {
        0 if aggregated => None,
        0 => Some(exit::ERRORS),
        code => Some(code),
    };
    Ok(run_code.or(trigger_code).or(gate_code).unwrap_or(0))
}

/// Prints which jobs an error ended, as fio does on standard output. A program that reads a document
/// from standard output does not get these lines.
fn show_failures(request: &RunRequest, record: &RunRecord, output: &Output) -> Result<()> {
    let alone = !matches!(output, Output::Stdout) || request.formats() == [Format::Normal];
    match request.as_fio() && request.is_text() && alone {
        true => Output::Stdout.write(&report::normal::failures(record)),
        false => Ok(()),
    }
}
