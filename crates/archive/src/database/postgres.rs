//! A connection to a server of PostgreSQL.

use super::line::{DatabaseError, Line};
use super::server::Address;

use bytes::BytesMut;
use rusqlite::types::Value;
use std::collections::HashMap;
use std::error::Error;
use std::fmt::Write;
use std::future::Future;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::error::SqlState;
use tokio_postgres::tls::MakeTlsConnect;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Config, NoTls, Row, Socket, Statement};

/// The longest time for a connection with its log-in.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The longest time for a statement. A list of a million runs takes seconds.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// An open connection. It is made again if the server closed it between two transactions.
pub(crate) struct Postgres {
    runtime: Runtime,
    client: Client,
    address: Address,
    statements: HashMap<String, Statement>,
    is_in_transaction: bool,
}

impl Postgres {
    /// Connects and logs in.
    ///
    /// # Errors
    /// Why it cannot, in the words of the system or the server.
    pub fn connect(address: &Address) -> Result<Postgres, DatabaseError> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| DatabaseError::Server(error.to_string()))?;
        let client = connected(&runtime, address)?;
        let (address, statements) = (address.clone(), HashMap::new());
        Ok(Postgres { runtime, client, address, statements, is_in_transaction: false })
    }

    /// All rows of a query.
    pub fn query(&mut self, sql: &str, values: Vec<Value>) -> Result<Vec<Line>, DatabaseError> {
        let statement = self.prepared(sql)?;
        let values: Vec<Bound> = values.into_iter().map(Bound).collect();
        let bound = references(&values);
        let rows =
            with_timeout(&self.runtime, STATEMENT_TIMEOUT, self.client.query(&statement, &bound))?;
        rows.iter().map(line).collect()
    }

    /// Runs a statement. Returns how many rows it changed.
    pub fn execute(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, DatabaseError> {
        let statement = self.prepared(sql)?;
        let values: Vec<Bound> = values.into_iter().map(Bound).collect();
        let bound = references(&values);
        with_timeout(&self.runtime, STATEMENT_TIMEOUT, self.client.execute(&statement, &bound))
    }

    /// Runs statements without values.
    pub fn batch(&mut self, sql: &str) -> Result<(), DatabaseError> {
        self.revive()?;
        with_timeout(&self.runtime, STATEMENT_TIMEOUT, self.client.batch_execute(sql))
    }

    /// Begins a transaction.
    pub fn begin(&mut self) -> Result<(), DatabaseError> {
        self.batch("BEGIN")?;
        self.is_in_transaction = true;
        Ok(())
    }

    /// Ends the transaction by COMMIT or ROLLBACK.
    pub fn end(&mut self, how: &str) -> Result<(), DatabaseError> {
        let ended = self.batch(how);
        self.is_in_transaction &= ended.is_err() && how != "ROLLBACK";
        ended
    }

    /// Prepares a statement, or returns it if it was prepared before. Statements that insert many rows are
    /// not kept: their text depends on the number of rows.
    fn prepared(&mut self, sql: &str) -> Result<Statement, DatabaseError> {
        self.revive()?;
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let text = in_postgres(sql);
        let statement = with_timeout(&self.runtime, STATEMENT_TIMEOUT, self.client.prepare(&text))?;
        if sql.len() < 2000 {
            self.statements.insert(sql.to_owned(), statement.clone());
        }
        Ok(statement)
    }

    /// Connects again to a server that closed the connection, but not in the middle of a transaction: its
    /// beginning is lost.
    fn revive(&mut self) -> Result<(), DatabaseError> {
        // What the server said meanwhile is read now.
        self.runtime.block_on(tokio::task::yield_now());
        if self.client.is_closed() {
            if self.is_in_transaction {
                return Err(DatabaseError::Server("the server closed the connection".into()));
            }
            self.client = connected(&self.runtime, &self.address)?;
            self.statements.clear();
        }
        Ok(())
    }
}

fn references(values: &[Bound]) -> Vec<&(dyn ToSql + Sync)> {
    values.iter().map(|value| value as _).collect()
}

/// Connects, logs in, and selects our schema.
fn connected(runtime: &Runtime, address: &Address) -> Result<Client, DatabaseError> {
    let tls = address.tls().map_err(DatabaseError::Server)?;
    let connect = async {
        let client = match tls {
            None => logged_in(&address.config, NoTls).await?,
            Some(tls) => logged_in(&address.config, tls).await?,
        };
        client.batch_execute("SET search_path TO fathom").await?;
        Ok(client)
    };
    with_timeout(runtime, CONNECT_TIMEOUT, connect)
}

async fn logged_in<T>(config: &Config, tls: T) -> Result<Client, tokio_postgres::Error>
where
    T: MakeTlsConnect<Socket>,
    T::Stream: Send + 'static,
{
    let (client, connection) = config.connect(tls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Waits for the result of `work`, at most this long.
fn with_timeout<T>(
    runtime: &Runtime,
    timeout: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, DatabaseError> {
    match runtime.block_on(async { tokio::time::timeout(timeout, work).await }) {
        Ok(done) => done.map_err(|error| DatabaseError::Server(described(&error))),
        Err(_) => {
            let text = format!("the server did not answer within {} s", timeout.as_secs());
            Err(DatabaseError::Server(text))
        }
    }
}

/// The server's own words, or those of the system, and what to do about missing rights.
fn described(error: &tokio_postgres::Error) -> String {
    let Some(said) = error.as_db_error() else {
        let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
        return format!("{error}{cause}");
    };
    let help = match *said.code() {
        SqlState::INSUFFICIENT_PRIVILEGE => {
            "; the owner of the archive grants rights: fathom runs grant reader ROLE, or writer"
        }
        _ => "",
    };
    format!("{}{help}", said.message())
}

/// A row as values of SQLite's types.
fn line(row: &Row) -> Result<Line, DatabaseError> {
    let value = |column: usize| -> Result<Value, tokio_postgres::Error> {
        Ok(match *row.columns()[column].type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(column)?.into(),
            Type::INT4 => row.try_get::<_, Option<i32>>(column)?.into(),
            Type::FLOAT8 => row.try_get::<_, Option<f64>>(column)?.into(),
            Type::BOOL => row.try_get::<_, Option<bool>>(column)?.into(),
            Type::BYTEA => row.try_get::<_, Option<Vec<u8>>>(column)?.into(),
            _ => row.try_get::<_, Option<String>>(column)?.into(),
        })
    };
    let values = (0..row.len()).map(value).collect::<Result<_, _>>();
    values.map(Line).map_err(|error| DatabaseError::Server(described(&error)))
}

/// A value for a placeholder, whose type the server states.
#[derive(Debug)]
struct Bound(Value);

impl ToSql for Bound {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match (&self.0, kind) {
            (Value::Null, _) => Ok(IsNull::Yes),
            (Value::Integer(value), &Type::INT4) => i32::try_from(*value)?.to_sql(kind, out),
            (Value::Integer(value), &Type::FLOAT8) => (*value as f64).to_sql(kind, out),
            (Value::Integer(value), &Type::INT8) => value.to_sql(kind, out),
            (Value::Real(value), &Type::FLOAT8) => value.to_sql(kind, out),
            // A text of PostgreSQL has no zero byte.
            (Value::Text(value), &Type::TEXT) if value.contains('\0') => {
                value.replace('\0', "\u{fffd}").to_sql(kind, out)
            }
            (Value::Text(value), &Type::TEXT) => value.to_sql(kind, out),
            (Value::Blob(value), &Type::BYTEA) => value.to_sql(kind, out),
            (value, kind) => Err(format!("a {} where a {kind} is", value.data_type()).into()),
        }
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// The statement with the placeholders of PostgreSQL: `$1` for `?1`, and for a `?` the next number.
/// LIKE compares there as SQLite's does, whatever the case of letters.
fn in_postgres(sql: &str) -> String {
    let mut parts = sql.split('?');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (index, part) in parts.enumerate() {
        out.push('$');
        if !part.starts_with(|c: char| c.is_ascii_digit()) {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}", index + 1);
        }
        out += part;
    }
    out.replace(" LIKE ", " ILIKE ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_for_postgres() {
        let cases = [
            ("SELECT 1", "SELECT 1"),
            ("a = ?2 AND b = ?1", "a = $2 AND b = $1"),
            ("a LIKE ? OR b IN (?, ?)", "a ILIKE $1 OR b IN ($2, $3)"),
        ];
        for (ours, theirs) in cases {
            assert_eq!(in_postgres(ours), theirs);
        }
    }
}
