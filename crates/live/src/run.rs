//! What a run does now: [`Moment`]s, for the picture of `fathom run --live`, for whoever listens to
//! its [feed](crate::feed), and for [metrics](crate::metrics).
//!
//! A [`MomentBuilder`] makes them from looks at the run. A [`RunHistory`] keeps what curves are drawn from.

mod history;
mod moment_builder;
pub mod plain;
mod screen;
mod view;

pub use history::{Quantity, RunHistory};
pub use moment_builder::{MomentBuilder, RunObservation};
pub use screen::RunScreen;
pub use view::draw;

use crate::{Rates, Row, Stack};
use record::{LayoutProgress, Message, PerDirection, RunRecord, Severity, WorkerState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the lines of a feed. Raised when a field changes its meaning or leaves; a new one that
/// a reader may pass over does not need it.
pub const SCHEMA: u32 = 1;

/// Which run it is, told once before its moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`SCHEMA`] of the program that runs it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// Its process.
    pub pid: u32,
    /// Which run of that process it is, from 1: a suite makes many.
    pub run: u32,
    /// Its machine.
    pub hostname: String,
    /// Names of the jobs, in order, with commas.
    pub name: String,
    /// The command line, program name first.
    pub arguments: Vec<String>,
    /// Working directory.
    pub directory: String,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// How many workers it has.
    pub workers: u32,
    /// The block devices under its targets, from the top of each stack down.
    pub devices: Vec<Row>,
}

impl RunInfo {
    /// Of a record of the run so far, as the `run`th of process `pid`.
    pub fn new(record: &RunRecord, pid: u32, run: u32) -> RunInfo {
        let mut names: Vec<&str> = record.jobs.iter().map(|job| job.name.as_str()).collect();
        names.dedup();
        RunInfo {
            schema: SCHEMA,
            fathom_version: record.fathom_version.clone(),
            pid,
            run,
            hostname: record.facts.hostname.clone(),
            name: names.join(", "),
            arguments: record.invocation.arguments.clone(),
            directory: record.invocation.directory.clone(),
            started_unix_ms: record.invocation.started_unix_ms,
            workers: record.jobs.len() as u32,
            devices: devices(record),
        }
    }
}

/// The devices under the files of all jobs, each once. Those of one filesystem are legs of it; those
/// of several files are nothing of each other.
fn devices(record: &RunRecord) -> Vec<Row> {
    let files = record.jobs.iter().flat_map(|job| &job.workload.files);
    let tops: BTreeSet<Vec<&str>> = files.map(|file| record.facts.tops_of(file)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for tops in tops {
        let tops: Vec<String> = tops.into_iter().map(str::to_owned).collect();
        for row in Stack::under(&record.facts.devices, &tops).rows {
            if rows.iter().all(|known| known.name != row.name) {
                rows.push(row);
            }
        }
    }
    rows
}

/// What a run does now, and did so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// [`RunInfo::run`].
    pub run: u32,
    /// When, in milliseconds since 1970 UTC.
    pub unix_ms: u64,
    /// Time since the run's origin, in seconds.
    pub elapsed_seconds: f64,
    /// Time until it will probably have ended, in seconds; `None`: it cannot be told.
    pub remaining_seconds: Option<f64>,
    /// It was asked to end, and waits for what is in flight.
    pub ending: bool,
    /// Files being made, while they are.
    pub layout: Option<LayoutProgress>,
    /// The workers of one name and group together, in the order they were given; those beyond
    /// [`MomentBuilder::JOBS_MAX`] are one.
    pub jobs: Vec<JobNow>,
    /// What the machine did since the moment before; `None` in the first.
    pub machine: Option<Rates>,
    /// CPU time of the program so far, all its threads, in seconds.
    pub own_cpu_seconds: Option<f64>,
    /// CPU time of the program since the moment before, in percent of one CPU.
    pub own_cpu_percent: Option<f64>,
    /// What is to be known about the figures, as far as it shows while the run goes on.
    pub findings: Vec<FindingNow>,
    /// What the user should know, in the order it arose.
    pub messages: Vec<Message>,
}

/// Where the workers of a job are, most of what happens first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Measured.
    Running,
    /// Running, not yet measured.
    Ramp,
    /// Reading back what was written.
    Verifying,
    /// Waiting for a synchronisation.
    Syncing,
    /// Reading files into the page cache before.
    PreReading,
    /// Closing files, taking results together.
    Ending,
    /// Not started yet.
    #[default]
    Waiting,
    /// Ended.
    Ended,
    /// Ended by an error.
    Failed,
}

impl State {
    /// As it is shown.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ramp => "ramp",
            State::Verifying => "verifying",
            State::Syncing => "syncing",
            State::PreReading => "pre-reading",
            State::Ending => "ending",
            State::Waiting => "waiting",
            State::Ended => "ended",
            State::Failed => "failed",
        }
    }
}

impl From<WorkerState> for State {
    fn from(state: WorkerState) -> State {
        match state {
            WorkerState::NotStarted | WorkerState::Created | WorkerState::Initialized => {
                State::Waiting
            }
            WorkerState::PreReading => State::PreReading,
            WorkerState::Ramp => State::Ramp,
            WorkerState::Running => State::Running,
            WorkerState::Fsyncing => State::Syncing,
            WorkerState::Verifying => State::Verifying,
            WorkerState::Finishing => State::Ending,
            WorkerState::Exited | WorkerState::Reaped | WorkerState::Killed => State::Ended,
            WorkerState::Failed => State::Failed,
        }
    }
}

/// What the workers of a job do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobNow {
    /// Name of the job.
    pub name: String,
    /// fio's groupid.
    pub group: u32,
    /// How many workers.
    pub workers: u32,
    /// Where the foremost of them is.
    pub state: State,
    /// How many of them are there.
    pub in_state: u32,
    /// Pattern, block size and engine, in a word each ("randread 4k io_uring").
    pub workload: String,
    /// What they do in each direction they have.
    pub directions: PerDirection<Option<DirectionNow>>,
    /// Queue depth; `None` before anything was measured.
    pub depth: Option<DepthNow>,
    /// I/O errors and failed verifications so far.
    pub errors: u64,
}

/// What is done in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionNow {
    /// I/Os completed so far, ramp included.
    pub ios: u64,
    /// Bytes moved so far, ramp included.
    pub bytes: u64,
    /// I/Os a second since the moment before.
    pub iops: f64,
    /// Bytes a second since the moment before.
    pub bytes_per_second: f64,
    /// I/Os a second in what was measured so far; `None` before anything was.
    pub mean_iops: Option<f64>,
    /// Bytes a second in what was measured so far; `None` before anything was.
    pub mean_bytes_per_second: Option<f64>,
    /// Completion latency of the last seconds; `None` where nothing completed in them.
    pub latency: Option<LatencyNow>,
}

/// Completion latencies of the last seconds, see [`MomentBuilder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyNow {
    /// Over how long, in seconds.
    pub seconds: f64,
    /// Of how many I/Os.
    pub count: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// 99.9th percentile, in nanoseconds.
    pub p999_ns: u64,
    /// Longest, in nanoseconds, to the accuracy of a histogram's bucket.
    pub max_ns: u64,
}

impl LatencyNow {
    /// The percentiles it has, each with its share from 0 to 1.
    pub fn quantiles(&self) -> [(f64, u64); 3] {
        [(0.5, self.p50_ns), (0.99, self.p99_ns), (0.999, self.p999_ns)]
    }
}

/// Queue depth, of all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DepthNow {
    /// Asked for.
    pub requested: u32,
    /// Mean since the moment before, weighted by time.
    pub now: f64,
}

/// What is to be known about the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingNow {
    /// Id of the check ("served-from-cache").
    pub check: String,
    /// How grave.
    pub severity: Severity,
    /// The jobs it is about; empty: the whole run.
    pub jobs: Vec<String>,
    /// What was seen.
    pub text: String,
    /// What to do.
    pub cure: String,
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// [`RunInfo::run`].
    pub run: u32,
    /// When, in milliseconds since 1970 UTC.
    pub unix_ms: u64,
    /// The signal that ended it early.
    pub interrupted_by: Option<i32>,
    /// I/O errors and failed verifications.
    pub errors: u64,
}

/// Where a run is now that it has ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedTo {
    /// [`RunInfo::run`].
    pub run: u32,
    /// Its name in the archive.
    pub id: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{DeviceFacts, JobRecord, TargetFacts, Workload};

    fn record() -> RunRecord {
        let mut record = RunRecord::default();
        for (path, device) in [("/", "vda"), ("/a", "sda"), ("/b", "sdb"), ("/c", "sda")] {
            let target = TargetFacts { device: Some(device.into()), ..TargetFacts::default() };
            record.facts.targets.insert(path.into(), target);
            let device = DeviceFacts { name: device.into(), ..DeviceFacts::default() };
            record.facts.devices.insert(device.name.clone(), device);
        }
        let job = |name: &str, files: &[&str]| JobRecord {
            name: name.into(),
            workload: Workload {
                files: files.iter().map(|file| (*file).to_owned()).collect(),
                ..Workload::default()
            },
            ..JobRecord::default()
        };
        record.jobs = vec![job("x", &["/a", "/b"]), job("x", &["/c"]), job("y", &["/gone"])];
        record
    }

    #[test]
    fn a_run_is_told_by_its_jobs_and_the_devices_under_their_files() {
        let info = RunInfo::new(&record(), 7, 2);
        assert_eq!((info.pid, info.run, info.workers, info.name.as_str()), (7, 2, 3, "x, y"));
        let devices: Vec<&str> = info.devices.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(devices, ["sda", "sdb"]);
        assert!(info.devices.iter().all(|row| row.member_of.is_none()));
    }
}
