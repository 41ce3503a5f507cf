//! A figure of archived runs over time, a series for each workload: what `fathom trend` prints, the
//! page shows and the API tells.

use crate::words::workload;
use archive::{Archive, ArchiveError, Filter, Row};
use judge::Measure;
use judge::trend::{self, RUNS_MAX};
use record::RunRecord;
use report::trend::{Run, Trend};
use std::collections::{BTreeMap, HashMap};

/// Trends of the runs that a filter lets through.
pub struct Trends {
    /// One for each job, workload and host, that with most runs first.
    pub shown: Vec<Trend>,
    /// Workloads that have fewer runs than those.
    pub more: usize,
    /// Runs that had errors or were interrupted: they are in none.
    pub left_out: usize,
}

/// How a figure of runs went over time, for as many workloads as it takes to have `most` runs: to
/// find where the level of many runs changed takes a while.
///
/// # Errors
/// The archive cannot be read.
pub fn trends(
    archive: &Archive,
    filter: &Filter,
    measure: &Measure,
    most: usize,
) -> Result<Trends, ArchiveError> {
    let points = archive.series(filter, measure)?;
    let values: HashMap<_, f64> = points.into_iter().map(|point| (point.id, point.value)).collect();
    let (whole, broken): (Vec<Row>, Vec<Row>) = archive
        .list(filter)?
        .into_iter()
        .partition(|row| row.errors == 0 && row.interrupted_by.is_none());
    let mut by_workload: BTreeMap<String, Vec<(Row, f64)>> = BTreeMap::new();
    for row in whole {
        if let Some(value) = values.get(&row.id) {
            by_workload.entry(series(&row)).or_default().push((row, *value));
        }
    }
    let mut by_workload: Vec<_> = by_workload.into_iter().collect();
    by_workload.sort_by_key(|(_, runs)| std::cmp::Reverse(runs.len()));
    let all = by_workload.len();
    let (mut shown, mut seen) = (Vec::new(), 0);
    for (of, mut runs) in by_workload {
        if seen >= most {
            break;
        }
        seen += runs.len();
        runs.sort_by_key(|(row, _)| row.started_unix_ms);
        let runs = runs.split_off(runs.len().saturating_sub(RUNS_MAX));
        shown.push(of_runs(archive, of, runs, measure)?);
    }
    Ok(Trends { more: all - shown.len(), shown, left_out: broken.len() })
}

/// What has to be equal for figures to make one series.
fn series(row: &Row) -> String {
    let mut text = match row.cell.as_ref().filter(|cell| **cell != row.job) {
        Some(cell) => format!("{cell}: {}", row.job),
        None => row.job.clone(),
    };
    text += &format!(" ({}", workload(row));
    if !row.host.is_empty() {
        text += &format!(", on {}", row.host);
    }
    text + ")"
}

fn of_runs(
    archive: &Archive,
    of: String,
    runs: Vec<(Row, f64)>,
    measure: &Measure,
) -> Result<Trend, ArchiveError> {
    let values: Vec<f64> = runs.iter().map(|(_, value)| *value).collect();
    let course = trend::course(&values);
    let mut coincidences = Vec::new();
    for change in &course.changes {
        let range = trend::around(change, runs.len());
        let records: Vec<RunRecord> = runs[range.clone()]
            .iter()
            .map(|(row, _)| archive.load(&row.id))
            .collect::<Result<_, _>>()?;
        let records: Vec<&RunRecord> = records.iter().collect();
        coincidences.push(trend::coincidences(change, range.start, &records));
    }
    let run = |(row, value): (Row, f64)| Run {
        id: row.id.short().to_owned(),
        started_unix_ms: row.started_unix_ms,
        utc_offset_seconds: row.utc_offset_seconds,
        value,
    };
    let runs = runs.into_iter().map(run).collect();
    Ok(Trend { of, measure: measure.clone(), runs, course, coincidences })
}
