//! An open archive.

use crate::ArchiveError;
use crate::database::{Database, DatabaseError, Line};
use crate::location::Location;
use crate::open::{self, Mode, SCHEMA};
use crate::open_server;
use rusqlite::types::ToSql;
use std::path::{Path, PathBuf};

/// An open archive. Several programs may have it open at once.
pub struct Archive {
    pub(crate) database: Database,
    pub(crate) location: Location,
    /// The file, or the server's address without its password.
    shown: PathBuf,
    /// Device and inode of the file.
    pub(crate) file: Option<(u64, u64)>,
    messages: Vec<String>,
}

impl Archive {
    /// Opens the archive for adding. Creates it if there is none, migrates an older schema (a copy
    /// of the old file remains), and replaces a damaged archive by a new one, keeping the old file (see
    /// [`Archive::messages`]). A server gets the runs that waited for it.
    ///
    /// # Errors
    /// When it cannot be created or opened, an explicitly named file is not an archive, or a newer
    /// fathom made it.
    pub fn open(location: &Location) -> Result<Archive, ArchiveError> {
        match Archive::try_open(location, Mode::Make) {
            Err(ArchiveError::Damaged { reason, .. }) => Archive::replace(location, None, &reason),
            Ok(mut archive) => {
                archive.send_waiting();
                Ok(archive)
            }
            failed => failed,
        }
    }

    /// Opens an existing archive to read, list and label. Creates and replaces nothing. A read-only
    /// file can be read.
    ///
    /// # Errors
    /// As [`Archive::open`]; also when there is no archive or it is damaged.
    pub fn open_existing(location: &Location) -> Result<Archive, ArchiveError> {
        Archive::try_open(location, Mode::Existing)
    }

    fn try_open(location: &Location, mode: Mode) -> Result<Archive, ArchiveError> {
        let mut messages = Vec::new();
        let database = match location.address()? {
            Some(address) => open_server::open(location, &address, mode)?,
            None => Database::Sqlite(open::open(location, mode, SCHEMA, &mut messages)?),
        };
        let file = open::identity(&location.path);
        let (location, shown) = (location.clone(), location.shown());
        Ok(Archive { database, location, shown, file, messages })
    }

    /// Replaces a damaged archive by a new one and keeps the old file, unless another program
    /// has done so. `seen` identifies the file that was found damaged.
    fn replace(
        location: &Location,
        seen: Option<(u64, u64)>,
        reason: &str,
    ) -> Result<Archive, ArchiveError> {
        let _lock = crate::quarantine::lock(&location.path)?;
        let is_same = seen.is_none() || open::identity(&location.path) == seen;
        let reopened = match is_same && seen.is_some() {
            true => None,
            false => Some(Archive::try_open(location, Mode::Make)),
        };
        match reopened {
            Some(Err(ArchiveError::Damaged { .. })) | None => {}
            Some(opened) => return opened,
        }
        let renamed = crate::quarantine::rename_damaged(&location.path)?;
        let mut fresh = Archive::try_open(location, Mode::Make)?;
        fresh.messages.push(format!(
            "{}: the archive was damaged ({reason}); it was moved to {}, and a new one was made",
            location.path.display(),
            renamed.display()
        ));
        Ok(fresh)
    }

    /// Replaces an archive that was found damaged while in use.
    pub(crate) fn replace_damaged(&mut self, reason: &str) -> Result<(), ArchiveError> {
        // The old file stays open until the new one exists.
        let mut fresh = Archive::replace(&self.location, self.file, reason)?;
        fresh.messages.splice(0..0, std::mem::take(&mut self.messages));
        *self = fresh;
        Ok(())
    }

    /// The file, or the server's address without its password.
    pub fn path(&self) -> &Path {
        &self.shown
    }

    /// Adds a message (see [`Archive::messages`]).
    pub(crate) fn add_message(&mut self, message: String) {
        self.messages.push(message);
    }

    /// Messages for the user about opening and using the archive. Each is returned once.
    pub fn messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// All rows of a query.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnMut(&Line) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, ArchiveError> {
        self.database.query(sql, values, read).map_err(|error| self.failed(&error))
    }

    /// The first row of a query, if it has one.
    pub(crate) fn query_first<T>(
        &self,
        sql: &str,
        values: &[&dyn ToSql],
        read: impl FnMut(&Line) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, ArchiveError> {
        Ok(self.query(sql, values, read)?.into_iter().next())
    }

    /// Runs a change as one transaction.
    pub(crate) fn write<T>(
        &self,
        change: impl FnOnce(&Database) -> Result<T, DatabaseError>,
    ) -> Result<T, ArchiveError> {
        self.database.transaction(change).map_err(|error| self.failed(&error))
    }

    pub(crate) fn failed(&self, error: &DatabaseError) -> ArchiveError {
        ArchiveError::from_database(&self.shown, error)
    }
}
