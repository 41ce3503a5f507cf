//! Opening the file of an archive: checks that it is one, creates it, migrates it to the current schema.

use crate::ArchiveError;
use crate::location::Location;
use crate::quarantine::{lock, with_suffix};
use rusqlite::{Connection, OpenFlags, TransactionBehavior};
use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// SQL scripts. The script at an index migrates an archive from the schema of that number to the next.
pub(crate) const SCHEMA: &[&str] = &[include_str!("schema/1.sql"), include_str!("schema/2.sql")];

/// "fthm" in the header identifies an archive (sqlite.org/fileformat.html, application ID).
pub(crate) const APPLICATION: i32 = i32::from_be_bytes(*b"fthm");
/// The first bytes of an SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";
/// Offset of the application id in the file, in big-endian order.
const APPLICATION_AT: usize = 68;
/// Time to wait for a lock of another program. Saving takes milliseconds, a checkpoint on a busy
/// disk takes seconds.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// Whether a missing archive is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Create it if it does not exist.
    Make,
    /// Fail if it does not exist.
    Existing,
}

/// What a path refers to, by the first bytes of the file.
#[derive(Debug, PartialEq, Eq)]
enum FileKind {
    Missing,
    Archive,
    Foreign(&'static str),
}

/// Opens the archive with the schema of this program.
pub(crate) fn open(
    location: &Location,
    mode: Mode,
    schema: &[&str],
    messages: &mut Vec<String>,
) -> Result<Connection, ArchiveError> {
    let path = &location.path;
    match (file_kind(path)?, mode) {
        (FileKind::Archive, _) => {}
        (FileKind::Missing, Mode::Existing) => {
            return Err(ArchiveError::Missing { path: path.clone() });
        }
        (FileKind::Missing, Mode::Make) => {
            make_directory(location)?;
            make(path, schema)?;
        }
        (FileKind::Foreign(what), _) if location.is_explicit => {
            return Err(ArchiveError::Foreign { path: path.clone(), what });
        }
        // Only fathom writes at the standard location: the file was an archive.
        (FileKind::Foreign(what), _) => {
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
    /// Checks without opening the database that the file is an archive, or can become one, or that the
    /// address of a server has no mistake.
    ///
    /// # Errors
    /// The file is something else, its directory does not exist, or it cannot be read; the mistake.
    pub fn check(&self) -> Result<(), ArchiveError> {
        if self.address()?.is_some() {
            return Ok(());
        }
        match file_kind(&self.path)? {
            FileKind::Foreign(what) if self.is_explicit => {
                Err(ArchiveError::Foreign { path: self.path.clone(), what })
            }
            FileKind::Missing
                if self.is_explicit && directory(self).is_some_and(|d| !d.is_dir()) =>
            {
                Err(ArchiveError::NoDirectory { path: self.path.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// The directory of an archive; `None` for the working directory.
fn directory(location: &Location) -> Option<&Path> {
    location.path.parent().filter(|parent| !parent.as_os_str().is_empty())
}

/// Creates the directory of the standard location. The directory of an explicit location is not
/// created, because the path may be mistyped.
fn make_directory(location: &Location) -> Result<(), ArchiveError> {
    let Some(directory) = directory(location).filter(|directory| !directory.is_dir()) else {
        return Ok(());
    };
    if location.is_explicit {
        return Err(ArchiveError::NoDirectory { path: location.path.clone() });
    }
    let created = DirBuilder::new().recursive(true).mode(0o700).create(directory);
    created
        .map_err(|error| ArchiveError::from_io(directory, "the directory cannot be made", &error))
}

fn file_kind(path: &Path) -> Result<FileKind, ArchiveError> {
    let failed = |error: std::io::Error| ArchiveError::from_io(path, "it cannot be read", &error);
    match fs::metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileKind::Missing),
        Err(error) => return Err(failed(error)),
        Ok(metadata) if metadata.is_dir() => return Ok(FileKind::Foreign("a directory")),
        Ok(metadata) if !metadata.is_file() => return Ok(FileKind::Foreign("no plain file")),
        // mktemp(1) creates empty files.
        Ok(metadata) if metadata.len() == 0 => return Ok(FileKind::Missing),
        Ok(_) => {}
    }
    let mut header = Vec::new();
    File::open(path).and_then(|file| file.take(100).read_to_end(&mut header)).map_err(failed)?;
    let application = header.get(APPLICATION_AT..APPLICATION_AT + 4);
    Ok(match (header.starts_with(MAGIC), application) {
        (true, Some(id)) if id == APPLICATION.to_be_bytes() => FileKind::Archive,
        (true, _) => FileKind::Foreign("an SQLite file of another program"),
        (false, _) => FileKind::Foreign("no SQLite file"),
    })
}

/// Device and inode of a file.
pub(crate) fn identity(path: &Path) -> Option<(u64, u64)> {
    fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Opens a connection whose commits are durable.
fn connect(path: &Path, writable: bool) -> Result<Connection, ArchiveError> {
    let access =
        if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
    let open = |path: &Path, flags: OpenFlags| -> rusqlite::Result<Connection> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(LOCK_TIMEOUT)?;
        connection.execute_batch("PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL")?;
        // SQLite reads the file at the first query, so damage is found here.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
        Ok(connection)
    };
    let opened = match (open(path, access), writable) {
        // If SQLite cannot create its shared-memory file, it can read the archive only as immutable.
        // That would miss the transactions in a write-ahead log that a killed program left.
        (Err(_), false) if !with_suffix(path, "-wal").exists() => {
            let uri = PathBuf::from(uri(path));
            open(&uri, access | OpenFlags::SQLITE_OPEN_URI)
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

/// Creates an archive atomically: writes a temporary file in the same directory, then links it.
fn make(path: &Path, schema: &[&str]) -> Result<(), ArchiveError> {
    let temporary = with_suffix(path, &format!(".{}.new", std::process::id()));
    let failed = |error: std::io::Error| ArchiveError::from_io(path, "it cannot be made", &error);
    // An earlier process with the same id may have left the file.
    let _ = fs::remove_file(&temporary);
    let result = write_new(&temporary, schema)
        .map_err(|error| ArchiveError::from_sqlite(path, &error))
        .and_then(|()| File::open(&temporary).and_then(|file| file.sync_all()).map_err(failed))
        .and_then(|()| publish(&temporary, path).map_err(failed));
    let _ = fs::remove_file(&temporary);
    result
}

/// Writes a new file with the schema. Enables the write-ahead log last, so that a single file remains
/// after closing.
fn write_new(path: &Path, schema: &[&str]) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // Command lines and notes are private.
    let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o600));
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    apply_schema(&transaction, 0, schema)?;
    transaction.commit()?;
    // On a filesystem without shared memory, SQLite keeps the rollback journal.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.close().map_err(|(_, error)| error)
}

/// Moves the new file to its path, unless another program created the archive first.
fn publish(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::hard_link(from, to) {
        Err(_) if fs::metadata(to).is_ok_and(|metadata| metadata.len() > 0) => Ok(()),
        // The path is an empty file, or the filesystem has no hard links.
        Err(_) => fs::rename(from, to),
        Ok(()) => Ok(()),
    }
}

fn apply_schema(connection: &Connection, from: i64, schema: &[&str]) -> rusqlite::Result<()> {
    for script in &schema[from as usize..] {
        connection.execute_batch(script)?;
    }
    connection.pragma_update(None, "user_version", schema.len() as i64)
}

/// Migrates an older archive to this schema, after copying it. Returns a message about the copy.
fn migrate(
    connection: &mut Connection,
    path: &Path,
    schema: &[&str],
) -> Result<Option<String>, ArchiveError> {
    let failed = |error: rusqlite::Error| ArchiveError::from_sqlite(path, &error);
    let _lock = lock(path)?;
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
    apply_schema(&transaction, from, schema).map_err(failed)?;
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
