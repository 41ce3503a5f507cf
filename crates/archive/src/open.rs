//! Opening the file: is it ours, is it there, is its schema ours.

use crate::ArchiveError;
use crate::location::Location;
use crate::quarantine::{lock, with_suffix};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Each brings an archive from the schema of its index to the next.
pub(crate) const SCHEMA: &[&str] = &[include_str!("schema/1.sql")];

/// "fthm" in the header says whose file it is (sqlite.org/fileformat.html, application ID).
pub(crate) const APPLICATION: i32 = i32::from_be_bytes(*b"fthm");
/// How a file of SQLite begins.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Where the application id stands in it, in big-endian order.
const APPLICATION_AT: usize = 68;
/// How long another program may hold it: saving takes milliseconds, a checkpoint on a busy disk
/// seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is to be done with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is made where it is not there.
    Make,
    /// It has to be there.
    Existing,
}

/// What a file is, by its beginning.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Missing,
    Ours,
    Foreign(&'static str),
}

/// Opens it, with the schema of this program.
pub(crate) fn open(
    place: &Location,
    mode: Mode,
    schema: &[&str],
    messages: &mut Vec<String>,
) -> Result<Connection, ArchiveError> {
    let path = &place.path;
    match (kind(path)?, mode) {
        (Kind::Ours, _) => {}
        (Kind::Missing, Mode::Existing) => {
            return Err(ArchiveError::Missing { path: path.clone() });
        }
        (Kind::Missing, Mode::Make) => {
            make_directory(place)?;
            make(path, schema)?;
        }
        (Kind::Foreign(what), _) if place.is_explicit => {
            return Err(ArchiveError::Foreign { path: path.clone(), what });
        }
        // Where only we write, what is no archive was one.
        (Kind::Foreign(what), _) => {
            return Err(ArchiveError::Damaged {
                path: path.clone(),
                reason: format!("it is {what}"),
            });
        }
    }
    let mut connection = match (connect(path, true), mode) {
        (Err(ArchiveError::Unusable { .. }), Mode::Existing) => connect(path, false)?,
        (opened, _) => opened?,
    };
    let newest = schema.len() as i64;
    match version(&connection).map_err(|error| ArchiveError::from_sqlite(path, &error))? {
        found if found > newest => {
            return Err(ArchiveError::Newer { path: path.clone(), found, known: newest });
        }
        found if found < newest => messages.extend(migrate(&mut connection, path, schema)?),
        _ => {}
    }
    Ok(connection)
}

/// Whether a file that is there could be an archive; what is not there can.
///
/// # Errors
/// What it is instead.
pub(crate) fn check(place: &Location) -> Result<(), ArchiveError> {
    match kind(&place.path)? {
        Kind::Foreign(what) if place.is_explicit => {
            Err(ArchiveError::Foreign { path: place.path.clone(), what })
        }
        Kind::Missing if place.is_explicit && directory(place).is_some_and(|at| !at.is_dir()) => {
            Err(ArchiveError::NoDirectory { path: place.path.clone() })
        }
        _ => Ok(()),
    }
}

/// The directory that an archive is in; `None`: the working directory.
fn directory(place: &Location) -> Option<&Path> {
    place.path.parent().filter(|parent| !parent.as_os_str().is_empty())
}

/// Makes the usual directory; where somebody named a place, a name that is mistyped shall make none.
fn make_directory(place: &Location) -> Result<(), ArchiveError> {
    let Some(directory) = directory(place).filter(|directory| !directory.is_dir()) else {
        return Ok(());
    };
    if place.is_explicit {
        return Err(ArchiveError::NoDirectory { path: place.path.clone() });
    }
    let made = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    made.map_err(|error| ArchiveError::from_io(directory, "the directory cannot be made", &error))
}

fn kind(path: &Path) -> Result<Kind, ArchiveError> {
    let failed = |error: std::io::Error| ArchiveError::from_io(path, "it cannot be read", &error);
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Kind::Missing),
        Err(error) => return Err(failed(error)),
        Ok(there) if there.is_dir() => return Ok(Kind::Foreign("a directory")),
        Ok(there) if !there.is_file() => return Ok(Kind::Foreign("no plain file")),
        // As mktemp(1) makes them.
        Ok(there) if there.len() == 0 => return Ok(Kind::Missing),
        Ok(_) => {}
    }
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(100).read_to_end(&mut head)).map_err(failed)?;
    let application = head.get(APPLICATION_AT..APPLICATION_AT + 4);
    Ok(match (head.starts_with(MAGIC), application) {
        (true, Some(id)) if id == APPLICATION.to_be_bytes() => Kind::Ours,
        (true, _) => Kind::Foreign("an SQLite file of another program"),
        (false, _) => Kind::Foreign("no SQLite file"),
    })
}

/// Device and inode of a file.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|there| (there.dev(), there.ino()))
}

/// A connection that sees everything as it is to be seen: durable at each commit.
fn connect(path: &Path, writable: bool) -> Result<Connection, ArchiveError> {
    let way =
        if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let open = |path: &Path, flags: OpenFlags| -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL")?;
        // The first page that is really read.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    let opened = match (open(path, way), writable) {
        // Without a place for its shared memory a file can only be read as it lies there. Whatever
        // a program that ended before its time left beside it would be missed.
        (Err(_), false) if !with_suffix(path, "-wal").exists() => {
            let uri = PathBuf::from(uri(path));
            open(&uri, way | OpenFlags::SQLITE_OPEN_URI)
        }
        (opened, _) => opened,
    };
    opened.map_err(|error| ArchiveError::from_sqlite(path, &error))
}

/// As SQLite takes a file that does not change (sqlite.org/uri.html).
fn uri(path: &Path) -> String {
    let mut text = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                text.push(char::from(*byte));
            }
            other => text += &format!("%{other:02x}"),
        }
    }
    text + "?immutable=1"
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Makes an archive. It is complete or is not there: it is made beside its place and linked to it.
fn make(path: &Path, schema: &[&str]) -> Result<(), ArchiveError> {
    let beside = with_suffix(path, &format!(".{}.new", std::process::id()));
    let failed = |error: std::io::Error| ArchiveError::from_io(path, "it cannot be made", &error);
    // One that was left over by a process of this number.
    let _ = fs::remove_file(&beside);
    let made = fill(&beside, schema)
        .map_err(|error| ArchiveError::from_sqlite(path, &error))
        .and_then(|()| File::open(&beside).and_then(|file| file.sync_all()).map_err(failed))
        .and_then(|()| put(&beside, path).map_err(failed));
    let _ = fs::remove_file(&beside);
    made
}

/// A new file with the schema. The journal that lets several programs at it comes last: closed then,
/// the file is all there is.
fn fill(path: &Path, schema: &[&str]) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // Command lines and notes are nobody else's business.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    advance(&transaction, 0, schema)?;
    transaction.commit()?;
    // A filesystem that cannot share memory keeps the other kind of journal.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Gives the file its name, unless another program was faster.
fn put(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::hard_link(from, to) {
        Err(_) if fs::metadata(to).is_ok_and(|there| there.len() > 0) => Ok(()),
        // An empty file is there, or the filesystem has no links.
        Err(_) => fs::rename(from, to),
        Ok(()) => Ok(()),
    }
}

fn advance(connection: &Connection, from: i64, schema: &[&str]) -> rusqlite::Result<()> {
    for step in &schema[from as usize..] {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "user_version", schema.len() as i64)
}

/// Brings an older archive to this schema, after a copy was made beside it.
fn migrate(
    connection: &mut Connection,
    path: &Path,
    schema: &[&str],
) -> Result<Option<String>, ArchiveError> {
    let failed = |error: rusqlite::Error| ArchiveError::from_sqlite(path, &error);
    let _held = lock(path)?;
    let from = version(connection).map_err(failed)?;
    if from < 0 || from >= schema.len() as i64 {
        // Another program did it while we waited.
        return Ok(None);
    }
    let now = chrono::Local::now().format("%Y-%m-%dT%H-%M-%S");
    let backup = with_suffix(path, &format!(".schema-{from}-{now}"));
    let name = backup.to_string_lossy();
    connection.execute("VACUUM INTO ?1", [name.as_ref()]).map_err(failed)?;
    let _ = fs::set_permissions(&backup, fs::Permissions::from_mode(0o600));
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    advance(&transaction, from, schema).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(Some(format!(
        "{}: the archive was brought from schema {from} to {}; as it was it lies in {}",
        path.display(),
        schema.len(),
        backup.display()
    )))
}

#[cfg(test)]
mod tests;
