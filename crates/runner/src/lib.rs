//! The run pipeline. Every command that measures uses it, and follows the run through an observer:
//!
//! 1. [`Runner::plan`] inspects the targets and resolves the jobs into a plan. It changes nothing.
//! 2. [`Runner::execute`] runs the plan and returns the record.
//! 3. [`RunArchive::add_and_judge`] archives the record and judges it.
//!
//! [`run_suite`] does this for each run of a suite. This crate prints nothing and parses no jobs.

mod cpu_profile;
mod disk_counters;
mod error;
mod follow;
pub mod idle;
pub mod inputs;
mod kernel;
mod layers;
mod measure;
mod observer;
mod process_context;
mod publish;
mod random;
pub mod replay;
mod run_archive;
mod runner;
mod signals;
mod start_gate;
mod suite_run;
mod trigger;

pub use error::{Refusal, RefusalKind, describe};
pub use kernel::System;
pub use observer::{RunControl, RunInProgress, RunObserver};
pub use random::random_bytes;
pub use run_archive::{RunArchive, empty_set};
pub use runner::{PlannedRun, Runner, Team};
pub use signals::{Pauses, Signals, is_ignored};
pub use start_gate::{StartGate, Together};
pub use suite_run::{SuiteObserver, SuiteTask, fresh_seed, run_suite};
pub use trigger::{PATIENCE as TRIGGER_PATIENCE, Trigger};

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970, UTC.
pub(crate) fn unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64)
}
