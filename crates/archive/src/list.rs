//! Lists of runs.

use crate::database::{DatabaseError, Line};
use crate::filter::{Filter, bound};
use crate::{Archive, ArchiveError, RunId, SetId};
use judge::Measure;
use record::Coordinate;
use rusqlite::params;
use rusqlite::types::Value;
use serde::Serialize;
use std::collections::HashSet;

/// Runs that are read at once in search of the first of each set.
const PAGE: u64 = 200;

/// A run in a list. Several values of a column are joined with ", ".
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its id.
    pub id: RunId,
    /// Its set.
    pub set: Option<SetId>,
    /// Its cell in the set; runs with the same cell repeat each other.
    pub cell: Option<String>,
    /// Number of the repeat, from 0.
    pub round: Option<u32>,
    /// Its coordinates in a sweep.
    pub coordinates: Vec<Coordinate>,
    /// The command that made it: "run", "fio", "test", "sweep", "dd" …
    pub kind: String,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// When it ended.
    pub ended_unix_ms: u64,
    /// Offset of local time from UTC, in seconds.
    pub utc_offset_seconds: i32,
    /// Host name.
    pub host: String,
    /// Kernel release.
    pub kernel: String,
    /// Version of fathom.
    pub fathom_version: String,
    /// Names of the jobs.
    pub job: String,
    /// Their `rw`.
    pub rw: String,
    /// Their `ioengine`.
    pub engine: String,
    /// Their block sizes ("4k", "4k-64k").
    pub bs: String,
    /// The deepest `iodepth`.
    pub iodepth: u32,
    /// Files or devices they worked on.
    pub target: String,
    /// Block devices under them.
    pub device: String,
    /// Their models.
    pub model: String,
    /// Filesystems they lay on.
    pub filesystem: String,
    /// The command line.
    pub command: String,
    /// I/O errors.
    pub errors: u64,
    /// The signal that ended it early.
    pub interrupted_by: Option<i32>,
    /// Bytes of its record's JSON.
    pub record_bytes: u64,
    /// The user's note.
    pub note: String,
    /// The subject of the figures below, if jobs ran in turn or sent requests to an object store:
    /// "randread 4k of b, 2 of 3 in turn".
    pub figures_of: Option<String>,
    /// I/Os per second of all jobs that ran together, in all directions. This and all figures below
    /// are `None` before the run was judged, or if it has none.
    pub iops: Option<f64>,
    /// Bytes a second.
    pub bandwidth: Option<f64>,
    /// Mean latency, in nanoseconds.
    pub mean_ns: Option<f64>,
    /// Percentiles of the latency, in nanoseconds.
    pub p50_ns: Option<f64>,
    /// See [`Row::p50_ns`].
    pub p99_ns: Option<f64>,
    /// See [`Row::p50_ns`].
    pub p99_9_ns: Option<f64>,
    /// The longest latency, in nanoseconds.
    pub max_ns: Option<f64>,
    /// What limited it, with the confidence ("device (high)").
    pub verdict: Option<String>,
    /// Its findings; `None` before it was judged.
    pub found: Option<FindingCounts>,
    /// Version of the fathom that judged it.
    pub judged_by: Option<String>,
    /// Its tags, in order.
    pub tags: Vec<String>,
}

impl Row {
    /// Pattern, block size and queue depth: "randread 4k, depth 32".
    pub fn access_pattern(&self) -> String {
        let depth = match self.iodepth {
            0 | 1 => String::new(),
            depth => format!(", depth {depth}"),
        };
        format!("{} {}{depth}", self.rw, self.bs).trim().to_owned()
    }

    /// The subject of the figures: the access pattern, or [`Row::figures_of`].
    pub fn measured(&self) -> String {
        self.figures_of.clone().unwrap_or_else(|| self.access_pattern())
    }

    /// Pattern, block size, queue depth and engine: "randread 4k, depth 16, io_uring".
    pub fn workload(&self) -> String {
        let mut words = vec![self.access_pattern(), self.engine.clone()];
        words.retain(|word| !word.is_empty());
        words.join(", ")
    }
}

/// Number of findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FindingCounts {
    /// Errors.
    pub errors: u32,
    /// Warnings.
    pub warnings: u32,
    /// Notes.
    pub notes: u32,
}

const COLUMNS: &str = "SELECT id, set_id, cell, round, coordinates, kind, started_ms, ended_ms, \
     utc_offset, host, kernel, fathom, job, rw, engine, bs, iodepth, target, device, model, \
     filesystem, command, errors, interrupted_by, record_bytes, note, iops, bandwidth, mean_ns, \
     p50_ns, p99_ns, p99_9_ns, max_ns, verdict, found_errors, found_warnings, found_notes, \
     judged_by, (SELECT string_agg(tag, ' ') FROM tags WHERE run = number), \
     (SELECT value FROM facts WHERE run = number AND name = 'figures_of') FROM runs";

impl Archive {
    /// The runs a filter selects, in its order.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Row>, ArchiveError> {
        let clause = filter.clause();
        self.query(&format!("{COLUMNS}{}", clause.sql), &bound(&clause.values), row)
    }

    /// The first run of each set, and the runs of no set, at most so many, in the filter's order. Of a
    /// large archive only the runs up to the last of them are read.
    ///
    /// # Errors
    /// As [`Archive::list`].
    pub fn firsts(&self, filter: &Filter, most: usize) -> Result<Vec<Row>, ArchiveError> {
        let mut firsts: Vec<Row> = Vec::new();
        let mut sets = HashSet::new();
        let mut read = 0;
        loop {
            let left = filter.limit.map_or(u64::MAX, |limit| limit - read);
            let page = self.list(&filter.page(Some(left.min(PAGE)), filter.offset + read))?;
            read += page.len() as u64;
            let is_last = (page.len() as u64) < PAGE;
            let is_first = |row: &Row| row.set.clone().is_none_or(|set| sets.insert(set));
            firsts.extend(page.into_iter().filter(is_first));
            if is_last || firsts.len() >= most {
                firsts.truncate(most);
                return Ok(firsts);
            }
        }
    }

    /// The number of runs a filter selects, regardless of its limit and offset.
    ///
    /// # Errors
    /// As [`Archive::list`].
    pub fn count(&self, filter: &Filter) -> Result<u64, ArchiveError> {
        let clause = filter.where_clause();
        let sql = format!("SELECT count(*) FROM runs{}", clause.sql);
        let counted = self.query_first(&sql, &bound(&clause.values), |line| line.get::<i64>(0))?;
        Ok(counted.map_or(0, |count| count as u64))
    }

    /// The ids of the runs a filter selects.
    ///
    /// # Errors
    /// As [`Archive::list`].
    pub fn ids(&self, filter: &Filter) -> Result<Vec<RunId>, ArchiveError> {
        let clause = filter.clause();
        let sql = format!("SELECT id FROM runs{}", clause.sql);
        self.query(&sql, &bound(&clause.values), |line| line.get(0).map(RunId))
    }

    /// A figure of all runs that have it, in the filter's order.
    pub fn figures(
        &self,
        filter: &Filter,
        measure: &Measure,
    ) -> Result<Vec<(RunId, f64)>, ArchiveError> {
        let clause = filter.clause();
        let sql = "SELECT id, value FROM (SELECT run, value FROM figures WHERE name = ?) AS figure \
             JOIN runs ON number = run";
        let values: Vec<Value> =
            [Value::Text(measure.name())].into_iter().chain(clause.values).collect();
        self.query(&format!("{sql}{}", clause.sql), &bound(&values), |line| {
            Ok((RunId(line.get(0)?), line.get(1)?))
        })
    }

    /// One run.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn row(&self, id: &RunId) -> Result<Row, ArchiveError> {
        let sql = format!("{COLUMNS} WHERE id = ?1");
        self.query_first(&sql, params![id.0], row)?.ok_or_else(|| self.unknown(&id.0))
    }

    /// The latest earlier run of the same workload on the same host and device, without errors. For
    /// a run of a set it is the run of the same cell and round in an earlier set.
    pub fn previous_row(&self, id: &RunId) -> Result<Option<Row>, ArchiveError> {
        const SAME: &str = "kind, job, rw, bs, iodepth, engine, host, device, coalesce(cell, ''), \
             coalesce(round, 0)";
        let sql = format!(
            "{COLUMNS} WHERE errors = 0 AND interrupted_by IS NULL \
             AND ({SAME}) = (SELECT {SAME} FROM runs WHERE id = ?1) \
             AND (set_id IS NULL OR set_id IS DISTINCT FROM (SELECT set_id FROM runs WHERE id = ?1)) \
             AND (started_ms, number) < (SELECT started_ms, number FROM runs WHERE id = ?1) \
             ORDER BY started_ms DESC, number DESC LIMIT 1"
        );
        self.query_first(&sql, params![id.0], row)
    }
}

fn row(line: &Line) -> Result<Row, DatabaseError> {
    let coordinates: Option<String> = line.get(4)?;
    let coordinates = coordinates.filter(|text| text != "[]");
    let tags: Option<String> = line.get(38)?;
    let mut tags: Vec<String> =
        tags.iter().flat_map(|tags| tags.split(' ')).map(str::to_owned).collect();
    tags.sort();
    Ok(Row {
        id: RunId(line.get(0)?),
        set: line.get::<Option<String>>(1)?.map(SetId),
        cell: line.get(2)?,
        round: line.get(3)?,
        coordinates: coordinates
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default(),
        kind: line.get(5)?,
        started_unix_ms: line.get::<i64>(6)? as u64,
        ended_unix_ms: line.get::<i64>(7)? as u64,
        utc_offset_seconds: line.get(8)?,
        host: line.get(9)?,
        kernel: line.get(10)?,
        fathom_version: line.get(11)?,
        job: line.get(12)?,
        rw: line.get(13)?,
        engine: line.get(14)?,
        bs: line.get(15)?,
        iodepth: line.get(16)?,
        target: line.get(17)?,
        device: line.get(18)?,
        model: line.get(19)?,
        filesystem: line.get(20)?,
        command: line.get(21)?,
        errors: line.get::<i64>(22)? as u64,
        interrupted_by: line.get(23)?,
        record_bytes: line.get::<i64>(24)? as u64,
        note: line.get(25)?,
        figures_of: line.get(39)?,
        iops: line.get(26)?,
        bandwidth: line.get(27)?,
        mean_ns: line.get(28)?,
        p50_ns: line.get(29)?,
        p99_ns: line.get(30)?,
        p99_9_ns: line.get(31)?,
        max_ns: line.get(32)?,
        verdict: line.get(33)?,
        found: match (line.get(34)?, line.get(35)?, line.get(36)?) {
            (Some(errors), Some(warnings), Some(notes)) => {
                Some(FindingCounts { errors, warnings, notes })
            }
            _ => None,
        },
        judged_by: line.get(37)?,
        tags,
    })
}

#[cfg(test)]
mod tests;
