//! Names of runs and sets: ids, tags, `latest`.

use crate::{Archive, ArchiveError, Filter, Row, RunId, SetId};
use rusqlite::params;

/// Fewest digits of an id that are accepted as a name.
const ID_DIGITS_MIN: usize = 4;
/// Most candidates that an error message lists.
const CANDIDATES_SHOWN: usize = 4;
/// Largest edit distance of a tag that is suggested for an unknown name.
const TAG_DISTANCE_MAX: usize = 2;

/// A run or a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunOrSet {
    /// One run.
    Run(RunId),
    /// A set.
    Set(SetId),
}

impl Archive {
    /// The run or set with this name: an id or its first four or more digits, a tag, `latest` (the
    /// latest run or set), `latest~2` (two before that).
    ///
    /// # Errors
    /// When nothing or several things have this name.
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

    /// The run with this name. `latest` is the latest run, also of a set.
    ///
    /// # Errors
    /// As [`Archive::resolve`]; also when the name is that of a set with several runs.
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

    /// Every run with this name: of a set, all its runs.
    ///
    /// # Errors
    /// As [`Archive::resolve`].
    pub fn find_all(&self, name: &str) -> Result<Vec<RunId>, ArchiveError> {
        match self.resolve(name)? {
            RunOrSet::Run(id) => Ok(vec![id]),
            RunOrSet::Set(set) => self.members(&set),
        }
    }

    /// The row number of a run, by which tables are joined.
    pub(crate) fn number(&self, id: &RunId) -> Result<i64, ArchiveError> {
        let sql = "SELECT number FROM runs WHERE id = ?1";
        let found = self.query_first(sql, params![id.0], |row| row.get(0))?;
        found.ok_or_else(|| self.unknown(&id.0))
    }

    /// The error for an unknown name.
    pub(crate) fn unknown(&self, name: &str) -> ArchiveError {
        let tags = self.tags().unwrap_or_default();
        let distance = |tag: &&(String, u64)| strsim::levenshtein(name, &tag.0);
        let near = tags.iter().min_by_key(distance).filter(|tag| distance(tag) <= TAG_DISTANCE_MAX);
        let near =
            near.map_or(String::new(), |(tag, _)| format!("; did you mean the tag '{tag}'?"));
        ArchiveError::Unknown { name: name.into(), near }
    }

    /// The latest run or set, or the one `back` steps before it. A set has the time of its latest
    /// run.
    fn latest(&self, back: u64) -> Result<Option<RunOrSet>, ArchiveError> {
        let firsts = self.firsts(&Filter::all(), back as usize + 1)?;
        let named = |row: Row| row.set.map_or(RunOrSet::Run(row.id), RunOrSet::Set);
        Ok(firsts.into_iter().nth(back as usize).map(named))
    }

    /// The run with a tag; if several runs of one set have it, the set.
    fn find_tag(&self, tag: &str) -> Result<Option<RunOrSet>, ArchiveError> {
        let sql = "SELECT set_id, id FROM runs JOIN tags ON run = number WHERE tag = ?1 \
             ORDER BY number";
        let found: Vec<(Option<String>, String)> =
            self.query(sql, params![tag], |row| Ok((row.get(0)?, row.get(1)?)))?;
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
        // 'g' comes after every digit.
        let end = format!("{digits}g");
        let range = params![digits, end];
        let runs = "SELECT id FROM runs WHERE id >= ?1 AND id < ?2 LIMIT 20";
        let sets = "SELECT id FROM sets WHERE id >= ?1 AND id < ?2 LIMIT 20";
        let mut found = self.query(runs, range, |row| row.get(0).map(RunId).map(RunOrSet::Run))?;
        found.extend(self.query(sets, range, |row| row.get(0).map(SetId).map(RunOrSet::Set))?);
        Ok(found)
    }
}

/// The steps back in a name: 0 for "latest", 2 for "latest~2".
fn steps_back(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("latest")?;
    match rest.strip_prefix('~') {
        Some(count) => count.parse().ok().filter(|back| *back < 1 << 32),
        None => rest.is_empty().then_some(0),
    }
}

fn ambiguous(name: &str, several: &[RunOrSet]) -> ArchiveError {
    let shown = |named: &RunOrSet| match named {
        RunOrSet::Run(id) => id.short().to_owned(),
        RunOrSet::Set(id) => format!("{} (a set)", id.short()),
    };
    let mut candidates =
        several.iter().take(CANDIDATES_SHOWN).map(shown).collect::<Vec<_>>().join(", ");
    if several.len() > CANDIDATES_SHOWN {
        candidates += &format!(" and {} more", several.len() - CANDIDATES_SHOWN);
    }
    ArchiveError::Ambiguous { name: name.into(), candidates }
}
