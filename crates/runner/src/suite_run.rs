//! Runs a suite: plans, executes, archives and judges each of its runs, to its end or until a signal.

use crate::observer::{RunControl, RunInProgress, RunObserver};
use crate::run_archive::RunArchive;
use crate::runner::Runner;
use anyhow::Result;
use job::Invocation;
use record::{Cell, Message, RecordSet, RunRecord};
use std::time::{SystemTime, UNIX_EPOCH};
use suite::{Expected, Step, Suite};

/// A seed that differs from call to call, short enough to be typed again.
pub fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| u64::from(now.subsec_nanos()))
}

/// A suite, with what its command does around the runs.
pub trait SuiteTask {
    /// The suite.
    fn suite(&mut self) -> &mut dyn Suite;

    /// The parsed run of a step; the machine is ready for it.
    ///
    /// # Errors
    /// Why the run cannot be made; see [`SuiteTask::refused`].
    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation>;

    /// The record of a run that cannot be made, for a suite that goes on with its other runs.
    ///
    /// # Errors
    /// The error, if the suite ends here.
    fn refused(
        &mut self,
        _step: &Step,
        _runner: &Runner,
        error: anyhow::Error,
    ) -> Result<RunRecord> {
        Err(error)
    }

    /// Called every 50 ms while a run goes on.
    fn poll(&mut self, _run: &RunInProgress) {}

    /// Saves or shows a run before anything else happens.
    ///
    /// # Errors
    /// When it cannot be saved; the suite ends then.
    fn save(&mut self, _record: &RunRecord) -> Result<()> {
        Ok(())
    }

    /// Adds to the record what the suite learned from the run, before it is archived.
    fn complete(&mut self, _record: &mut RunRecord) {}
}

/// Shows how far a suite is.
pub trait SuiteObserver {
    /// What the part of the suite that goes on now is for. Called before each of its steps.
    fn part(&mut self, _text: &'static str) {}
    /// A step begins.
    fn begin(&mut self, description: &str, expected: Expected);
    /// Called every 50 ms while a run goes on.
    fn tick(&mut self);
    /// Remarks on a run before it starts.
    fn messages(&mut self, messages: &[Message]);
    /// A line about a finished run.
    fn line(&mut self, text: &str);
    /// A signal ends the current run.
    fn stopping(&mut self, signal: i32);
    /// A run has ended: other text may follow.
    fn end(&mut self);
}

/// Runs a suite. Each run is in `set` and in the archive as soon as it ended, also when this fails.
/// Returns the signal that ended the suite early.
///
/// # Errors
/// When a run cannot be planned or started, and errors of `task`. Errors of I/O are in the records.
pub fn run_suite(
    task: &mut dyn SuiteTask,
    runner: &Runner,
    set: &mut RecordSet,
    archive: &mut RunArchive,
    observer: &mut dyn SuiteObserver,
) -> Result<Option<i32>> {
    runner.signals()?.catch_hang_up()?;
    while let Some(step) = task.suite().next() {
        // A signal may come while nothing runs.
        if let Some(signal) = runner.caught() {
            return Ok(Some(signal));
        }
        let mut one =
            OneRun { task, observer, cell: step.cell.clone(), stopping: false, failure: None };
        let record = one.run(&step, runner, archive)?;
        let failure = one.failure;
        let interrupted_by = record.interrupted_by;
        for note in archive.take_notes().lines() {
            observer.line(note);
        }
        set.runs.push(record);
        match (failure, interrupted_by) {
            (Some(failure), _) => return Err(failure),
            (None, Some(signal)) => return Ok(Some(signal)),
            (None, None) => {}
        }
    }
    Ok(None)
}

/// One run of a suite.
struct OneRun<'a> {
    task: &'a mut dyn SuiteTask,
    observer: &'a mut dyn SuiteObserver,
    cell: Cell,
    stopping: bool,
    /// Why the record could not be saved by the task.
    failure: Option<anyhow::Error>,
}

impl OneRun<'_> {
    fn run(&mut self, step: &Step, runner: &Runner, archive: &mut RunArchive) -> Result<RunRecord> {
        if let Some(text) = self.task.suite().part() {
            self.observer.part(text);
        }
        self.observer.begin(&step.description, self.task.suite().expected());
        let planned = self.task.invocation(step, runner).and_then(|invocation| {
            let planned = runner.plan(&invocation)?;
            Ok((invocation, planned))
        });
        match planned {
            Ok((invocation, planned)) => {
                self.observer.messages(&planned.messages);
                self.observer.begin(&step.description, self.task.suite().expected());
                let record = runner.execute(planned, &invocation, self)?;
                archive.add_with_summary(&record);
                Ok(record)
            }
            Err(error) => {
                let mut record = self.task.refused(step, runner, error)?;
                self.complete(&mut record);
                archive.add_with_summary(&record);
                Ok(record)
            }
        }
    }
}

impl RunObserver for OneRun<'_> {
    fn poll(&mut self, run: &RunInProgress) -> Result<RunControl> {
        if let (Some(signal), false) = (run.signals.caught(), self.stopping) {
            self.stopping = true;
            self.observer.stopping(signal);
        }
        self.task.poll(run);
        self.observer.tick();
        Ok(RunControl { stop: self.stopping, report: false })
    }

    fn complete(&mut self, record: &mut RunRecord) {
        record.cell = Some(self.cell.clone());
        self.observer.end();
        self.failure = self.task.save(record).err();
        if self.failure.is_none() {
            for line in self.task.suite().completed(record) {
                self.observer.line(&line);
            }
            self.task.complete(record);
        }
    }
}
