//! Connecting to a database.

use crate::Failure;
use crate::client::{Client, ClientCall};
use crate::session::Session;
use crate::sqlite::Sqlite;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    use crate::rows::Rows;
    use crate::session::Statement;

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
