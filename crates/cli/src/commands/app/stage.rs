//! What surrounds the phases: servers that run while they are needed, tasks that are given, work
//! that is told of.

use super::channel::Channel;
use super::refused;
use crate::output::say;
use crate::suites::{self, SuiteOptions, scratch::Scratch};
use anyhow::Result;
use apps::work::{AppRequest, DatabaseTarget, Kind, PlannedPhase};
use apps::{Connection, Database, Dsn, Failure, Server};
use job::Invocation;
use record::{Message, RunRecord, Work};
use runner::Runner;
use std::path::Path;
use suite::app::{App, Setting};
use suite::{Expected, Step, Suite};

/// Carries out a phase: this program, whatever became of its file.
const OURSELVES: &str = "/proc/self/exe";
/// The hidden command that does.
const STEP: &str = "app-step";
/// The table of a server that is ours alone.
const TABLE: &str = "fathom_rows";

/// The databases that phases work with.
#[derive(Default)]
pub struct AppFixture {
    servers: Vec<(Database, Server)>,
    databases: Vec<DatabaseTarget>,
    /// The user's own server, with the password that no record may hold.
    own: Option<(Dsn, Connection, String)>,
}

impl AppFixture {
    /// Makes the servers that are wanted, or sees whether the user's own answers.
    ///
    /// # Errors
    /// Programs that are missing; a server that cannot be made or does not answer.
    pub fn prepare(
        request: &AppRequest,
        dsn: Option<Dsn>,
        scratch: &Scratch,
    ) -> Result<AppFixture> {
        let mut fixture = AppFixture::default();
        for kind in &request.kinds {
            let Kind::Database(database) = kind else { continue };
            let base = match (&dsn, database) {
                (_, Database::Sqlite) => {
                    let file = Path::new(&scratch.path).join("sqlite.db");
                    DatabaseTarget {
                        connection: Connection::Sqlite(file),
                        table: TABLE.into(),
                        restarts: true,
                    }
                }
                (Some(dsn), _) => fixture.own(dsn.clone())?,
                (None, _) => fixture.server(*database, Path::new(&scratch.path))?,
            };
            fixture.databases.push(base);
        }
        Ok(fixture)
    }

    fn own(&mut self, dsn: Dsn) -> Result<DatabaseTarget> {
        let connection = dsn.connection().map_err(refused)?;
        // A name that nobody else has: what is made under it may be dropped.
        let table = format!("fathom_app_{}_{:08x}", std::process::id(), runner::fresh_seed());
        apps::drop_table(&connection, &table)
            .map_err(|failure| refused(Failure(format!("--dsn={}: {failure}", dsn.shown()))))?;
        self.own = Some((dsn, connection.clone(), table.clone()));
        Ok(DatabaseTarget { connection, table, restarts: false })
    }

    fn server(&mut self, database: Database, directory: &Path) -> Result<DatabaseTarget> {
        let server = Server::prepare(database, directory).map_err(refused)?;
        let connection = server.connection().map_err(refused)?;
        self.servers.push((database, server));
        Ok(DatabaseTarget { connection, table: TABLE.into(), restarts: true })
    }

    /// Lets run what a phase needs, and nothing else: a server that idles still writes.
    fn set(&mut self, planned: &PlannedPhase, go_on: &dyn Fn() -> bool) -> Result<(), Failure> {
        for (database, server) in &mut self.servers {
            if planned.server != Some(*database) || planned.restart {
                server.stop();
            }
            if planned.server == Some(*database) {
                server.start(go_on)?;
            }
        }
        Ok(())
    }
}

/// All phases, with what surrounds them.
pub struct Stage<'a> {
    app: App,
    plan: Vec<PlannedPhase>,
    fixture: AppFixture,
    channel: Channel,
    runner: &'a Runner,
    options: SuiteOptions,
    /// What was told of the last run; `None` where nothing was.
    told: Option<Work>,
    /// Why nothing more can be done.
    broken: Option<Failure>,
}

impl<'a> Stage<'a> {
    /// From the beginning.
    ///
    /// # Errors
    /// Those of the system; nothing was run.
    pub fn new(
        request: &AppRequest,
        rounds: u32,
        fixture: AppFixture,
        scratch: &Scratch,
        runner: &'a Runner,
        options: SuiteOptions,
    ) -> Result<Stage<'a>> {
        let plan = request.plan(Path::new(&scratch.path), &fixture.databases);
        let channel = Channel::new()?;
        let app = App::new(Setting {
            phases: plan.iter().map(|planned| planned.phase.clone()).collect(),
            rounds,
            program: OURSELVES.into(),
            arguments: format!("{STEP} {}", channel.name),
            directory: scratch.path.clone(),
        });
        let (told, broken) = (None, None);
        Ok(Stage { app, plan, fixture, channel, runner, options, told, broken })
    }

    fn set(&mut self) -> Result<(), Failure> {
        let Some(phase) = self.app.current() else { return Ok(()) };
        let Some(planned) = self.plan.iter().find(|planned| planned.phase.name == phase.name)
        else {
            return Ok(());
        };
        let runner = self.runner;
        self.fixture.set(planned, &|| runner.caught().is_none())?;
        self.channel.give(&planned.task).map_err(|error| Failure(format!("{error:#}")))
    }

    /// Ends everything. Why not all was done, when it was for another reason than a signal or a phase
    /// that failed.
    pub fn close(mut self) -> Option<Failure> {
        if let Some((_, connection, table)) = self.fixture.own.take()
            && let Err(failure) = apps::drop_table(&connection, &table)
        {
            say(&format!("the table {table} stays: {failure}; drop it by hand\n"));
        }
        self.broken
    }
}

/// Leaves out the password that a command line holds.
fn hide(arguments: &mut [String], dsn: &Dsn) {
    for argument in arguments {
        let value = argument.strip_prefix("--dsn=").unwrap_or(argument);
        if Dsn::parse(value).as_ref() == Ok(dsn) {
            *argument = argument.replace(value, &dsn.shown());
        }
    }
}

impl runner::SuiteTask for Stage<'_> {
    fn suite(&mut self) -> &mut dyn Suite {
        self
    }

    fn invocation(&mut self, step: &Step, runner: &Runner) -> Result<Invocation> {
        suites::invocation(step, runner, &self.options)
    }

    fn complete(&mut self, record: &mut RunRecord) {
        let work = self.told.take();
        if let Some(failure) = work.as_ref().and_then(|work| work.failure.as_ref()) {
            let name = record.cell.as_ref().map(|cell| cell.name.as_str());
            record.messages.push(Message::error(name, failure.clone()));
        }
        record.work = work;
        if let Some((dsn, ..)) = &self.fixture.own {
            hide(&mut record.invocation.arguments, dsn);
        }
    }
}

impl Suite for Stage<'_> {
    fn next(&mut self) -> Option<Step> {
        self.app.current()?;
        if let Err(failure) = self.set() {
            self.broken = self.runner.caught().is_none().then_some(failure);
            return None;
        }
        self.runner.caught().is_none().then(|| self.app.next()).flatten()
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        let phase = self.app.current().cloned().unwrap_or_default();
        self.app.completed(record);
        let mut told = self.channel.told();
        let mut lines = Vec::new();
        if record.interrupted_by.is_none() {
            let silent = || Work { failure: Some(unheard(record)), ..Work::default() };
            let work = told.get_or_insert_with(silent);
            if let Some(failure) = &work.failure {
                lines.push(format!("{} failed: {failure}", phase.name));
                self.app.give_up(&phase.work);
            }
        }
        self.told = told;
        lines
    }

    fn expected(&self) -> Expected {
        self.app.expected()
    }
}

/// Why a phase told nothing.
fn unheard(record: &RunRecord) -> String {
    let said = record.messages.iter().rev().find(|message| message.text.contains("ended with"));
    let ended = said.map_or("it ended", |message| message.text.as_str());
    format!("{ended} before it could tell what it did")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_left_on_a_command_line() {
        let url = "postgres://me:secret@db/shop";
        let dsn = Dsn::parse(url).unwrap();
        let mut line = ["fathom", "app", "postgres", "--dsn", url, &format!("--dsn={url}"), "."]
            .map(str::to_owned);
        hide(&mut line, &dsn);
        let shown = "postgres://me@db/shop";
        assert_eq!(
            line.to_vec(),
            ["fathom", "app", "postgres", "--dsn", shown, &format!("--dsn={shown}"), "."]
        );
    }
}
