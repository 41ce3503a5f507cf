//! Opening an archive on a server: creates its tables, and migrates them.

use crate::database::postgres::Postgres;
use crate::database::server::Address;
use crate::database::{Database, DatabaseError};
use crate::open::Mode;
use crate::{ArchiveError, Location};
use std::cell::RefCell;

/// SQL scripts. The script at an index migrates an archive from the schema of that number to the next,
/// and sets the version.
const SCHEMA: &[&str] = &[include_str!("schema/postgres-1.sql")];
/// "fthm": programs that migrate at once do it one after the other.
const LOCK: i32 = crate::open::APPLICATION;

/// Connects, and makes or migrates the tables.
pub(crate) fn open(
    location: &Location,
    address: &Address,
    mode: Mode,
) -> Result<Database, ArchiveError> {
    let shown = location.shown();
    let failed = |error: DatabaseError| ArchiveError::from_database(&shown, &error);
    let server = Postgres::connect(address).map_err(failed)?;
    let database = Database::Postgres(Box::new(RefCell::new(server)));
    let newest = SCHEMA.len() as i64;
    let found = match (version(&database).map_err(failed)?, mode) {
        (None, Mode::Existing) => return Err(ArchiveError::Missing { path: shown }),
        (found, _) if found != Some(newest) => {
            database.transaction(migrate).map_err(failed)?;
            version(&database).map_err(failed)?
        }
        (found, _) => found,
    };
    match found {
        Some(found) if found > newest => {
            Err(ArchiveError::Newer { path: shown, found, known: newest })
        }
        _ => Ok(database),
    }
}

/// The version of the schema; `None` without an archive.
fn version(database: &Database) -> Result<Option<i64>, DatabaseError> {
    let sql = "SELECT count(*) FROM pg_namespace WHERE nspname = 'fathom'";
    if database.query_one::<i64>(sql, &[])? == 0 {
        return Ok(None);
    }
    database.query_one("SELECT max(version) FROM fathom.schema_version", &[]).map(Some)
}

fn migrate(database: &Database) -> Result<(), DatabaseError> {
    database.query(&format!("SELECT 1 FROM pg_advisory_xact_lock({LOCK})"), &[], |_| Ok(()))?;
    let found = version(database)?.unwrap_or_default().max(0) as usize;
    SCHEMA.iter().skip(found).try_for_each(|script| database.batch(script))
}
