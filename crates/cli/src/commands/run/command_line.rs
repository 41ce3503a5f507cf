//! Parses the command line of a run.

use super::request::check_job_files;
use crate::ranks;
use job::{Action, Dialect, Inputs, Invocation, JobErrors, LayerTiming};
use runner::Runner;
use runner::inputs::Machine;
use std::ffi::OsString;

/// A usage error: a line for the user.
pub struct UsageError(pub String);

/// Parses the invocation and those of `--interleave`, and reads the traces that they replay.
///
/// # Errors
/// When an option, a job file or a trace is wrong.
pub fn read(
    dialect: Dialect,
    words: &[OsString],
    runner: &Runner,
) -> Result<(Invocation, Vec<Invocation>), UsageError> {
    let usage = |text: String| UsageError(format!("command line: {text}"));
    let arguments = utf8_arguments(words).map_err(usage)?;
    let mut machine = Machine::new(runner.machine());
    // fio knows no ranks, and leaves such words in names as they are.
    if dialect == Dialect::Fathom {
        machine = machine.at(ranks::place(runner));
    }
    let (mut invocation, mut others) =
        parse(&arguments, dialect, &machine).map_err(|errors| UsageError(errors.to_string()))?;
    if invocation.action == Action::Run {
        let mut all = std::iter::once(&mut invocation).chain(&mut others);
        all.try_for_each(|one| runner::replay::attach(one, runner.host())).map_err(UsageError)?;
    }
    // fio times no layers, and what runs on several machines does so when it is asked to.
    let is_here = invocation.server.is_none() && invocation.clients.is_empty();
    if dialect == Dialect::Fathom && is_here {
        for run in std::iter::once(&mut invocation).chain(&mut others) {
            run.layers.get_or_insert(LayerTiming::IfCheap);
        }
    }
    check_job_files(&invocation).map_err(usage)?;
    Ok((invocation, others))
}

/// Parses the command line of an invocation again, with other inputs.
///
/// # Errors
/// As for [`read`].
pub fn again(
    invocation: &Invocation,
    inputs: &dyn Inputs,
    runner: &Runner,
) -> Result<Invocation, UsageError> {
    let mut invocation = job::parse(&invocation.typed.arguments, Dialect::Fathom, inputs)
        .map_err(|errors| UsageError(errors.to_string()))?;
    runner::replay::attach(&mut invocation, runner.host()).map_err(UsageError)?;
    Ok(invocation)
}

/// Parses the invocation and those of `--interleave`.
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

/// The arguments as text. Invalid UTF-8 is refused: replacing it would name another file.
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
