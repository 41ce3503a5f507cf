//! An open archive.

use crate::ArchiveError;
use crate::location::Location;
use crate::open::{self, Mode, SCHEMA};
use rusqlite::{Connection, OptionalExtension, Params, Row};
use std::path::Path;

/// An open archive. Several programs may have it open at once.
pub struct Archive {
    pub(crate) connection: Connection,
    pub(crate) place: Location,
    /// Device and inode of the file.
    pub(crate) file: Option<(u64, u64)>,
    messages: Vec<String>,
}

impl Archive {
    /// Opens the archive for adding. Makes it if there is none, migrates an older schema (a copy
    /// stays beside it), and replaces a damaged archive by a new one, keeping the old file (see
    /// [`Archive::messages`]).
    ///
    /// # Errors
    /// When it cannot be made or opened, an explicitly named file is not an archive, or a newer
    /// fathom made it.
    pub fn open(place: &Location) -> Result<Archive, ArchiveError> {
        match Archive::try_open(place, Mode::Make) {
            Err(ArchiveError::Damaged { reason, .. }) => Archive::instead(place, None, &reason),
            opened => opened,
        }
    }

    /// Opens an existing archive to read, list and label. Nothing is made or replaced. A read-only
    /// file can be read.
    ///
    /// # Errors
    /// As [`Archive::open`]; also when there is no archive or it is damaged.
    pub fn open_existing(place: &Location) -> Result<Archive, ArchiveError> {
        Archive::try_open(place, Mode::Existing)
    }

    fn try_open(place: &Location, mode: Mode) -> Result<Archive, ArchiveError> {
        let mut messages = Vec::new();
        let connection = open::open(place, mode, SCHEMA, &mut messages)?;
        let file = open::identity(&place.path);
        Ok(Archive { connection, place: place.clone(), file, messages })
    }

    /// Replaces a damaged archive by a new one and keeps the old file, unless another program did
    /// so meanwhile. `seen` identifies the file that was found damaged.
    fn instead(
        place: &Location,
        seen: Option<(u64, u64)>,
        reason: &str,
    ) -> Result<Archive, ArchiveError> {
        let _held = crate::quarantine::lock(&place.path)?;
        let is_same = seen.is_none() || open::identity(&place.path) == seen;
        let again = match is_same && seen.is_some() {
            true => None,
            false => Some(Archive::try_open(place, Mode::Make)),
        };
        match again {
            Some(Err(ArchiveError::Damaged { .. })) | None => {}
            Some(opened) => return opened,
        }
        let aside = crate::quarantine::put_aside(&place.path)?;
        let mut fresh = Archive::try_open(place, Mode::Make)?;
        fresh.messages.push(format!(
            "{}: the archive was damaged ({reason}); it was moved to {}, and a new one was made",
            place.path.display(),
            aside.display()
        ));
        Ok(fresh)
    }

    /// Replaces an archive that was found damaged while in use.
    pub(crate) fn replace_damaged(&mut self, reason: &str) -> Result<(), ArchiveError> {
        // The old file stays open until the new one exists.
        let mut fresh = Archive::instead(&self.place, self.file, reason)?;
        fresh.messages.splice(0..0, std::mem::take(&mut self.messages));
        *self = fresh;
        Ok(())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Messages for the user about opening and using the archive. Each is returned once.
    pub fn messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    /// All rows of a query.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ArchiveError> {
        let query = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map(parameters, read)?.collect::<rusqlite::Result<Vec<T>>>()
        };
        query().map_err(|error| self.failed(&error))
    }

    /// The first row of a query, if it has one.
    pub(crate) fn query_first<T>(
        &self,
        sql: &str,
        parameters: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, ArchiveError> {
        let found = self.connection.query_row(sql, parameters, read).optional();
        found.map_err(|error| self.failed(&error))
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> ArchiveError {
        ArchiveError::from_sqlite(&self.place.path, error)
    }
}
