//! `fathom sweep`: runs one job with several values of its options and of settings of the machine.

mod arguments;
mod cell_jobs;
mod cells;
mod job_inputs;
mod layers;
mod preflight;
mod restore;
mod settings;

use crate::commands::run::command_line::utf8_arguments;
use crate::output::{Output, describe, write_stderr};
use crate::ranks;
use crate::suites::{self, SuiteOptions, places};
use anyhow::{Context, Result};
use arguments::Arguments;
use cell_jobs::CellJobs;
use cells::Cells;
use formats::sweep as directory;
use job_inputs::JobInputs;
use record::{Nanos, RecordSet, RunRecord};
use runner::inputs::Machine;
use runner::{Refusal, Runner};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use suite::Suite;
use suite::sweep::{Design, Dimension, KIND, Manifest, RunSlot, Sweep};
use tuning::Session;

/// Sweeps and reports.
pub fn main(words: &[OsString]) -> Result<u8> {
    engine::prepare_clock();
    let runner = Runner::new(false);
    ranks::with_ranks(&runner, || {
        let words = utf8_arguments(words).map_err(Refusal::usage)?;
        let (arguments, job) = Arguments::split(words);
        sweep(&arguments, &job, &runner)
    })
}

fn sweep(arguments: &Arguments, job: &[String], runner: &Runner) -> Result<u8> {
    // An unknown figure is refused now, not after an hour of measuring.
    arguments.measures()?;
    if arguments.restore {
        return restore::restore(arguments.json, job);
    }
    if let (Some(directory), _) | (None, Some(directory)) = (&arguments.show, &arguments.resume) {
        if let Some(first) = job.first() {
            return Err(Refusal::usage(format!(
                "'{first}': a sweep stores its job; leave it out, or correct the option"
            )));
        }
        if !directory::is_sweep(directory) {
            let shown = directory.display();
            return Err(Refusal::usage(format!("{shown}: not a sweep (it has no sweep.json)")));
        }
    }
    match (&arguments.show, &arguments.resume) {
        (Some(directory), _) => show(arguments, directory),
        (None, Some(directory)) => resume(arguments, directory, runner),
        (None, None) => begin(arguments, job, runner),
    }
}

/// `--show`: prints the tables of a sweep.
fn show(arguments: &Arguments, given: &Path) -> Result<u8> {
    let at = std::path::absolute(given).with_context(|| given.display().to_string())?;
    let (manifest, set) = directory::open(&at).map_err(unusable)?;
    let failed = report(arguments, &manifest, &set, &at, None, &mut Output::Stdout)?;
    Ok(suites::exit_code(None, failed))
}

fn unusable(error: formats::RecordError) -> anyhow::Error {
    Refusal::usage(describe(&error.into()))
}

/// Starts a new sweep.
fn begin(arguments: &Arguments, job: &[String], runner: &Runner) -> Result<u8> {
    let design = design(arguments)?;
    let inputs = JobInputs::new(Machine::new(runner.machine()).at(ranks::place(runner)));
    let jobs = CellJobs { arguments: job, inputs: &inputs };
    let design = layers::expand(design, &jobs, runner)?;
    arguments.tables(&design)?;
    let first = preflight::check(&jobs, &design, runner)?;
    let mut output = Output::open(first.output.as_deref())?;
    let working = std::env::current_dir().context("the working directory does not exist")?;
    let manifest = Manifest {
        schema: record::SCHEMA_VERSION,
        fathom_version: env!("CARGO_PKG_VERSION").into(),
        kind: KIND.into(),
        directory: working.to_string_lossy().into_owned(),
        arguments: job.to_vec(),
        sources: inputs.sources(),
        variables: inputs.variables(),
        design,
        fs_on: arguments.fs_on.clone(),
        fs_size: arguments.fs_size,
    };
    let at = place(arguments.into.as_deref(), &working)?;
    let session = settings::begin(&manifest, &jobs, &first, runner)?;
    directory::begin(&at, &manifest)?;
    let _lock = lock(&at)?;
    let sweep =
        Sweep::new(manifest.design.clone(), &BTreeMap::new(), cells::expected_runtime(&first));
    let run = SweepRun { arguments, manifest: &manifest, runner, at: &at };
    run.execute(sweep, jobs, session, directory::set(&manifest), &mut output)
}

fn design(arguments: &Arguments) -> Result<Design> {
    let usage = |why: String| Refusal::usage(format!("--vary {why}"));
    let parse = |text: &String| Dimension::parse(text).map_err(usage);
    let design = Design {
        dimensions: arguments.vary.iter().map(parse).collect::<Result<_>>()?,
        paired: arguments.paired,
        repeats: arguments.repeat,
        order: arguments.order(),
        seed: arguments.seed.unwrap_or_else(runner::fresh_seed),
    };
    let wrong = design.dimensions.iter().filter_map(|one| cell_jobs::check_name(one).err());
    let wrong: Vec<String> = wrong.collect();
    if !wrong.is_empty() {
        return Err(Refusal::usage(wrong.join("\n")));
    }
    design.check().map_err(Refusal::usage)?;
    Ok(design)
}

/// The absolute path of the directory for a new sweep.
fn place(into: Option<&Path>, working: &Path) -> Result<PathBuf> {
    let Some(into) = into else { return places::new_directory(KIND) };
    let at = working.join(into);
    if directory::is_sweep(&at) {
        return Err(Refusal::usage(format!(
            "--into={0}: already holds a sweep; --resume {0} continues it",
            into.display()
        )));
    }
    if !directory::is_free(&at) {
        return Err(Refusal::usage(format!(
            "--into={}: the directory is not empty; name a new or an empty one",
            into.display()
        )));
    }
    Ok(at)
}

/// Locks a sweep until the file is closed.
fn lock(at: &Path) -> Result<File> {
    let path = directory::manifest_file(at);
    let file = File::open(&path).with_context(|| path.display().to_string())?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Err(Refusal::target(format!(
            "{}: another process runs this sweep; wait for it, or end it",
            at.display()
        ))),
        // Some filesystems have no locks.
        Ok(()) | Err(_) => Ok(file),
    }
}

/// `--resume`: makes the runs that are missing.
fn resume(arguments: &Arguments, given: &Path, runner: &Runner) -> Result<u8> {
    let at = std::path::absolute(given).with_context(|| given.display().to_string())?;
    let manifest = directory::manifest(&at).map_err(unusable)?;
    arguments.tables(&manifest.design)?;
    let _lock = lock(&at)?;
    directory::tidy(&at)?;
    std::env::set_current_dir(&manifest.directory)
        .with_context(|| format!("{}: the sweep was started there", manifest.directory))?;
    let machine = Machine::new(runner.machine()).at(ranks::place(runner));
    let inputs = JobInputs::from_manifest(&manifest, machine);
    let jobs = CellJobs { arguments: &manifest.arguments, inputs: &inputs };
    let mut runs = directory::load(&at, &manifest.design)?;
    runs.retain(|(_, run)| !arguments.retry_failed || suite::failure(run).is_none());
    let done: BTreeMap<RunSlot, Nanos> =
        runs.iter().map(|(place, run)| (*place, suite::run_duration(run))).collect();
    let first = preflight::check(&jobs, &manifest.design, runner)?;
    let mut output = Output::open(first.output.as_deref())?;
    let sweep = Sweep::new(manifest.design.clone(), &done, cells::expected_runtime(&first));
    let session = match sweep.left() {
        0 => None,
        _ => settings::begin(&manifest, &jobs, &first, runner)?,
    };
    let mut set = directory::set(&manifest);
    set.runs.extend(runs.into_iter().map(|(_, run)| run));
    let run = SweepRun { arguments, manifest: &manifest, runner, at: &at };
    run.execute(sweep, jobs, session, set, &mut output)
}

/// A new or resumed sweep.
struct SweepRun<'a> {
    arguments: &'a Arguments,
    manifest: &'a Manifest,
    runner: &'a Runner,
    at: &'a Path,
}

impl SweepRun<'_> {
    /// Makes the runs that are left, and reports, also when a signal or an error ends it early.
    fn execute(
        &self,
        mut sweep: Sweep,
        jobs: CellJobs,
        session: Option<(Session, Nanos)>,
        mut set: RecordSet,
        output: &mut Output,
    ) -> Result<u8> {
        self.runner.signals()?;
        let cut_short = |run: &RunRecord| run.interrupted_by.is_some();
        let archive = self.arguments.archive.for_set(KIND, set.seed)?;
        let mut archive = archive.continuing(self.at).leaving_out(cut_short);
        let session = session.map(|(session, each)| {
            sweep.expect_setting(each);
            session
        });
        write_stderr(&self.announcement(&sweep));
        let left_behind = match session.is_some() {
            true => {
                " and leaves the machine's settings changed; fathom sweep --restore restores them"
            }
            false => "",
        };
        let options = SuiteOptions { left_behind: left_behind.into(), ..SuiteOptions::default() };
        let mut cells = Cells::new(sweep, jobs, self.at.to_owned(), session);
        let end = suites::run_task(&mut cells, self.runner, &options, &mut set, &mut archive);
        let back = settings::restore(cells.session());
        let signal = *end.as_ref().unwrap_or(&None);
        set.runs.retain(|run| run.interrupted_by.is_none());
        let shown = report(self.arguments, self.manifest, &set, self.at, signal, output);
        let left = cells.left();
        if left > 0 {
            write_stderr(&format!(
                "{left} of {} runs are missing; to continue: fathom sweep --resume {}\n",
                self.manifest.design.runs(),
                self.at.display()
            ));
        }
        if let (Err(_), Err(also)) = (&end, &back) {
            write_stderr(&format!("fathom: error: {}\n", describe(also)));
        }
        end?;
        back?;
        Ok(suites::exit_code(signal, shown?))
    }

    /// The number of runs, the time they take, and the directory.
    fn announcement(&self, sweep: &Sweep) -> String {
        let design = &self.manifest.design;
        let seconds = sweep.expected().left.0.div_ceil(1_000_000_000);
        let time = match seconds {
            0 => String::new(),
            _ => format!(", {}:{:02} min or more", seconds / 60, seconds % 60),
        };
        format!(
            "{} cells, {} times each: {} runs to make{time}; saved in {}\n",
            design.cells(),
            design.repeats,
            sweep.left(),
            self.at.display()
        )
    }
}

/// Prints the tables. Returns whether a cell failed.
fn report(
    arguments: &Arguments,
    manifest: &Manifest,
    set: &RecordSet,
    at: &Path,
    signal: Option<i32>,
    output: &mut Output,
) -> Result<bool> {
    let wanted = arguments.tables(&manifest.design)?;
    let mut conclusion = suite::sweep::conclude(set, &manifest.design, &wanted);
    conclusion.interrupted_by = signal;
    output.write(&match arguments.json {
        true => report::json::sweep::sweep(&conclusion, &manifest.design, set, at),
        false => {
            report::sweep::text(&conclusion, manifest.design.repeats, &output.style())
                + &report::layers::by_cell(&set.runs, &output.style())
                + &format!("\nRuns:   {}\nSeed:   {}\n", places::shown(at), manifest.design.seed)
        }
    })?;
    Ok(!conclusion.failures.is_empty())
}
