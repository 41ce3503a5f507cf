//! What a diagnosis shows, and the likely cause.

use super::PROBES;
use super::looks::{self, Load, Look, Probed, time};
use crate::Failure;
use crate::findings::by_check;
use judge::{Confidence, Finding, judge};
use record::{Direction, RecordSet, RunRecord, Severity};

/// What a diagnosis shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The five looks, in order.
    pub looks: Vec<Look>,
    /// The likely cause.
    pub cause: Cause,
    /// What the checks found in its runs, the gravest first.
    pub findings: Vec<Finding>,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

/// A likely cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// In one sentence.
    pub text: String,
    /// How sure that is; `None` when there is no cause to be sure of.
    pub confidence: Option<Confidence>,
    /// What to do.
    pub cure: String,
}

/// Runs that are made to provoke what some checks warn of: their findings say nothing of the path.
/// The deep queue is deep on purpose, and the fill is there for what follows.
const PROVOKED: [&str; 2] = ["fill", "depth-64"];
/// Checks whose subject is the length of the run, which is the diagnosis' own choice.
const OF_LENGTH: [&str; 2] = ["too-short", "too-few-samples"];

/// What the records of a diagnosis show.
pub fn conclude(set: &RecordSet) -> Conclusion {
    let mut findings = by_check(set.runs.iter().flat_map(findings_of));
    findings.retain(|finding| !OF_LENGTH.contains(&finding.check));
    let failures = crate::outcome::failures(set);
    let (load_look, load) = looks::load(set);
    let (processor, cpu_bound) = looks::processor(set);
    let (sustained, kept) = looks::sustained(set);
    let (durable, sync) = looks::durable(set);
    let signs = Signs { load, cpu_bound, kept, sync };
    Conclusion {
        looks: vec![looks::path(set), load_look, processor, sustained, durable],
        cause: cause(set, &signs, &findings, &failures),
        findings,
        failures,
        interrupted_by: set.runs.iter().find_map(|run| run.interrupted_by),
    }
}

/// What the checks find in a run, about its step.
fn findings_of(run: &RunRecord) -> Vec<Finding> {
    let name = run.cell_name();
    if PROVOKED.contains(&name) {
        return Vec::new();
    }
    let about = |finding| Finding { jobs: vec![name.to_owned()], ..finding };
    judge(run).findings.into_iter().map(about).collect()
}

struct Signs {
    load: Load,
    cpu_bound: bool,
    kept: Option<f64>,
    sync: Option<(f64, f64)>,
}

/// A write and its fsync this many times as long as a write alone are what users feel.
const SYNC_DEAR: f64 = 5.0;

/// The likely cause. What makes figures untrue comes before what explains them, and what one sign
/// proves before what several suggest.
fn cause(set: &RecordSet, signs: &Signs, findings: &[Finding], failures: &[Failure]) -> Cause {
    let said = |text: String, confidence, cure: &str| Cause {
        text,
        confidence: Some(confidence),
        cure: cure.into(),
    };
    if let Some(failure) = failures.first() {
        let cure = "look at the kernel's log (dmesg) and the health of the disk before any figure";
        return said(format!("errors: {}", failure.text), Confidence::High, cure);
    }
    if let Some(finding) = findings.iter().find(|f| f.severity >= Severity::Warning) {
        let text = format!("{} [{}]: {}", finding.text, finding.check, finding.cause);
        // What half of the steps show is no accident.
        let often = finding.jobs.len() * 2 >= PROBES.len();
        let confidence = if often { Confidence::High } else { Confidence::Medium };
        return said(text, confidence, &finding.remedy.to_string());
    }
    match signs.load {
        Load::Above => {
            let cure = "look at the layers above the disk: scheduler, encryption, RAID, cgroup \
                        limits, CPU frequency; fathom inspect lists them";
            return said("time is lost above the device".into(), Confidence::Medium, cure);
        }
        Load::Stalls => {
            let cure = "look for what runs at those moments: other programs, trims, scrubs, a disk \
                        that makes room; fathom run with --record keeps the course";
            return said("single I/Os stall".into(), Confidence::Medium, cure);
        }
        _ => {}
    }
    if signs.cpu_bound {
        let cure = "fewer, larger I/Os, more workers (numjobs), or a faster CPU";
        return said("a CPU is full".into(), Confidence::High, cure);
    }
    if let Some(kept) = signs.kept.filter(|kept| *kept < 0.8) {
        let text = format!("writes slow down under load: {:.0} % is left after 12 s", kept * 100.0);
        let cure =
            "size for the sustained figure: fathom precondition, then fathom test --thorough";
        return said(text, Confidence::Medium, cure);
    }
    if let Some((plain, whole)) = signs.sync.filter(|(p, w)| w / p.max(1.0) >= SYNC_DEAR) {
        let text = format!(
            "waiting for flushes: a write that lasts takes {}, a write alone {}",
            time(whole),
            time(plain)
        );
        let cure = "commit in groups, keep logs on a disk with protection against power loss, and \
                    look there first when a database is slow";
        return said(text, Confidence::Medium, cure);
    }
    healthy(set, signs)
}

/// Nothing is wrong with the storage; what it can do is then the limit.
fn healthy(set: &RecordSet, signs: &Signs) -> Cause {
    let Some(some) = Probed::of(set, "depth-16", Direction::Read) else {
        return Cause {
            text: "undecided: the runs that would show it are missing".into(),
            ..Cause::default()
        };
    };
    let figures = format!("{:.0} random reads a second, {} each", some.iops, time(some.mean_ns));
    let verdict = some.judged.verdicts.first();
    match (signs.load, verdict) {
        (Load::Saturated, _) => Cause {
            text: format!("the device: it is saturated at depth {} by {figures}", super::MODERATE),
            confidence: Some(Confidence::High),
            cure: "less I/O (caching, larger blocks), or a faster or further device".into(),
        },
        (_, Some(verdict)) => Cause {
            text: format!(
                "no fault found; at depth {} the limit is: {} ({figures})",
                super::MODERATE,
                verdict.limit.name()
            ),
            confidence: Some(verdict.confidence),
            cure: "look at the application: its block size, its I/Os in flight, its fsyncs".into(),
        },
        (_, None) => Cause {
            text: format!("no fault found: {figures} at depth {}", super::MODERATE),
            confidence: Some(Confidence::Medium),
            cure: "look at the application: its block size, its I/Os in flight, its fsyncs".into(),
        },
    }
}
