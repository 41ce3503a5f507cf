//! The record of one run: complete, versioned, and saved before anything judges it.

use crate::{
    BlockStates, Bytes, CpuUse, DepthUse, Direction, DirectionResult, DiskSample, ErrorCount,
    Evidence, Exchange, Facts, Interval, LatencyDepth, LatencyHistory, Logs, Nanos, ObjectsPut,
    PerDirection, Sentence, SharedStamps, SteadyResult, SyncResult, Timeline, Work, distinct,
    with_defaults,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the stored form. Raise it when a field changes meaning or leaves; a new optional
/// field does not need it.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything about one run: environment, job as typed and as resolved, results, samples, messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the program that made it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// How it was called.
    pub invocation: Invocation,
    /// Job files as typed.
    pub sources: Vec<SourceText>,
    /// Options of the `[global]` sections, as typed, in order.
    pub global_options: Vec<(String, String)>,
    /// The machine before the run.
    pub facts: Facts,
    /// How time was read.
    pub clock: Clock,
    /// One for each worker (each clone of a job), in order of their numbers.
    pub jobs: Vec<JobRecord>,
    /// The devices under the targets, before and after.
    pub disks: Vec<DiskResult>,
    /// The machine during the run.
    pub timeline: Timeline,
    /// What was found at both ends of the run.
    #[serde(default)]
    pub evidence: Evidence,
    /// Which part it is of several runs made together; `None` for a run of its own.
    #[serde(default)]
    pub cell: Option<Cell>,
    /// How the idleness of the CPUs is to be reported; `None`: not at all.
    #[serde(default)]
    pub idle: Option<IdleProfile>,
    /// What the program did that was run; `None` where none was, or it did not tell.
    #[serde(default)]
    pub work: Option<Work>,
    /// The program whose output it was read from; `None`: fathom measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What the user should know, in the order it arose.
    pub messages: Vec<Message>,
    /// The signal that ended the run early.
    pub interrupted_by: Option<i32>,
}

/// Another program's output that a record was read from. It knows nothing of the machine, no time
/// series, and of latencies what was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The program with its version, as it names itself ("fio-3.33").
    pub program: String,
    /// The form of its output ("JSON", "JSON+").
    pub format: String,
}

/// How the idleness of CPUs is reported, and what idle time is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdleProfile {
    /// Each CPU, not only all together.
    pub per_cpu: bool,
    /// What a unit of work takes on a CPU that is idle otherwise, in microseconds: the mean.
    pub unit_mean_us: f64,
    /// Its standard deviation, in microseconds.
    pub unit_stddev_us: f64,
}

/// Which of several runs made together one is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// What was run; runs with the same name repeat each other.
    pub name: String,
    /// Which repeat, from 0.
    pub round: u32,
    /// Where it stands among runs over varied dimensions, in the order of the dimensions; empty
    /// where nothing was varied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Coordinate>,
}

/// One of the values a dimension of a sweep or grid was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Coordinate {
    /// What was varied: a job option, or something of the machine ("bs", "scheduler", "file_kb").
    pub dimension: String,
    /// What it was set to, as given.
    pub value: String,
}

/// Several runs made together, in the order they ran: repeats, or the cells of a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordSet {
    /// [`SCHEMA_VERSION`] of the program that made it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// What made them: "repeat", "test", "precondition", "diagnose", "hdparm", "app".
    pub kind: String,
    /// Seed of every random choice in judging it (bootstrap).
    pub seed: u64,
    /// The runs, each with its [`RunRecord::cell`].
    pub runs: Vec<RunRecord>,
}

impl From<RunRecord> for RecordSet {
    /// One run as a set of its own, of kind "run".
    fn from(run: RunRecord) -> RecordSet {
        RecordSet {
            schema: run.schema,
            fathom_version: run.fathom_version.clone(),
            kind: "run".into(),
            seed: 0,
            runs: vec![run],
        }
    }
}

impl RecordSet {
    /// What the runs are for, each intent once; empty if nobody said.
    pub fn intent(&self) -> String {
        let intents = self.runs.iter().map(RunRecord::intent).filter(|intent| !intent.is_empty());
        distinct(intents).join("; ")
    }
}

impl RunRecord {
    /// What the run is for: `--why`, else what the descriptions of its jobs say; empty if nobody said.
    pub fn intent(&self) -> String {
        // Phases of applications describe what they do, not what for.
        if !self.invocation.why.is_empty() || self.work.is_some() {
            return self.invocation.why.clone();
        }
        let described = self.jobs.iter().map(|job| job.description.as_str());
        distinct(described.filter(|text| !text.is_empty())).join("; ")
    }

    /// What was run, of several runs made together; "" where only one thing was.
    pub fn cell_name(&self) -> &str {
        self.cell.as_ref().map_or("", |cell| &cell.name)
    }

    /// Which repeat it is, from 0.
    pub fn round(&self) -> u32 {
        self.cell.as_ref().map_or(0, |cell| cell.round)
    }
}

impl RecordSet {
    /// Takes the runs of another set as further repeats of its own. Where each set has but one cell
    /// they are the same, whatever they are called.
    pub fn repeat(&mut self, mut others: RecordSet) {
        let made = self.rounds();
        let of_one = self.cells() <= 1 && others.cells() <= 1;
        let own = self.runs.first().and_then(|run| run.cell.clone()).unwrap_or_default();
        for run in &mut others.runs {
            let round = made + run.round();
            let cell = if of_one { own.clone() } else { run.cell.take().unwrap_or_default() };
            run.cell = Some(Cell { round, ..cell });
        }
        self.kind = "repeat".into();
        self.runs.extend(others.runs);
    }

    /// Repeats of what was repeated most.
    pub fn rounds(&self) -> u32 {
        self.runs.iter().map(|run| run.round() + 1).max().unwrap_or(0)
    }

    /// How many different things ran.
    fn cells(&self) -> usize {
        self.runs.iter().map(RunRecord::cell_name).collect::<BTreeSet<_>>().len()
    }
}

/// How the program was called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    /// The command line, program name first.
    pub arguments: Vec<String>,
    /// Working directory.
    pub directory: String,
    /// Called under the name fio.
    pub as_fio: bool,
    /// Wall clock when the run began, milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// Wall clock when it ended, milliseconds since 1970 UTC.
    pub ended_unix_ms: u64,
    /// How far local time was ahead of UTC then, in seconds; reports print local time.
    #[serde(default)]
    pub utc_offset_seconds: i32,
    /// What the run is for (`--why`); empty if nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A job file as typed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceText {
    /// Its path; "-" for standard input.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// How time was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// "tsc" or "clock_gettime".
    pub source: String,
    /// Rate of the counter, in Hz.
    pub hertz: f64,
    /// How far the counter ran from CLOCK_MONOTONIC over the run, in parts per million.
    pub drift_ppm: f64,
    /// Median cost of one stamp.
    pub stamp: Nanos,
}

/// Which report a worker belongs to.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct GroupKey {
    /// fio's groupid: jobs between two stonewalls or new_groups.
    pub group: u32,
    /// Workers of one group with the same value are reported together (`group_reporting`); every
    /// other worker has a value of its own.
    pub report: u32,
}

/// What the I/O of an engine goes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// Data of files or devices.
    #[default]
    Data,
    /// Space, size or names of files: no data moves.
    Metadata,
    /// Memory of the worker's own, or nothing that could be waited for.
    Memory,
    /// A socket.
    Socket,
    /// An object store.
    Objects,
    /// Only time passes: it computes, or runs a program.
    Time,
}

/// The resolved workload of a worker, for people and for comparison.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Value of `rw` without its suffix ("randread").
    pub rw: String,
    /// Smallest and largest block, per direction.
    pub block_size: PerDirection<(Bytes, Bytes)>,
    /// I/O engine.
    pub ioengine: String,
    /// What its I/O goes to.
    #[serde(default)]
    pub medium: Medium,
    /// Queue depth asked for.
    pub iodepth: u32,
    /// O_DIRECT.
    pub direct: bool,
    /// Bytes of the region the worker works in, all files together.
    pub region: Bytes,
    /// Bytes it is to move, where that is what ends it.
    pub io_size: Option<Bytes>,
    /// Time it is to run, where set.
    pub runtime: Option<Nanos>,
    /// Runs until `runtime` whatever was moved.
    pub time_based: bool,
    /// Ramp before the measured window.
    pub ramp: Nanos,
    /// Rate limits, in bytes a second and I/Os a second.
    pub rate: PerDirection<Option<u64>>,
    /// Rate limits in I/Os a second.
    pub rate_iops: PerDirection<Option<u64>>,
    /// Files, by path.
    pub files: Vec<String>,
    /// Where it works in each of them, in their order.
    #[serde(default)]
    pub regions: Vec<Region>,
    /// Other resolved settings that matter for a comparison, name → value.
    pub settings: BTreeMap<String, String>,
}

/// Part of a file or device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Region {
    /// Where it begins.
    pub start: Bytes,
    /// How long it is.
    pub length: Bytes,
}

/// What one worker was and did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Name of the job it is a clone of.
    pub name: String,
    /// `description`.
    pub description: String,
    /// Index of that job, counted over all jobs of the run from 0.
    pub job: u32,
    /// Number of the worker over the run, from 1.
    pub worker: u32,
    /// Which clone of its job it is, from 0 (`numjobs`).
    pub clone: u32,
    /// Where its figures are reported.
    pub group: GroupKey,
    /// Thread id.
    pub tid: u32,
    /// Options of its section, as typed, in order; globals not included.
    pub options: Vec<(String, String)>,
    /// What it was to do.
    pub workload: Workload,
    /// When its measured window began, from the run's origin.
    pub started: Nanos,
    /// When it ended.
    pub ended: Nanos,
    /// Time from thread start to the end, ramp included.
    pub elapsed: Nanos,
    /// What the clock chosen by `job_start_clock_id`, the wall clock by default, showed when it
    /// began, in milliseconds; 0 if it never did.
    #[serde(default)]
    pub start_clock_ms: u64,
    /// Priority of its I/O where nothing gives a single I/O another one, as ioprio_set(2) has it;
    /// 0: none was set.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: u16,
    /// Results per direction.
    pub results: PerDirection<DirectionResult>,
    /// Synchronisations.
    pub sync: SyncResult,
    /// How long the synchronisation after the last I/O took (`end_fsync`, `end_syncfs`,
    /// `fsync_on_close`), which is none of `sync` but part of the window; `None`: there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_sync: Option<Nanos>,
    /// Zones that were reset before they were written again; `None` without `zonemode=zbd`.
    #[serde(default)]
    pub zone_resets: Option<u64>,
    /// Time series.
    pub intervals: Vec<Interval>,
    /// Step of the time series.
    pub interval_step: Nanos,
    /// Completion latencies over time: in the first worker of a job those of all its clones.
    #[serde(default, skip_serializing_if = "LatencyHistory::is_empty")]
    pub latency_history: LatencyHistory,
    /// Queue depth.
    pub depth: DepthUse,
    /// I/Os that share a stamp.
    #[serde(default, alias = "seams", skip_serializing_if = "SharedStamps::is_empty")]
    pub shared_stamps: SharedStamps,
    /// CPU use.
    pub cpu: CpuUse,
    /// The errno that ended it, 0 if none did. Tolerated errors are in `errors` only.
    pub error: i32,
    /// Every kind of error it met.
    pub errors: Vec<ErrorCount>,
    /// What watching it for steadiness gave, together with the others of its report.
    #[serde(default)]
    pub steady: Option<SteadyResult>,
    /// What the search for the depth its latency allows gave.
    #[serde(default)]
    pub latency_depth: Option<LatencyDepth>,
    /// Percentiles its options ask for.
    pub percentiles: Vec<f64>,
    /// What its options ask the report to show.
    pub show: Show,
    /// What became of its blocks; `None`: they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockStates>,
    /// What was asked of an object store; `None`: its I/O goes elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// The numbered objects it put; `None`: it worked on no such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectsPut>,
    /// Its logs; `None`: it was to write none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logs: Option<Logs>,
}

with_defaults! {
    /// Which parts of a report a job's options ask for.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Show {
        /// Total latency; off with `disable_lat`.
        pub lat: bool = true,
        /// `clat_percentiles`.
        pub clat_percentiles: bool = true,
        /// `lat_percentiles`.
        pub lat_percentiles: bool,
        /// `slat_percentiles`.
        pub slat_percentiles: bool,
        /// 1024 or 1000 (`kb_base`).
        pub kb_base: u32 = 1024,
        /// `unit_base`: bandwidth in bits (1), in bytes (8), or as it comes (0).
        pub unit_base: u32,
        /// `significant_figures`.
        pub significant_figures: u32 = 4,
        /// `unified_rw_reporting`: 0 none, 1 mixed, 2 both.
        pub unified: u32,
        /// `disk_util`.
        pub disk_util: bool = true,
        /// `stats`: off leaves the worker out of the report.
        pub stats: bool = true,
        /// Errors are counted in fio's own fields: some kind of them does not end the worker.
        #[serde(default)]
        pub errors: bool,
    }
}

/// A device under the targets, before and after the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskResult {
    /// Kernel name.
    pub name: String,
    /// Names of the disks it is made of; their figures are aggregated in its line.
    pub members: Vec<String>,
    /// Counters over the run.
    pub counters: DiskCounters,
}

/// Counters of one device at both ends of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Before the first I/O.
    pub before: DiskSample,
    /// After the last.
    pub after: DiskSample,
    /// Time between the two.
    pub window: Nanos,
}

/// How grave a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Note,
    /// The figures may not mean what they seem to.
    Warning,
    /// Something failed.
    Error,
}

/// Something the user should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// How grave.
    pub severity: Severity,
    /// The job it is about, if one.
    pub job: Option<String>,
    /// One sentence or two.
    pub text: Sentence,
}

impl Message {
    /// A warning.
    pub fn warning(job: Option<&str>, text: impl Into<Sentence>) -> Self {
        Message { severity: Severity::Warning, job: job.map(Into::into), text: text.into() }
    }

    /// A note.
    pub fn note(job: Option<&str>, text: impl Into<Sentence>) -> Self {
        Message { severity: Severity::Note, job: job.map(Into::into), text: text.into() }
    }

    /// An error.
    pub fn error(job: Option<&str>, text: impl Into<Sentence>) -> Self {
        Message { severity: Severity::Error, job: job.map(Into::into), text: text.into() }
    }
}

fn is_zero(value: &u16) -> bool {
    *value == 0
}

impl Workload {
    /// Whether I/O of a direction passes the page cache by: of a copy one file alone may be opened
    /// with O_DIRECT.
    pub fn is_direct_in(&self, direction: Direction) -> bool {
        let only = self.settings.get("direct_only");
        self.direct && only.is_none_or(|only| only == direction.name())
    }
}

impl JobRecord {
    /// I/Os completed in all directions.
    pub fn ios(&self) -> u64 {
        self.results.iter().map(|(_, r)| r.ios).sum()
    }

    /// Neither data moved nor was anything synchronised.
    pub fn did_nothing(&self) -> bool {
        self.ios() == 0 && self.sync.count == 0
    }

    /// The directions in which anything was issued.
    pub fn directions(&self) -> impl Iterator<Item = Direction> + '_ {
        self.results.iter().filter(|(_, r)| r.ios_issued > 0).map(|(d, _)| d)
    }
}

/// Merges the histories of all clones of a job into that of its first worker: reports show one for each
/// job.
pub fn gather_histories(jobs: &mut [JobRecord]) {
    let mut first: BTreeMap<u32, usize> = BTreeMap::new();
    for index in 0..jobs.len() {
        let kept = *first.entry(jobs[index].job).or_insert(index);
        if kept != index {
            let history = std::mem::take(&mut jobs[index].latency_history);
            jobs[kept].latency_history.merge(history);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_intent_is_what_was_said_or_what_the_jobs_describe() {
        let job = |text: &str| JobRecord { description: text.into(), ..JobRecord::default() };
        let jobs = vec![job("as our database reads"), job(""), job("as our database reads")];
        let mut run = RunRecord { jobs, ..RunRecord::default() };
        assert_eq!(run.intent(), "as our database reads");
        run.invocation.why = "is the new disk as fast".into();
        assert_eq!(run.intent(), "is the new disk as fast");
        let phase = RunRecord {
            jobs: vec![job("gzip of one archive")],
            work: Some(Work::default()),
            ..RunRecord::default()
        };
        assert_eq!(phase.intent(), "", "a phase of an application says what, not what for");
        let runs = vec![run.clone(), phase, run];
        assert_eq!(RecordSet { runs, ..RecordSet::default() }.intent(), "is the new disk as fast");
    }
}
