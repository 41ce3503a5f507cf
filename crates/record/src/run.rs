//! The record of one run: complete, versioned, and saved before anything judges it.

use crate::{
    BlockStates, Bytes, CpuUse, DepthUse, Direction, DirectionResult, DiskSample, ErrorCount,
    Evidence, Exchange, Facts, Fleet, Interval, LatencyDepth, LatencyHistory, Logs, Nanos,
    ObjectsPut, PerDirection, Sentence, Severity, SharedStamps, StampSums, SteadyResult,
    SummedWorkers, SyncResult, Timeline, Work, distinct, with_defaults,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Version of the stored form. Raise it when a field changes meaning or leaves; a new optional
/// field does not need it.
pub const SCHEMA_VERSION: u32 = 1;

/// Everything about one run: environment, the job as written and as resolved, results, samples,
/// messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// [`SCHEMA_VERSION`] of the program that made it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// The call of the program.
    pub invocation: Invocation,
    /// The text of the job files.
    pub sources: Vec<SourceText>,
    /// Options of the `[global]` sections, as written, in order.
    pub global_options: Vec<(String, String)>,
    /// The machine before the run.
    pub facts: Facts,
    /// The clock.
    pub clock: Clock,
    /// One for each worker (each clone of a job), in order of their numbers.
    pub jobs: Vec<JobRecord>,
    /// The devices under the targets, before and after.
    pub disks: Vec<DiskResult>,
    /// The machine during the run.
    pub timeline: Timeline,
    /// What was found at the start and end of the run.
    #[serde(default)]
    pub evidence: Evidence,
    /// Its place in a set of runs; `None` for a single run.
    #[serde(default)]
    pub cell: Option<Cell>,
    /// How to report the idleness of the CPUs; `None`: not at all.
    #[serde(default)]
    pub idle: Option<IdleProfile>,
    /// The work of the program that was run; `None` if none was run or it reported nothing.
    #[serde(default)]
    pub work: Option<Work>,
    /// The program whose output was imported; `None` if fathom measured the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The check after a power cut, as `fathom powercut check --json` prints it; `None` for others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub powercut: Option<serde_json::Value>,
    /// The ranks that made the run together; `None` for a run of one process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fleet: Option<Fleet>,
    /// Messages for the user, in the order in which they arose.
    pub messages: Vec<Message>,
    /// The signal that ended the run early.
    pub interrupted_by: Option<i32>,
}

/// Another program's output that was imported as a record. It has no facts of the machine, no time
/// series, and of the latencies only what was printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The program with its version ("fio-3.33").
    pub program: String,
    /// The form of its output ("JSON", "JSON+").
    pub format: String,
}

/// How the idleness of CPUs is reported, and its calibration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdleProfile {
    /// Also for each CPU.
    pub per_cpu: bool,
    /// Mean time of a unit of work on an otherwise idle CPU, in microseconds.
    pub unit_mean_us: f64,
    /// Its standard deviation, in microseconds.
    pub unit_stddev_us: f64,
}

/// The place of a run in a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of what was run. Runs of the same name are repeats.
    pub name: String,
    /// Number of the repeat, from 0.
    pub round: u32,
    /// The values of the varied dimensions, in the order of the dimensions; empty if nothing was
    /// varied.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub at: Vec<Coordinate>,
}

/// A value of a dimension of a sweep or grid.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Coordinate {
    /// The dimension: a job option, or a setting of the machine ("bs", "scheduler", "file_kb").
    pub dimension: String,
    /// The value, as written.
    pub value: String,
}

/// A set of runs, in the order in which they ran: repeats, or the cells of a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordSet {
    /// [`SCHEMA_VERSION`] of the program that made it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// The kind of set: "repeat", "test", "precondition", "diagnose", "hdparm", "app".
    pub kind: String,
    /// Seed of all random choices in its judgement (bootstrap).
    pub seed: u64,
    /// The runs, each with its [`RunRecord::cell`].
    pub runs: Vec<RunRecord>,
}

impl From<RunRecord> for RecordSet {
    /// One run as a set of kind "run".
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

    /// Name of what was run; "" in a set of one thing.
    pub fn cell_name(&self) -> &str {
        self.cell.as_ref().map_or("", |cell| &cell.name)
    }

    /// Number of the repeat, from 0.
    pub fn round(&self) -> u32 {
        self.cell.as_ref().map_or(0, |cell| cell.round)
    }
}

impl RecordSet {
    /// Adds the runs of another set as further repeats. If each set has only one cell, the two
    /// cells count as the same, whatever their names.
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

    /// The largest number of repeats of a cell.
    pub fn rounds(&self) -> u32 {
        self.runs.iter().map(|run| run.round() + 1).max().unwrap_or(0)
    }

    /// Number of different cells.
    fn cells(&self) -> usize {
        self.runs.iter().map(RunRecord::cell_name).collect::<BTreeSet<_>>().len()
    }
}

/// The call of the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Invocation {
    /// The command line, program name first.
    pub arguments: Vec<String>,
    /// Working directory.
    pub directory: String,
    /// Whether it was called under the name fio.
    pub as_fio: bool,
    /// Start of the run, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// End of the run, in milliseconds since 1970 UTC.
    pub ended_unix_ms: u64,
    /// Difference of local time to UTC at the start, in seconds; reports print local time.
    #[serde(default)]
    pub utc_offset_seconds: i32,
    /// What the run is for (`--why`); empty if nobody said.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A job file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceText {
    /// Its path; "-" for standard input.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// "tsc" or "clock_gettime".
    pub source: String,
    /// Rate of the counter, in Hz.
    pub hertz: f64,
    /// Drift of the counter against CLOCK_MONOTONIC over the run, in parts per million.
    pub drift_ppm: f64,
    /// Median cost of reading the clock.
    pub stamp: Nanos,
}

/// The report to which a worker belongs.
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

/// The target of an engine's I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Medium {
    /// Data of files or devices.
    #[default]
    Data,
    /// Space, size or names of files; no data moves.
    Metadata,
    /// The worker's own memory, or nothing that an I/O could wait for.
    Memory,
    /// A socket.
    Socket,
    /// An object store.
    Objects,
    /// None: the worker computes, or runs a program.
    Time,
    /// Files, disks or objects behind a library or a program.
    Store,
}

/// The resolved workload of a worker, to display and to compare.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Value of `rw` without its suffix ("randread").
    pub rw: String,
    /// Smallest and largest block, per direction.
    pub block_size: PerDirection<(Bytes, Bytes)>,
    /// I/O engine.
    pub ioengine: String,
    /// The target of its I/O.
    #[serde(default)]
    pub medium: Medium,
    /// Requested queue depth.
    pub iodepth: u32,
    /// O_DIRECT.
    pub direct: bool,
    /// Bytes of the worker's region, over all files.
    pub region: Bytes,
    /// Bytes after which it ends, if bytes end it.
    pub io_size: Option<Bytes>,
    /// `runtime`, if set.
    pub runtime: Option<Nanos>,
    /// Whether it runs until `runtime`, however much is moved.
    pub time_based: bool,
    /// Ramp before the measured window.
    pub ramp: Nanos,
    /// Rate limits, in bytes a second and I/Os a second.
    pub rate: PerDirection<Option<u64>>,
    /// Rate limits in I/Os a second.
    pub rate_iops: PerDirection<Option<u64>>,
    /// Files, by path.
    pub files: Vec<String>,
    /// Its region in each file, in the same order.
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

/// The setting of a worker whose reads are larger than its zones: the bytes of a zone.
pub const BLOCK_ABOVE_ZONE: &str = "block_above_zone";

/// The setting of a worker that draws its I/O from a model.
pub const REPLAY_DRAWN: &str = "replay_drawn";

/// One worker and its results.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobRecord {
    /// Name of the job it is a clone of.
    pub name: String,
    /// `description`.
    pub description: String,
    /// Index of that job in the run, from 0.
    pub job: u32,
    /// Number of the worker in the run, from 1.
    pub worker: u32,
    /// Index among the clones of its job, from 0 (`numjobs`).
    pub clone: u32,
    /// The report of its figures.
    pub group: GroupKey,
    /// Thread id.
    pub tid: u32,
    /// Options of its section, as written, in order; without the global ones.
    pub options: Vec<(String, String)>,
    /// Its workload.
    pub workload: Workload,
    /// Start of its measured window, from the run's origin.
    pub started: Nanos,
    /// Its end.
    pub ended: Nanos,
    /// Time from thread start to the end, ramp included.
    pub elapsed: Nanos,
    /// Its start on the clock of `job_start_clock_id` (by default the wall clock), in milliseconds;
    /// 0 if it did not start.
    #[serde(default)]
    pub start_clock_ms: u64,
    /// Priority of all I/Os without a priority of their own, as in ioprio_set(2); 0 if none was
    /// set.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: u16,
    /// Results per direction.
    pub results: PerDirection<DirectionResult>,
    /// Synchronisations.
    pub sync: SyncResult,
    /// Time of the synchronisation after the last I/O (`end_fsync`, `end_syncfs`,
    /// `fsync_on_close`), which is not in `sync` but is part of the window; `None` if there was
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_sync: Option<Nanos>,
    /// How long the worker waited until its log entries were taken, because they were written more slowly
    /// than it made them.
    pub log_wait: Nanos,
    /// Time to open its files before the window, creation included (`create_on_open`); `None` if it
    /// opened none, or read them in first (`pre_read`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opening: Option<Nanos>,
    /// Time to close its files after the window; `None` if it opened none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closing: Option<Nanos>,
    /// Number of zones that were reset before they were rewritten; `None` without `zonemode=zbd`.
    #[serde(default)]
    pub zone_resets: Option<u64>,
    /// Time series.
    pub intervals: Vec<Interval>,
    /// Step of the time series.
    pub interval_step: Nanos,
    /// Completion latencies over time; the first worker of a job has those of all its clones.
    #[serde(default, skip_serializing_if = "LatencyHistory::is_empty")]
    pub latency_history: LatencyHistory,
    /// Queue depth.
    pub depth: DepthUse,
    /// I/Os that share a stamp.
    #[serde(default, alias = "seams", skip_serializing_if = "SharedStamps::is_empty")]
    pub shared_stamps: SharedStamps,
    /// Sums of the stamps of its I/Os, if the run asked for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stamp_sums: Option<PerDirection<StampSums>>,
    /// CPU use.
    pub cpu: CpuUse,
    /// The errno that ended it; 0 if none did. Tolerated errors are only in `errors`.
    pub error: i32,
    /// All kinds of errors that occurred.
    pub errors: Vec<ErrorCount>,
    /// The result of the steady state detection over all workers of its report.
    #[serde(default)]
    pub steady: Option<SteadyResult>,
    /// The result of the search for the depth at its target latency.
    #[serde(default)]
    pub latency_depth: Option<LatencyDepth>,
    /// The percentiles to report.
    pub percentiles: Vec<f64>,
    /// The figures to report.
    pub show: Show,
    /// The final states of its blocks; `None` if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<BlockStates>,
    /// Its requests to an object store; `None` for other targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// The workers of several ranks that it is the sum of; `None`: it is one worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sum_of: Option<SummedWorkers>,
    /// What it moved while all ranks ran its group; `None` without ranks, or if none of its workers ran all
    /// that time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub common: Option<crate::CommonWindow>,
    /// The numbered objects that it put; `None` if it did not work on numbered objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<ObjectsPut>,
    /// The numbered objects that the workers of other ranks put, if it is the sum of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objects_of_others: Vec<ObjectsPut>,
    /// Its logs; `None` if it writes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logs: Option<Logs>,
}

with_defaults! {
    /// The parts of a report that a job's options select.
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
        /// `unit_base`: bandwidth in bits (1), in bytes (8), or either (0).
        pub unit_base: u32,
        /// `significant_figures`.
        pub significant_figures: u32 = 4,
        /// `unified_rw_reporting`: 0 none, 1 mixed, 2 both.
        pub unified: u32,
        /// `disk_util`.
        pub disk_util: bool = true,
        /// `stats`: off leaves the worker out of the report.
        pub stats: bool = true,
        /// Whether errors are counted in fio's fields, as some kind of error does not end the
        /// worker.
        #[serde(default)]
        pub errors: bool,
        /// Period over which a rate of bandwidth is taken (`bwavgtime`); 0 for the step of the
        /// intervals.
        #[serde(default)]
        pub bandwidth_period: Nanos,
        /// The same of IOPS (`iopsavgtime`).
        #[serde(default)]
        pub iops_period: Nanos,
    }
}

/// A device under the targets, before and after the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskResult {
    /// Kernel name.
    pub name: String,
    /// Names of its member disks; its line aggregates their figures.
    pub members: Vec<String>,
    /// Counters over the run.
    pub counters: DiskCounters,
}

/// Counters of one device at the start and end of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DiskCounters {
    /// Before the first I/O.
    pub before: DiskSample,
    /// After the last.
    pub after: DiskSample,
    /// Time between the two.
    pub window: Nanos,
}

/// A message for the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its severity.
    pub severity: Severity,
    /// The job that it is about, if any.
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
    /// Whether I/O of a direction bypasses the page cache. Of a copy, one file alone may be open
    /// with O_DIRECT.
    pub fn is_direct_in(&self, direction: Direction) -> bool {
        let only = self.settings.get("direct_only");
        self.direct && only.is_none_or(|only| only == direction.name())
    }
}

impl JobRecord {
    /// Completed I/Os of all directions.
    pub fn ios(&self) -> u64 {
        self.results.iter().map(|(_, r)| r.ios).sum()
    }

    /// Whether no data moved and nothing was synchronised.
    pub fn did_nothing(&self) -> bool {
        self.ios() == 0 && self.sync.count == 0
    }

    /// Whether it is no error that it does no I/O: its blocks are larger than its zones, or it draws from a
    /// model, whose pauses may be longer than its time.
    pub fn may_be_idle(&self) -> bool {
        [BLOCK_ABOVE_ZONE, REPLAY_DRAWN].iter().any(|key| self.workload.settings.contains_key(*key))
    }

    /// The directions in which I/Os were issued.
    pub fn directions(&self) -> impl Iterator<Item = Direction> + '_ {
        self.results.iter().filter(|(_, r)| r.ios_issued > 0).map(|(d, _)| d)
    }
}

/// Merges the histories of all clones of a job into that of its first worker, as reports show one
/// history per job.
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
