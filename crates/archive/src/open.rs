//! Opening the file: checks that it is an archive, makes one, brings it to the current schema.

use crate::ArchiveError;
use crate::location::Location;
use crate::quarantine::{lock, with_suffix};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// SQL scripts; each brings an archive from the schema of its index to the next.
pub(crate) const SCHEMA: &[&str] = &[include_str!("schema/1.sql")];

/// "fthm" in the header identifies an archive (sqlite.org/fileformat.html, application ID).
pub(crate) const APPLICATION: i32 = i32::from_be_bytes(*b"fthm");
/// The first bytes of an SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Offset of the application id in the file, in big-endian order.
const APPLICATION_AT: usize = 68;
/// Time to wait for a lock of another program: saving takes milliseconds, a checkpoint on a busy
/// disk seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whether a missing archive is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Make it if it does not exist.
    Make,
    /// Fail if it does not exist.
    Existing,
}

/// What a file is, by its first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Missing,
    Ours,
    Foreign(&'static str),
}

/// Opens the archive with the schema of this program.
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
        // Only fathom writes at the standard location: the file was an archive.
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

impl Location {
    /// Whether the file could be an archive; a file that does not exist yet can. Nothing is opened.
    ///
    /// # Errors
    /// What it is instead, or that it cannot be looked at.
    pub fn check(&self) -> Result<(), ArchiveError> {
        match kind(&self.path)? {
            Kind::Foreign(what) if self.is_explicit => {
                Err(ArchiveError::Foreign { path: self.path.clone(), what })
            }
            Kind::Missing if self.is_explicit && directory(self).is_some_and(|d| !d.is_dir()) => {
                Err(ArchiveError::NoDirectory { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// The directory of an archive; `None` for the working directory.
fn directory(place: &Location) -> Option<&Path> {
    place.path.parent().filter(|parent| !parent.as_os_str().is_empty())
}

/// Makes the standard directory. For a path the user gave, a typing error must not make one.
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
        // mktemp(1) makes empty files.
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

/// Opens a connection whose commits are durable.
fn connect(path: &Path, writable: bool) -> Result<Connection, ArchiveError> {
    let way =
        if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let open = |path: &Path, flags: OpenFlags| -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL")?;
        // Nothing is read before the first query.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    let opened = match (open(path, way), writable) {
        // Without room for shared memory, a file can only be read as immutable. That would miss the
        // transactions in a write-ahead log that a killed program left.
        (Err(_), false) if !with_suffix(path, "-wal").exists() => {
            let uri = PathBuf::from(uri(path));
            open(&uri, way | OpenFlags::SQLITE_OPEN_URI)
        }
        (opened, _) => opened,
    };
    opened.map_err(|error| ArchiveError::from_sqlite(path, &error))
}

/// The URI of an immutable file (sqlite.org/uri.html).
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

/// Makes an archive atomically: it is written to a temporary file beside it, then linked.
fn make(path: &Path, schema: &[&str]) -> Result<(), ArchiveError> {
    let beside = with_suffix(path, &format!(".{}.new", std::process::id()));
    let failed = |error: std::io::Error| ArchiveError::from_io(path, "it cannot be made", &error);
    // Left by an earlier process with this id.
    let _ = fs::remove_file(&beside);
    let made = fill(&beside, schema)
        .map_err(|error| ArchiveError::from_sqlite(path, &error))
        .and_then(|()| File::open(&beside).and_then(|file| file.sync_all()).map_err(failed))
        .and_then(|()| put(&beside, path).map_err(failed));
    let _ = fs::remove_file(&beside);
    made
}

/// Writes a new file with the schema. The write-ahead log is enabled last, so that closing leaves a
/// single file.
fn fill(path: &Path, schema: &[&str]) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // Command lines and notes are private.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    advance(&transaction, 0, schema)?;
    transaction.commit()?;
    // A filesystem without shared memory keeps the rollback journal.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Renames the file, unless another program made the archive first.
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

/// Brings an older archive to this schema, after making a copy beside it.
fn migrate(
    connection: &mut Connection,
    path: &Path,
    schema: &[&str],
) -> Result<Option<String>, ArchiveError> {
    let failed = |error: rusqlite::Error| ArchiveError::from_sqlite(path, &error);
    let _held = lock(path)?;
    let from = version(connection).map_err(failed)?;
    if from < 0 || from >= schema.len() as i64 {
        // Another program migrated it meanwhile.
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
        "{}: the archive was migrated from schema {from} to {}; a copy of the old one is {}",
        path.display(),
        schema.len(),
        backup.display()
    )))
}

#[cfg(test)]
mod tests;
