//! What people add to runs, and taking runs away.

use crate::{Archive, ArchiveError, RunId};
use rusqlite::params;

/// Characters of a tag at most.
const LONGEST: usize = 64;

/// Whether a word can be a tag: it is one word on every command line, and no other name.
///
/// # Errors
/// Why not.
fn check(tag: &str) -> Result<(), ArchiveError> {
    let plain = |c: char| c.is_alphanumeric() || "._-+:/@".contains(c);
    let reason = match tag {
        "" => "it is empty",
        _ if tag.chars().count() > LONGEST => "it has more than 64 characters",
        _ if !tag.chars().all(plain) => "letters, digits and . _ - + : / @ can be in one",
        _ if tag.starts_with('-') => "it begins as an option does",
        _ if tag == "latest" || tag.starts_with("latest~") => {
            "it is the name of what was made last"
        }
        _ => return Ok(()),
    };
    Err(ArchiveError::Tag { tag: tag.into(), reason })
}

impl Archive {
    /// Gives a run a tag, which may be there already.
    ///
    /// # Errors
    /// When there is no such run, or the word cannot be a tag.
    pub fn tag(&mut self, id: &RunId, tag: &str) -> Result<(), ArchiveError> {
        check(tag)?;
        let number = self.number(id)?;
        self.write(|connection| {
            connection
                .execute("INSERT OR IGNORE INTO tags VALUES (?1, ?2)", params![number, tag])
                .map(drop)
        })
    }

    /// Takes a tag from a run; whether it had it.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn untag(&mut self, id: &RunId, tag: &str) -> Result<bool, ArchiveError> {
        let number = self.number(id)?;
        self.write(|connection| {
            let sql = "DELETE FROM tags WHERE run = ?1 AND tag = ?2";
            connection.execute(sql, params![number, tag]).map(|count| count > 0)
        })
    }

    /// Every tag, with how many runs have it.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, ArchiveError> {
        let read = || {
            let sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY tag";
            let mut statement = self.connection.prepare_cached(sql)?;
            let count = |row: &rusqlite::Row| Ok((row.get(0)?, row.get::<_, i64>(1)? as u64));
            let tags = statement.query_map([], count)?;
            tags.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Sets the note on a run; an empty one removes it.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn set_note(&mut self, id: &RunId, note: &str) -> Result<(), ArchiveError> {
        let number = self.number(id)?;
        self.write(|connection| {
            let sql = "UPDATE runs SET note = ?2 WHERE number = ?1";
            connection.execute(sql, params![number, note]).map(drop)
        })
    }

    /// Removes runs with all that is known of them, all or none; the space is used again by those
    /// that come.
    ///
    /// # Errors
    /// When one of them is not there.
    pub fn remove(&mut self, ids: &[RunId]) -> Result<(), ArchiveError> {
        let numbers =
            ids.iter().map(|id| self.number(id)).collect::<Result<Vec<i64>, ArchiveError>>()?;
        self.write(|connection| {
            for number in &numbers {
                connection
                    .prepare_cached("DELETE FROM runs WHERE number = ?1")?
                    .execute([number])?;
            }
            let sql = "DELETE FROM sets WHERE id NOT IN \
                 (SELECT set_id FROM runs WHERE set_id IS NOT NULL)";
            connection.execute(sql, []).map(drop)
        })
    }
}
