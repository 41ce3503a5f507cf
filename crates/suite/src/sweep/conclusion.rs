//! The conclusion from the records of a sweep.

use super::design::{self, Design, RunSlot};
use super::layers::{self, LAYER, LayerCost};
use super::scaling::{self, Scaling};
use crate::estimate::{Estimated, ratio};
use crate::findings::merge_by_check;
use crate::grid::{self, Grid, Reading};
use crate::limits::{LimitGroup, group_by_limit};
use crate::outcome::{interrupted_by, total_duration};
use crate::{Failure, failure};
use judge::stats::{Contest, Estimate, Standing, standings, summary};
use judge::{Finding, Judged, Measure, Verdict, judge, judge_set};
use record::{Coordinate, Direction, JobRecord, Nanos, RecordSet, RunRecord, human};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Blocks of at least this size are large: their bandwidth is more telling than their IOPS.
const LARGE: u64 = 64 << 10;

/// The baseline of percentages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Baseline {
    /// The best value.
    #[default]
    Best,
    /// The first value.
    First,
    /// The sum of what is compared; of latencies, which have no sum, the best.
    Total,
    /// This value of the first dimension, or of the second.
    Value(String),
}

impl Baseline {
    /// As `--percent-of` spells it.
    pub fn name(&self) -> &str {
        match self {
            Baseline::Best => "best",
            Baseline::First => "first",
            Baseline::Total => "total",
            Baseline::Value(value) => value,
        }
    }
}

/// What to show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TableOptions {
    /// The figures; empty: by the kind of work.
    pub measures: Vec<Measure>,
    /// The baseline of percentages.
    pub baseline: Baseline,
}

impl TableOptions {
    /// Whether the tables of a sweep have the value that percentages are of.
    ///
    /// # Errors
    /// They do not: which values there are.
    pub fn check(&self, design: &Design) -> Result<(), String> {
        let Baseline::Value(wanted) = &self.baseline else { return Ok(()) };
        let axes = axes(design);
        let values = axes.iter().take(2).flat_map(|axis| &axis.values);
        let texts: Vec<&str> = values.map(|value| value.text.as_str()).collect();
        match texts.contains(&wanted.as_str()) {
            true => Ok(()),
            false => Err(format!(
                "'{wanted}' is neither best, first or total nor one of the values {}",
                human::list_up_to(&texts, 12)
            )),
        }
    }
}

/// The results of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// One table for each figure and each combination of the dimensions from the third on.
    pub tables: Vec<Table>,
    /// Number of cells.
    pub cells: usize,
    /// Number of runs, failed ones included.
    pub made: usize,
    /// Number of runs of the whole sweep.
    pub planned: usize,
    /// How many seconds mkfs took, by type of filesystem, where filesystems were made.
    pub mkfs: Vec<(String, Estimated)>,
    /// What each layer of a stack adds, where layers were varied.
    pub layers: Vec<LayerCost>,
    /// How throughput scales with the number of ranks or jobs, where at least four were varied.
    pub scaling: Vec<Scaling>,
    /// The limits of the cells, grouped by limit.
    pub limited: Vec<LimitGroup>,
    /// The findings, one per check, the gravest first; their jobs are the cells.
    pub findings: Vec<Finding>,
    /// The reasons of failed runs, each with its cells.
    pub failures: Vec<FailureGroup>,
    /// Total time of the runs.
    pub elapsed: Nanos,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

/// One figure over the first two dimensions, for given values of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The figure.
    pub measure: Measure,
    /// Values of the dimensions from the third on.
    pub at: Vec<Coordinate>,
    /// The first dimension: its values are compared with each other and are the rows.
    pub compared: String,
    /// The second dimension, if there is one: its values are the columns.
    pub across: Option<String>,
    /// One column if there is no second dimension.
    pub columns: Vec<Column>,
    /// Number of comparisons with the best, in all tables of this figure.
    pub comparisons: usize,
    /// What its percentages are of.
    pub baseline: Baseline,
}

/// A column: the compared values at one value of the second dimension.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// The value; empty if there is no second dimension.
    pub value: String,
    /// One row for each value of the first dimension.
    pub rows: Vec<Row>,
    /// Its total as a share of the baseline among the totals of all columns.
    pub total_share: Option<Estimated>,
}

/// One cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The value of the first dimension.
    pub value: String,
    /// The figure.
    pub reading: Reading,
    /// Its share of the baseline; 1.0 is equal. It has an interval if the baseline is one value that was
    /// chosen beforehand.
    pub share: Option<Estimated>,
    /// Its standing in its column.
    pub standing: Option<Standing>,
}

impl Row {
    /// The figures of the repeats that have it.
    pub fn values(&self) -> &[f64] {
        self.reading.measured().map_or(&[], |measured| &measured.values)
    }

    /// Their mean with its 95 % interval, whose ends are infinite with a single repeat.
    pub fn mean(&self) -> Option<Estimate> {
        Some(self.reading.measured()?.summary.mean)
    }
}

impl Column {
    /// The sum over the rows for each repeat, if every row has all repeats.
    pub fn totals(&self, repeats: usize) -> Option<Vec<f64>> {
        let whole = self.rows.len() > 1 && self.rows.iter().all(|r| r.values().len() == repeats);
        let total = |repeat: usize| self.rows.iter().map(|row| row.values()[repeat]).sum();
        whole.then(|| (0..repeats).map(total).collect())
    }
}

/// Runs that failed for the same reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureGroup {
    /// The reason.
    pub text: String,
    /// The cells, one entry per run.
    pub cells: Vec<String>,
}

/// What the records of a sweep show.
pub fn conclude(set: &RecordSet, design: &Design, wanted: &TableOptions) -> Conclusion {
    let cells: Vec<String> =
        (0..design.cells()).map(|cell| design.cell(RunSlot { cell, round: 0 }).name).collect();
    let mut whole = RecordSet { runs: Vec::new(), ..set.clone() };
    whole.runs.extend(set.runs.iter().filter(|run| failure(run).is_none()).cloned());
    // The sort is stable: the runs of a cell stay in order.
    whole.runs.sort_by_cached_key(|run| {
        let name = run.cell.as_ref().map(|cell| &cell.name);
        cells.iter().position(|known| Some(known) == name)
    });
    let judged: Vec<Judged> = whole.runs.iter().map(judge).collect();
    let merged = judge_set(&whole, &judged);
    let measures = match wanted.measures.is_empty() {
        true => usual(&whole, design),
        false => wanted.measures.clone(),
    };
    // Of paired dimensions, too.
    let mkfs = mkfs(set);
    let (set, dimensions) = (arranged(set, design), axes(design));
    let tables = measures.iter().flat_map(|measure| {
        let grid = Grid::over(&set, measure, dimensions.clone());
        let mut tables = tables(&grid, &wanted.baseline);
        tables.iter_mut().for_each(|table| fill_shares(table, design));
        tables
    });
    Conclusion {
        tables: tables.collect(),
        mkfs,
        layers: layers::conclude(&set, &dimensions),
        scaling: scaling::conclude(&set, &measures, &dimensions),
        cells: design.cells(),
        made: set.runs.len(),
        planned: design.runs(),
        limited: group_by_limit(about_cells(merged.verdicts, &cells)),
        findings: findings(merged.findings, &cells),
        failures: failures(&set.runs),
        elapsed: total_duration(&set),
        interrupted_by: interrupted_by(&set),
    }
}

/// Seconds of mkfs by the type of filesystem.
fn mkfs(set: &RecordSet) -> Vec<(String, Estimated)> {
    let mut times: Vec<(&str, Vec<f64>)> = Vec::new();
    for run in &set.runs {
        let at = run.cell.iter().flat_map(|cell| &cell.at);
        let kind = at.filter(|at| at.dimension == "fs").map(|at| at.value.as_str()).next();
        let (Some(kind), Some(time)) = (kind, run.evidence.mkfs_time) else { continue };
        match times.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, times)) => times.push(time.seconds()),
            None => times.push((kind, vec![time.seconds()])),
        }
    }
    let mut all: Vec<(String, Estimated)> = times
        .into_iter()
        .map(|(kind, times)| {
            let mean = summary(&times, set.seed).mean;
            (kind.to_owned(), Estimated::new(mean.value, mean))
        })
        .collect();
    all.sort_by(|(_, a), (_, b)| a.value.total_cmp(&b.value));
    all
}

/// The set as the tables show it: paired dimensions count as one.
fn arranged<'a>(set: &'a RecordSet, design: &Design) -> Cow<'a, RecordSet> {
    let mut set = Cow::Borrowed(set);
    if has_one_axis(design) {
        for cell in set.to_mut().runs.iter_mut().filter_map(|run| run.cell.as_mut()) {
            cell.at = vec![joined(&cell.at)];
        }
    }
    set
}

/// The dimensions as the tables show them.
fn axes(design: &Design) -> Vec<grid::Dimension> {
    if !has_one_axis(design) {
        let dimension = |d: &design::Dimension| {
            grid::Dimension::new(&d.name, d.values.iter().map(String::as_str))
        };
        return design.dimensions.iter().map(dimension).collect();
    }
    let all: Vec<Coordinate> = (0..design.cells()).map(|cell| joined(&design.at(cell))).collect();
    let name = all.first().map_or("", |first| first.dimension.as_str());
    vec![grid::Dimension::new(name, all.iter().map(|c| c.value.as_str()))]
}

/// Several dimensions count as one, because they are paired.
fn has_one_axis(design: &Design) -> bool {
    design.paired && design.dimensions.len() > 1
}

/// The place in paired dimensions as the place in one.
fn joined(at: &[Coordinate]) -> Coordinate {
    let texts = |part: fn(&Coordinate) -> &str| -> String {
        at.iter().map(part).collect::<Vec<_>>().join(" ")
    };
    Coordinate { dimension: texts(|c| &c.dimension), value: texts(|c| &c.value) }
}

/// The most telling figures: IOPS and the 99th percentile of latency, or bandwidth if blocks are
/// large; for each direction if runs have several. If block sizes are compared, both rates, because
/// a higher one need not mean a higher other one. Jobs that synchronise also have the 99th
/// percentile of that.
fn usual(set: &RecordSet, design: &Design) -> Vec<Measure> {
    // Whether small and large blocks are compared with each other.
    let mut blocks: BTreeMap<&[Coordinate], (bool, bool)> = BTreeMap::new();
    let mut directions: Vec<Direction> = Vec::new();
    let mut mixed = false;
    for run in &set.runs {
        let at = run.cell.as_ref().map_or(&[][..], |cell| &cell.at);
        let others = if design.paired { &[] } else { at.get(1..).unwrap_or_default() };
        let (small, large) = blocks.entry(others).or_default();
        let mut own: Vec<Direction> = Vec::new();
        for job in &run.jobs {
            for direction in job.directions() {
                let least = job.workload.block_size[direction].0.0;
                *small |= least < LARGE;
                *large |= least >= LARGE;
                own.push(direction);
            }
        }
        own.sort();
        own.dedup();
        mixed |= own.len() > 1;
        directions.extend(own);
    }
    directions.sort();
    directions.dedup();
    let has = |wanted: fn(&(bool, bool)) -> bool| blocks.values().any(wanted);
    let names: &[&str] = match (has(|(small, large)| *small && *large), has(|(small, _)| *small)) {
        (true, _) => &["iops", "bandwidth", "p99"],
        (false, false) if has(|(_, large)| *large) => &["bandwidth"],
        _ => &["iops", "p99"],
    };
    let is_layered = design.dimensions.iter().any(|dimension| dimension.name == LAYER);
    // The cost of a layer is what it adds to each I/O.
    let names = if is_layered { &["iops", "mean"] } else { names };
    let prefixed = |name: &&str| match mixed {
        true => directions.iter().map(|d| format!("{}.{name}", d.name())).collect(),
        false => vec![(*name).to_owned()],
    };
    let mut names: Vec<String> = names.iter().flat_map(prefixed).collect();
    let jobs = || set.runs.iter().flat_map(|run| &run.jobs);
    if jobs().any(|job| job.sync.latency.count() > 0) {
        // A buffered write goes to memory; the synchronisation waits for the storage.
        let is_buffered = |job: &JobRecord| !job.workload.is_direct_in(Direction::Write);
        let of_writes = match (mixed, &*directions) {
            (true, _) => "write.p99",
            (false, [Direction::Write]) => "p99",
            (false, _) => "",
        };
        names.retain(|name| name != of_writes || !jobs().all(is_buffered));
        names.push("sync.p99".into());
    }
    names.iter().filter_map(|name| Measure::parse(name).ok()).collect()
}

/// The tables of one figure: one for each combination of the dimensions from the third on.
fn tables(grid: &Grid, baseline: &Baseline) -> Vec<Table> {
    let lengths: Vec<usize> = grid.dimensions.iter().map(|d| d.values.len()).collect();
    let others = lengths.get(2..).unwrap_or_default();
    let count: usize = others.iter().product();
    let mut tables: Vec<Table> =
        (0..count).map(|index| table(grid, &place(index, others))).collect();
    let measured = |column: &Column| column.rows.iter().filter(|r| r.mean().is_some()).count();
    let columns = || tables.iter().flat_map(|table| &table.columns);
    let comparisons = columns().map(|column| measured(column).saturating_sub(1)).sum();
    for table in &mut tables {
        table.comparisons = comparisons;
        let is_rate = table.measure.is_rate();
        let contest = Contest { more_is_better: is_rate, is_bucketed: !is_rate, comparisons };
        table.columns.iter_mut().for_each(|column| rank_column(column, contest));
        table.baseline = match baseline {
            Baseline::Total if !is_rate => Baseline::Best,
            other => other.clone(),
        };
    }
    tables
}

/// The places of a combination in these dimensions; the last changes fastest.
fn place(index: usize, lengths: &[usize]) -> Vec<usize> {
    let mut left = index;
    let mut found: Vec<usize> = Vec::new();
    for length in lengths.iter().rev() {
        found.push(left % length);
        left /= length;
    }
    found.reverse();
    found
}

fn table(grid: &Grid, others: &[usize]) -> Table {
    let text =
        |dimension: usize, value: usize| grid.dimensions[dimension].values[value].text.clone();
    let coordinate = |(index, value): (usize, &usize)| Coordinate {
        dimension: grid.dimensions[index + 2].name.clone(),
        value: text(index + 2, *value),
    };
    let across = grid.dimensions.get(1);
    let columns = (0..across.map_or(1, |dimension| dimension.values.len())).map(|second| {
        let row = |first: usize| {
            let mut at = vec![first];
            at.extend(across.map(|_| second));
            at.extend(others);
            Row { value: text(0, first), reading: grid.at(&at).clone(), ..Row::default() }
        };
        Column {
            value: across.map_or(String::new(), |_| text(1, second)),
            rows: (0..grid.dimensions[0].values.len()).map(row).collect(),
            total_share: None,
        }
    });
    Table {
        measure: grid.measure.clone(),
        at: others.iter().enumerate().map(coordinate).collect(),
        compared: grid.dimensions[0].name.clone(),
        across: across.map(|dimension| dimension.name.clone()),
        columns: columns.collect(),
        comparisons: 0,
        baseline: Baseline::default(),
    }
}

/// Sets the standing of the rows of a column.
fn rank_column(column: &mut Column, contest: Contest) {
    let figures: Vec<Vec<f64>> = column.rows.iter().map(|row| row.values().to_vec()).collect();
    for (row, standing) in column.rows.iter_mut().zip(standings(&figures, contest)) {
        row.standing = standing;
    }
}

/// Each row and each total as a share of the baseline.
fn fill_shares(table: &mut Table, design: &Design) {
    let columns = 0..table.columns.len();
    let rows: Vec<_> = columns.map(|column| row_shares(table, column, design.seed)).collect();
    let totals = total_shares(table, design);
    for ((column, rows), total) in table.columns.iter_mut().zip(rows).zip(totals) {
        column.total_share = total;
        column.rows.iter_mut().zip(rows).for_each(|(row, share)| row.share = share);
    }
}

fn row_shares(table: &Table, column: usize, seed: u64) -> Vec<Option<Estimated>> {
    let rows = &table.columns[column].rows;
    let reference = |index: usize| match &table.baseline {
        Baseline::Total => None,
        Baseline::Best => rows.iter().find(|row| row.standing == Some(Standing::Best)),
        Baseline::First => rows.first(),
        Baseline::Value(value) => rows.iter().find(|row| row.value == *value).or_else(|| {
            table.columns.iter().find(|other| other.value == *value).map(|c| &c.rows[index])
        }),
    };
    let sum: Option<f64> = rows.iter().map(|row| Some(row.mean()?.value)).sum();
    let share = |(index, row): (usize, &Row)| match table.baseline {
        Baseline::Total => Estimated::unbounded(row.mean()?.value / sum.filter(|sum| *sum > 0.0)?),
        _ => share(row.values(), reference(index)?.values(), &table.baseline, seed),
    };
    rows.iter().enumerate().map(share).collect()
}

fn total_shares(table: &Table, design: &Design) -> Vec<Option<Estimated>> {
    let totals: Vec<Option<Vec<f64>>> =
        table.columns.iter().map(|column| column.totals(design.repeats as usize)).collect();
    let sum = |values: &Vec<f64>| values.iter().sum::<f64>();
    let reference = match &table.baseline {
        // One column has nothing to be compared with, and latencies have no total.
        _ if totals.len() < 2 || !table.measure.is_rate() => None,
        Baseline::Best => totals.iter().flatten().max_by(|a, b| sum(a).total_cmp(&sum(b))).cloned(),
        Baseline::First => totals[0].clone(),
        Baseline::Total => totals.iter().cloned().collect::<Option<Vec<_>>>().map(|all| {
            (0..all[0].len()).map(|repeat| all.iter().map(|one| one[repeat]).sum()).collect()
        }),
        Baseline::Value(value) => {
            let at = table.columns.iter().position(|column| column.value == *value);
            at.and_then(|at| totals[at].clone())
        }
    };
    let total_share = |total: &Option<Vec<f64>>| {
        share(total.as_ref()?, reference.as_ref()?, &table.baseline, design.seed)
    };
    totals.iter().map(total_share).collect()
}

/// The ratio of two means. It is bounded only where the baseline was chosen beforehand: the best is
/// what it is by chance, too.
fn share(values: &[f64], of: &[f64], baseline: &Baseline, seed: u64) -> Option<Estimated> {
    let share = ratio(values, of, seed)?;
    match baseline {
        Baseline::First | Baseline::Value(_) if values != of => Some(share),
        _ => Estimated::unbounded(share.value),
    }
}

/// The cell and the job as findings and verdicts name them ("iodepth=4: reader"). With a single
/// cell, only the job.
fn split<'a>(label: &'a str, cells: &'a [String]) -> (&'a str, &'a str) {
    if let [only] = cells
        && label != only
    {
        return (only, label);
    }
    let split = |cell: &'a String| match label.strip_prefix(cell.as_str())? {
        "" => Some((cell.as_str(), "")),
        rest => Some((cell.as_str(), rest.strip_prefix(": ")?)),
    };
    cells.iter().find_map(split).unwrap_or((label, ""))
}

/// Verdicts about cells or, with several jobs, about cells and jobs.
fn about_cells(verdicts: Vec<Verdict>, cells: &[String]) -> Vec<Verdict> {
    let job = |verdict: &Verdict| split(&verdict.job, cells).1.to_owned();
    let several = verdicts.iter().any(|verdict| job(verdict) != job(&verdicts[0]));
    let named = |verdict: Verdict| match several {
        true => verdict,
        false => Verdict { job: split(&verdict.job, cells).0.to_owned(), ..verdict },
    };
    verdicts.into_iter().map(named).collect()
}

/// One finding per check, about cells.
fn findings(findings: Vec<Finding>, cells: &[String]) -> Vec<Finding> {
    let of_cells = |finding: Finding| {
        let mut jobs: Vec<String> = Vec::new();
        // Findings over all runs name the job, and the cell in their text.
        let named = cells.iter().find(|cell| finding.text.starts_with(&format!("{cell}, ")));
        let labels = named.map_or(finding.jobs.as_slice(), std::slice::from_ref);
        for label in labels {
            let (cell, _) = split(label, cells);
            if !jobs.iter().any(|known| known == cell) {
                jobs.push(cell.to_owned());
            }
        }
        Finding { jobs, ..finding }
    };
    merge_by_check(findings.into_iter().map(of_cells))
}

fn failures(runs: &[RunRecord]) -> Vec<FailureGroup> {
    let mut found: Vec<FailureGroup> = Vec::new();
    for Failure { cell, text } in runs.iter().filter_map(failure) {
        let text = String::from(text);
        match found.iter_mut().find(|known| known.text == text) {
            Some(known) => known.cells.push(cell),
            None => found.push(FailureGroup { text, cells: vec![cell] }),
        }
    }
    found
}

#[cfg(test)]
mod tests;
