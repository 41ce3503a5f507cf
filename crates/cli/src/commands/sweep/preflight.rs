//! Checks of a sweep before its first run: the jobs of all cells, their targets and settings.

use super::cell_jobs::{CellJobs, RANKS, TARGET, split_name};
use super::settings;
use crate::output::write_stderr;
use anyhow::Result;
use job::{Action, Dialect, Invocation};
use plan::Plan;
use record::{Coordinate, Format, Severity};
use runner::{Refusal, Runner, replay};
use std::path::Path;
use suite::sweep::{Design, Dimension, LAYER};
use tuning::{CellSetup, Setting};

/// Most mistakes in one message.
const ERRORS_MAX: usize = 20;

/// Checks the jobs of all cells before the first run. Returns the job of the first cell.
///
/// # Errors
/// All mistakes at once (exit code 2), or what the machine cannot do (3).
pub fn check(jobs: &CellJobs, design: &Design, runner: &Runner) -> Result<Invocation> {
    // Mistakes in the job itself are reported as for any job.
    let base = job::parse(jobs.arguments, Dialect::Fathom, jobs.inputs);
    if let Err(errors) = &base
        && jobs.try_parse(&design.at(0)).is_err()
    {
        return Err(Refusal::usage(errors.to_string()));
    }
    // Each value alone first, so that a mistake is reported once, not for each combination.
    let probes = probes(design);
    parse_all(jobs, probes.iter().cloned())?;
    parse_all(jobs, (0..design.cells()).map(|cell| design.at(cell)))?;
    let first = jobs.parse(&design.at(0), &CellSetup::default())?;
    check_settings(&first).map_err(Refusal::usage)?;
    check_targets(design)?;
    check_ranks(design, runner.team().map(<[_]>::len))?;
    settings::check(design, jobs)?;
    // Targets on a filesystem that does not exist yet cannot be planned.
    if !settings::varies(design, |setting| setting == Setting::Fs) {
        let plans = probes.iter().map(|at| plan(jobs, at, runner));
        let plans = plans.collect::<Result<Vec<_>>>()?;
        warn_of_unused(design, &probes, &plans).iter().for_each(|text| write_stderr(text));
    }
    Ok(first)
}

/// Plans a cell, to find what forbids the run.
fn plan(jobs: &CellJobs, at: &[Coordinate], runner: &Runner) -> Result<Plan> {
    let mut invocation = jobs.parse(at, &CellSetup::default())?;
    replay::attach(&mut invocation, runner.host()).map_err(Refusal::usage)?;
    let prepared = runner.plan(&invocation).map_err(|error| {
        let named = at.iter().map(|c| format!("{}={}", c.dimension, c.value));
        let cell = named.collect::<Vec<_>>().join(" ");
        anyhow::Error::from(error).context(format!("cannot run {cell}"))
    })?;
    if prepared.is_forbidden(&invocation) {
        let fatal = prepared.messages.iter().filter(|m| m.severity >= Severity::Warning);
        let texts: Vec<&str> = fatal.map(|message| message.text.as_str()).collect();
        return Err(Refusal::usage(format!("--warnings-fatal: {}", texts.join("\n"))));
    }
    Ok(without_option_text(prepared.plan))
}

fn parse_all(jobs: &CellJobs, all: impl Iterator<Item = Vec<Coordinate>>) -> Result<()> {
    let mut errors_seen: Vec<String> = Vec::new();
    for at in all {
        let Err(errors) = jobs.try_parse(&at) else { continue };
        for error in errors.list {
            let text = error.to_string();
            if !errors_seen.contains(&text) {
                errors_seen.push(text);
            }
        }
        if errors_seen.len() >= ERRORS_MAX {
            break;
        }
    }
    if errors_seen.is_empty() { Ok(()) } else { Err(Refusal::usage(errors_seen.join("\n"))) }
}

/// Refuses missing targets beside directories: a mistyped directory would be created as a file, on
/// another filesystem.
fn check_targets(design: &Design) -> Result<()> {
    let targets = design.dimensions.iter().filter(|dimension| dimension.name == TARGET);
    for values in targets.map(|dimension| &dimension.values) {
        let directory = values.iter().find(|value| Path::new(value).is_dir());
        let missing = values.iter().find(|value| !Path::new(value).exists());
        if let (Some(directory), Some(missing)) = (directory, missing) {
            return Err(Refusal::target(format!(
                "--vary target={missing}: it does not exist, and {directory} is a directory; check \
                 its name, or create it first"
            )));
        }
    }
    Ok(())
}

/// Checks numbers of ranks against those that a launcher started.
fn check_ranks(design: &Design, started: Option<usize>) -> Result<()> {
    if started.is_some() && settings::varies(design, |_| true) {
        return Err(Refusal::usage(
            "--vary: settings of the machine are changed on one host; vary them without several ranks",
        ));
    }
    let dimensions = design.dimensions.iter().filter(|dimension| dimension.name == RANKS);
    for value in dimensions.flat_map(|dimension| &dimension.values) {
        let expected = match (value.parse::<u32>(), started) {
            (Ok(1..), None) => "start the sweep with mpirun, which starts the ranks",
            (Ok(1..), Some(most)) if value.parse().is_ok_and(|number: usize| number <= most) => {
                continue;
            }
            (Ok(1..), Some(_)) => "not so many ranks were started",
            _ => "a number of ranks is a whole number above 0",
        };
        return Err(Refusal::usage(format!("--vary {RANKS}={value}: {expected}")));
    }
    Ok(())
}

/// Coordinates that cover each value of each dimension, with the first values of the others.
fn probes(design: &Design) -> Vec<Vec<Coordinate>> {
    if design.paired {
        return (0..design.cells()).map(|cell| design.at(cell)).collect();
    }
    let mut found = vec![design.at(0)];
    for (index, dimension) in design.dimensions.iter().enumerate() {
        for value in &dimension.values[1..] {
            let mut at = design.at(0);
            at[index].value.clone_from(value);
            found.push(at);
        }
    }
    found
}

/// A plan without the text of the options, so that plans that do the same are equal.
fn without_option_text(mut plan: Plan) -> Plan {
    plan.messages.clear();
    for worker in &mut plan.workers {
        worker.options.clear();
        let queue = &mut worker.queue;
        queue.depth_requested = 0;
        if queue.depth == 1 {
            queue.low = 0;
        }
    }
    plan
}

/// Warnings about varied options that do not change the plan, by the plans of `probes`.
fn warn_of_unused(design: &Design, probes: &[Vec<Coordinate>], plans: &[Plan]) -> Vec<String> {
    let (Some(first), Some(usual)) = (probes.first(), plans.first()) else { return Vec::new() };
    let others = || probes.iter().zip(plans).filter(|(_, plan)| *plan != usual);
    let changes = |index: usize| others().any(|(at, _)| at[index].value != first[index].value);
    let option = |dimension: &Dimension| {
        dimension.values.len() > 1
            && ![TARGET, LAYER, RANKS].contains(&dimension.name.as_str())
            && Setting::from_name(&dimension.name).is_none()
    };
    let dimensions = design.dimensions.iter().enumerate().filter(|(_, one)| option(one));
    let idle = dimensions.filter(|(index, _)| !changes(*index));
    let warnings = idle.map(|(_, dimension)| {
        let name = &dimension.name;
        let why = match split_name(name).1 {
            "iodepth" => ": the engine does one I/O at a time; add --ioengine=io_uring",
            _ => "",
        };
        format!("fathom: warning: --vary {name}: its values have no effect on the run{why}\n")
    });
    warnings.collect()
}

/// Refuses options that a sweep has its own form of, or whose files each cell would overwrite.
fn check_settings(invocation: &Invocation) -> Result<(), String> {
    let unsupported = [
        (invocation.action != Action::Run, "options that print something and run nothing"),
        (invocation.record.is_some(), "--record (--into=DIR keeps the runs)"),
        (invocation.repeat.is_some() || !invocation.interleave.is_empty(), "--interleave"),
        (!invocation.accept.is_empty() || invocation.junit.is_some(), "--accept and --junit"),
        (invocation.server.is_some() || !invocation.clients.is_empty(), "--server and --client"),
        (invocation.daemonize.is_some(), "--daemonize"),
        (invocation.trigger != job::Trigger::default(), "--trigger"),
        (invocation.status_interval.is_some(), "--status-interval"),
        (invocation.bandwidth_log, "--bandwidth-log"),
        (invocation.merge_only, "--merge-blktrace-only"),
        (invocation.formats != [Format::Normal], "--output-format (--json prints JSON)"),
        (writes_logs(invocation), "write_bw_log and its like, which each cell would overwrite"),
    ];
    let found: Vec<&str> =
        unsupported.iter().filter(|(given, _)| *given).map(|(_, what)| *what).collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(format!("a sweep does not take {}: leave it out", found.join(", nor "))),
    }
}

fn writes_logs(invocation: &Invocation) -> bool {
    invocation.jobs.iter().any(|job| job.measure.logs.prefixes().next().is_some())
}
