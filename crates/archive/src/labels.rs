//! Tags and notes of runs, and removing runs.

use crate::{Archive, ArchiveError, RunId};
use rusqlite::params;

/// Maximum length of a tag, in characters.
const TAG_LENGTH_MAX: usize = 64;

/// Checks that a tag needs no quotes on a command line and is not another name of a run.
pub fn check_tag(tag: &str) -> Result<(), ArchiveError> {
    let is_allowed = |c: char| c.is_alphanumeric() || "._-+:/@".contains(c);
    let reason = match tag {
        "" => "it is empty",
        _ if tag.chars().count() > TAG_LENGTH_MAX => "it has more than 64 characters",
        _ if !tag.chars().all(is_allowed) => "it may have letters, digits and . _ - + : / @",
        _ if tag.starts_with('-') => "it begins like an option",
        _ if tag == "latest" || tag.starts_with("latest~") => "it names the latest run",
        _ => return Ok(()),
    };
    Err(ArchiveError::Tag { tag: tag.into(), reason })
}

impl Archive {
    /// Adds a tag to a run. It may have the tag already.
    ///
    /// # Errors
    /// When there is no such run, or the word is not a valid tag.
    pub fn tag(&mut self, id: &RunId, tag: &str) -> Result<(), ArchiveError> {
        check_tag(tag)?;
        let number = self.number(id)?;
        let sql = "INSERT INTO tags VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        self.write(|database| database.execute(sql, params![number, tag]).map(drop))
    }

    /// Removes a tag from a run. Returns whether the run had it.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn untag(&mut self, id: &RunId, tag: &str) -> Result<bool, ArchiveError> {
        let number = self.number(id)?;
        let sql = "DELETE FROM tags WHERE run = ?1 AND tag = ?2";
        self.write(|database| database.execute(sql, params![number, tag]).map(|count| count > 0))
    }

    /// Every tag with the number of runs that have it.
    pub fn tags(&self) -> Result<Vec<(String, u64)>, ArchiveError> {
        let sql = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY tag";
        self.query(sql, &[], |row| Ok((row.get(0)?, row.get::<i64>(1)? as u64)))
    }

    /// Sets the note on a run; an empty one removes it.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn set_note(&mut self, id: &RunId, note: &str) -> Result<(), ArchiveError> {
        let number = self.number(id)?;
        let sql = "UPDATE runs SET note = ?2 WHERE number = ?1";
        self.write(|database| database.execute(sql, params![number, note]).map(drop))
    }

    /// Removes runs with their records and labels, all or none. New runs reuse the space.
    ///
    /// # Errors
    /// When one of them does not exist.
    pub fn remove(&mut self, ids: &[RunId]) -> Result<(), ArchiveError> {
        let numbers =
            ids.iter().map(|id| self.number(id)).collect::<Result<Vec<i64>, ArchiveError>>()?;
        self.write(|database| {
            for number in &numbers {
                database.execute("DELETE FROM runs WHERE number = ?1", params![number])?;
            }
            let sql = "DELETE FROM sets WHERE id NOT IN \
                 (SELECT set_id FROM runs WHERE set_id IS NOT NULL)";
            database.execute(sql, &[]).map(drop)
        })
    }
}
