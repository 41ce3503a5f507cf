//! Lists of runs.

use crate::filter::Filter;
use crate::{Archive, ArchiveError, RunId, SetId};
use judge::Measure;
use record::Coordinate;
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Row as Line, params_from_iter};
use serde::Serialize;

/// A run as it stands in a list. Texts of several values are joined with ", ".
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub id: RunId,
    /// The runs it was made together with.
    pub set: Option<SetId>,
    /// What it is in the set; runs with the same name repeat each other.
    pub cell: Option<String>,
    /// Which repeat, from 0.
    pub round: Option<u32>,
    /// Where it stands among runs over varied dimensions.
    pub coordinates: Vec<Coordinate>,
    /// What made it: "run", "fio", "test", "sweep", "dd" …
    pub kind: String,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// When it ended.
    pub ended_unix_ms: u64,
    /// How far local time was ahead of UTC, in seconds.
    pub utc_offset_seconds: i32,
    /// Where it ran.
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
    /// What somebody noted on it.
    pub note: String,
    /// I/Os a second, all jobs and directions together; as all that follows `None` before it was
    /// judged, and where it has none.
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
    /// What limited it and how sure that is ("device (high)").
    pub verdict: Option<String>,
    /// What was found; `None`: it was not judged.
    pub found: Option<FindingCounts>,
    /// Version of fathom whose rules judged it.
    pub judged_by: Option<String>,
    /// Its tags, in order.
    pub tags: Vec<String>,
}

impl Row {
    /// What it did, in short: "randread 4k, depth 32".
    pub fn access_pattern(&self) -> String {
        let depth = match self.iodepth {
            0 | 1 => String::new(),
            depth => format!(", depth {depth}"),
        };
        format!("{} {}{depth}", self.rw, self.bs).trim().to_owned()
    }

    /// Pattern, block size, queue depth and engine: "randread 4k, depth 16, io_uring".
    pub fn workload(&self) -> String {
        let mut words = vec![self.access_pattern(), self.engine.clone()];
        words.retain(|word| !word.is_empty());
        words.join(", ")
    }
}

/// Findings by severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FindingCounts {
    /// Errors.
    pub errors: u32,
    /// Warnings.
    pub warnings: u32,
    /// Notes.
    pub notes: u32,
}

/// A figure of one of several runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The run.
    pub id: RunId,
    /// When it began, in milliseconds since 1970 UTC.
    pub started_unix_ms: u64,
    /// The figure, in the unit of its measure.
    pub value: f64,
}

const COLUMNS: &str = "SELECT id, set_id, cell, round, coordinates, kind, started_ms, ended_ms, \
     utc_offset, host, kernel, fathom, job, rw, engine, bs, iodepth, target, device, model, \
     filesystem, command, errors, interrupted_by, record_bytes, note, iops, bandwidth, mean_ns, \
     p50_ns, p99_ns, p99_9_ns, max_ns, verdict, found_errors, found_warnings, found_notes, \
     judged_by, (SELECT group_concat(tag, ' ') FROM tags WHERE run = number) FROM runs";

impl Archive {
    /// The runs a filter lets through, in its order.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<Row>, ArchiveError> {
        let clause = filter.clause();
        self.all(&format!("{COLUMNS}{}", clause.sql), clause.values, row)
    }

    /// How many there are, whatever its limit and offset.
    ///
    /// # Errors
    /// As [`Archive::list`].
    pub fn count(&self, filter: &Filter) -> Result<u64, ArchiveError> {
        let clause = filter.condition();
        let sql = format!("SELECT count(*) FROM runs{}", clause.sql);
        let counted = self.all(&sql, clause.values, |line| line.get::<_, i64>(0))?;
        Ok(counted.first().map_or(0, |count| *count as u64))
    }

    /// Their ids alone.
    ///
    /// # Errors
    /// As [`Archive::list`].
    pub fn ids(&self, filter: &Filter) -> Result<Vec<RunId>, ArchiveError> {
        let clause = filter.clause();
        let sql = format!("SELECT id FROM runs{}", clause.sql);
        self.all(&sql, clause.values, |line| line.get(0).map(RunId))
    }

    /// A figure of all of them that have it, in the filter's order.
    ///
    /// # Errors
    /// As [`Archive::list`].
    pub fn series(&self, filter: &Filter, measure: &Measure) -> Result<Vec<Point>, ArchiveError> {
        let clause = filter.clause();
        let figures = "SELECT id, started_ms, value FROM (SELECT run, value FROM figures WHERE name \
             = ?) JOIN runs ON number = run";
        let mut values = vec![Value::Text(measure.name())];
        values.extend(clause.values);
        self.all(&format!("{figures}{}", clause.sql), values, |line| {
            Ok(Point {
                id: RunId(line.get(0)?),
                started_unix_ms: line.get::<_, i64>(1)? as u64,
                value: line.get(2)?,
            })
        })
    }

    /// One run.
    ///
    /// # Errors
    /// When there is no such run.
    pub fn row(&self, id: &RunId) -> Result<Row, ArchiveError> {
        let sql = format!("{COLUMNS} WHERE id = ?1");
        let found = self.connection.query_row(&sql, [&id.0], row).optional();
        found.map_err(|error| self.failed(&error))?.ok_or_else(|| self.unknown(&id.0))
    }

    /// The last run before one that did the same on the same host and device, without errors. Of runs
    /// made together it is that in the same place of an earlier set.
    ///
    /// # Errors
    /// When the archive cannot be read.
    pub fn previous_row(&self, id: &RunId) -> Result<Option<Row>, ArchiveError> {
        const SAME: &str = "kind, job, rw, bs, iodepth, engine, host, device, ifnull(cell, ''), \
             ifnull(round, 0)";
        let sql = format!(
            "{COLUMNS} WHERE errors = 0 AND interrupted_by IS NULL \
             AND ({SAME}) = (SELECT {SAME} FROM runs WHERE id = ?1) \
             AND (set_id IS NULL OR set_id IS NOT (SELECT set_id FROM runs WHERE id = ?1)) \
             AND (started_ms, number) < (SELECT started_ms, number FROM runs WHERE id = ?1) \
             ORDER BY started_ms DESC, number DESC LIMIT 1"
        );
        let found = self.connection.query_row(&sql, [&id.0], row).optional();
        found.map_err(|error| self.failed(&error))
    }

    fn all<T>(
        &self,
        sql: &str,
        values: Vec<Value>,
        read: fn(&Line) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, ArchiveError> {
        let all = || {
            let mut statement = self.connection.prepare_cached(sql)?;
            let lines = statement.query_map(params_from_iter(values), read)?;
            lines.collect::<rusqlite::Result<Vec<T>>>()
        };
        all().map_err(|error| self.failed(&error))
    }
}

fn row(line: &Line) -> rusqlite::Result<Row> {
    let coordinates: Option<String> = line.get(4)?;
    let coordinates = coordinates.filter(|text| text != "[]");
    let found = |index: usize| line.get::<_, Option<u32>>(index);
    let tags: Option<String> = line.get(38)?;
    let mut tags: Vec<String> =
        tags.iter().flat_map(|tags| tags.split(' ')).map(str::to_owned).collect();
    tags.sort();
    Ok(Row {
        id: RunId(line.get(0)?),
        set: line.get::<_, Option<String>>(1)?.map(SetId),
        cell: line.get(2)?,
        round: line.get(3)?,
        coordinates: coordinates
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default(),
        kind: line.get(5)?,
        started_unix_ms: line.get::<_, i64>(6)? as u64,
        ended_unix_ms: line.get::<_, i64>(7)? as u64,
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
        errors: line.get::<_, i64>(22)? as u64,
        interrupted_by: line.get(23)?,
        record_bytes: line.get::<_, i64>(24)? as u64,
        note: line.get(25)?,
        iops: line.get(26)?,
        bandwidth: line.get(27)?,
        mean_ns: line.get(28)?,
        p50_ns: line.get(29)?,
        p99_ns: line.get(30)?,
        p99_9_ns: line.get(31)?,
        max_ns: line.get(32)?,
        verdict: line.get(33)?,
        found: found(34)?
            .zip(found(35)?)
            .zip(found(36)?)
            .map(|((errors, warnings), notes)| FindingCounts { errors, warnings, notes }),
        judged_by: line.get(37)?,
        tags,
    })
}

#[cfg(test)]
mod tests;
