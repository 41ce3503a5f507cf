//! Connections to databases.

use crate::Failure;
use crate::client::{Client, ClientCall};
use crate::session::Session;
use crate::sqlite::Sqlite;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// How to connect to a database.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Connection {
    /// A file. Temporary files are made in its directory.
    Sqlite(PathBuf),
    /// A server, through its client program.
    Client(ClientCall),
}

impl Connection {
    /// Opens a session.
    ///
    /// # Errors
    /// The error message of the database.
    pub(crate) fn open(&self) -> Result<Box<dyn Session>, Failure> {
        Ok(match self {
            Connection::Sqlite(file) => Box::new(Sqlite::open(file)?),
            Connection::Client(call) => Box::new(Client::open(call)?),
        })
    }
}

/// Removes a table from a database, if it exists.
pub fn drop_table(connection: &Connection, name: &str) -> Result<(), Failure> {
    connection.open()?.execute(&format!("DROP TABLE IF EXISTS {name}")).map(drop)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::rows::Rows;
    use crate::session::Statement;

    /// Executes every statement of the benchmark on a database.
    #[track_caller]
    pub(crate) fn executes_every_statement(connection: &Connection) {
        let rows = Rows { count: 1200, seed: 3 };
        let table = || "fathom_rows".to_owned();
        let execute = |statements: &[Statement]| {
            let mut session = connection.open()?;
            statements.iter().try_for_each(|statement| statement.run(session.as_mut()))
        };
        use Statement::*;
        let fetched = [Temporary, Fetch(rows)];
        execute(&[&fetched[..], &[Table(table()), Insert(table())]].concat()).unwrap();
        execute(&[Count(table(), 1200), Index(table()), Count(table(), 1200)]).unwrap();
        let wrong = execute(&[Count(table(), 7)]).unwrap_err();
        assert_eq!(wrong.0, "the database counts 1200 rows where 7 were inserted");
        let duplicate = execute(&[&fetched[..], &[Insert(table())]].concat()).unwrap_err();
        let message = duplicate.0.to_lowercase();
        assert!(message.contains("duplicate") || message.contains("unique"), "{message}");
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
        assert!(execute(&[Count(table(), 1200)]).is_err());
    }
}
