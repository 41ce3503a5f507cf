//! What a run looks like while it runs: a plain copy of the engine's live counters.

use crate::{Nanos, PerDirection};
use serde::{Deserialize, Serialize};

/// Where a worker is in its life. Letters as in fio's status line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u8)]
pub enum WorkerState {
    /// Planned, not started (`P`).
    #[default]
    NotStarted,
    /// Thread made (`C`).
    Created,
    /// Set up, waiting for its start (`I`).
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
    /// When, from the run's origin.
    pub at: Nanos,
    /// Every worker, in order of their numbers.
    pub workers: Vec<WorkerStatus>,
    /// Files being made, while they are.
    pub layout: Option<LayoutProgress>,
}

/// Progress of making files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LayoutProgress {
    /// Job the files are for.
    pub job: String,
    /// Files being made for it.
    pub files: u64,
    /// Bytes to write.
    pub total: u64,
    /// Bytes written.
    pub done: u64,
}

/// Live figures of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Where it is.
    pub state: WorkerState,
    /// Letter of its pattern while it runs ('R', 'r', 'W', 'w', 'M', 'm', 'D', 'd').
    pub letter: char,
    /// Files open.
    pub open_files: u32,
    /// I/Os completed since its start, ramp included.
    pub ios: PerDirection<u64>,
    /// Bytes moved since its start, ramp included.
    pub bytes: PerDirection<u64>,
    /// Directions its pattern has.
    pub directions: PerDirection<bool>,
    /// When it began to issue I/O, from the run's origin.
    pub started: Option<Nanos>,
    /// Delay before its start, counted from its phase's.
    pub start_delay: Nanos,
    /// Which phase it belongs to (jobs after a stonewall are in the next one).
    pub phase: u32,
    /// Group it reports under.
    pub group: u32,
    /// Bytes that end it, over all loops.
    pub goal_bytes: Option<u64>,
    /// Time that ends it, ramp not included.
    pub runtime: Option<Nanos>,
    /// Only time ends it.
    pub time_based: bool,
    /// Ramp before it is measured.
    pub ramp: Nanos,
    /// Bytes a second it may move at most, in all directions, where limited.
    pub rate_bytes: Option<u64>,
    /// I/Os a second it may issue at most, in all directions, where limited.
    pub rate_iops: Option<u64>,
}
