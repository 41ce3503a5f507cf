//! Adding runs.

use crate::database::{Database, DatabaseError};
use crate::search_terms::SearchTerms;
use crate::{Archive, ArchiveError, RunId, SetId};
use flate2::Compression;
use flate2::write::GzEncoder;
use record::{Coordinate, RunRecord};
use rusqlite::params;
use rusqlite::types::Value;
use std::io::Write;

/// Compression level: higher ones take twice the time for a few percent.
const LEVEL: u32 = 3;

/// The origin of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lineage {
    /// The command that made it or its set: "run", "fio", "dd".
    pub kind: String,
    /// Its set, if it was made together with other runs.
    pub set: Option<SetInfo>,
}

/// A set of runs that are made together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetInfo {
    /// Its id ([`SetId::random`]). The set exists once it has a run.
    pub id: SetId,
    /// Seed for the random choices of the judgement.
    pub seed: u64,
    /// The directory of a sweep, which can be continued; empty for other sets.
    pub name: String,
}

impl Lineage {
    /// A single run.
    pub fn alone(kind: impl Into<String>) -> Lineage {
        Lineage { kind: kind.into(), set: None }
    }
}

const ADD: &str = "INSERT INTO runs (id, set_id, cell, round, coordinates, kind, started_ms, ended_ms, \
     utc_offset, host, kernel, fathom, job, rw, engine, bs, iodepth, target, device, model, \
     filesystem, command, errors, interrupted_by, record_bytes, note) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, \
     ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26) \
     RETURNING number";

impl Archive {
    /// Adds a run durably. An archive that is found damaged is replaced by a new one (see
    /// [`Archive::messages`]).
    ///
    /// # Errors
    /// When it cannot be written; nothing is added then.
    pub fn add(&mut self, record: &RunRecord, lineage: &Lineage) -> Result<RunId, ArchiveError> {
        let json = serde_json::to_vec(record).map_err(|error| ArchiveError::Unusable {
            path: self.path().to_owned(),
            reason: format!("a record cannot be written as JSON: {error}"),
        })?;
        let packed = packed(&json).map_err(|error| {
            ArchiveError::from_io(self.path(), "a record cannot be compressed", &error)
        })?;
        let entry = Entry {
            record,
            lineage,
            bytes: json.len(),
            packed,
            terms: SearchTerms::from_record(record),
        };
        match self.write(|database| insert(database, &entry)) {
            Err(ArchiveError::Damaged { reason, .. }) => {
                self.replace_damaged(&reason)?;
                self.write(|database| insert(database, &entry))
            }
            added => added,
        }
    }

    /// The latest set of this kind and name (see [`SetInfo::name`]).
    pub fn find_set(&self, kind: &str, name: &str) -> Result<Option<SetId>, ArchiveError> {
        let sql = "SELECT id FROM sets WHERE kind = ?1 AND name = ?2 \
             ORDER BY (SELECT max(number) FROM runs WHERE set_id = sets.id) DESC LIMIT 1";
        self.query_first(sql, params![kind, name], |row| row.get(0).map(SetId))
    }

    /// The run with the same record, if it was added before.
    pub fn find_same(&self, record: &RunRecord) -> Result<Option<RunId>, ArchiveError> {
        let sql = "SELECT id FROM runs WHERE started_ms = ?1 AND ended_ms = ?2 AND host = ?3 \
             AND command = ?4 AND cell IS NOT DISTINCT FROM ?5 AND round IS NOT DISTINCT FROM ?6 \
             AND coordinates IS NOT DISTINCT FROM ?7";
        let invocation = &record.invocation;
        let [cell, coordinates] = cell(record);
        let values = params![
            invocation.started_unix_ms as i64,
            invocation.ended_unix_ms as i64,
            record.facts.hostname,
            invocation.arguments.join(" "),
            cell,
            record.cell.as_ref().map(|cell| cell.round),
            coordinates,
        ];
        self.query_first(sql, values, |row| row.get(0).map(RunId))
    }

    /// Runs a change without waiting until it is durable. Earlier data stay safe.
    pub(crate) fn without_sync<T>(
        &mut self,
        act: impl FnOnce(&mut Archive) -> Result<T, ArchiveError>,
    ) -> Result<T, ArchiveError> {
        let set = |archive: &Archive, how: &str| {
            let Database::Sqlite(connection) = &archive.database else { return Ok(()) };
            let set = connection.pragma_update(None, "synchronous", how);
            set.map_err(|error| archive.failed(&error.into()))
        };
        set(self, "NORMAL")?;
        let done = act(self);
        set(self, "FULL")?;
        done
    }
}

/// A run to insert.
struct Entry<'a> {
    record: &'a RunRecord,
    lineage: &'a Lineage,
    bytes: usize,
    packed: Vec<u8>,
    terms: SearchTerms,
}

fn packed(json: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::new(LEVEL));
    packed.write_all(json)?;
    packed.finish()
}

/// The name of a record's cell and its coordinates, as JSON.
fn cell(record: &RunRecord) -> [Option<String>; 2] {
    let cell = record.cell.as_ref();
    let at = |at: &Vec<Coordinate>| serde_json::to_string(at).unwrap_or_default();
    [cell.map(|cell| cell.name.clone()), cell.map(|cell| at(&cell.at))]
}

fn insert(database: &Database, entry: &Entry) -> Result<RunId, DatabaseError> {
    let Entry { record, lineage, bytes, packed, terms } = entry;
    let together = lineage.set.as_ref();
    if let Some(SetInfo { id, seed, name }) = together {
        let sql = "INSERT INTO sets (id, kind, seed, name, fathom) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT DO NOTHING";
        let values = params![id.0, lineage.kind, seed.to_string(), name, record.fathom_version];
        database.execute(sql, values)?;
    }
    let (invocation, facts) = (&record.invocation, &record.facts);
    let [cell, coordinates] = cell(record);
    let id = RunId::random();
    let values = params![
        id.0,
        together.map(|together| &together.id.0),
        cell,
        record.cell.as_ref().map(|cell| cell.round),
        coordinates,
        lineage.kind,
        invocation.started_unix_ms as i64,
        invocation.ended_unix_ms as i64,
        invocation.utc_offset_seconds,
        facts.hostname,
        facts.kernel,
        record.fathom_version,
        terms.joined(0),
        terms.joined(1),
        terms.joined(2),
        terms.joined(3),
        terms.iodepth,
        terms.joined(4),
        terms.joined(5),
        terms.joined(6),
        terms.joined(7),
        terms.command,
        terms.errors as i64,
        record.interrupted_by,
        *bytes as i64,
        record.intent(),
    ];
    let number: i64 = database.query_one(ADD, values)?;
    let sql = "INSERT INTO records (run, json) VALUES (?1, ?2)";
    database.execute(sql, params![number, packed])?;
    let fact = |(name, value): (&str, &str)| -> Vec<Value> {
        vec![number.into(), name.to_owned().into(), value.to_owned().into()]
    };
    database.insert("facts", &terms.facts().map(fact).collect::<Vec<_>>())?;
    Ok(id)
}
