//! What names stand for.

use crate::{Archive, ArchiveError, RunId, SetId};
use rusqlite::{OptionalExtension, params};

/// Digits of an id that are a name: fewer are a typing error.
const ID_DIGITS_MIN: usize = 4;
/// Candidates that are told.
const CANDIDATES_SHOWN: usize = 4;
/// Differences of a tag from what was typed within which it is meant.
const TAG_DISTANCE_MAX: usize = 2;

/// What a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOrSet {
    /// One run.
    Run(RunId),
    /// Several that were made together.
    Set(SetId),
}

impl Archive {
    /// What a name stands for: the id of a run or set or four or more digits it begins with, a tag,
    /// `latest` (what was made last: a run, or runs together), `latest~2` (two before that).
    ///
    /// # Errors
    /// When it stands for nothing, or for several things.
    pub fn resolve(&self, name: &str) -> Result<RunOrSet, ArchiveError> {
        if let Some(back) = steps_back(name) {
            return self.latest(back)?.ok_or_else(|| self.unknown(name));
        }
        if let Some(named) = self.find_tag(name)? {
            return Ok(named);
        }
        let looks_like_id =
            name.len() >= ID_DIGITS_MIN && name.bytes().all(|b| b.is_ascii_hexdigit());
        let found =
            if looks_like_id { self.with_id_prefix(&name.to_lowercase())? } else { Vec::new() };
        match &found[..] {
            [] => Err(self.unknown(name)),
            [one] => Ok(one.clone()),
            several => Err(ambiguous(name, several)),
        }
    }

    /// The one run a name stands for; of `latest`, the last.
    ///
    /// # Errors
    /// As [`Archive::resolve`], and when it stands for several runs made together.
    pub fn find(&self, name: &str) -> Result<RunId, ArchiveError> {
        let set = match self.resolve(name)? {
            RunOrSet::Run(id) => return Ok(id),
            RunOrSet::Set(set) => set,
        };
        let mut members = self.members(&set)?;
        match (members.pop(), members.is_empty() || steps_back(name).is_some()) {
            (Some(last), true) => Ok(last),
            (last, _) => {
                members.extend(last);
                let several: Vec<RunOrSet> = members.into_iter().map(RunOrSet::Run).collect();
                Err(ambiguous(name, &several))
            }
        }
    }

    /// Every run a name stands for.
    ///
    /// # Errors
    /// As [`Archive::resolve`].
    pub fn find_all(&self, name: &str) -> Result<Vec<RunId>, ArchiveError> {
        match self.resolve(name)? {
            RunOrSet::Run(id) => Ok(vec![id]),
            RunOrSet::Set(set) => self.members(&set),
        }
    }

    /// The number of a run, by which tables are joined.
    pub(crate) fn number(&self, id: &RunId) -> Result<i64, ArchiveError> {
        let sql = "SELECT number FROM runs WHERE id = ?1";
        let found = self.connection.query_row(sql, [&id.0], |row| row.get(0)).optional();
        found.map_err(|error| self.failed(&error))?.ok_or_else(|| self.unknown(&id.0))
    }

    /// The error that nothing is called so.
    pub(crate) fn unknown(&self, name: &str) -> ArchiveError {
        let tags = self.tags().unwrap_or_default();
        let distance = |tag: &&(String, u64)| strsim::levenshtein(name, &tag.0);
        let near = tags.iter().min_by_key(distance).filter(|tag| distance(tag) <= TAG_DISTANCE_MAX);
        let near =
            near.map_or(String::new(), |(tag, _)| format!("; did you mean the tag '{tag}'?"));
        ArchiveError::Unknown { name: name.into(), near }
    }

    /// What was made last, or so many things before; runs made together are one thing, at the time
    /// of their last.
    fn latest(&self, back: u64) -> Result<Option<RunOrSet>, ArchiveError> {
        let sql = "SELECT set_id, id FROM runs WHERE number IN (SELECT number FROM (SELECT number, \
             max(started_ms) AS at FROM runs GROUP BY coalesce(set_id, id))) ORDER BY started_ms \
             DESC, number DESC LIMIT 1 OFFSET ?1";
        let named = |row: &rusqlite::Row| named(row.get(0)?, row.get(1)?);
        let found = self.connection.query_row(sql, params![back as i64], named).optional();
        found.map_err(|error| self.failed(&error))
    }

    /// What has a tag: a run, or the set all its runs are of.
    fn find_tag(&self, tag: &str) -> Result<Option<RunOrSet>, ArchiveError> {
        let read = || {
            let sql = "SELECT set_id, id FROM runs JOIN tags ON run = number WHERE tag = ?1 \
                 ORDER BY number";
            let mut statement = self.connection.prepare_cached(sql)?;
            let found = statement.query_map([tag], |row| Ok((row.get(0)?, row.get(1)?)))?;
            found.collect::<rusqlite::Result<Vec<(Option<String>, String)>>>()
        };
        let found = read().map_err(|error| self.failed(&error))?;
        match &found[..] {
            [] => Ok(None),
            [(_, id)] => Ok(Some(RunOrSet::Run(RunId(id.clone())))),
            [(Some(set), _), others @ ..]
                if others.iter().all(|(other, _)| other.as_ref() == Some(set)) =>
            {
                Ok(Some(RunOrSet::Set(SetId(set.clone()))))
            }
            several => {
                let run = |(_, id): &(Option<String>, String)| RunOrSet::Run(RunId(id.clone()));
                Err(ambiguous(tag, &several.iter().map(run).collect::<Vec<_>>()))
            }
        }
    }

    fn with_id_prefix(&self, digits: &str) -> Result<Vec<RunOrSet>, ArchiveError> {
        let read = |sql: &str, named: fn(String) -> RunOrSet| {
            let mut statement = self.connection.prepare_cached(sql)?;
            // 'g' comes after every digit.
            let end = format!("{digits}g");
            let found = statement.query_map([digits, &end], |row| row.get(0).map(named))?;
            found.collect::<rusqlite::Result<Vec<_>>>()
        };
        let runs = "SELECT id FROM runs WHERE id >= ?1 AND id < ?2 LIMIT 20";
        let sets = "SELECT id FROM sets WHERE id >= ?1 AND id < ?2 LIMIT 20";
        let both = read(runs, |id| RunOrSet::Run(RunId(id))).and_then(|mut found| {
            found.extend(read(sets, |id| RunOrSet::Set(SetId(id)))?);
            Ok(found)
        });
        both.map_err(|error| self.failed(&error))
    }
}

/// How many things before the last: of "latest", 0, of "latest~2", 2.
fn steps_back(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("latest")?;
    match rest.strip_prefix('~') {
        Some(count) => count.parse().ok().filter(|back| *back < 1 << 32),
        None => rest.is_empty().then_some(0),
    }
}

fn named(set: Option<String>, id: String) -> rusqlite::Result<RunOrSet> {
    Ok(match set {
        Some(set) => RunOrSet::Set(SetId(set)),
        None => RunOrSet::Run(RunId(id)),
    })
}

fn ambiguous(name: &str, several: &[RunOrSet]) -> ArchiveError {
    let shown = |named: &RunOrSet| match named {
        RunOrSet::Run(id) => id.short().to_owned(),
        RunOrSet::Set(id) => format!("{} (runs made together)", id.short()),
    };
    let mut candidates =
        several.iter().take(CANDIDATES_SHOWN).map(shown).collect::<Vec<_>>().join(", ");
    if several.len() > CANDIDATES_SHOWN {
        candidates += &format!(" and {} more", several.len() - CANDIDATES_SHOWN);
    }
    ArchiveError::Ambiguous { name: name.into(), candidates }
}
