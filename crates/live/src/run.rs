//! The live state of a run: [`Moment`]s, for the picture of `fathom run --live`, for its
//! [feed](crate::feed) and for [metrics](crate::metrics).
//!
//! A [`MomentBuilder`] makes them from observations of the run. A [`RunHistory`] keeps the rates
//! for curves.

mod history;
mod moment_builder;
pub mod plain;
mod screen;
mod view;

pub use history::{Quantity, RunHistory};
pub use moment_builder::{MomentBuilder, RunObservation};
pub use screen::RunScreen;
pub use view::draw;

pub use crate::layers::LayersNow;
use crate::{Rates, Row, Stack};
use record::{LayoutProgress, Message, PerDirection, RunRecord, Severity, WorkerState, named};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Version of the feed. Raised when a field changes its meaning or is removed, not for a new field.
pub const SCHEMA: u32 = 1;

/// The identity of a run, sent once before its moments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunInfo {
    /// [`SCHEMA`] of the program that runs it.
    pub schema: u32,
    /// Version of that program.
    pub fathom_version: String,
    /// Process id.
    pub pid: u32,
    /// Number of the run in its process, from 1. A suite makes many.
    pub run: u32,
    /// Host name.
    pub hostname: String,
    /// Names of the jobs, separated by commas.
    pub name: String,
    /// The command line, program name first.
    pub arguments: Vec<String>,
    /// Working directory.
    pub directory: String,
    /// Start, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// Number of workers.
    pub workers: u32,
    /// The block devices under its targets, from the top of each stack down.
    pub devices: Vec<Row>,
}

impl RunInfo {
    /// From the record of the run so far.
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

/// The devices under the files of all jobs, without repetitions. Devices of one filesystem are
/// members of it.
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

/// The state of a run at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Moment {
    /// [`RunInfo::run`].
    pub run: u32,
    /// When, in milliseconds since 1970 UTC.
    pub unix_ms: u64,
    /// Time since the run's origin, in seconds.
    pub elapsed_seconds: f64,
    /// Expected remaining time in seconds; `None` if unknown.
    pub remaining_seconds: Option<f64>,
    /// The run is ending and waits for I/O in flight.
    pub ending: bool,
    /// Progress of the file layout, while it lasts.
    pub layout: Option<LayoutProgress>,
    /// Jobs in the order of the job file. A job holds the workers of one name and group. All jobs
    /// beyond [`MomentBuilder::JOBS_MAX`] are combined.
    pub jobs: Vec<JobNow>,
    /// Where the I/Os of the jobs spent their time in the kernel's block layer; empty without
    /// `--layers`.
    #[serde(default)]
    pub layers: Vec<LayersNow>,
    /// Rates of the machine since the previous moment; `None` in the first.
    pub machine: Option<Rates>,
    /// CPU time of the program so far, all its threads, in seconds.
    pub own_cpu_seconds: Option<f64>,
    /// CPU time of the program since the previous moment, in percent of one CPU.
    pub own_cpu_percent: Option<f64>,
    /// Findings so far.
    pub findings: Vec<FindingNow>,
    /// Messages for the user, in order.
    pub messages: Vec<Message>,
}

/// The state of a worker, the most advanced first.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// I/O is measured.
    Running,
    /// I/O during the ramp, not measured yet.
    Ramp,
    /// Reading back and verifying.
    Verifying,
    /// Waiting for fsync.
    Syncing,
    /// Reading files into the page cache before the job.
    PreReading,
    /// Closing files and collecting results.
    Ending,
    /// Not started yet.
    #[default]
    Waiting,
    /// Ended.
    Ended,
    /// Ended by an error.
    Failed,
}

named! {
    State: Running "running", Ramp "ramp", Verifying "verifying", Syncing "syncing",
        PreReading "pre-reading", Ending "ending", Waiting "waiting", Ended "ended", Failed "failed"
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

/// The state of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobNow {
    /// Name of the job.
    pub name: String,
    /// fio's groupid.
    pub group: u32,
    /// Number of workers.
    pub workers: u32,
    /// State of the most advanced worker.
    pub state: State,
    /// Number of workers in this state.
    pub in_state: u32,
    /// Pattern, block size and engine ("randread 4k io_uring").
    pub workload: String,
    /// Figures for each direction it has.
    pub directions: PerDirection<Option<DirectionNow>>,
    /// Queue depth; `None` before anything was measured.
    pub depth: Option<DepthNow>,
    /// I/O errors and failed verifications so far.
    pub errors: u64,
}

/// Figures for one direction of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionNow {
    /// I/Os completed so far, ramp included.
    pub ios: u64,
    /// Bytes moved so far, ramp included.
    pub bytes: u64,
    /// I/Os a second since the previous moment.
    pub iops: f64,
    /// Bytes a second since the previous moment.
    pub bytes_per_second: f64,
    /// I/Os a second over the measurement so far; `None` before it starts.
    pub mean_iops: Option<f64>,
    /// Bytes a second over the measurement so far; `None` before it starts.
    pub mean_bytes_per_second: Option<f64>,
    /// Completion latency in the last seconds; `None` if nothing completed.
    pub latency: Option<LatencyNow>,
}

/// Completion latencies of the last seconds, see [`MomentBuilder`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyNow {
    /// Length of the window, in seconds.
    pub seconds: f64,
    /// Number of I/Os.
    pub count: u64,
    /// Mean, in nanoseconds.
    pub mean_ns: f64,
    /// Median, in nanoseconds.
    pub p50_ns: u64,
    /// 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// 99.9th percentile, in nanoseconds.
    pub p999_ns: u64,
    /// Maximum, in nanoseconds, to the accuracy of a histogram bucket.
    pub max_ns: u64,
}

impl LatencyNow {
    /// The percentiles with their shares from 0 to 1.
    pub fn quantiles(&self) -> [(f64, u64); 3] {
        [(0.5, self.p50_ns), (0.99, self.p99_ns), (0.999, self.p999_ns)]
    }
}

/// Queue depth of all workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DepthNow {
    /// Requested.
    pub requested: u32,
    /// Mean over time since the previous moment.
    pub now: f64,
}

/// A finding about the figures so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindingNow {
    /// Id of the check ("served-from-cache").
    pub check: String,
    /// Severity.
    pub severity: Severity,
    /// The affected jobs; empty for the whole run.
    pub jobs: Vec<String>,
    /// The observation.
    pub text: String,
    /// The remedy.
    pub cure: String,
}

/// The end of a run.
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

/// The place of a finished run in the archive.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedTo {
    /// [`RunInfo::run`].
    pub run: u32,
    /// Its id in the archive.
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
    fn run_info_has_the_jobs_and_the_devices_under_their_files() {
        let info = RunInfo::new(&record(), 7, 2);
        assert_eq!((info.pid, info.run, info.workers, info.name.as_str()), (7, 2, 3, "x, y"));
        let devices: Vec<&str> = info.devices.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(devices, ["sda", "sdb"]);
        assert!(info.devices.iter().all(|row| row.member_of.is_none()));
    }
}
