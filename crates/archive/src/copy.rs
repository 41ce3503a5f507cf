//! Copies runs from one archive to another.

use crate::database::{Database, DatabaseError};
use crate::{Archive, ArchiveError, RunId};
use rusqlite::params;
use rusqlite::types::Value;

/// What was copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Runs that were copied.
    pub copied: u64,
    /// Runs that were there already.
    pub skipped: u64,
}

/// The columns of a run, without its number, which each archive gives itself.
const COLUMNS: &str = "id, set_id, cell, round, coordinates, kind, started_ms, ended_ms, utc_offset, host, \
     kernel, fathom, job, rw, engine, bs, iodepth, target, device, model, filesystem, command, errors, \
     interrupted_by, record_bytes, note, iops, bandwidth, mean_ns, p50_ns, p99_ns, p99_9_ns, max_ns, verdict, \
     found_errors, found_warnings, found_notes, judged_by";

/// Tables with rows of a run, and their columns.
const TABLES: [(&str, &str); 4] =
    [("records", "json"), ("facts", "name, value"), ("figures", "name, value"), ("tags", "tag")];

/// A run with all that belongs to it.
struct Whole {
    id: RunId,
    /// The row of its set.
    set: Option<Vec<Value>>,
    run: Vec<Value>,
    /// Its rows in [`TABLES`], without its number.
    rows: [Vec<Vec<Value>>; 4],
}

impl Archive {
    /// Copies runs of another archive with their records, sets, labels and judgements. Ids stay, so a run
    /// that is here already is skipped. Each run is durable once it is copied.
    ///
    /// # Errors
    /// When one of the archives cannot be read or written; what was copied stays.
    pub fn copy_from(&mut self, source: &Archive, ids: &[RunId]) -> Result<Copied, ArchiveError> {
        let mut sum = Copied::default();
        for id in ids {
            let known = "SELECT number FROM runs WHERE id = ?1";
            if self.query_first(known, params![id.0], |line| line.get::<i64>(0))?.is_some() {
                sum.skipped += 1;
                continue;
            }
            let whole = source.whole(id)?;
            self.write(|database| insert(database, &whole))?;
            sum.copied += 1;
        }
        Ok(sum)
    }

    fn whole(&self, id: &RunId) -> Result<Whole, ArchiveError> {
        let number = self.number(id)?;
        let rows = |(table, columns): (&str, &str)| {
            let sql = format!("SELECT {columns} FROM {table} WHERE run = ?1");
            self.all_values(&sql, number)
        };
        let first = |sql: &str| Ok(self.all_values(sql, number)?.into_iter().next());
        let run = first(&format!("SELECT {COLUMNS} FROM runs WHERE number = ?1"))?;
        let set = "SELECT id, kind, seed, name, fathom FROM sets WHERE id = \
             (SELECT set_id FROM runs WHERE number = ?1)";
        let [records, facts, figures, tags] = TABLES.map(rows);
        Ok(Whole {
            id: id.clone(),
            set: first(set)?,
            run: run.ok_or_else(|| self.unknown(id.as_str()))?,
            rows: [records?, facts?, figures?, tags?],
        })
    }

    fn all_values(&self, sql: &str, number: i64) -> Result<Vec<Vec<Value>>, ArchiveError> {
        self.query(sql, params![number], |line| Ok(line.values()))
    }
}

fn insert(database: &Database, whole: &Whole) -> Result<(), DatabaseError> {
    if let Some(set) = &whole.set {
        database.insert("sets (id, kind, seed, name, fathom)", std::slice::from_ref(set))?;
    }
    database.insert(&format!("runs ({COLUMNS})"), std::slice::from_ref(&whole.run))?;
    let sql = "SELECT number FROM runs WHERE id = ?1";
    let number: i64 = database.query_one(sql, params![whole.id.0])?;
    for ((table, columns), rows) in TABLES.iter().zip(&whole.rows) {
        let with_number = |row: &Vec<Value>| [&[number.into()], &row[..]].concat();
        let rows: Vec<Vec<Value>> = rows.iter().map(with_number).collect();
        database.insert(&format!("{table} (run, {columns})"), &rows)?;
    }
    Ok(())
}
