//! The databases that phases of `fathom app` use.

use crate::suites::scratch::Scratch;
use anyhow::Result;
use apps::work::{AppRequest, DatabaseTarget, Kind, PlannedPhase};
use apps::{Connection, Database, Dsn, Failure, Server};
use runner::Refusal;
use std::path::Path;

/// The table in databases that this program made.
const TABLE: &str = "fathom_rows";

/// The databases that phases use.
#[derive(Default)]
pub struct AppFixture {
    servers: Vec<(Database, Server)>,
    pub databases: Vec<DatabaseTarget>,
    /// The server of --dsn, a connection to it, and the name of the table. Its password must not get
    /// into a record.
    pub user_server: Option<(Connection, String)>,
}

impl AppFixture {
    /// Sets up the servers of the chosen benchmarks, or connects to that of --dsn.
    ///
    /// # Errors
    /// When programs are missing, or a server cannot be set up or does not answer.
    pub fn prepare(
        request: &AppRequest,
        dsn: Option<Dsn>,
        scratch: &Scratch,
    ) -> Result<AppFixture> {
        let mut fixture = AppFixture::default();
        for kind in &request.kinds {
            let Kind::Database(database) = kind else { continue };
            let target = match (&dsn, database) {
                (_, Database::Sqlite) => {
                    let file = Path::new(&scratch.path).join("sqlite.db");
                    DatabaseTarget {
                        connection: Connection::Sqlite(file),
                        table: TABLE.into(),
                        restarts: true,
                    }
                }
                (Some(dsn), _) => fixture.connect(dsn.clone())?,
                (None, _) => fixture.set_up_server(*database, Path::new(&scratch.path))?,
            };
            fixture.databases.push(target);
        }
        Ok(fixture)
    }

    fn connect(&mut self, dsn: Dsn) -> Result<DatabaseTarget> {
        let connection = dsn.connection().map_err(refused)?;
        // The name is unique, so the table may be dropped.
        let table = format!("fathom_app_{}_{:08x}", std::process::id(), runner::fresh_seed());
        apps::drop_table(&connection, &table)
            .map_err(|failure| refused(Failure(format!("--dsn={}: {failure}", dsn.shown()))))?;
        self.user_server = Some((connection.clone(), table.clone()));
        Ok(DatabaseTarget { connection, table, restarts: false })
    }

    fn set_up_server(&mut self, database: Database, directory: &Path) -> Result<DatabaseTarget> {
        let server = Server::prepare(database, directory).map_err(refused)?;
        let connection = server.connection().map_err(refused)?;
        self.servers.push((database, server));
        Ok(DatabaseTarget { connection, table: TABLE.into(), restarts: true })
    }

    /// Starts the server of a phase and stops the others: an idle server still writes.
    pub fn switch_servers(
        &mut self,
        planned: &PlannedPhase,
        should_continue: &dyn Fn() -> bool,
    ) -> Result<(), Failure> {
        for (database, server) in &mut self.servers {
            if planned.server != Some(*database) || planned.restart {
                server.stop();
            }
            if planned.server == Some(*database) {
                server.start(should_continue)?;
            }
        }
        Ok(())
    }
}

/// A failure of the fixture, as a refusal of the target.
pub fn refused(failure: Failure) -> anyhow::Error {
    Refusal::target(failure.0)
}
