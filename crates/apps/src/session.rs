//! What the tests ask of a database, in SQL that all of them speak.

use crate::Failure;
use crate::rows::{COLUMNS, INDEXED, Rows};
use serde::{Deserialize, Serialize};

/// Rows are fetched into this table, which is gone with the session.
const FETCHED: &str = "fathom_fetched";

/// A session with a database.
pub(crate) trait Session {
    /// Has it do something; the first value of what it answers, empty where that is nothing.
    ///
    /// # Errors
    /// What it says against it.
    fn execute(&mut self, sql: &str) -> Result<String, Failure>;

    /// Sends rows into a table, in the way that is fastest with this database, as one transaction.
    ///
    /// # Errors
    /// What it says against it.
    fn fill(&mut self, table: &str, rows: &Rows) -> Result<(), Failure>;
}

/// One thing the tests ask of a database.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Statement {
    /// Nothing, so that there is a session.
    Connect,
    /// Makes the temporary table, empty.
    Temporary,
    /// Sends rows into the temporary table.
    Fetch(Rows),
    /// Makes a permanent table of this name, empty; one that was there is gone.
    Table(String),
    /// Copies the temporary table into the permanent one.
    Insert(String),
    /// Counts the rows of the permanent table, and holds them against how many there should be.
    Count(String, u64),
    /// Makes the index over three columns of the permanent table.
    Index(String),
}

impl Statement {
    /// Has it done.
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
            Statement::Index(name) => session
                .execute(&format!("CREATE INDEX {name}_three ON {name} ({INDEXED})"))
                .map(drop),
        }
    }
}
