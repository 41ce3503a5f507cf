//! The database of an archive: an SQLite file, or a server of PostgreSQL.
//!
//! Both run the same statements, which are written in what both understand, with placeholders as `?1`
//! or `?`. What differs is in [`sqlite`] and [`postgres`]: types of columns, transactions, errors.

pub(crate) mod line;
pub(crate) mod postgres;
pub(crate) mod server;
pub(crate) mod sqlite;
mod tls;

pub(crate) use line::{DatabaseError, Line};

use postgres::Postgres;
use rusqlite::Connection;
use rusqlite::types::{FromSql, ToSql, ToSqlOutput, Value};
use std::cell::RefCell;

/// Most placeholders of a statement; SQLite accepts no more than 32 766.
const PLACEHOLDERS_MAX: usize = 900;

/// An open database.
pub(crate) enum Database {
    /// A file.
    Sqlite(Connection),
    /// A server.
    Postgres(Box<RefCell<Postgres>>),
}

impl Database {
    /// All rows of a query.
    pub fn query<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnMut(&Line) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, DatabaseError> {
        let lines = match self {
            Database::Sqlite(connection) => sqlite::query(connection, sql, values)?,
            Database::Postgres(server) => server.borrow_mut().query(sql, owned(values)?)?,
        };
        lines.iter().map(read).collect()
    }

    /// The first column of the first row of a query.
    pub fn query_one<T: FromSql>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<T, DatabaseError> {
        let found = self.query(sql, values, |line| line.get(0))?.into_iter().next();
        found.ok_or_else(|| rusqlite::Error::QueryReturnedNoRows.into())
    }

    /// Runs a statement. Returns how many rows it changed.
    pub fn execute(&self, sql: &str, values: &[&dyn ToSql]) -> Result<u64, DatabaseError> {
        match self {
            Database::Sqlite(connection) => {
                Ok(connection.prepare_cached(sql)?.execute(values)? as u64)
            }
            Database::Postgres(server) => server.borrow_mut().execute(sql, owned(values)?),
        }
    }

    /// Runs statements without values.
    pub fn batch(&self, sql: &str) -> Result<(), DatabaseError> {
        match self {
            Database::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Database::Postgres(server) => server.borrow_mut().batch(sql),
        }
    }

    /// Inserts rows, of which some may be there already. `target` is a table, or a table with its columns.
    pub fn insert(&self, target: &str, rows: &[Vec<Value>]) -> Result<(), DatabaseError> {
        let Some(width) = rows.first().map(Vec::len) else { return Ok(()) };
        for rows in rows.chunks((PLACEHOLDERS_MAX / width).max(1)) {
            let row = format!("({})", vec!["?"; width].join(", "));
            let mut sql =
                format!("INSERT INTO {target} VALUES {}", vec![row; rows.len()].join(", "));
            sql += " ON CONFLICT DO NOTHING";
            let values: Vec<&dyn ToSql> =
                rows.iter().flatten().map(|value| value as &dyn ToSql).collect();
            self.execute(&sql, &values)?;
        }
        Ok(())
    }

    /// Runs a change as one transaction.
    pub fn transaction<T>(
        &self,
        change: impl FnOnce(&Database) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        self.begin()?;
        let changed = change(self).and_then(|made| self.end("COMMIT").map(|()| made));
        if changed.is_err() {
            // The error that matters is the first one.
            let _ = self.end("ROLLBACK");
        }
        changed
    }

    fn begin(&self) -> Result<(), DatabaseError> {
        match self {
            // Immediate: a transaction that starts with a read fails if another program writes
            // meanwhile.
            Database::Sqlite(_) => self.batch("BEGIN IMMEDIATE"),
            Database::Postgres(server) => server.borrow_mut().begin(),
        }
    }

    fn end(&self, how: &str) -> Result<(), DatabaseError> {
        match self {
            Database::Sqlite(_) => self.batch(how),
            Database::Postgres(server) => server.borrow_mut().end(how),
        }
    }
}

fn owned(values: &[&dyn ToSql]) -> Result<Vec<Value>, DatabaseError> {
    let owned = |value: &&dyn ToSql| match value.to_sql()? {
        ToSqlOutput::Borrowed(value) => Ok(value.into()),
        ToSqlOutput::Owned(value) => Ok(value),
        _ => Err(rusqlite::Error::InvalidQuery.into()),
    };
    values.iter().map(owned).collect()
}
