//! What the tests ask of a database, in SQL that all of them speak.

use crate::Failure;
use crate::client::{Client, ClientCall};
use crate::rows::{COLUMNS, INDEXED, Rows};
use crate::sqlite::Sqlite;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Rows are fetched into this table, which is gone with the session.
const FETCHED: &str = "fathom_fetched";

/// Where a database is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Connection {
    /// A file; temporary files go to its directory.
    Sqlite(PathBuf),
    /// A server, through its own client.
    Client(ClientCall),
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Why the database does not answer, in its own words.
    pub(crate) fn open(&self) -> Result<Box<dyn Session>, Failure> {
        Ok(match self {
            Connection::Sqlite(file) => Box::new(Sqlite::open(file)?),
            Connection::Client(call) => Box::new(Client::open(call)?),
        })
    }
}

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

/// Removes a table of ours from a database, if it is there.
///
/// # Errors
/// What the database says against it.
pub fn drop_table(connection: &Connection, name: &str) -> Result<(), Failure> {
    connection.open()?.execute(&format!("DROP TABLE IF EXISTS {name}")).map(drop)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Takes a database through all that the tests ask of one.
    #[track_caller]
    pub(crate) fn takes_everything(connection: &Connection) {
        let rows = Rows { count: 1200, seed: 3 };
        let table = || "fathom_rows".to_owned();
        let all = |statements: &[Statement]| {
            let mut session = connection.open()?;
            statements.iter().try_for_each(|statement| statement.run(session.as_mut()))
        };
        use Statement::*;
        let fetched = [Temporary, Fetch(rows)];
        all(&[&fetched[..], &[Table(table()), Insert(table())]].concat()).unwrap();
        all(&[Count(table(), 1200), Index(table()), Count(table(), 1200)]).unwrap();
        let wrong = all(&[Count(table(), 7)]).unwrap_err();
        assert_eq!(wrong.0, "the database counts 1200 rows where 7 were inserted");
        let twice = all(&[&fetched[..], &[Insert(table())]].concat()).unwrap_err();
        let said = twice.0.to_lowercase();
        assert!(said.contains("duplicate") || said.contains("unique"), "{said}");
        let mut session = connection.open().unwrap();
        let sums = session.execute("SELECT SUM(kind) FROM fathom_rows").unwrap();
        let mut expected = 0;
        rows.each(|row| {
            expected += row.kind;
            Ok::<_, ()>(())
        })
        .unwrap();
        assert_eq!(sums, expected.to_string(), "every row arrived as it was made");
        drop(session);
        drop_table(connection, "fathom_rows").unwrap();
        assert!(all(&[Count(table(), 1200)]).is_err());
    }
}
