//! Observers of a run in progress.

use crate::Signals;
use crate::layers::LayerTimer;
use anyhow::Result;
use engine::Run;
use live::feed::Hub;
use record::RunRecord;
use std::sync::Arc;

/// A run in progress.
pub struct RunInProgress<'a> {
    /// The run.
    pub run: &'a Run,
    /// Signals that came.
    pub signals: &'a Signals,
    /// The live feed of this process.
    pub hub: &'a Arc<Hub>,
    pub(crate) record: &'a (dyn Fn() -> RunRecord + Sync),
    pub(crate) layers: Option<&'a LayerTimer>,
}

impl RunInProgress<'_> {
    /// The results so far, from each worker's latest snapshot; without what is read only before
    /// and after a run.
    pub fn so_far(&self) -> RunRecord {
        (self.record)()
    }
}

/// What an observer wants done with the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunControl {
    /// End the run early.
    pub stop: bool,
    /// Call [`RunObserver::interim`] as soon as the workers have results.
    pub report: bool,
}

/// Observes a run in progress. An error of an observer ends the run, and the runner returns it.
pub trait RunObserver {
    /// The engine makes files of a job before its I/O.
    fn laying_out(&mut self, _job: &str, _files: u64, _bytes: u64) -> Result<()> {
        Ok(())
    }

    /// Lines of `--debug` that workers wrote.
    fn traced(&mut self, _lines: &str) -> Result<()> {
        Ok(())
    }

    /// Whether [`RunObserver::interim`] does anything: making the results so far takes time.
    fn wants_interim_results(&self) -> bool {
        false
    }

    /// The results so far: at each status interval, on SIGUSR1, and when [`RunControl::report`] asks.
    fn interim(&mut self, _record: RunRecord) -> Result<()> {
        Ok(())
    }

    /// Called every 50 ms.
    fn poll(&mut self, _run: &RunInProgress) -> Result<RunControl> {
        Ok(RunControl::default())
    }

    /// The run has ended; its record is not complete yet.
    fn ended(&mut self, _run: &RunInProgress) -> Result<()> {
        Ok(())
    }

    /// Adds to the record what only the caller knows, before the record is archived and judged.
    fn complete(&mut self, _record: &mut RunRecord) {}
}
