//! Rows of a result, and why a statement failed.

use rusqlite::types::{FromSql, FromSqlError, Value};

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DatabaseError {
    /// SQLite said so.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// The server said so, or cannot be reached.
    #[error("{0}")]
    Server(String),
}

impl From<FromSqlError> for DatabaseError {
    fn from(error: FromSqlError) -> DatabaseError {
        DatabaseError::Sqlite(error.into())
    }
}

/// A row of a result.
pub(crate) struct Line(pub(super) Vec<Value>);

impl Line {
    /// The value of a column, from 0.
    ///
    /// # Errors
    /// When the column has another type.
    pub fn get<T: FromSql>(&self, column: usize) -> Result<T, DatabaseError> {
        let value = self.0.get(column).ok_or(rusqlite::Error::InvalidColumnIndex(column))?;
        Ok(T::column_result(value.into())?)
    }

    /// All values.
    pub fn values(&self) -> Vec<Value> {
        self.0.clone()
    }
}
