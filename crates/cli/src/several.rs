//! Measurements made of several runs: carrying them out, keeping their records.

pub mod archive;
mod progress;
pub mod scratch;

use crate::exit;
use crate::inputs::Machine;
use crate::output::{describe, say};
use crate::runner::Runner;
use anyhow::{Context, Result};
use archive::Keep;
use clap::Args;
use engine::Run;
use job::options::Value;
use job::value::Units;
use job::{Dialect, Invocation};
use progress::Progress;
use record::{Bytes, Nanos, RecordSet, Severity};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use suite::{Step, Suite};

/// It would destroy data, or the target does not suit.
const REFUSED: u8 = 3;
/// How often signals are looked at and the progress is drawn.
const GLANCE: Duration = Duration::from_millis(100);

/// Why a command cannot do what it was asked to, with its exit code.
#[derive(Debug)]
pub struct Refusal {
    /// 2: the command line is wrong; 3: the target does not suit.
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
        Refusal { code: REFUSED, text: text.into() }.into()
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

/// Carries out a suite, to its end or until a signal comes. Every run that was made is in `set`,
/// also when this fails.
///
/// # Errors
/// Those of a run that cannot be planned or started. What goes wrong with I/O is in the records.
pub fn carry_out(
    suite: &mut impl Suite,
    runner: &Runner,
    common: &Common,
    set: &mut RecordSet,
) -> Result<()> {
    let hung_up = hang_up()?;
    let mut progress = Progress::new();
    let mut told: Vec<String> = Vec::new();
    while let Some(step) = suite.next() {
        let invocation = invocation(&step, runner, common)?;
        let prepared = runner.prepare(&invocation)?;
        for message in prepared.messages.iter().filter(|m| m.severity >= Severity::Warning) {
            // What is true of one run is true of all.
            if !told.contains(&message.text) {
                progress.say(&message.text);
                told.push(message.text.clone());
            }
        }
        progress.begin(&step.doing, suite.expected());
        let mut record = runner.measure(prepared, &invocation, |under_way| {
            let (run, signals) = (under_way.run, under_way.signals);
            watch(run, || signals.caught().or(signal_of(&hung_up)), &mut progress, common);
            Ok(())
        })?;
        record.cell = Some(step.cell);
        record.interrupted_by = record.interrupted_by.or(signal_of(&hung_up));
        for line in suite.took(&record) {
            progress.say(&line);
        }
        let interrupted = record.interrupted_by.is_some();
        set.runs.push(record);
        if interrupted {
            break;
        }
    }
    progress.end();
    Ok(())
}

fn invocation(step: &Step, runner: &Runner, common: &Common) -> Result<Invocation> {
    let machine = Machine::new(runner.machine());
    let mut invocation = job::parse(&step.arguments, Dialect::Fathom, &machine)
        .map_err(anyhow::Error::from)
        .with_context(|| format!("cannot make the run '{}'", step.cell.name))?;
    invocation.with_serials = common.with_serials;
    invocation.allow_destroy.extend(common.allow_destroy.iter().cloned());
    Ok(invocation)
}

/// Watches until the run has ended; a signal ends it early.
fn watch(run: &Run, caught: impl Fn() -> Option<i32>, progress: &mut Progress, common: &Common) {
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
        progress.draw();
    }
}

/// Notes that the terminal is gone, unless somebody (nohup) wants that ignored.
fn hang_up() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    if !is_ignored(signal_hook::consts::SIGHUP) {
        signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::clone(&flag))?;
    }
    Ok(flag)
}

fn signal_of(hung_up: &AtomicBool) -> Option<i32> {
    hung_up.load(Ordering::Relaxed).then_some(signal_hook::consts::SIGHUP)
}

/// Whether this process was started with a signal ignored (proc_pid_status(5), SigIgn).
fn is_ignored(signal: i32) -> bool {
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

/// Keeps the records; where they are. That it was not possible is said, and costs nothing else.
pub fn save(keep: &Keep, set: &RecordSet) -> Option<PathBuf> {
    match keep.save(set) {
        Ok(path) => path,
        Err(error) => {
            say(&format!("the records are not kept: {}\n", describe(&error)));
            None
        }
    }
}

/// The last line of a report.
pub fn where_it_is(record: Option<&Path>) -> String {
    format!("\nRecord: {}\n", record.map_or("not kept".to_owned(), archive::shown))
}

/// What every command that makes several runs takes.
#[derive(Args)]
pub struct OutputArguments {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Keep the records of all runs in this file, not among the user's data
    /// ($XDG_DATA_HOME/fathom/records).
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Keep no records.
    #[arg(long, conflicts_with = "record")]
    no_record: bool,
    /// Keep the serial numbers of disks in the records.
    #[arg(long)]
    with_serials: bool,
}

impl OutputArguments {
    /// Where the records go.
    pub fn keep(&self) -> Keep {
        Keep::of(self.record.clone(), self.no_record)
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
