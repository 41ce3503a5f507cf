//! The gate: conditions that a run must meet, with the certainty its data allows.
//!
//! A condition is `[job:][direction.][class.]metric operator limit`, such as `p99.9<2ms`,
//! `randread:read.iops>=50k`, `response.p99<10ms` or `bw>1.5GiB/s`, or one of the words `steady`,
//! `no-errors`, `no-warnings` and `no-findings`. Without a job it holds for every job, without a
//! direction for each direction in which a job moved data. Of requests to an object store there are
//! `ttfb.p99<20ms` (time to the first byte), `GET.p99<1s` and `failed<0.1%`, each of one kind of
//! request (`GET.ttfb.p99<20ms`) or of every one.
//!
//! A figure is an estimate: where the interval that holds its true value spans the limit, the
//! condition is undecided. A run too short for an interval decides what is far from its figure.

pub(crate) mod condition;
pub(crate) mod figures;
#[cfg(test)]
mod tests;

pub use condition::{Condition, ConditionError, Subject};

use crate::case::Case;
use crate::finding::Finding;
use crate::operation::Operation;
use crate::stats::{Estimate, STEADY_ROUNDS, steady_state};
use condition::{Operator, Requirement, Unit};
use figures::{Measured, RepeatedJob};
use record::{RunRecord, Severity, named};

/// Whether a condition was met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It was.
    Pass,
    /// The data do not decide.
    Undecided,
    /// It was not.
    Fail,
}

named!(Outcome: Pass "pass", Undecided "undecided", Fail "fail");

/// The result of a condition for one job and operation.
#[derive(Clone, Debug, PartialEq)]
pub struct GateResult {
    /// The condition as typed.
    pub condition: String,
    /// The job; empty: the whole run.
    pub job: String,
    /// The operation; `None` for requirements without a figure.
    pub operation: Option<Operation>,
    /// The figure and the interval that holds its true value in 95 of 100 cases; infinite ends where
    /// there are too few data for one. `None` for conditions about steadiness and findings.
    pub measured: Option<Estimate>,
    /// What the figure is in: "ns", "IOPS", "bytes/s", "percent".
    pub unit: &'static str,
    /// Whether it was met.
    pub outcome: Outcome,
    /// Why, where the figure alone does not show it.
    pub reason: Option<String>,
}

/// The results of all conditions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gated {
    /// In order of the conditions.
    pub results: Vec<GateResult>,
    /// Whether undecided conditions let the run pass.
    pub undecided_passes: bool,
}

impl Gated {
    /// Whether the run may pass.
    pub fn passed(&self) -> bool {
        passed(&self.results, self.undecided_passes)
    }
}

/// Evaluates the conditions. `runs` are one run, or runs that repeat each other, each named by its
/// cell. `judged` is what [`crate::judge()`] says of the run, or [`crate::judge_set()`] of the runs.
/// `seed` feeds all random choices (bootstrap). A condition about nothing in these runs fails.
pub fn evaluate(
    runs: &[RunRecord],
    findings_of_runs: &[Finding],
    seed: u64,
    conditions: &[Condition],
) -> Vec<GateResult> {
    let cases: Vec<Case> = runs.iter().map(Case::from_record).collect();
    let repeated_jobs = figures::repeated_jobs(&cases);
    let mut results = Vec::new();
    for condition in conditions {
        let about = repeated_jobs.iter().filter(|member| condition.is_about(&member.name));
        let found = match &condition.what {
            Requirement::Figure { .. } => about.flat_map(|m| figures(condition, m, seed)).collect(),
            Requirement::Steady => about.map(|m| steady(condition, m, findings_of_runs)).collect(),
            Requirement::No(level) => vec![findings(condition, *level, findings_of_runs)],
        };
        match found.is_empty() {
            true => results.push(about_nothing(condition)),
            false => results.extend(found),
        }
    }
    results
}

fn about_nothing(condition: &Condition) -> GateResult {
    let job = condition.job.clone().unwrap_or_default();
    let reason = Some(condition.why_nothing().into());
    GateResult { job, outcome: Outcome::Fail, reason, ..unmeasured(condition) }
}

/// The result of a condition that is not about a figure.
fn unmeasured(condition: &Condition) -> GateResult {
    GateResult {
        condition: condition.text.clone(),
        job: String::new(),
        operation: None,
        measured: None,
        unit: "",
        outcome: Outcome::Pass,
        reason: None,
    }
}

/// Whether all results let a run pass.
pub fn passed(results: &[GateResult], undecided_passes: bool) -> bool {
    results.iter().all(|result| match result.outcome {
        Outcome::Pass => true,
        Outcome::Undecided => undecided_passes,
        Outcome::Fail => false,
    })
}

/// A figure of one job, once for each direction or kind of request it has it in.
fn figures(condition: &Condition, member: &RepeatedJob, seed: u64) -> Vec<GateResult> {
    let Requirement::Figure { operation, class, metric, operator, limit } = &condition.what else {
        return Vec::new();
    };
    figures::figures(member, operation.as_ref(), *class, *metric, seed)
        .into_iter()
        .map(|Measured { operation, estimate, reason }| GateResult {
            condition: condition.text.clone(),
            job: member.name.clone(),
            operation: Some(operation),
            measured: Some(estimate),
            unit: match metric.unit() {
                Unit::Time => "ns",
                Unit::Count => "IOPS",
                Unit::Bytes => "bytes/s",
                Unit::Percent => "percent",
            },
            outcome: decide(&estimate, *operator, *limit),
            reason,
        })
        .collect()
}

fn decide(measured: &Estimate, operator: Operator, limit: f64) -> Outcome {
    let (low, high) = (operator.holds(measured.low, limit), operator.holds(measured.high, limit));
    match (low, high) {
        (true, true) => Outcome::Pass,
        (false, false) => Outcome::Fail,
        _ => Outcome::Undecided,
    }
}

/// Smallest number of whole intervals that shows whether a run was steady.
const STEADY_INTERVALS_MIN: usize = 10;

/// Within each run no change or drift was found; rounds enough, those as well by SNIA's rule.
fn steady(condition: &Condition, member: &RepeatedJob, findings: &[Finding]) -> GateResult {
    let changed = findings.iter().find(|f| {
        f.check == "not-steady"
            && f.severity >= Severity::Warning
            && (f.jobs.is_empty() || f.jobs.contains(&member.name))
    });
    let rounds = figures::rounds(member);
    let over_rounds = steady_state(&rounds).filter(|state| !state.is_steady);
    let intervals = figures::intervals(member);
    let (outcome, reason) = if let Some(finding) = changed {
        (Outcome::Fail, Some(finding.text.to_string()))
    } else if let Some(state) = over_rounds {
        let text = format!(
            "over the last {STEADY_ROUNDS} runs the range was {:.0} % and the slope {:.0} %; 20 % \
             and 10 % are allowed",
            state.range * 100.0,
            state.slope * 100.0
        );
        (Outcome::Fail, Some(text))
    } else if intervals < STEADY_INTERVALS_MIN && rounds.len() < STEADY_ROUNDS {
        let text = format!(
            "only {intervals} whole intervals: {STEADY_INTERVALS_MIN} are needed to decide"
        );
        (Outcome::Undecided, Some(text))
    } else {
        (Outcome::Pass, None)
    };
    GateResult { job: member.name.clone(), outcome, reason, ..unmeasured(condition) }
}

/// No finding of a level or above.
fn findings(condition: &Condition, level: Severity, findings: &[Finding]) -> GateResult {
    let about = |f: &&Finding| {
        f.severity >= level
            && match &condition.job {
                Some(job) => f.jobs.is_empty() || f.jobs.contains(job),
                None => true,
            }
    };
    let mut checks: Vec<&str> = findings.iter().filter(about).map(|f| f.check).collect();
    checks.dedup();
    let outcome = if checks.is_empty() { Outcome::Pass } else { Outcome::Fail };
    let job = condition.job.clone().unwrap_or_default();
    let reason = (!checks.is_empty()).then(|| checks.join(", "));
    GateResult { job, outcome, reason, ..unmeasured(condition) }
}
