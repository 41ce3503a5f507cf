//! Measurements made of several runs: carrying them out, keeping their records.

pub mod archive;
pub mod device;
mod progress;
pub mod scratch;

use crate::archive::Keeper;
use crate::exit;
use crate::inputs::Machine;
use crate::output::{describe, say};
use crate::runner::{Runner, UnderWay};
use ::archive::{Choice, Place};
use anyhow::{Context, Result};
use clap::Args;
use compat::Tongue;
use engine::Run;
use job::options::Value;
use job::value::Units;
use job::{Dialect, Invocation};
use progress::Progress;
use record::{Bytes, Message, Nanos, RecordSet, RunRecord, Severity};
use report::Kept;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use suite::{Step, Suite};

/// How often signals are looked at and the progress is drawn.
const GLANCE: Duration = Duration::from_millis(100);

/// Why a command cannot do what it was asked to, with its exit code.
#[derive(Debug)]
pub struct Refusal {
    /// 2: the command line is wrong; 3: the target does not suit; of a signal that came before.
    pub code: u8,
    /// What is wrong, and what to do.
    pub text: String,
}

impl Refusal {
    /// The command line is wrong.
    pub fn usage(text: impl Into<String>) -> anyhow::Error {
        Refusal { code: exit::USAGE, text: text.into() }.into()
    }

    /// The target does not suit.
    pub fn target(text: impl Into<String>) -> anyhow::Error {
        Refusal { code: exit::REFUSED, text: text.into() }.into()
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Refusal {}

/// Says what is wrong, and gives the exit code for it: 2 and 3 for what was refused, else 1.
pub fn fail(error: &anyhow::Error) -> u8 {
    say(&format!("fathom: error: {}\n", describe(error)));
    code_of(error)
}

/// The exit code for what is wrong.
pub fn code_of(error: &anyhow::Error) -> u8 {
    let planned = error.downcast_ref::<plan::PlanError>().map(|error| error.exit_code() as u8);
    let refused = error.downcast_ref::<Refusal>().map(|refusal| refusal.code);
    refused.or(planned).unwrap_or(exit::ERRORS)
}

/// What holds for all runs.
#[derive(Clone, Debug, Default)]
pub struct Common {
    /// Serial numbers are kept.
    pub with_serials: bool,
    /// Devices that may be overwritten whatever is on them.
    pub allow_destroy: Vec<String>,
    /// Warnings before a run are not said; they are in the records, as all that was found.
    pub quiet: bool,
    /// No line shows how far it is: the tool that is stood for has none, or its own.
    pub no_progress: bool,
    /// The words in which options are named.
    pub tongue: Tongue,
    /// What a signal leaves behind when it comes twice, in one sentence; empty: nothing.
    pub left_behind: String,
}

/// An empty set of records.
pub fn set(kind: &str, seed: u64) -> RecordSet {
    RecordSet {
        schema: record::SCHEMA_VERSION,
        fathom_version: env!("CARGO_PKG_VERSION").into(),
        kind: kind.into(),
        seed,
        runs: Vec::new(),
    }
}

/// A seed that differs from call to call, short enough to be typed again.
pub fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| u64::from(now.subsec_nanos()))
}

/// A suite, with what its command does around the runs.
pub trait Work {
    /// The suite.
    fn suite(&mut self) -> &mut dyn Suite;

    /// The run of a step, understood; the machine is ready for it.
    ///
    /// # Errors
    /// Why it cannot be made; see [`Work::refused`].
    fn invocation(&mut self, step: &Step, runner: &Runner, common: &Common) -> Result<Invocation> {
        invocation(step, runner, common)
    }

    /// What is kept of a run that cannot be made, where the others are made all the same.
    ///
    /// # Errors
    /// The error, where nothing more is to be made.
    fn refused(
        &mut self,
        _step: &Step,
        _runner: &Runner,
        error: anyhow::Error,
    ) -> Result<RunRecord> {
        Err(error)
    }

    /// Called every now and then while a run is under way.
    fn glance(&mut self, _under_way: &UnderWay) {}

    /// Keeps a run before anything else is done.
    ///
    /// # Errors
    /// When it cannot be kept; nothing more is made then.
    fn keep(&mut self, _record: &RunRecord) -> Result<()> {
        Ok(())
    }

    /// Puts into the record of a run what its suite learnt of it, before it is archived.
    fn complete(&mut self, _record: &mut RunRecord) {}
}

/// A suite with nothing around its runs.
struct Plain<'a, S>(&'a mut S);

impl<S: Suite> Work for Plain<'_, S> {
    fn suite(&mut self) -> &mut dyn Suite {
        self.0
    }
}

/// Carries out a suite, to its end or until a signal comes. Every run that was made is in `set` and
/// was given to `keeper`, also when this fails.
///
/// # Errors
/// Those of a run that cannot be planned or started. What goes wrong with I/O is in the records.
pub fn carry_out(
    suite: &mut impl Suite,
    runner: &Runner,
    common: &Common,
    set: &mut RecordSet,
    keeper: &mut Keeper,
) -> Result<()> {
    carry_out_work(&mut Plain(suite), runner, common, set, keeper).map(|_| ())
}

/// The same with what is done around the runs; the signal that ended it early.
///
/// # Errors
/// Those of [`carry_out`] and of `work`.
pub fn carry_out_work(
    work: &mut impl Work,
    runner: &Runner,
    common: &Common,
    set: &mut RecordSet,
    keeper: &mut Keeper,
) -> Result<Option<i32>> {
    let hung_up = hang_up()?;
    let mut voice = Voice { progress: Progress::new(!common.no_progress), told: Vec::new() };
    while let Some(step) = work.suite().next() {
        // A signal may come while nothing runs.
        if let Some(signal) = runner.caught().or(signal_of(&hung_up)) {
            return Ok(Some(signal));
        }
        let mut record = one(work, &step, runner, common, &hung_up, &mut voice)?;
        record.cell = Some(step.cell);
        record.interrupted_by = record.interrupted_by.or(signal_of(&hung_up));
        let interrupted_by = record.interrupted_by;
        // What is printed of it stands in a line of its own.
        voice.progress.end();
        if let Err(error) = work.keep(&record) {
            keeper.add_judged(&record);
            set.runs.push(record);
            return Err(error);
        }
        for line in work.suite().took(&record) {
            voice.progress.say(&line);
        }
        work.complete(&mut record);
        // What comes after may be ended at any moment.
        keeper.add_judged(&record);
        say(&keeper.said());
        set.runs.push(record);
        if interrupted_by.is_some() {
            return Ok(interrupted_by);
        }
    }
    Ok(None)
}

/// What is said while a suite is carried out.
struct Voice {
    progress: Progress,
    /// Remarks on runs: what is true of one run is true of all.
    told: Vec<String>,
}

/// Makes one run, or has the record of why it cannot be made.
fn one(
    work: &mut impl Work,
    step: &Step,
    runner: &Runner,
    common: &Common,
    hung_up: &AtomicBool,
    voice: &mut Voice,
) -> Result<RunRecord> {
    let Voice { progress, told } = voice;
    progress.begin(&step.doing, work.suite().expected());
    let prepared = work.invocation(step, runner, common).and_then(|invocation| {
        let prepared = runner.prepare(&invocation)?;
        Ok((invocation, prepared))
    });
    let (invocation, prepared) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return work.refused(step, runner, error),
    };
    let is_said = |message: &&Message| message.severity >= Severity::Warning && !common.quiet;
    for message in prepared.messages.iter().filter(is_said) {
        if !told.contains(&message.text) {
            progress.say(&common.tongue.said(&message.text));
            told.push(message.text.clone());
        }
    }
    progress.begin(&step.doing, work.suite().expected());
    runner.measure(prepared, &invocation, |under_way| {
        let caught = || under_way.signals.caught().or(signal_of(hung_up));
        watch(under_way.run, caught, progress, common, &mut || work.glance(under_way));
        Ok(())
    })
}

/// The invocation that a step is.
///
/// # Errors
/// What is wrong with its job.
pub fn invocation(step: &Step, runner: &Runner, common: &Common) -> Result<Invocation> {
    let machine = Machine::new(runner.machine());
    let mut invocation = job::parse(&step.arguments, Dialect::Fathom, &machine)
        .map_err(anyhow::Error::from)
        .with_context(|| format!("cannot make the run '{}'", step.cell.name))?;
    invocation.with_serials = common.with_serials;
    invocation.allow_destroy.extend(common.allow_destroy.iter().cloned());
    Ok(invocation)
}

/// Watches until the run has ended; a signal ends it early.
fn watch(
    run: &Run,
    caught: impl Fn() -> Option<i32>,
    progress: &mut Progress,
    common: &Common,
    glance: &mut dyn FnMut(),
) {
    let mut stopping = false;
    while !run.wait(GLANCE) {
        if let (Some(signal), false) = (caught(), stopping) {
            stopping = true;
            progress.say(&format!(
                "ending on signal {signal}; once more ends it at once{}",
                common.left_behind
            ));
            run.stop();
        }
        glance();
        progress.draw();
    }
}

/// Notes that the terminal is gone, unless somebody (nohup) wants that ignored.
///
/// # Errors
/// When a handler cannot be had.
pub fn hang_up() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    if !is_ignored(signal_hook::consts::SIGHUP) {
        signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&flag))?;
    }
    Ok(flag)
}

/// The signal that the terminal is gone, if it came.
pub fn signal_of(hung_up: &AtomicBool) -> Option<i32> {
    hung_up.load(Ordering::Relaxed).then_some(signal_hook::consts::SIGHUP)
}

/// Whether this process was started with a signal ignored (proc_pid_status(5), SigIgn).
pub fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// The exit code of runs: of the signal that ended them, or whether any of them failed.
pub fn exit_code(interrupted_by: Option<i32>, failed: bool) -> u8 {
    match (interrupted_by, failed) {
        (Some(signal), _) => exit::interrupted(signal, false),
        (None, true) => exit::ERRORS,
        (None, false) => 0,
    }
}

/// The last line of a report.
pub fn where_it_is(kept: &Kept) -> String {
    format!("\n{}", kept.text(archive::shown))
}

/// Which archive runs go to.
#[derive(Args)]
pub struct ArchiveArguments {
    /// Archive the runs in this file, which is made; otherwise in the one FATHOM_ARCHIVE names or
    /// among the user's data ($XDG_DATA_HOME/fathom/archive.db).
    #[arg(long, value_name = "FILE")]
    archive: Option<PathBuf>,
    /// Do not archive the runs.
    #[arg(long, alias = "no-record", conflicts_with = "archive")]
    no_archive: bool,
}

impl ArchiveArguments {
    /// Which one it is.
    ///
    /// # Errors
    /// When something else lies there, better found now than after an hour of measuring.
    pub fn choice(&self) -> Result<Choice> {
        if let Some(path) = &self.archive {
            let checked = Place::named(path).check();
            checked.map_err(|error| Refusal::usage(format!("--archive: {error}")))?;
        }
        Ok(Choice::of(self.archive.as_deref(), self.no_archive))
    }
}

/// What every command that makes several runs takes.
#[derive(Args)]
pub struct OutputArguments {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Write the records of all runs to this file as well.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    #[command(flatten)]
    archive: ArchiveArguments,
    /// Keep the serial numbers of disks in the records.
    #[arg(long)]
    with_serials: bool,
}

impl OutputArguments {
    /// What keeps the runs of a command of this name.
    ///
    /// # Errors
    /// When something else lies where they are to go, or nothing can be there.
    pub fn keeper(&self, kind: &str) -> Result<Keeper> {
        let keeper = Keeper::together(self.archive.choice()?, kind, 0);
        let keeper = keeper.with_record(self.record.clone());
        keeper.check().map(|()| keeper)
    }

    /// What keeps the one run of a command of this name.
    ///
    /// # Errors
    /// Those of [`OutputArguments::keeper`].
    pub fn keeper_of_one(&self, kind: &str) -> Result<Keeper> {
        let keeper = Keeper::alone(self.archive.choice()?, kind);
        let keeper = keeper.with_record(self.record.clone());
        keeper.check().map(|()| keeper)
    }

    /// What they ask of all runs.
    pub fn common(&self) -> Common {
        Common { with_serials: self.with_serials, ..Common::default() }
    }
}

/// A size as job options take it: "4g", "512m".
///
/// # Errors
/// What is wrong with it.
pub fn size(text: &str) -> Result<Bytes, String> {
    match option("lockmem", text) {
        Some(Value::Ints { values: [Some(bytes), ..], .. }) => Ok(Bytes(bytes as u64)),
        _ => Err("expected a size such as 512m or 4g".into()),
    }
}

/// A time as job options take it: "90", "30m", "4h".
///
/// # Errors
/// What is wrong with it.
pub fn time(text: &str) -> Result<Nanos, String> {
    match option("runtime", text) {
        Some(Value::Time(time)) if time.0 > 0 => Ok(time),
        _ => Err("expected a time such as 90, 30m or 4h".into()),
    }
}

/// A value as a job option takes it.
fn option(name: &str, text: &str) -> Option<Value> {
    let units = Units { kb_base: 1024 };
    job::value::parse(job::options::find(name)?, Some(text), units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_those_of_job_options() {
        assert_eq!(size("4g"), Ok(Bytes(4 << 30)));
        assert_eq!(size("512m"), Ok(Bytes(512 << 20)));
        assert_eq!(time("90"), Ok(Nanos(90_000_000_000)));
        assert_eq!(time("1h"), Ok(Nanos(3_600_000_000_000)));
        for wrong in ["", "x", "-1", "4,5", "0x"] {
            assert!(size(wrong).is_err() && time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn codes_tell_signals_failures_and_refusals_apart() {
        assert_eq!((exit_code(Some(2), true), exit_code(None, true)), (130, 1));
        assert_eq!(exit_code(None, false), 0);
    }
}
