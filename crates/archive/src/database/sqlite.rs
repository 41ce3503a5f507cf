//! Queries of an SQLite file.

use super::line::{DatabaseError, Line};
use rusqlite::Connection;
use rusqlite::types::{ToSql, Value};

/// All rows of a query.
pub fn query(
    connection: &Connection,
    sql: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Line>, DatabaseError> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let line = |row: &rusqlite::Row| -> rusqlite::Result<Line> {
        (0..columns).map(|column| row.get::<_, Value>(column)).collect::<Result<_, _>>().map(Line)
    };
    Ok(statement.query_map(values, line)?.collect::<rusqlite::Result<_>>()?)
}
