//! Records as they were added.

use crate::{Archive, ArchiveError, Row, RunId, RunOrSet, SetId};
use flate2::read::GzDecoder;
use record::{RecordSet, RunRecord, SCHEMA_VERSION};
use rusqlite::OptionalExtension;
use serde::Deserialize;
use std::io::Read;

/// The part of a record that says whether the rest can be read.
#[derive(Deserialize)]
struct Heading {
    schema: u32,
    #[serde(default)]
    fathom_version: String,
}

impl Archive {
    /// The JSON of a run's record.
    ///
    /// # Errors
    /// When there is no such run, or what lies there cannot be unpacked.
    pub fn json(&self, id: &RunId) -> Result<Vec<u8>, ArchiveError> {
        let sql = "SELECT json FROM records JOIN runs ON number = run WHERE id = ?1";
        let packed = self.connection.query_row(sql, [&id.0], |row| row.get::<_, Vec<u8>>(0));
        let packed = packed.optional().map_err(|error| self.failed(&error))?;
        let packed = packed.ok_or_else(|| self.unknown(&id.0))?;
        let mut json = Vec::new();
        GzDecoder::new(&packed[..]).read_to_end(&mut json).map_err(|error| {
            ArchiveError::Unreadable { id: id.clone(), reason: error.to_string() }
        })?;
        Ok(json)
    }

    /// The record of a run.
    ///
    /// # Errors
    /// When there is no such run, its record cannot be read, or is of a newer program.
    pub fn load(&self, id: &RunId) -> Result<RunRecord, ArchiveError> {
        let json = self.json(id)?;
        let unreadable = |reason: String| ArchiveError::Unreadable { id: id.clone(), reason };
        let heading: Heading =
            serde_json::from_slice(&json).map_err(|error| unreadable(error.to_string()))?;
        if heading.schema > SCHEMA_VERSION {
            return Err(unreadable(format!(
                "it has schema {}, made by fathom {}, and this fathom reads those up to \
                 {SCHEMA_VERSION}: use a newer fathom",
                heading.schema, heading.fathom_version
            )));
        }
        serde_json::from_slice(&json).map_err(|error| unreadable(error.to_string()))
    }

    /// What a name stands for, as records: a run is a set of one, of kind "run".
    ///
    /// # Errors
    /// Those of [`Archive::resolve`] and of [`Archive::load`].
    pub fn load_named(&self, name: &str) -> Result<RecordSet, ArchiveError> {
        match self.resolve(name)? {
            RunOrSet::Run(id) => {
                let run = self.load(&id)?;
                Ok(RecordSet {
                    schema: run.schema,
                    fathom_version: run.fathom_version.clone(),
                    kind: "run".into(),
                    seed: 0,
                    runs: vec![run],
                })
            }
            RunOrSet::Set(id) => self.load_set(&id),
        }
    }

    /// All runs of a set, in the order they came. Of one that was made again, as a cell of a sweep
    /// that was gone on with, the last.
    ///
    /// # Errors
    /// As [`Archive::load_named`].
    pub fn load_set(&self, id: &SetId) -> Result<RecordSet, ArchiveError> {
        let sql = "SELECT kind, seed, fathom FROM sets WHERE id = ?1";
        let heading = |row: &rusqlite::Row| {
            let seed: String = row.get(1)?;
            Ok((row.get(0)?, seed.parse().unwrap_or_default(), row.get(2)?))
        };
        let found = self.connection.query_row(sql, [&id.0], heading).optional();
        let found = found.map_err(|error| self.failed(&error))?;
        let (kind, seed, fathom_version) = found.ok_or_else(|| self.unknown(&id.0))?;
        let mut runs: Vec<RunRecord> = Vec::new();
        for run in self.members(id)? {
            let run = self.load(&run)?;
            runs.retain(|earlier| run.cell.is_none() || earlier.cell != run.cell);
            runs.push(run);
        }
        let schema = runs.iter().map(|run| run.schema).max().unwrap_or(SCHEMA_VERSION);
        Ok(RecordSet { schema, fathom_version, kind, seed, runs })
    }

    /// What a run or set is to be held against: the last before it that did the same on the same host
    /// and device, with the row of its first run.
    ///
    /// # Errors
    /// When nothing has that name, or the archive cannot be read.
    pub fn load_previous(&self, name: &str) -> Result<Option<(Row, RecordSet)>, ArchiveError> {
        let (id, is_set) = match self.resolve(name)? {
            RunOrSet::Run(id) => (Some(id), false),
            RunOrSet::Set(set) => (self.members(&set)?.into_iter().next(), true),
        };
        let earlier = id.map(|id| self.previous_row(&id)).transpose()?.flatten();
        let Some(earlier) = earlier else { return Ok(None) };
        let set = match earlier.set.as_ref().filter(|_| is_set) {
            Some(set) => self.load_set(set)?,
            None => self.load_named(earlier.id.as_str())?,
        };
        Ok(Some((earlier, set)))
    }

    /// The runs of a set, in the order they came.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn members(&self, id: &SetId) -> Result<Vec<RunId>, ArchiveError> {
        let read = || {
            let sql = "SELECT id FROM runs WHERE set_id = ?1 ORDER BY number";
            let mut statement = self.connection.prepare_cached(sql)?;
            let ids = statement.query_map([&id.0], |row| row.get(0).map(RunId))?;
            ids.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|error| self.failed(&error))
    }
}
