//! SQLite, with its own settings: a rollback journal, and everything durable at each commit.

use crate::Failure;
use crate::rows::Rows;
use crate::session::Session;
use rusqlite::Connection;
use rusqlite::fallible_iterator::FallibleIterator;
use rusqlite::types::ValueRef;
use std::path::Path;

/// A session with a file.
pub(crate) struct Sqlite(Connection);

fn failed(error: rusqlite::Error) -> Failure {
    Failure(format!("SQLite: {error}"))
}

impl Sqlite {
    /// Opens a file, which is created if it does not exist. Temporary tables that do not fit into
    /// memory go to its directory.
    pub(crate) fn open(file: &Path) -> Result<Sqlite, Failure> {
        let connection = Connection::open(file).map_err(failed)?;
        let directory = file.parent().unwrap_or(Path::new(".")).display().to_string();
        let quoted = directory.replace('\'', "''");
        let pragma = format!("PRAGMA temp_store_directory = '{quoted}'");
        connection.execute_batch(&pragma).map_err(failed)?;
        Ok(Sqlite(connection))
    }
}

impl Session for Sqlite {
    fn execute(&mut self, sql: &str) -> Result<String, Failure> {
        let mut statement = self.0.prepare(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let Some(row) = rows.next().map_err(failed)? else { return Ok(String::new()) };
        Ok(match row.get_ref(0).map_err(failed)? {
            ValueRef::Integer(value) => value.to_string(),
            ValueRef::Text(text) => String::from_utf8_lossy(text).into_owned(),
            other => format!("{other:?}"),
        })
    }

    fn script(&mut self, sql: &str) -> Result<(), Failure> {
        let mut statements = rusqlite::Batch::new(&self.0, sql);
        while let Some(mut statement) = statements.next().map_err(failed)? {
            let mut rows = statement.query([]).map_err(failed)?;
            while rows.next().map_err(failed)?.is_some() {}
        }
        Ok(())
    }

    fn fill(&mut self, table: &str, rows: &Rows) -> Result<(), Failure> {
        let transaction = self.0.transaction().map_err(failed)?;
        {
            let sql = format!("INSERT INTO {table} VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
            let mut insert = transaction.prepare(&sql).map_err(failed)?;
            // All values are below 2^63.
            let number = |value: u64| value as i64;
            rows.each(|row| {
                let values = (
                    number(row.id),
                    number(row.customer),
                    row.city,
                    number(row.kind),
                    number(row.amount),
                    row.note,
                );
                insert.execute(values).map(drop)
            })
            .map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use crate::connection::Connection;
    use crate::connection::tests::executes_every_statement;

    #[test]
    fn a_file_executes_every_statement() {
        let scratch = testbed::scratch();
        let quoted = scratch.path().join("it's here");
        std::fs::create_dir(&quoted).unwrap();
        executes_every_statement(&Connection::Sqlite(quoted.join("x.db")));
    }

    #[test]
    fn a_file_that_cannot_be_made_is_an_error() {
        let error = Connection::Sqlite("/nowhere/at/all".into()).open().err().unwrap();
        assert!(error.0.starts_with("SQLite: unable to open"), "{error}");
    }
}
