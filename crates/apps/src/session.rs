//! Sessions with a database, and the statements of the benchmark in SQL that all databases support.

use crate::Failure;
use crate::rows::{COLUMNS, INDEXED, Rows};
use serde::{Deserialize, Serialize};

/// The temporary table for fetched rows. It ends with the session.
const FETCHED: &str = "fathom_fetched";

/// A session with a database.
pub(crate) trait Session {
    /// Executes SQL. Returns the first value of the result, or an empty text if there is none.
    fn execute(&mut self, sql: &str) -> Result<String, Failure>;

    /// Executes statements one after the other and fetches all their results.
    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        self.execute(sql.trim_end().trim_end_matches(';')).map(drop)
    }

    /// Loads rows into a table by the fastest method of the database, as one transaction.
    fn fill(&mut self, table: &str, rows: &Rows) -> Result<(), Failure>;
}

/// A statement of the benchmark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statement {
    /// Does nothing but open the session.
    Connect,
    /// Creates the temporary table.
    Temporary,
    /// Loads rows into the temporary table.
    Fetch(Rows),
    /// Creates an empty permanent table of this name, and drops an existing one.
    Table(String),
    /// Copies the temporary table into the permanent one.
    Insert(String),
    /// Counts the rows of the permanent table, and compares the count with the expected one.
    Count(String, u64),
    /// Creates the index over three columns of the permanent table.
    Index(String),
    /// Executes statements of the user.
    Script(String),
}

impl Statement {
    /// Executes the statement.
    pub(crate) fn run(&self, session: &mut dyn Session) -> Result<(), Failure> {
        match self {
            Statement::Connect => Ok(()),
            Statement::Temporary => {
                let sql = format!("CREATE TEMPORARY TABLE {FETCHED} ({COLUMNS})");
                session.execute(&sql).map(drop)
            }
            Statement::Fetch(rows) => session.fill(FETCHED, rows),
            Statement::Table(name) => {
                session.execute(&format!("DROP TABLE IF EXISTS {name}"))?;
                session.execute(&format!("CREATE TABLE {name} ({COLUMNS})")).map(drop)
            }
            Statement::Insert(name) => {
                session.execute(&format!("INSERT INTO {name} SELECT * FROM {FETCHED}")).map(drop)
            }
            Statement::Count(name, expected) => {
                let counted = session.execute(&format!("SELECT COUNT(*) FROM {name}"))?;
                match counted.parse() == Ok(*expected) {
                    true => Ok(()),
                    false => Err(Failure(format!(
                        "the database counts {counted} rows where {expected} were inserted"
                    ))),
                }
            }
            Statement::Script(sql) => session.script(sql),
            Statement::Index(name) => session
                .execute(&format!("CREATE INDEX {name}_three ON {name} ({INDEXED})"))
                .map(drop),
        }
    }
}
