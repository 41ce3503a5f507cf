//! What commands that run suites share: options, progress line, scratch files, devices.

pub mod device;
pub mod places;
mod progress;
pub mod scratch;

use crate::exit;
use crate::output::write_stderr;
use crate::ranks;
use anyhow::{Context, Result};
use archive::{ArchiveError, Choice, Location};
use clap::Args;
use job::options::Value;
use job::value::Units;
use job::{Dialect, Invocation, LayerTiming};
use progress::Progress;
use record::{Bytes, Message, Nanos, RecordSet, SavedTo, Sentence, Severity, Terminology};
use runner::{Refusal, RunArchive, Runner, SuiteObserver, SuiteTask};
use std::path::PathBuf;
use suite::{Expected, Step, Suite};

/// Settings of all runs of a command.
#[derive(Clone, Debug, Default)]
pub struct SuiteOptions {
    /// Keep serial numbers in the records.
    pub with_serials: bool,
    /// Time the layers of each I/O.
    pub layers: bool,
    /// Devices that may be overwritten.
    pub allow_destroy: Vec<String>,
    /// Do not print warnings before a run. They are in the records.
    pub quiet: bool,
    /// Show no progress line, for tools that have none or their own.
    pub no_progress: bool,
    /// The names of options in messages.
    pub terminology: Terminology,
    /// What the runs are for.
    pub why: Option<String>,
    /// How many ranks take part, if a launcher started several; `None`: all.
    pub ranks: Option<u32>,
    /// The jobs of a run are divided among the ranks: the start of their names, which their numbers follow.
    pub job_of_rank: Option<String>,
    /// The temporary file of each rank ([`scratch::Scratch::to_remove`]).
    pub scratch: Option<String>,
    /// What a second signal leaves behind, such as " and leaves FILE", for the message about the first.
    pub left_behind: String,
}

/// A suite without a task of its own.
struct PlainTask<'a, S> {
    suite: &'a mut S,
    options: &'a SuiteOptions,
}

impl<S: Suite> SuiteTask for PlainTask<'_, S> {
    fn suite(&mut self) -> &mut dyn Suite {
        self.suite
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        invocation(step, runner, self.options)
    }
}

/// Runs a suite; see [`runner::run_suite`].
///
/// # Errors
/// When a run cannot be planned or started. Errors of I/O are in the records.
pub fn run(
    suite: &mut impl Suite,
    runner: &Runner,
    options: &SuiteOptions,
    set: &mut RecordSet,
    archive: &mut RunArchive,
) -> Result<()> {
    run_task(&mut PlainTask { suite, options }, runner, options, set, archive).map(|_| ())
}

/// Runs a suite with the task of its command; see [`runner::run_suite`]. Returns the signal that ended
/// it early.
///
/// # Errors
/// When a run cannot be planned or started, and errors of the task.
pub fn run_task(
    task: &mut dyn SuiteTask,
    runner: &Runner,
    options: &SuiteOptions,
    set: &mut RecordSet,
    archive: &mut RunArchive,
) -> Result<Option<i32>> {
    ranks::refuse_unjoined(runner)?;
    let mut log =
        SuiteLog { progress: Progress::new(!options.no_progress), options, shown: Vec::new() };
    runner::run_suite(task, runner, set, archive, &mut log)
}

/// Shows a suite on standard error.
struct SuiteLog<'a> {
    progress: Progress,
    options: &'a SuiteOptions,
    /// Messages that were printed. Most are true of every run, so each is printed once.
    shown: Vec<Sentence>,
}

impl SuiteObserver for SuiteLog<'_> {
    fn part(&mut self, text: &'static str) {
        self.progress.part(text);
    }

    fn begin(&mut self, description: &str, expected: Expected) {
        self.progress.begin(description, expected);
    }

    fn tick(&mut self) {
        self.progress.draw();
    }

    fn messages(&mut self, messages: &[Message]) {
        let is_shown =
            |message: &&Message| message.severity >= Severity::Warning && !self.options.quiet;
        for message in messages.iter().filter(is_shown) {
            if !self.shown.contains(&message.text) {
                self.progress.print(&message.text.in_terms(&self.options.terminology));
                self.shown.push(message.text.clone());
            }
        }
    }

    fn line(&mut self, text: &str) {
        self.progress.print(text);
    }

    fn stopping(&mut self, signal: i32) {
        self.progress.print(&format!(
            "ending on signal {signal}; a second one ends it at once{}",
            self.options.left_behind
        ));
    }

    fn end(&mut self) {
        self.progress.end();
    }
}

/// Parses the job of a step.
pub fn invocation(step: &Step, runner: &Runner, options: &SuiteOptions) -> Result<Invocation> {
    let mut invocation = job::parse(&step.arguments, Dialect::Fathom, &ranks::machine(runner))
        .map_err(anyhow::Error::from)
        .with_context(|| format!("cannot run '{}'", step.cell.name))?;
    invocation.with_serials = options.with_serials;
    invocation.layers = options.layers.then_some(LayerTiming::Full);
    invocation.why = options.why.clone();
    invocation.ranks = options.ranks;
    invocation.job_of_rank = options.job_of_rank.clone();
    invocation.scratch = options.scratch.clone();
    invocation.allow_destroy.extend(options.allow_destroy.iter().cloned());
    Ok(invocation)
}

/// Writes the file of `--record`. Returns where the runs were saved.
pub fn save(archive: &mut RunArchive, set: &RecordSet) -> SavedTo {
    let saved = archive.save(set);
    write_stderr(&archive.take_notes());
    saved
}

/// The exit code of a suite: that of a signal, or whether any run failed.
pub fn exit_code(interrupted_by: Option<i32>, failed: bool) -> u8 {
    match (interrupted_by, failed) {
        (Some(signal), _) => exit::interrupted(signal, false),
        (None, true) => exit::ERRORS,
        (None, false) => 0,
    }
}

/// The last lines of a report: where the runs were saved.
pub fn footer(saved: &SavedTo) -> String {
    format!("\n{}", saved.text(places::shown))
}

/// Options that choose the archive.
#[derive(Args)]
pub struct ArchiveArguments {
    /// Archive the runs in this file, or at postgres://USER@HOST/DATABASE [default: FATHOM_ARCHIVE, or
    /// $XDG_DATA_HOME/fathom/archive.db].
    #[arg(long, value_name = "ARCHIVE")]
    archive: Option<PathBuf>,
    /// Do not archive the runs.
    #[arg(long, alias = "no-record", conflicts_with = "archive")]
    no_archive: bool,
    /// Add this tag to the runs in the archive; repeatable.
    #[arg(long = "tag", value_name = "TAG", value_parser = tag, conflicts_with = "no_archive")]
    tags: Vec<String>,
}

fn tag(text: &str) -> Result<String, ArchiveError> {
    archive::check_tag(text).map(|()| text.to_owned())
}

impl ArchiveArguments {
    /// The archive for the runs of a command.
    ///
    /// # Errors
    /// When the file is not an archive.
    pub fn for_set(&self, kind: &str, seed: u64) -> Result<RunArchive> {
        let archive = RunArchive::for_set(self.choice()?, kind, seed);
        Ok(archive.with_tags(self.tags.clone()))
    }

    /// The archive for the only run of a command.
    ///
    /// # Errors
    /// When the file is not an archive.
    pub fn for_one_run(&self, kind: &str) -> Result<RunArchive> {
        Ok(RunArchive::for_one_run(self.choice()?, kind).with_tags(self.tags.clone()))
    }

    /// The chosen archive.
    ///
    /// # Errors
    /// When the file is not an archive.
    pub fn choice(&self) -> Result<Choice> {
        if let Some(path) = &self.archive {
            let checked = Location::explicit(path).check();
            checked.map_err(|error| Refusal::usage(format!("--archive: {error}")))?;
        }
        Ok(Choice::from_options(self.archive.as_deref(), self.no_archive))
    }
}

/// Options of every command that makes several runs.
#[derive(Args)]
#[command(next_help_heading = "Results")]
pub struct OutputArguments {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Also write the records of all runs to this file.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    archive: ArchiveArguments,
    /// Keep what the runs are for with their results.
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    /// Keep the serial numbers of disks in the records.
    #[arg(long)]
    with_serials: bool,
}

impl OutputArguments {
    /// The archive for the runs of a command.
    ///
    /// # Errors
    /// When the archive or the file of `--record` cannot be written.
    pub fn archive(&self, kind: &str) -> Result<RunArchive> {
        self.checked(self.archive.for_set(kind, 0)?)
    }

    /// The archive for the only run of a command.
    ///
    /// # Errors
    /// When the archive or the file of `--record` cannot be written.
    pub fn archive_of_one(&self, kind: &str) -> Result<RunArchive> {
        self.checked(self.archive.for_one_run(kind)?)
    }

    fn checked(&self, archive: RunArchive) -> Result<RunArchive> {
        let archive = archive.with_record_file(self.record.clone());
        archive.check_record_file().map(|()| archive)
    }

    /// The settings of all runs.
    pub fn suite_options(&self) -> SuiteOptions {
        SuiteOptions {
            with_serials: self.with_serials,
            why: self.why.clone(),
            ..SuiteOptions::default()
        }
    }
}

/// Options of commands that measure storage by I/O of their own.
#[derive(Args)]
pub struct MeasuringArguments {
    /// Time each layer of the kernel that the I/Os pass (Linux, root or CAP_BPF and CAP_PERFMON). This
    /// costs some CPU time for each I/O.
    #[arg(long)]
    pub layers: bool,
}

/// Parses a size with the syntax of job options: "4g", "512m".
///
/// # Errors
/// What was expected.
pub fn size(text: &str) -> Result<Bytes, String> {
    match option("lockmem", text) {
        Some(Value::Ints { values: [Some(bytes), ..], .. }) => Ok(Bytes(bytes as u64)),
        _ => Err("expected a size such as 512m or 4g".into()),
    }
}

/// Parses a time with the syntax of job options: "90", "30m", "4h".
///
/// # Errors
/// What was expected.
pub fn time(text: &str) -> Result<Nanos, String> {
    match option("runtime", text) {
        Some(Value::Time(time)) if time.0 > 0 => Ok(time),
        _ => Err("expected a time such as 90, 30m or 4h".into()),
    }
}

/// Parses the value of a job option.
fn option(name: &str, text: &str) -> Option<Value> {
    let units = Units { kb_base: 1024 };
    job::value::parse(job::options::find(name)?, Some(text), units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_have_the_syntax_of_job_options() {
        assert_eq!(size("4g"), Ok(Bytes(4 << 30)));
        assert_eq!(size("512m"), Ok(Bytes(512 << 20)));
        assert_eq!(time("90"), Ok(Nanos(90_000_000_000)));
        assert_eq!(time("1h"), Ok(Nanos(3_600_000_000_000)));
        for wrong in ["", "x", "-1", "4,5", "0x"] {
            assert!(size(wrong).is_err() && time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn signals_and_failures_have_their_exit_codes() {
        assert_eq!((exit_code(Some(2), true), exit_code(None, true)), (130, 1));
        assert_eq!(exit_code(None, false), 0);
    }
}
