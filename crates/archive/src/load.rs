//! Loading records.

use crate::database::Line;
use crate::{Archive, ArchiveError, Row, RunId, RunOrSet, SetId};
use flate2::read::GzDecoder;
use record::{RecordSet, RunRecord, SCHEMA_VERSION};
use rusqlite::params;
use serde::Deserialize;
use std::io::Read;

/// Reads a record from its JSON.
///
/// # Errors
/// When it is not a record, or a newer fathom made it.
pub fn read_record(json: &[u8]) -> Result<RunRecord, String> {
    /// The part of a record that says whether the rest can be read.
    #[derive(Deserialize)]
    struct Heading {
        schema: u32,
        fathom_version: String,
    }
    let heading: Heading = serde_json::from_slice(json).map_err(|error| error.to_string())?;
    if heading.schema > SCHEMA_VERSION {
        return Err(format!(
            "it has schema {}, made by fathom {}; this fathom reads schemas up to \
             {SCHEMA_VERSION}: use a newer fathom",
            heading.schema, heading.fathom_version
        ));
    }
    serde_json::from_slice(json).map_err(|error| error.to_string())
}

impl Archive {
    /// The JSON of a run's record.
    ///
    /// # Errors
    /// When there is no such run, or its record cannot be decompressed.
    pub fn json(&self, id: &RunId) -> Result<Vec<u8>, ArchiveError> {
        let sql = "SELECT json FROM records JOIN runs ON number = run WHERE id = ?1";
        let packed = self.query_first(sql, params![id.0], |row| row.get::<Vec<u8>>(0))?;
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
    /// When there is no such run, its record cannot be read, or a newer fathom made it.
    pub fn load(&self, id: &RunId) -> Result<RunRecord, ArchiveError> {
        let unreadable = |reason| ArchiveError::Unreadable { id: id.clone(), reason };
        read_record(&self.json(id)?).map_err(unreadable)
    }

    /// The records of the run or set with this name. A run is a set of one, of kind "run".
    ///
    /// # Errors
    /// As [`Archive::resolve`] and [`Archive::load`].
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

    /// All runs of a set, in the order they were added. Of a cell that was run again in a continued
    /// sweep, only the latest.
    ///
    /// # Errors
    /// As [`Archive::load_named`].
    pub fn load_set(&self, id: &SetId) -> Result<RecordSet, ArchiveError> {
        let sql = "SELECT kind, seed, fathom FROM sets WHERE id = ?1";
        let heading = |row: &Line| {
            let seed: String = row.get(1)?;
            Ok((row.get(0)?, seed.parse().unwrap_or_default(), row.get(2)?))
        };
        let found = self.query_first(sql, params![id.0], heading)?;
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

    /// The run or set to compare a run or set with: the latest earlier one of the same workload on
    /// the same host and device, with the row of its first run.
    ///
    /// # Errors
    /// When the name is unknown, or the archive cannot be read.
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

    /// The runs of a set, in the order they were added.
    pub fn members(&self, id: &SetId) -> Result<Vec<RunId>, ArchiveError> {
        let sql = "SELECT id FROM runs WHERE set_id = ?1 ORDER BY number";
        self.query(sql, params![id.0], |row| row.get(0).map(RunId))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_json_and_newer_records_are_refused() {
        for json in ["", "{}", "[]", "null", "{\"schema\":1}"] {
            assert!(read_record(json.as_bytes()).is_err(), "{json}");
        }
        let newer = r#"{"schema":999,"fathom_version":"9.9"}"#;
        assert!(read_record(newer.as_bytes()).unwrap_err().contains("made by fathom 9.9"));
        let json = serde_json::to_vec(&RunRecord::default()).unwrap();
        assert_eq!(read_record(&json).unwrap(), RunRecord::default());
    }
}
