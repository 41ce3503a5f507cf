//! A worker's slow path for tests of the loop without threads or files.

use super::slow_path::WorkerSlowPath;
use crate::files::OpenFiles;
use crate::job_record::JobRecordBuilder;
use crate::live::LiveWorker;
use plan::Worker;
use record::CpuUse;

/// The slow path of a worker that starts at the origin.
pub(crate) fn slow_path<'a, 'w>(
    worker: &'w Worker,
    live: &'a LiveWorker,
    files: OpenFiles<'w>,
    builder: &'a mut JobRecordBuilder<'w>,
) -> WorkerSlowPath<'a, 'w> {
    WorkerSlowPath {
        worker,
        live,
        files,
        builder,
        ramp_end: worker.stop.ramp.0,
        ramp_bytes: None,
        deadline: worker.stop.runtime.map_or(u64::MAX, |r| worker.stop.ramp.0 + r.0),
        cpu_before: CpuUse::default(),
        usage: &CpuUse::default,
        floor: None,
        interim: None,
    }
}
