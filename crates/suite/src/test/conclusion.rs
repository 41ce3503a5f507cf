//! The conclusion from the records of a test.

use super::cells::Cells;
use super::positions::{self, PositionRow};
use super::readers::{self, ReadersRow};
use crate::Failure;
use crate::estimate::{self, Estimated};
use crate::findings::merge_by_check;
use crate::knee::{DEPTHS, DepthSweep, Knee};
use crate::limits::{LimitGroup, group_by_limit};
use crate::outcome::{
    bytes_moved, failures, interrupted_by, ranks_of, subset, total_duration, went_well,
};
use crate::saturate::{Rounds, SteadyProgress};
use crate::target::FILL;
use judge::{Durability, Finding, Judged, Limit, Verdict, durability, inspect, judge, judge_set};
use record::{Bytes, Direction, Histogram, JobRecord, Nanos, RecordSet, RunRecord, Severity};

/// The percentiles that a test shows.
pub const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// The results of a test.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The file, which no longer exists.
    pub file: String,
    /// Size of its filled part.
    pub size: Bytes,
    /// Whether O_DIRECT was used.
    pub direct: bool,
    /// Engine of the runs that keep several I/Os in flight.
    pub engine: String,
    /// Number of ranks, each with such a file; 1 without a launcher.
    pub ranks: u32,
    /// The storage stack below it, from the filesystem down.
    pub stack: Vec<String>,
    /// The durability of a completed write there.
    pub durability: Option<Durability>,
    /// One row for each cell and direction, in the order of the cells.
    pub rows: Vec<Row>,
    /// The knees that were found.
    pub knees: Vec<(Direction, Knee)>,
    /// The course of the random writes before the measurement, if any.
    pub course: SteadyProgress,
    /// The speed of the disks by position.
    pub positions: Vec<PositionRow>,
    /// The speed of one reader and of two, where the file is on several disks.
    pub readers: Vec<ReadersRow>,
    /// The limits of the cells, grouped by limit.
    pub limited: Vec<LimitGroup>,
    /// Valid uses of the figures, in one sentence.
    pub valid_for: String,
    /// The findings of the checks in the cells, the gravest first.
    pub findings: Vec<Finding>,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// Number of rounds that began.
    pub rounds: u32,
    /// Total time of the runs.
    pub elapsed: Nanos,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

/// One line of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Name of its cell.
    pub cell: String,
    /// Its short description.
    pub label: String,
    /// I/Os in flight.
    pub depth: u32,
    /// Its direction.
    pub direction: Option<Direction>,
    /// Whether its latencies are those of fsync, not of the writes before.
    pub of_sync: bool,
    /// Number of rounds.
    pub rounds: u32,
    /// I/Os per second.
    pub iops: Estimated,
    /// Bytes per second.
    pub bytes_per_second: Estimated,
    /// [`PERCENTILES`] of its latency over all rounds, in nanoseconds.
    pub percentiles: Vec<(f64, Estimated)>,
    /// The limit of its cell.
    pub limit: Option<Limit>,
}

/// The conclusion from the records of a test.
pub fn conclude(set: &RecordSet) -> Conclusion {
    let cells = measured(set);
    let judged: Vec<Judged> = cells.runs.iter().map(judge).collect();
    let merged = judge_set(&cells, &judged);
    let mut verdicts: Vec<Verdict> = merged.verdicts.into_iter().map(of_cell).collect();
    verdicts.sort_by_key(|verdict| place(&verdict.job));
    let fill = set.runs.iter().rfind(|run| run.cell_name() == FILL);
    let workload = fill.and_then(|run| run.jobs.first()).map(|job| &job.workload);
    let file = workload.and_then(|w| w.files.first()).cloned().unwrap_or_default();
    let facts = fill.map(|run| &run.facts);
    let ranks = fill.map_or(1, ranks_of);
    // An interrupted sweep has no knee yet.
    let whole = |knee: &Knee| !cells.runs.is_empty() || knee.curve.len() == DEPTHS.len();
    let knee = |direction| {
        let knee = DepthSweep::knee(direction, set.runs.iter()).filter(whole)?;
        Some((direction, knee))
    };
    let rows = rows(&cells, &judged, &verdicts);
    let findings = findings(merged.findings, &rows);
    Conclusion {
        size: Bytes(fill.map_or(0, |run| {
            let each = bytes_moved(run, Direction::Write) / u64::from(ranks);
            each >> 20 << 20
        })),
        ranks,
        direct: workload.is_some_and(|workload| workload.direct),
        engine: workload.map(|workload| workload.ioengine.clone()).unwrap_or_default(),
        stack: facts.map(|facts| inspect(facts, &file).stack).unwrap_or_default(),
        durability: facts.map(|facts| durability(facts, &file)),
        valid_for: valid_for(&rows, &findings),
        rows,
        knees: [Direction::Read, Direction::Write].into_iter().filter_map(knee).collect(),
        course: Rounds::course(set.runs.iter()),
        positions: positions::conclude(set),
        readers: readers::conclude(set),
        limited: group_by_limit(verdicts),
        findings,
        failures: failures(set),
        rounds: cells.rounds(),
        elapsed: total_duration(set),
        interrupted_by: interrupted_by(set),
        file,
    }
}

/// The cell that a job of several is named with ("seqread: seqread"): jobs and cells have one name.
fn cell_of(job: &str) -> &str {
    job.split(": ").next().unwrap_or(job)
}

fn of_cell(verdict: Verdict) -> Verdict {
    Verdict { job: cell_of(&verdict.job).to_owned(), ..verdict }
}

/// One finding per check, about cells in order.
fn findings(findings: Vec<Finding>, rows: &[Row]) -> Vec<Finding> {
    let of_cells = |finding: Finding| {
        let jobs = finding.jobs.iter().map(|job| cell_of(job).to_owned()).collect();
        Finding { jobs, ..finding }
    };
    let mut all = merge_by_check(findings.into_iter().map(of_cells));
    // One round may have too few samples although all rounds together have enough.
    let bounded = |row: &Row| row.percentiles.iter().all(|(_, value)| value.interval.is_some());
    if rows.iter().all(bounded) {
        all.retain(|finding| finding.check != "too-few-samples");
    }
    all.iter_mut().for_each(|finding| finding.jobs.sort_by_key(|job| place(job)));
    all
}

/// The valid uses of the table.
fn valid_for(rows: &[Row], findings: &[Finding]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    if rows.iter().any(|row| row.limit == Some(Limit::Cache)) {
        return "programs that hit the cache as these runs did; not valid for: the storage below \
                the cache"
            .into();
    }
    let grave = findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    let grave: Vec<&str> = grave.map(|finding| finding.check).collect();
    if !grave.is_empty() {
        return format!(
            "this storage under these conditions; not valid for: comparison until the findings \
             below are fixed ({})",
            grave.join(", ")
        );
    }
    "one program with direct I/O on this filesystem at these depths; for data that must survive \
     power loss, only write + fsync"
        .into()
}

/// The position of a cell in the table.
fn place(cell: &str) -> usize {
    let all = Cells::default().all();
    all.iter().position(|load| load.name == cell).unwrap_or(all.len())
}

/// The successful, complete runs of the cells.
fn measured(set: &RecordSet) -> RecordSet {
    let cells = Cells::default().all();
    subset(set, |run| went_well(run) && cells.iter().any(|load| load.name == run.cell_name()))
}

fn rows(cells: &RecordSet, judged: &[Judged], verdicts: &[Verdict]) -> Vec<Row> {
    let mut rows = Vec::new();
    for load in Cells::default().all() {
        let runs = cells.runs.iter().zip(judged).filter(|(run, _)| run.cell_name() == load.name);
        let runs: Vec<_> = runs.collect();
        let verdict = verdicts.iter().find(|verdict| verdict.job == load.name);
        for direction in [Direction::Read, Direction::Write] {
            let part: Vec<_> =
                runs.iter().filter_map(|(run, j)| figures_of(run, j, direction)).collect();
            rows.extend(
                row(load.name, direction, &part, cells.seed)
                    .map(|row| Row { limit: verdict.map(|verdict| verdict.limit), ..row }),
            );
        }
    }
    rows
}

fn row(cell: &str, direction: Direction, part: &[One], seed: u64) -> Option<Row> {
    let first = part.first()?;
    let rounds: Vec<f64> = part.iter().map(|one| one.iops).collect();
    let iops = estimate::iops_estimate(&rounds, &estimate::course(first.job, direction), seed);
    let latencies: Vec<&Histogram> = part.iter().map(|one| one.latency).collect();
    let percentile = |p| (p, estimate::percentile_estimate(&latencies, p, seed));
    Some(Row {
        cell: cell.into(),
        label: label(cell, direction).into(),
        depth: first.job.workload.iodepth,
        direction: Some(direction),
        of_sync: first.of_sync,
        rounds: part.len() as u32,
        iops,
        // All blocks of a cell have one size.
        bytes_per_second: iops.times(first.block),
        percentiles: PERCENTILES.map(percentile).to_vec(),
        limit: None,
    })
}

fn label(cell: &str, direction: Direction) -> &'static str {
    match (cell, direction) {
        ("seqread", _) => "seq read 1 MiB",
        ("seqwrite", _) => "seq write 1 MiB",
        ("mix-knee", Direction::Read) => "70/30 mix, reads",
        ("mix-knee", _) => "70/30 mix, writes",
        ("syncwrite", _) => "write + fsync",
        (_, Direction::Read) => "rand read 4 KiB",
        (_, _) => "rand write 4 KiB",
    }
}

/// One run in one direction.
struct One<'a> {
    job: &'a JobRecord,
    iops: f64,
    block: f64,
    latency: &'a Histogram,
    of_sync: bool,
}

fn figures_of<'a>(run: &'a RunRecord, judged: &Judged, direction: Direction) -> Option<One<'a>> {
    let figures = &judged.units.first()?.directions[direction];
    let job = run.jobs.first()?;
    let of_sync = job.sync.count > 0;
    let latency = match of_sync {
        true => &job.sync.latency,
        false => job.results[direction].latency.clat.as_ref()?,
    };
    (figures.ios > 0).then(|| One {
        job,
        iops: figures.iops,
        block: figures.bytes as f64 / figures.ios as f64,
        latency,
        of_sync,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Target;
    use crate::test::{Length, Setting, Test};
    use crate::testing::SimulatedDisk;
    use judge::Confidence;

    fn tested(disk: SimulatedDisk, length: Length) -> RecordSet {
        let target = Target::new("/mnt/x", true);
        let mut test = Test::new(Setting {
            target,
            size: Bytes(64 << 20),
            length,
            seed: 1,
            disks: Vec::new(),
            is_on_several_disks: false,
        });
        let runs = { disk }.drive(&mut test, 1000).records;
        RecordSet { kind: "test".into(), runs, ..RecordSet::default() }
    }

    #[test]
    fn every_cell_has_its_row_with_the_disks_figures() {
        let conclusion = conclude(&tested(SimulatedDisk::fast(), Length::Normal));
        let cells: Vec<&str> = conclusion.rows.iter().map(|row| row.cell.as_str()).collect();
        assert_eq!(
            cells,
            [
                "seqread",
                "seqwrite",
                "randread-d1",
                "randread-knee",
                "randwrite-d1",
                "randwrite-knee",
                "mix-knee",
                "mix-knee",
                "syncwrite"
            ]
        );
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.02;
        let row = |index: usize| &conclusion.rows[index];
        assert!(close(row(0).bytes_per_second.value, 500e6));
        assert!(close(row(2).iops.value, 2000.0) && close(row(3).iops.value, 16_000.0));
        assert_eq!((row(3).depth, row(3).rounds, conclusion.rounds), (8, 5, 5));
        assert!(close(row(2).percentiles[0].1.value, 500_000.0));
        assert!(row(8).of_sync && close(row(8).percentiles[0].1.value, 1e6));
        assert!(
            row(3).iops.interval.is_some_and(|(low, high)| low <= 16_000.0 && 15_900.0 <= high)
        );
        assert_eq!(conclusion.knees.iter().map(|(_, k)| k.at.depth).collect::<Vec<_>>(), [8, 8]);
        assert_eq!((conclusion.size, conclusion.failures.len()), (Bytes(64 << 20), 0));
        assert!(conclusion.direct && conclusion.interrupted_by.is_none());
    }

    #[test]
    fn one_round_has_intervals_of_percentiles() {
        let conclusion = conclude(&tested(SimulatedDisk::fast(), Length::Quick));
        assert!(conclusion.rows.iter().all(|row| row.rounds == 1));
        assert!(conclusion.rows[3].percentiles[0].1.interval.is_some());
    }

    #[test]
    fn a_broken_off_test_shows_what_there_is() {
        let mut set = tested(SimulatedDisk::fast(), Length::Normal);
        set.runs.truncate(30);
        if let Some(last) = set.runs.last_mut() {
            last.interrupted_by = Some(2);
        }
        let conclusion = conclude(&set);
        assert_eq!(conclusion.interrupted_by, Some(2));
        assert!(!conclusion.rows.is_empty() && conclusion.rows.iter().all(|row| row.rounds <= 2));
        set.runs.truncate(5);
        assert_eq!(conclude(&set).knees, [], "a sweep that was broken off");
        assert_eq!(conclude(&RecordSet::default()).rows, []);
    }

    #[test]
    fn cells_with_one_limit_stand_together() {
        let verdict = |job: &str, limit, confidence| Verdict {
            job: job.into(),
            limit,
            confidence,
            because: job.to_owned().into(),
            figures: Vec::new(),
            valid_for: String::new(),
        };
        let limited = group_by_limit(vec![
            verdict("syncwrite", Limit::Cpu, Confidence::High),
            verdict("seqread", Limit::Device, Confidence::High),
            verdict("seqwrite", Limit::Device, Confidence::Low),
            verdict("randread-d1", Limit::Device, Confidence::High),
        ]);
        assert_eq!(limited[0].cells, ["seqread", "randread-d1"]);
        assert_eq!(limited[0].verdict.because, "seqread");
        assert_eq!(limited.len(), 3);
    }

    #[test]
    fn what_the_table_is_good_for_depends_on_what_was_found() {
        let row = |limit| Row { limit: Some(limit), ..Row::default() };
        let grave = Finding {
            check: "noisy-neighbour",
            severity: Severity::Warning,
            jobs: Vec::new(),
            text: "".into(),
            figures: Vec::new(),
            cause: "".into(),
            remedy: "".into(),
        };
        let mild = Finding { severity: Severity::Note, ..grave.clone() };
        assert_eq!(valid_for(&[], &[]), "");
        assert!(valid_for(&[row(Limit::Device)], &[mild]).contains("one program"));
        let disturbed = valid_for(&[row(Limit::Device)], std::slice::from_ref(&grave));
        assert!(
            disturbed.contains("not valid for: comparison")
                && disturbed.contains("(noisy-neighbour)")
        );
        assert!(valid_for(&[row(Limit::Cache)], &[grave]).contains("cache"));
    }

    #[test]
    fn jobs_of_several_runs_are_told_by_their_cells() {
        assert_eq!(cell_of("seqread: seqread"), "seqread");
        assert_eq!(cell_of("seqread"), "seqread");
    }
}
