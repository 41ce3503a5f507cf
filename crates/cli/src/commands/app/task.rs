//! Runs the phases of `fathom app`: switches servers, passes tasks, reads results.

use super::channel::Channel;
use super::fixture::AppFixture;
use crate::output::write_stderr;
use crate::suites::{self, SuiteOptions, scratch::Scratch};
use anyhow::Result;
use apps::Failure;
use apps::work::{AppRequest, PlannedPhase};
use job::Invocation;
use record::{Message, RunRecord, Work};
use runner::Runner;
use std::path::Path;
use suite::app::{App, Setting};
use suite::{Expected, Step, Suite};

/// The program of a phase: this one, even if its file was replaced.
const THIS_PROGRAM: &str = "/proc/self/exe";
/// The hidden subcommand that carries out a phase.
const STEP_COMMAND: &str = "app-step";

/// The suite of phases.
pub struct PhaseTask<'a> {
    app: App,
    plan: Vec<PlannedPhase>,
    fixture: AppFixture,
    channel: Channel,
    runner: &'a Runner,
    options: SuiteOptions,
    /// Result of the last phase, if it returned one.
    result: Option<Work>,
    /// Why a phase could not be prepared. No phase runs after that.
    fixture_failure: Option<Failure>,
}

impl<'a> PhaseTask<'a> {
    /// Plans all phases.
    pub fn new(
        request: &AppRequest,
        rounds: u32,
        fixture: AppFixture,
        scratch: &Scratch,
        runner: &'a Runner,
        options: SuiteOptions,
    ) -> Result<PhaseTask<'a>> {
        let plan = request.plan(Path::new(&scratch.path), &fixture.databases);
        let channel = Channel::new()?;
        let app = App::new(Setting {
            phases: plan.iter().map(|planned| planned.phase.clone()).collect(),
            rounds,
            program: THIS_PROGRAM.into(),
            arguments: format!("{STEP_COMMAND} {}", channel.name),
            directory: scratch.path.clone(),
        });
        Ok(PhaseTask {
            app,
            plan,
            fixture,
            channel,
            runner,
            options,
            result: None,
            fixture_failure: None,
        })
    }

    /// Names of all phases, in order.
    pub fn phases(&self) -> impl Iterator<Item = &str> {
        self.plan.iter().map(|planned| planned.phase.name.as_str())
    }

    /// Prepares the servers and the task of the next phase.
    fn prepare_phase(&mut self) -> Result<(), Failure> {
        let Some(phase) = self.app.current() else { return Ok(()) };
        let Some(planned) = self.plan.iter().find(|planned| planned.phase.name == phase.name)
        else {
            return Ok(());
        };
        let runner = self.runner;
        self.fixture.switch_servers(planned, &|| runner.caught().is_none())?;
        self.channel.write_task(&planned.task).map_err(|error| Failure(format!("{error:#}")))
    }

    /// Drops the table and stops the servers. Returns why a phase could not be prepared, if so.
    pub fn close(mut self) -> Option<Failure> {
        if let Some((connection, table)) = self.fixture.user_server.take()
            && let Err(failure) = apps::drop_table(&connection, &table)
        {
            write_stderr(&format!("cannot drop the table {table}: {failure}; drop it by hand\n"));
        }
        self.fixture_failure
    }
}

impl runner::SuiteTask for PhaseTask<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        self
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        suites::invocation(step, runner, &self.options)
    }

    fn complete(&mut self, record: &mut RunRecord) {
        let work = self.result.take();
        if let Some(failure) = work.as_ref().and_then(|work| work.failure.as_ref()) {
            let name = record.cell.as_ref().map(|cell| cell.name.as_str());
            record.messages.push(Message::error(name, failure.clone()));
        }
        record.work = work;
    }
}

impl Suite for PhaseTask<'_> {
    fn next(&mut self) -> Option<Step> {
        self.app.current()?;
        if let Err(failure) = self.prepare_phase() {
            self.fixture_failure = self.runner.caught().is_none().then_some(failure);
            return None;
        }
        self.runner.caught().is_none().then(|| self.app.next()).flatten()
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        let phase = self.app.current().cloned().unwrap_or_default();
        self.app.completed(record);
        let mut result = self.channel.read_result();
        let mut lines = Vec::new();
        if record.interrupted_by.is_none() {
            let missing = || Work { failure: Some(missing_result(record)), ..Work::default() };
            let work = result.get_or_insert_with(missing);
            if let Some(failure) = &work.failure {
                lines.push(format!("{} failed: {failure}", phase.name));
                self.app.give_up(&phase.work);
            }
        }
        self.result = result;
        lines
    }

    fn expected(&self) -> Expected {
        self.app.expected()
    }
}

/// Why a phase returned no result.
fn missing_result(record: &RunRecord) -> String {
    let ended_with =
        record.messages.iter().rev().find(|message| message.text.contains("ended with"));
    let ended = ended_with.map_or("it ended", |message| message.text.as_str());
    format!("{ended} before it returned a result")
}
