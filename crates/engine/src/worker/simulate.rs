//! A worker's rare steps for tests of the loop without threads or files.

use super::build::Builder;
use super::steps::WorkerSteps;
use crate::files::OpenFiles;
use crate::live::LiveWorker;
use plan::Worker;
use record::{CpuUse, JobRecord, Nanos};

/// What the steps borrow.
pub(crate) struct Parts<'w>(Builder<'w>);

impl<'w> Parts<'w> {
    pub(crate) fn new(worker: &'w Worker) -> Self {
        Parts(Builder::new(worker, Nanos(500_000_000)))
    }

    pub(crate) fn record(self) -> JobRecord {
        self.0.into_record()
    }
}

/// The steps of a worker that starts at the origin.
pub(crate) fn steps_for<'a, 'w>(
    worker: &'w Worker,
    live: &'a LiveWorker,
    files: OpenFiles<'w>,
    parts: &'a mut Parts<'w>,
) -> WorkerSteps<'a, 'w> {
    WorkerSteps {
        worker,
        live,
        files,
        builder: &mut parts.0,
        ramp_end: worker.stop.ramp.0,
        ramp_bytes: None,
        deadline: worker.stop.runtime.map_or(u64::MAX, |r| worker.stop.ramp.0 + r.0),
        cpu_before: CpuUse::default(),
        usage: &CpuUse::default,
        floor: None,
        interim: None,
    }
}
