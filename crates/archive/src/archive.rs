//! An open archive.

use crate::ArchiveError;
use crate::location::Location;
use crate::open::{self, Mode, SCHEMA};
use rusqlite::Connection;
use std::path::Path;

/// An open archive. Several programs may have it open at once.
pub struct Archive {
    pub(crate) connection: Connection,
    pub(crate) place: Location,
    /// Which file it is: device and inode.
    pub(crate) file: Option<(u64, u64)>,
    messages: Vec<String>,
}

impl Archive {
    /// Opens it to add to; it is made where there is none, brought to the schema of this program
    /// where it is older (a copy stays beside), and put aside where it is damaged, for a new one
    /// (see [`Archive::messages`]).
    ///
    /// # Errors
    /// When it cannot be made or opened, is something else that somebody named, or is of a newer
    /// program.
    pub fn open(place: &Location) -> Result<Archive, ArchiveError> {
        match Archive::try_open(place, Mode::Make) {
            Err(ArchiveError::Damaged { reason, .. }) => Archive::instead(place, None, &reason),
            opened => opened,
        }
    }

    /// Opens one that is there to read, list and label: nothing is made or put aside. Where it may
    /// not be written to, reading works all the same.
    ///
    /// # Errors
    /// As [`Archive::open`]; when there is none, and when it is damaged.
    pub fn open_existing(place: &Location) -> Result<Archive, ArchiveError> {
        Archive::try_open(place, Mode::Existing)
    }

    fn try_open(place: &Location, mode: Mode) -> Result<Archive, ArchiveError> {
        let mut messages = Vec::new();
        let connection = open::open(place, mode, SCHEMA, &mut messages)?;
        let file = open::identity(&place.path);
        Ok(Archive { connection, place: place.clone(), file, messages })
    }

    /// A new one in place of a damaged one, which is put aside: unless somebody else did that
    /// meanwhile. `seen` is the file that was found damaged.
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
            "{}: the archive was damaged ({reason}); it lies in {} now, and a new one was begun",
            place.path.display(),
            aside.display()
        ));
        Ok(fresh)
    }

    /// Puts the file aside that was found damaged while it was used, and goes on with a new one.
    pub(crate) fn replace_damaged(&mut self, reason: &str) -> Result<(), ArchiveError> {
        // What is still open of the old one is closed only when the new one is there.
        let mut fresh = Archive::instead(&self.place, self.file, reason)?;
        fresh.messages.splice(0..0, std::mem::take(&mut self.messages));
        *self = fresh;
        Ok(())
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// What the user should know of opening and using it, a line each, once.
    pub fn messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.messages)
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> ArchiveError {
        ArchiveError::from_sqlite(&self.place.path, error)
    }
}
