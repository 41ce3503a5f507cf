//! The cells of a sweep as runs: the job of each, checked before anything runs, carried out, kept.

use super::machine as settings;
use super::remembered::Remembered;
use crate::output::say;
use anyhow::Result;
use job::{Action, Dialect, Invocation, JobErrors, Override};
use plan::Plan;
use record::{Coordinate, Format, Message, Nanos, RunRecord, Severity};
use runner::Refusal;
use runner::Runner;
use runner::SuiteTask;
use runner::replay;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use suite::sweep::{Design, Dimension, RunSlot, Sweep};
use suite::{Step, Suite};
use tuning::{CellSetup, Session, Setting};

/// Mistakes told at a time.
const TOLD: usize = 20;

/// A directory, file or device that every job works on: the dimension of this name is no option.
pub const TARGET: &str = "target";

/// Whether a dimension can be varied at all.
///
/// # Errors
/// The name, and the nearest one that can.
pub fn check_name(dimension: &Dimension) -> Result<(), String> {
    if dimension.name == TARGET || Setting::from_name(&dimension.name).is_some() {
        return Ok(());
    }
    let (_, option) = parted(&dimension.name);
    if option == "name" {
        return Err("--vary: the name of a job is what it is known by; vary another option".into());
    }
    let named = |def: &job::options::OptionDef| def.names().any(|known| known == option);
    if job::options::all().any(named) {
        return Ok(());
    }
    let settings = Setting::ALL.map(Setting::name);
    let known = job::options::all().flat_map(job::options::OptionDef::names);
    let known = known.chain([TARGET]).chain(settings);
    let near = job::value::nearest(option, known);
    let hint = near.map_or(String::new(), |near| format!("; did you mean '{near}'?"));
    Err(format!("--vary: unknown option '{option}'{hint}"))
}

/// The job a dimension is for, if it names one, and the option.
fn parted(name: &str) -> (Option<&str>, &str) {
    name.rsplit_once('/').map_or((None, name), |(job, option)| (Some(job), option))
}

/// What the job of a cell has to do, whatever it says: what is varied, and what the machine made for
/// the cell asks of it.
fn overrides(at: &[Coordinate], arranged: &CellSetup) -> Vec<Override> {
    let one = |coordinate: &Coordinate| {
        let value = coordinate.value.clone();
        if coordinate.dimension == TARGET {
            let is_directory = Path::new(&value).is_dir();
            let name = if is_directory { "directory" } else { "filename" };
            return Override { job: None, name: name.into(), value };
        }
        let (job, name) = parted(&coordinate.dimension);
        Override { job: job.map(str::to_owned), name: name.into(), value }
    };
    let made = |argument: &String| {
        let (name, value) = argument.trim_start_matches('-').split_once('=')?;
        Some(Override { job: None, name: name.into(), value: value.into() })
    };
    let options = at.iter().filter(|c| Setting::from_name(&c.dimension).is_none()).map(one);
    options.chain(arranged.arguments.iter().filter_map(made)).collect()
}

/// The job that is run in the cells.
pub struct Jobs<'a> {
    /// As typed.
    pub arguments: &'a [String],
    /// What it is read from.
    pub inputs: &'a Remembered,
}

impl Jobs<'_> {
    /// The job of a cell, on a machine that is as it is.
    fn at(&self, at: &[Coordinate]) -> Result<Invocation, JobErrors> {
        self.parse(at, &CellSetup::default())
    }

    fn parse(&self, at: &[Coordinate], arranged: &CellSetup) -> Result<Invocation, JobErrors> {
        job::parse_with(self.arguments, &overrides(at, arranged), Dialect::Fathom, self.inputs)
    }

    /// The job of a cell, on the machine made for it.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn on(&self, at: &[Coordinate], arranged: &CellSetup) -> Result<Invocation> {
        self.parse(at, arranged).map_err(refused)
    }

    /// Checks the jobs of all cells, before anything runs; the job of the first.
    ///
    /// # Errors
    /// All that is wrong, as exit code 2 has it; what the machine refuses, as 3.
    pub fn check(&self, design: &Design, runner: &Runner) -> Result<Invocation> {
        // What is wrong with the job itself is said as of any job.
        let base = job::parse(self.arguments, Dialect::Fathom, self.inputs);
        if let Err(errors) = &base
            && self.at(&design.at(0)).is_err()
        {
            return Err(Refusal::usage(errors.to_string()));
        }
        // Each value for itself first: one mistake is told once, not for each combination.
        let alone = probes(design);
        self.parse_all(alone.iter().cloned())?;
        self.parse_all((0..design.cells()).map(|cell| design.at(cell)))?;
        let first = self.on(&design.at(0), &CellSetup::default())?;
        check_settings(&first).map_err(Refusal::usage)?;
        check_targets(design)?;
        settings::check(design, self)?;
        // What is on a filesystem that is still to be made cannot be looked at.
        if !settings::varies(design, |setting| setting == Setting::Fs) {
            let plans = alone.iter().map(|at| self.prepare(at, runner));
            let plans = plans.collect::<Result<Vec<_>>>()?;
            idle(design, &alone, &plans).iter().for_each(|text| say(text));
        }
        Ok(first)
    }

    /// Has a cell planned, for what stands against it to be found. What it does.
    fn prepare(&self, at: &[Coordinate], runner: &Runner) -> Result<Plan> {
        let mut invocation = self.on(at, &CellSetup::default())?;
        replay::attach(&mut invocation, runner.host()).map_err(Refusal::usage)?;
        let prepared = runner.plan(&invocation).map_err(|error| {
            let named = at.iter().map(|c| format!("{}={}", c.dimension, c.value));
            let cell = named.collect::<Vec<_>>().join(" ");
            anyhow::Error::from(error).context(format!("cannot run {cell}"))
        })?;
        if prepared.is_forbidden(&invocation) {
            let grave = prepared.messages.iter().filter(|m| m.severity >= Severity::Warning);
            let texts: Vec<&str> = grave.map(|message| message.text.as_str()).collect();
            return Err(Refusal::usage(format!("--warnings-fatal: {}", texts.join("\n"))));
        }
        Ok(what_is_done(prepared.plan))
    }

    fn parse_all(&self, all: impl Iterator<Item = Vec<Coordinate>>) -> Result<()> {
        let mut told: Vec<String> = Vec::new();
        for at in all {
            let Err(errors) = self.at(&at) else { continue };
            for error in errors.list {
                let text = error.to_string();
                if !told.contains(&text) {
                    told.push(text);
                }
            }
            if told.len() >= TOLD {
                break;
            }
        }
        match told.is_empty() {
            true => Ok(()),
            false => Err(Refusal::usage(told.join("\n"))),
        }
    }
}

/// A file would be made by the name of a directory that was mistyped, and the filesystem around it
/// measured in its place.
fn check_targets(design: &Design) -> Result<()> {
    let targets = design.dimensions.iter().filter(|dimension| dimension.name == TARGET);
    for values in targets.map(|dimension| &dimension.values) {
        let directory = values.iter().find(|value| Path::new(value).is_dir());
        let missing = values.iter().find(|value| !Path::new(value).exists());
        if let (Some(directory), Some(missing)) = (directory, missing) {
            return Err(Refusal::target(format!(
                "--vary target={missing}: it is not there, and {directory} is a directory: check \
                 its name, or make it first"
            )));
        }
    }
    Ok(())
}

fn refused(errors: JobErrors) -> anyhow::Error {
    Refusal::usage(errors.to_string())
}

/// Places among which each value of each dimension is, beside the first values of the others.
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

/// A plan without what only says how it was asked for.
fn what_is_done(mut plan: Plan) -> Plan {
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

/// What to say of options none of whose values changes what is done, by the plans of `probes`.
fn idle(design: &Design, probes: &[Vec<Coordinate>], plans: &[Plan]) -> Vec<String> {
    let (Some(first), Some(usual)) = (probes.first(), plans.first()) else { return Vec::new() };
    let others = || probes.iter().zip(plans).filter(|(_, plan)| *plan != usual);
    let changes = |index: usize| others().any(|(at, _)| at[index].value != first[index].value);
    let option = |dimension: &Dimension| {
        dimension.values.len() > 1
            && dimension.name != TARGET
            && Setting::from_name(&dimension.name).is_none()
    };
    let dimensions = design.dimensions.iter().enumerate().filter(|(_, one)| option(one));
    let idle = dimensions.filter(|(index, _)| !changes(*index));
    let said = idle.map(|(_, dimension)| {
        let name = &dimension.name;
        let why = match parted(name).1 {
            "iodepth" => ": its engine does one I/O at a time; add --ioengine=io_uring",
            _ => "",
        };
        format!("fathom: warning: --vary {name}: its values change nothing of what is done{why}\n")
    });
    said.collect()
}

/// What a sweep does by its own means, or what each cell would overwrite.
fn check_settings(asked: &Invocation) -> Result<(), String> {
    let not_here = [
        (asked.action != Action::Run, "options that print something and run nothing"),
        (asked.record.is_some(), "--record (--into=DIR keeps the runs)"),
        (asked.repeat.is_some() || !asked.interleave.is_empty(), "--interleave"),
        (!asked.accept.is_empty() || asked.junit.is_some(), "--accept and --junit"),
        (asked.server.is_some() || !asked.clients.is_empty(), "--server and --client"),
        (asked.daemonize.is_some(), "--daemonize"),
        (asked.trigger != job::Trigger::default(), "--trigger"),
        (asked.status_interval.is_some(), "--status-interval"),
        (asked.bandwidth_log, "--bandwidth-log"),
        (asked.merge_only, "--merge-blktrace-only"),
        (asked.formats != [Format::Normal], "--output-format (--json prints JSON)"),
        (logs(asked), "write_bw_log and its like, which each cell would overwrite"),
    ];
    let found: Vec<&str> =
        not_here.iter().filter(|(given, _)| *given).map(|(_, what)| *what).collect();
    match found.is_empty() {
        true => Ok(()),
        false => Err(format!("a sweep does not take {}: leave it out", found.join(", nor "))),
    }
}

fn logs(asked: &Invocation) -> bool {
    asked.jobs.iter().any(|job| job.measure.logs.prefixes().next().is_some())
}

/// How long a run lasts as far as its job says so.
pub fn guess(invocation: &Invocation) -> Nanos {
    let of = |job: &job::Job| {
        let timing = &job.timing;
        timing.runtime.unwrap_or_default() + timing.ramp_time.unwrap_or_default()
    };
    invocation.jobs.iter().map(of).max().unwrap_or_default()
}

/// A sweep being carried out.
pub struct Cells<'a> {
    sweep: Sweep,
    jobs: Jobs<'a>,
    directory: PathBuf,
    /// What makes the machine ready for each cell, where the sweep varies something of it.
    session: Option<Session>,
}

impl<'a> Cells<'a> {
    /// What is left of a sweep.
    pub fn new(sweep: Sweep, jobs: Jobs<'a>, directory: PathBuf, session: Option<Session>) -> Self {
        Cells { sweep, jobs, directory, session }
    }

    /// What changed the machine.
    pub fn session(&mut self) -> Option<&mut Session> {
        self.session.as_mut()
    }

    fn place(&self) -> Option<RunSlot> {
        self.sweep.place()
    }

    /// Runs that are still to be made.
    pub fn left(&self) -> usize {
        self.sweep.left()
    }
}

impl SuiteTask for Cells<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        &mut self.sweep
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        let at = &step.cell.at;
        let mut invocation = self.jobs.on(at, &CellSetup::default())?;
        if let Some(session) = &mut self.session {
            let began = Instant::now();
            let arranged = session.set_up(&settings::of(at), &settings::targets(&invocation));
            self.sweep.took_setting(Nanos(began.elapsed().as_nanos() as u64));
            let arranged = arranged.map_err(settings::failed)?;
            invocation = self.jobs.on(at, &arranged)?;
            let notes = arranged.notes.into_iter().map(|note| Message::warning(None, note));
            invocation.warnings.extend(notes);
        }
        replay::attach(&mut invocation, runner.host()).map_err(anyhow::Error::msg)?;
        Ok(invocation)
    }

    /// The others may well run: of several filesystems one does not take O_DIRECT.
    fn refused(&mut self, _: &Step, runner: &Runner, error: anyhow::Error) -> Result<RunRecord> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        let invocation = record::Invocation {
            arguments: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            started_unix_ms: now,
            ended_unix_ms: now,
            ..record::Invocation::default()
        };
        Ok(RunRecord {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            invocation,
            facts: runner.machine().clone(),
            messages: vec![Message::error(None, crate::output::describe(&error))],
            // What a signal kept from being made did not fail.
            interrupted_by: runner.caught(),
            ..RunRecord::default()
        })
    }

    /// A run that was cut short is made again, and kept then.
    fn save(&mut self, record: &RunRecord) -> Result<()> {
        let place = self.place().filter(|_| record.interrupted_by.is_none());
        let Some(place) = place else { return Ok(()) };
        Ok(formats::sweep::save(&self.directory, place, record)?)
    }
}
