//! The runs of the cells of a sweep: makes the machine ready for each, and saves its record.

use super::cell_jobs::CellJobs;
use super::settings;
use anyhow::Result;
use job::Invocation;
use record::{Message, Nanos, RunRecord};
use runner::{Runner, SuiteTask, replay};
use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use suite::sweep::{RunSlot, Sweep};
use suite::{Step, Suite};
use tuning::{CellSetup, Session};

/// The time one run takes according to its job: the longest runtime with ramp.
pub fn expected_runtime(invocation: &Invocation) -> Nanos {
    let runtime = |job: &job::Job| {
        let timing = &job.timing;
        timing.runtime.unwrap_or_default() + timing.ramp_time.unwrap_or_default()
    };
    invocation.jobs.iter().map(runtime).max().unwrap_or_default()
}

/// Runs the cells of a sweep.
pub struct Cells<'a> {
    sweep: Sweep,
    jobs: CellJobs<'a>,
    directory: PathBuf,
    /// Changes the settings of the machine for each cell, if the sweep varies any.
    session: Option<Session>,
}

impl<'a> Cells<'a> {
    /// Runs the cells that are left of a sweep.
    pub fn new(
        sweep: Sweep,
        jobs: CellJobs<'a>,
        directory: PathBuf,
        session: Option<Session>,
    ) -> Self {
        Cells { sweep, jobs, directory, session }
    }

    /// The session that changes the settings of the machine.
    pub fn session(&mut self) -> Option<&mut Session> {
        self.session.as_mut()
    }

    fn place(&self) -> Option<RunSlot> {
        self.sweep.place()
    }

    /// Number of runs that are missing.
    pub fn left(&self) -> usize {
        self.sweep.left()
    }
}

impl SuiteTask for Cells<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        &mut self.sweep
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        let at = &step.cell.at;
        let mut invocation = self.jobs.parse(at, &CellSetup::default())?;
        if let Some(session) = &mut self.session {
            let began = Instant::now();
            let setup = session.set_up(&settings::of_cell(at), &settings::targets(&invocation));
            self.sweep.took_setting(Nanos(began.elapsed().as_nanos() as u64));
            let setup = setup.map_err(settings::to_refusal)?;
            invocation = self.jobs.parse(at, &setup)?;
            invocation.mkfs_time = setup.mkfs_time;
            let notes = setup.notes.into_iter().map(|note| Message::warning(None, note));
            invocation.warnings.extend(notes);
        }
        replay::attach(&mut invocation, runner.host()).map_err(anyhow::Error::msg)?;
        Ok(invocation)
    }

    /// Records the refusal and goes on: of several filesystems, one may not support O_DIRECT.
    fn refused(&mut self, _: &Step, runner: &Runner, error: anyhow::Error) -> Result<RunRecord> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_millis() as u64);
        let invocation = record::Invocation {
            arguments: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            started_unix_ms: now,
            ended_unix_ms: now,
            ..record::Invocation::default()
        };
        Ok(RunRecord {
            schema: record::SCHEMA_VERSION,
            fathom_version: env!("CARGO_PKG_VERSION").into(),
            invocation,
            facts: runner.machine().clone(),
            messages: vec![Message::error(None, crate::output::describe(&error))],
            // A run that a signal prevented did not fail.
            interrupted_by: runner.caught(),
            ..RunRecord::default()
        })
    }

    /// Saves the run, unless it was cut short: then it is made again by --resume.
    fn save(&mut self, record: &RunRecord) -> Result<()> {
        let place = self.place().filter(|_| record.interrupted_by.is_none());
        let Some(place) = place else { return Ok(()) };
        Ok(formats::sweep::save(&self.directory, place, record)?)
    }
}
