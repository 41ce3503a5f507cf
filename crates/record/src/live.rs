//! The state of a run while it runs: a copy of the engine's live counters.

use crate::{Nanos, PerDirection};
use serde::{Deserialize, Serialize};

/// The state of a worker. The letters are those of fio's status line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum WorkerState {
    /// Planned, not started (`P`).
    #[default]
    NotStarted,
    /// Thread created (`C`).
    Created,
    /// Set up, waiting to start (`I`).
    Initialized,
    /// Reading its files into the cache (`p`).
    PreReading,
    /// Running, not yet measured (`/`).
    Ramp,
    /// Running and measured (`R`, `r`, `W`, `w`, `M`, `m`, `D`, `d` by its pattern).
    Running,
    /// Waiting for a synchronisation (`F`).
    Fsyncing,
    /// Verifying (`V`).
    Verifying,
    /// Ending (`f`).
    Finishing,
    /// Ended, result not yet taken (`E`).
    Exited,
    /// Ended, result taken (`_`).
    Reaped,
    /// Ended with an error (`X`).
    Failed,
    /// Ended by a signal (`K`).
    Killed,
}

/// A copy of the live figures of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The time, from the run's origin.
    pub at: Nanos,
    /// The workers, in order of their numbers.
    pub workers: Vec<WorkerStatus>,
    /// Progress of the layout of files, during layout.
    pub layout: Option<LayoutProgress>,
}

/// Progress of the layout of files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayoutProgress {
    /// The job of the files.
    pub job: String,
    /// Number of files.
    pub files: u64,
    /// Bytes to write.
    pub total: u64,
    /// Written bytes.
    pub done: u64,
}

/// Live figures of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its state.
    pub state: WorkerState,
    /// Letter of its pattern while it runs ('R', 'r', 'W', 'w', 'M', 'm', 'D', 'd').
    pub letter: char,
    /// Number of open files.
    pub open_files: u32,
    /// I/Os completed since its start, ramp included.
    pub ios: PerDirection<u64>,
    /// Bytes moved since its start, ramp included.
    pub bytes: PerDirection<u64>,
    /// The directions of its pattern.
    pub directions: PerDirection<bool>,
    /// The start of its I/O, from the run's origin.
    pub started: Option<Nanos>,
    /// Delay of its start after the start of its phase.
    pub start_delay: Nanos,
    /// Its phase (jobs after a stonewall are in the next one).
    pub phase: u32,
    /// The group of its report.
    pub group: u32,
    /// Bytes after which it ends, over all loops.
    pub goal_bytes: Option<u64>,
    /// Its `runtime`; the ramp time is not included.
    pub runtime: Option<Nanos>,
    /// Whether it ends only by time.
    pub time_based: bool,
    /// Ramp before its measured window.
    pub ramp: Nanos,
    /// Limit of its bandwidth in bytes per second, over all directions, if there is one.
    pub rate_bytes: Option<u64>,
    /// Limit of its rate in I/Os per second, over all directions, if there is one.
    pub rate_iops: Option<u64>,
}
