//! A figure of archived runs over time, one trend for each workload.

use crate::{Archive, ArchiveError, Filter, Row};
use judge::Measure;
use judge::trend::{RUNS_MAX, Run, Trend};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// The latest runs of a filter that are looked at. A million of them would take minutes.
const LATEST_MAX: u64 = 20_000;

/// Trends of the runs that a filter selects.
pub struct Trends {
    /// One for each job, workload and host. The one with the most runs comes first.
    pub trends: Vec<Trend>,
    /// Number of workloads that were skipped because they have fewer runs.
    pub skipped_workloads: usize,
    /// Number of runs that were left out because they had errors or were interrupted.
    pub broken_runs: usize,
    /// Number of older runs that were not looked at.
    pub older_runs: u64,
}

impl Archive {
    /// Trends of a figure. Workloads with more runs come first, and no more are added once the trends
    /// have `runs_max` runs, because finding changes in many runs takes long.
    pub fn trends(
        &self,
        filter: &Filter,
        measure: &Measure,
        runs_max: usize,
    ) -> Result<Trends, ArchiveError> {
        let latest = filter.at_most(LATEST_MAX);
        let rows = self.list(&latest)?;
        let older_runs = match rows.len() as u64 == LATEST_MAX && filter.limit.is_none() {
            true => self.count(filter)?.saturating_sub(LATEST_MAX),
            false => 0,
        };
        let values: HashMap<_, f64> = self.figures(&latest, measure)?.into_iter().collect();
        let (complete, broken): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| row.errors == 0 && row.interrupted_by.is_none());
        let mut by_workload: BTreeMap<String, Vec<(Row, f64)>> = BTreeMap::new();
        for row in complete {
            if let Some(value) = values.get(&row.id) {
                by_workload.entry(series_name(&row)).or_default().push((row, *value));
            }
        }
        let mut by_workload: Vec<_> = by_workload.into_iter().collect();
        by_workload.sort_by_key(|(_, runs)| Reverse(runs.len()));
        let workloads = by_workload.len();
        let (mut trends, mut run_count) = (Vec::new(), 0);
        for (workload, mut rows) in by_workload {
            if run_count >= runs_max {
                break;
            }
            run_count += rows.len();
            rows.sort_by_key(|(row, _)| row.started_unix_ms);
            let rows = rows.split_off(rows.len().saturating_sub(RUNS_MAX));
            let runs = rows.iter().map(|(row, value)| Run {
                id: row.id.short().to_owned(),
                started_unix_ms: row.started_unix_ms,
                utc_offset_seconds: row.utc_offset_seconds,
                value: *value,
            });
            let load = |at: usize| self.load(&rows[at].0.id);
            trends.push(Trend::new(workload, measure.clone(), runs.collect(), load)?);
        }
        let skipped_workloads = workloads - trends.len();
        Ok(Trends { trends, skipped_workloads, broken_runs: broken.len(), older_runs })
    }
}

/// Runs with equal names form one series.
fn series_name(row: &Row) -> String {
    let mut text = match row.cell.as_ref().filter(|cell| **cell != row.job) {
        Some(cell) => format!("{cell}: {}", row.job),
        None => row.job.clone(),
    };
    text += &format!(" ({}", row.workload());
    if !row.host.is_empty() {
        text += &format!(", on {}", row.host);
    }
    text + ")"
}
