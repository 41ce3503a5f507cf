//! The conclusion from the records of a curve.

use super::access::Access;
use super::bound::Bound;
use super::depth_run::{DepthRun, depth_of};
use super::row::{Row, knee_of, rows};
use crate::Failure;
use crate::findings::merge_by_check;
use crate::knee::{Knee, Point, knee};
use crate::outcome::{failures, interrupted_by, ranks_of, subset, total_duration, went_well};
use crate::target::FILL;
use judge::{Durability, Finding, Verdict, durability, inspect, judge, judge_set};
use record::{Bytes, Nanos, RecordSet, RunRecord};

/// Throughput of this share of the maximum IOPS counts as saturated.
const SATURATED: f64 = 0.95;

/// The conclusion from the records of a curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The file or device.
    pub path: String,
    /// Size of the region.
    pub size: Bytes,
    /// Whether the file was made for the measurement and then removed.
    pub is_scratch: bool,
    /// The accesses; `None` if there were none.
    pub access: Option<Access>,
    /// Size of an access.
    pub block: Bytes,
    /// Whether O_DIRECT was used.
    pub direct: bool,
    /// I/O engine.
    pub engine: String,
    /// Number of threads, each with the depth.
    pub threads: u32,
    /// Number of ranks, each with these threads and its own file; 1 without a launcher.
    pub ranks: u32,
    /// The storage stack below it, from the filesystem down.
    pub stack: Vec<String>,
    /// The durability of a completed write there.
    pub durability: Option<Durability>,
    /// One row per depth, in rising order.
    pub rows: Vec<Row>,
    /// The knee; `None` if not every depth was measured.
    pub knee: Option<Knee>,
    /// The shallowest and deepest knee of single rounds.
    pub knees: Option<(u32, u32)>,
    /// The smallest depth with nearly the maximum IOPS.
    pub saturated: Option<u32>,
    /// The bounds of the latency, with their results.
    pub held: Vec<BoundResult>,
    /// The depth to use; `None` if no depth is within the bounds, or none was measured.
    pub choice: Option<DepthChoice>,
    /// Options of the job at that depth.
    pub options: Vec<(String, String)>,
    /// The limit at that depth.
    pub verdict: Option<Verdict>,
    /// The findings of the checks, the gravest first.
    pub findings: Vec<Finding>,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// Total time of the runs.
    pub elapsed: Nanos,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

impl Conclusion {
    /// The row of a depth.
    pub fn row(&self, depth: u32) -> Option<&Row> {
        self.rows.iter().find(|row| row.depth == depth)
    }

    /// Whether no measured depth is within a bound.
    pub fn is_unmet(&self) -> bool {
        !self.rows.is_empty() && !self.held.is_empty() && self.choice.is_none()
    }
}

/// A bound on latency, with its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundResult {
    /// The bound.
    pub bound: Bound,
    /// The deepest depth within it.
    pub deepest: Option<u32>,
    /// Whether the interval of the figure at that depth is also within it, or does not exist.
    pub is_sure: bool,
    /// Whether a shallower depth exceeds it.
    pub is_uneven: bool,
}

/// The depth to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthChoice {
    /// The depth of each thread.
    pub depth: u32,
    /// The reason.
    pub why: ChoiceReason,
}

/// The reason for a depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChoiceReason {
    /// The knee.
    Knee,
    /// The deepest depth within all bounds.
    Bounds,
}

/// The conclusion from the records, with the bounds on latency, if any.
pub fn conclude(set: &RecordSet, bounds: &[Bound]) -> Conclusion {
    let measured: Vec<DepthRun> = set.runs.iter().filter_map(DepthRun::from_record).collect();
    let rows = rows(&measured, set.seed);
    let interrupted_by = interrupted_by(set);
    let failures = failures(set);
    // A measurement that was interrupted in its first round has no knee yet.
    let broken_off = interrupted_by.is_some() || !failures.is_empty();
    let is_whole = !broken_off || measured.iter().any(|one| one.round > 0);
    let knee = knee_of(&rows).filter(|_| is_whole);
    let held: Vec<BoundResult> = bounds.iter().map(|bound| check_bound(bound, &rows)).collect();
    let choice = if is_whole { choice(&rows, bounds, knee.as_ref()) } else { None };
    let at = |choice: DepthChoice| set.runs.iter().rfind(|run| depth_of(run) == Some(choice.depth));
    let chosen = choice.and_then(at).and_then(|run| run.jobs.first());
    Conclusion {
        knees: knees(&measured).filter(|_| is_whole),
        saturated: knee.as_ref().and_then(|knee| saturated(&rows, knee)),
        knee,
        held,
        options: chosen.map(|job| job.options.clone()).unwrap_or_default(),
        verdict: choice.and_then(|choice| verdict(set, choice.depth)),
        choice,
        findings: findings(set),
        failures,
        elapsed: total_duration(set),
        interrupted_by,
        rows,
        ..setting(set)
    }
}

/// The setting of the measurement, from its records.
fn setting(set: &RecordSet) -> Conclusion {
    let is_fill = |run: &&RunRecord| run.cell_name() == FILL;
    let is_scratch = set.runs.iter().any(|run| is_fill(&run));
    let run = set.runs.iter().rfind(|run| !is_fill(run)).or(set.runs.last());
    let Some((run, job)) = run.and_then(|run| Some((run, run.jobs.first()?))) else {
        return Conclusion::default();
    };
    let workload = &job.workload;
    let path = workload.files.first().cloned().unwrap_or_default();
    let regions: u64 = run.jobs.iter().map(|job| job.workload.region.0).sum();
    let apart = run.jobs.iter().any(|job| job.workload.regions != workload.regions);
    Conclusion {
        size: Bytes(if apart { regions } else { workload.region.0 }),
        is_scratch,
        access: Access::named(&workload.rw).filter(|_| !is_fill(&run)),
        block: workload.block_size.read.1.max(workload.block_size.write.1),
        direct: workload.direct,
        engine: workload.ioengine.clone(),
        threads: run.jobs.len() as u32,
        ranks: ranks_of(run),
        stack: inspect(&run.facts, &path).stack,
        durability: Some(durability(&run.facts, &path)),
        path,
        ..Conclusion::default()
    }
}

/// The lowest and highest knee of single rounds, of the rounds with the most depths.
fn knees(measured: &[DepthRun]) -> Option<(u32, u32)> {
    let last = measured.iter().map(|one| one.round).max()?;
    let curve = |round: u32| -> Vec<Point> {
        let of_round = measured.iter().filter(|one| one.round == round);
        let point = |one: &DepthRun| Point {
            depth: one.depth,
            iops: one.iops,
            latency_ns: one.latency.mean(),
        };
        of_round.map(point).collect()
    };
    let curves: Vec<Vec<Point>> = (0..=last).map(curve).collect();
    let whole = curves.iter().map(Vec::len).max()?;
    let whole = curves.iter().filter(|curve| curve.len() == whole);
    let at: Vec<u32> = whole.filter_map(|curve| Some(knee(curve)?.at.depth)).collect();
    (at.len() > 1).then_some((*at.iter().min()?, *at.iter().max()?))
}

/// The smallest depth with nearly the maximum IOPS.
fn saturated(rows: &[Row], knee: &Knee) -> Option<u32> {
    let enough = |row: &&Row| row.iops.value >= knee.most.iops * SATURATED;
    rows.iter().find(enough).map(|row| row.depth)
}

fn check_bound(bound: &Bound, rows: &[Row]) -> BoundResult {
    let deepest = bound.deepest(rows);
    let figure = rows.iter().find(|row| Some(row.depth) == deepest);
    let figure = figure.and_then(|row| bound.figure.value(row));
    let high = figure.and_then(|figure| figure.interval).map(|(_, high)| high);
    let shallower = |row: &Row| deepest.is_some_and(|deepest| row.depth < deepest);
    BoundResult {
        bound: *bound,
        deepest,
        is_sure: high.is_some_and(|high| high <= bound.limit_ns),
        is_uneven: rows.iter().any(|row| shallower(row) && !bound.holds(row)),
    }
}

/// The knee, or with bounds the deepest depth within all of them.
fn choice(rows: &[Row], bounds: &[Bound], knee: Option<&Knee>) -> Option<DepthChoice> {
    if bounds.is_empty() {
        return Some(DepthChoice { depth: knee?.at.depth, why: ChoiceReason::Knee });
    }
    let within = |row: &&Row| bounds.iter().all(|bound| bound.holds(row));
    let depth = rows.iter().rfind(within)?.depth;
    Some(DepthChoice { depth, why: ChoiceReason::Bounds })
}

/// The limit of the runs at a depth.
fn verdict(set: &RecordSet, depth: u32) -> Option<Verdict> {
    let runs = subset(set, |run| went_well(run) && depth_of(run) == Some(depth));
    let judged: Vec<_> = runs.runs.iter().map(judge).collect();
    judge_set(&runs, &judged).verdicts.into_iter().next()
}

/// The findings of all depths, one per check.
fn findings(set: &RecordSet) -> Vec<Finding> {
    let runs = subset(set, |run| went_well(run) && run.cell_name() != FILL);
    let judged: Vec<_> = runs.runs.iter().map(judge).collect();
    let cell = |job: String| job.split(": ").next().unwrap_or(&job).to_owned();
    let of_cells = |finding: Finding| {
        let mut jobs: Vec<String> = finding.jobs.into_iter().map(cell).collect();
        jobs.dedup();
        Finding { jobs, ..finding }
    };
    merge_by_check(judge_set(&runs, &judged).findings.into_iter().map(of_cells))
}
