//! The conclusion from the records of timed phases.

use super::gain::{Gain, Incomparable, estimated, gain};
use crate::Failure;
use crate::estimate::{Estimated, ratio};
use crate::findings::merge_by_check;
use crate::limits::{LimitGroup, group_by_limit};
use crate::outcome::{failure, interrupted_by, subset, total_duration};
use judge::{DeviceStep, Finding, Judged, Limit, inspect, judge, judge_set, storage_rates};
use record::{Amount, CacheState, Nanos, RecordSet, RunRecord, Work, distinct};

/// The results of timed phases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The directory of the work, which no longer exists.
    pub directory: String,
    /// The storage stack below it, from the filesystem down.
    pub stack: Vec<String>,
    /// One row per phase, in order.
    pub rows: Vec<Row>,
    /// Total seconds of all phases; `None` if a phase has fewer rounds than others.
    pub total: Option<Estimated>,
    /// The phase whose time is the base of the shares; `None`: all phases together.
    pub share_of: Option<String>,
    /// The gain of all phases over the reference, if every phase can be compared.
    pub total_gain: Option<Gain>,
    /// Whether there is a reference.
    pub is_compared: bool,
    /// The limits of the phases, grouped by limit.
    pub limited: Vec<LimitGroup>,
    /// The findings of the checks, the gravest first.
    pub findings: Vec<Finding>,
    /// Phases that failed.
    pub failures: Vec<Failure>,
    /// Number of rounds that began.
    pub rounds: u32,
    /// Total time of the runs, with preparation and end.
    pub elapsed: Nanos,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

/// One phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Its name.
    pub phase: String,
    /// Its description.
    pub label: String,
    /// Number of rounds in which it was completed.
    pub rounds: u32,
    /// Its time, in seconds.
    pub seconds: Estimated,
    /// Its parts with their mean seconds over the rounds; empty if there is only one.
    pub parts: Vec<(String, f64)>,
    /// The amount of work.
    pub amount: Option<Amount>,
    /// Its time as a share of that of [`Conclusion::share_of`].
    pub share: Option<Estimated>,
    /// The amount per second.
    pub rate: Option<Estimated>,
    /// What all disks did during it, in its first round.
    pub io: Vec<DeviceStep>,
    /// The content of the page cache at its start, in the round with the most content.
    pub cache: CacheState,
    /// Its limit.
    pub limit: Option<Limit>,
    /// Its gain over the reference; `None` without a reference.
    pub gain: Option<Result<Gain, Incomparable>>,
}

/// The conclusion from the records, compared with a reference if there is one.
pub fn conclude(set: &RecordSet, reference: Option<&RecordSet>) -> Conclusion {
    let whole = whole(set);
    let judged: Vec<Judged> = whole.runs.iter().map(judge).collect();
    let merged = judge_set(&whole, &judged);
    let old = reference.map(self::whole);
    let names = phases(&whole);
    let total = total(&names, &whole).map(|times| estimated(&times, set.seed));
    let rows: Vec<Row> = names
        .iter()
        .map(|name| {
            let limit = merged.verdicts.iter().find(|v| v.job == *name).map(|v| v.limit);
            let row = row(name, &whole, old.as_ref());
            let share = total.map(|total| row.seconds.value / total.value);
            Row { limit, share: share.and_then(Estimated::unbounded), ..row }
        })
        .collect();
    let first = set.runs.first();
    let directory = first.and_then(directory).unwrap_or_default();
    Conclusion {
        stack: first.map(|run| inspect(&run.facts, &directory).stack).unwrap_or_default(),
        total,
        share_of: None,
        total_gain: total_gain(&names, &rows, &whole, old.as_ref()),
        is_compared: reference.is_some(),
        rows,
        limited: group_by_limit(merged.verdicts),
        findings: merge_by_check(merged.findings),
        failures: set.runs.iter().filter_map(failed).collect(),
        rounds: set.rounds(),
        elapsed: total_duration(set),
        interrupted_by: interrupted_by(set),
        directory,
    }
}

impl Conclusion {
    /// Makes the shares ratios to the time of one phase.
    pub fn relate_to(&mut self, phase: &str, set: &RecordSet) {
        let whole = whole(set);
        let reference = seconds(&works(&whole, phase));
        for row in &mut self.rows {
            let times = seconds(&works(&whole, &row.phase));
            row.share = match row.phase == phase {
                true => Estimated::unbounded(1.0),
                false => ratio(&times, &reference, set.seed),
            };
        }
        self.share_of = Some(phase.to_owned());
    }
}

/// Why a phase failed; `None` if it succeeded or was interrupted.
fn failed(run: &RunRecord) -> Option<Failure> {
    if run.interrupted_by.is_some() {
        return None;
    }
    let cell = run.cell_name().to_owned();
    match &run.work {
        Some(work) => Some(Failure { cell, text: work.failure.clone()?.into() }),
        None => failure(run),
    }
}

/// The successful, complete runs.
fn whole(set: &RecordSet) -> RecordSet {
    subset(set, |run| {
        let has_parts = run.work.as_ref().is_some_and(|work| !work.parts.is_empty());
        has_parts && run.interrupted_by.is_none() && failed(run).is_none()
    })
}

fn directory(run: &RunRecord) -> Option<String> {
    run.jobs.first()?.workload.settings.get("directory").cloned()
}

/// Names of all phases, in order of their first appearance.
fn phases(set: &RecordSet) -> Vec<String> {
    distinct(set.runs.iter().map(|run| run.cell_name().to_owned()))
}

/// The work of a phase in each round.
fn works<'a>(set: &'a RecordSet, phase: &str) -> Vec<&'a Work> {
    set.runs
        .iter()
        .filter(|run| run.cell_name() == phase)
        .filter_map(|run| run.work.as_ref())
        .collect()
}

fn seconds(works: &[&Work]) -> Vec<f64> {
    works.iter().map(|work| work.length().seconds()).collect()
}

fn row(phase: &str, set: &RecordSet, reference: Option<&RecordSet>) -> Row {
    let works = works(set, phase);
    let times = seconds(&works);
    let amount = works.first().and_then(|work| work.amount);
    let rates = |amount: Amount| -> Vec<f64> {
        times.iter().map(|seconds| amount.count as f64 / seconds.max(1e-9)).collect()
    };
    let run = set.runs.iter().find(|run| run.cell_name() == phase);
    let job = run.and_then(|run| run.jobs.first());
    Row {
        phase: phase.to_owned(),
        label: job.map(|job| job.description.clone()).unwrap_or_default(),
        rounds: works.len() as u32,
        seconds: estimated(&times, set.seed),
        parts: parts(&works),
        amount,
        rate: amount.map(|amount| estimated(&rates(amount), set.seed)),
        io: run.map(storage_rates).unwrap_or_default(),
        cache: works.iter().map(|work| work.cache).min().unwrap_or_default(),
        share: None,
        limit: None,
        gain: reference.map(|reference| compared(phase, &works, reference, set.seed)),
    }
}

/// Mean seconds of each part; none if the phase has only one part.
fn parts(works: &[&Work]) -> Vec<(String, f64)> {
    let Some(first) = works.first().filter(|work| work.parts.len() > 1) else { return Vec::new() };
    let mean = |index: usize| {
        let lengths = works.iter().filter_map(|work| work.parts.get(index));
        let lengths: Vec<f64> = lengths.map(|part| part.length.seconds()).collect();
        lengths.iter().sum::<f64>() / lengths.len().max(1) as f64
    };
    first.parts.iter().enumerate().map(|(at, part)| (part.name.clone(), mean(at))).collect()
}

fn compared(
    phase: &str,
    works: &[&Work],
    reference: &RecordSet,
    seed: u64,
) -> Result<Gain, Incomparable> {
    let old = self::works(reference, phase);
    let (Some(new_first), Some(old_first)) = (works.first(), old.first()) else {
        return Err(Incomparable::Missing);
    };
    if new_first.amount != old_first.amount {
        let amount_text = |work: &Work| {
            let with_unit = |amount: Amount| format!("{} {}", amount.count, amount.unit.name());
            work.amount.map_or("no amount".to_owned(), with_unit)
        };
        let text = format!("{} here, {} there", amount_text(new_first), amount_text(old_first));
        return Err(Incomparable::Other(text));
    }
    let cache = |works: &[&Work]| works.iter().map(|work| work.cache).min().unwrap_or_default();
    let parts = |work: &Work| work.parts.iter().map(|part| part.name.clone()).collect::<Vec<_>>();
    if cache(works) != cache(&old) {
        let text = format!("caches {} here, {} there", cache(works).name(), cache(&old).name());
        return Err(Incomparable::Other(text));
    }
    if parts(new_first) != parts(old_first) {
        let joined = |work: &Work| parts(work).join(" + ");
        let text = format!("{} here, {} there", joined(new_first), joined(old_first));
        return Err(Incomparable::Other(text));
    }
    gain(&seconds(works), &seconds(&old), seed).ok_or(Incomparable::Missing)
}

/// Total seconds of all phases in each round; `None` if a phase lacks a round.
fn total(phases: &[String], set: &RecordSet) -> Option<Vec<f64>> {
    let all: Vec<Vec<f64>> = phases.iter().map(|phase| seconds(&works(set, phase))).collect();
    let rounds = all.first()?.len();
    let even = all.len() > 1 && all.iter().all(|times| times.len() == rounds);
    even.then(|| (0..rounds).map(|round| all.iter().map(|times| times[round]).sum()).collect())
}

/// Compares all phases with all phases of the reference.
fn total_gain(
    phases: &[String],
    rows: &[Row],
    set: &RecordSet,
    reference: Option<&RecordSet>,
) -> Option<Gain> {
    let reference = reference?;
    let comparable = rows.iter().all(|row| matches!(row.gain, Some(Ok(_))));
    if !comparable {
        return None;
    }
    gain(&total(phases, set)?, &total(phases, reference)?, set.seed)
}
