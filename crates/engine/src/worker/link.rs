//! Messages between a worker and the supervisor.

use crate::job_record::FinishedJob;
use std::sync::mpsc::{Receiver, Sender};

/// A message from a worker to the supervisor.
pub(crate) enum WorkerReport {
    Ready,
    /// The worker's index and its record.
    Finished(usize, Box<FinishedJob>),
}

/// A worker's channels to and from the supervisor.
pub(crate) struct SupervisorLink {
    pub index: usize,
    pub reports: Sender<WorkerReport>,
    /// One message starts the I/O.
    pub start: Receiver<()>,
}

impl SupervisorLink {
    /// Reports that the worker is set up, and waits for the start of its batch. Returns false if the
    /// run ends before.
    pub(crate) fn wait_for_start(&self) -> bool {
        // A supervisor that is gone has closed both channels.
        self.reports.send(WorkerReport::Ready).is_ok() && self.start.recv().is_ok()
    }
}
