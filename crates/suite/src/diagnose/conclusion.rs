//! The conclusion of a diagnosis: its steps and the likely cause.

use super::probes::{MODERATE, PROBES};
use super::steps::{self, DiagnosisStep, Load, ProbeResult};
use crate::Failure;
use crate::findings::merge_by_check;
use crate::outcome::{failures, interrupted_by};
use judge::{Confidence, Finding, judge};
use record::human::{percent, time};
use record::{Direction, RecordSet, RunRecord, Severity};

/// The results of a diagnosis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// The five steps, in order.
    pub steps: Vec<DiagnosisStep>,
    /// The likely cause.
    pub cause: Cause,
    /// The findings of the checks, the gravest first.
    pub findings: Vec<Finding>,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

/// A likely cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cause {
    /// The cause in one sentence.
    pub text: String,
    /// The confidence; `None` if no cause was found.
    pub confidence: Option<Confidence>,
    /// What to do.
    pub cure: String,
}

/// Runs that provoke warnings on purpose (the deep queue) or only prepare others (the fill); their
/// findings are ignored.
const PROVOKED: [&str; 2] = ["fill", "depth-64"];
/// Checks whose subject is the length of the run, which is the diagnosis' own choice.
const OF_LENGTH: [&str; 2] = ["too-short", "too-few-samples"];

/// The conclusion from the records of a diagnosis.
pub fn conclude(set: &RecordSet) -> Conclusion {
    let mut findings = merge_by_check(set.runs.iter().flat_map(findings_of));
    findings.retain(|finding| !OF_LENGTH.contains(&finding.check));
    let failures = failures(set);
    let (load_look, load) = steps::load(set);
    let (processor, cpu_bound) = steps::processor(set);
    let (sustained, kept) = steps::sustained(set);
    let (durable, sync) = steps::durable(set);
    let indicators = Indicators { load, cpu_bound, kept, sync };
    Conclusion {
        steps: vec![steps::path(set), load_look, processor, sustained, durable],
        cause: cause(set, &indicators, &findings, &failures),
        findings,
        failures,
        interrupted_by: interrupted_by(set),
    }
}

/// The findings of the checks in a run, about its step.
fn findings_of(run: &RunRecord) -> Vec<Finding> {
    let name = run.cell_name();
    if PROVOKED.contains(&name) {
        return Vec::new();
    }
    let about = |finding| Finding { jobs: vec![name.to_owned()], ..finding };
    judge(run).findings.into_iter().map(about).collect()
}

struct Indicators {
    load: Load,
    cpu_bound: bool,
    kept: Option<f64>,
    sync: Option<(f64, f64)>,
}

/// A write with fsync that takes this many times the time of a write alone is what users notice.
const SYNC_DEAR: f64 = 5.0;

/// The likely cause. Problems that make figures invalid come first, then causes with one clear
/// indicator, then causes that several indicators suggest.
fn cause(
    set: &RecordSet,
    indicators: &Indicators,
    findings: &[Finding],
    failures: &[Failure],
) -> Cause {
    let cause = |text: String, confidence, cure: &str| Cause {
        text,
        confidence: Some(confidence),
        cure: cure.into(),
    };
    if let Some(failure) = failures.first() {
        let cure = "fix this first: check the kernel log (dmesg) and the health of the disk";
        return cause(format!("errors: {}", failure.text), Confidence::High, cure);
    }
    if let Some(finding) = findings.iter().find(|f| f.severity >= Severity::Warning) {
        let text = format!("{} [{}]: {}", finding.text, finding.check, finding.cause);
        // A finding in half of the steps is not an accident.
        let often = finding.jobs.len() * 2 >= PROBES.len();
        let confidence = if often { Confidence::High } else { Confidence::Medium };
        return cause(text, confidence, &finding.remedy.to_string());
    }
    match indicators.load {
        Load::Above => {
            let cure = "check the layers above the disk: scheduler, encryption, RAID, cgroup \
                        limits, CPU frequency (fathom inspect lists them)";
            return cause("I/Os are delayed above the device".into(), Confidence::Medium, cure);
        }
        Load::Stalls => {
            let cure = "find what runs at those moments: other programs, trims, scrubs, garbage \
                        collection; fathom run --record keeps the time series";
            return cause("some I/Os stall".into(), Confidence::Medium, cure);
        }
        _ => {}
    }
    if indicators.cpu_bound {
        let cure = "use fewer, larger I/Os, more workers (numjobs), or a faster CPU";
        return cause("a CPU is full".into(), Confidence::High, cure);
    }
    if let Some(kept) = indicators.kept.filter(|kept| *kept < 0.8) {
        let text = format!(
            "writes slow down under load: {} of the IOPS is left after 12 s",
            percent(kept)
        );
        let cure =
            "plan with the sustained figure: run fathom precondition, then fathom test --thorough";
        return cause(text, Confidence::Medium, cure);
    }
    if let Some((plain, whole)) = indicators.sync.filter(|(p, w)| w / p.max(1.0) >= SYNC_DEAR) {
        let text = format!(
            "flushes are slow: a write with fsync takes {}, a write alone {}",
            time(whole),
            time(plain)
        );
        let cure = "commit in groups, and keep logs on a disk with power-loss protection";
        return cause(text, Confidence::Medium, cure);
    }
    healthy(set, indicators)
}

/// The figures in which a fault would have shown.
const JUDGED_BY: &str = "judged by errors, by the warnings of all checks, by time lost above the device, \
                         by stalls, by full CPUs, by writes that slow down, and by slow flushes";

/// The conclusion when no fault was found.
fn healthy(set: &RecordSet, indicators: &Indicators) -> Cause {
    let Some(some) = ProbeResult::find(set, "depth-16", Direction::Read) else {
        return Cause {
            text: "undecided: the runs that show it are missing".into(),
            ..Cause::default()
        };
    };
    let figures =
        format!("{:.0} IOPS of random reads, mean latency {}", some.iops, time(some.mean_ns));
    let verdict = some.judged.verdicts.first();
    match (indicators.load, verdict) {
        (Load::Saturated, _) => Cause {
            text: format!(
                "no fault found: depth {MODERATE} gets the most out of the device, as some depth does \
                 of every device ({figures}); {JUDGED_BY}"
            ),
            confidence: Some(Confidence::Medium),
            cure: "compare these figures with those of the maker or of a like disk; if they are as \
                   expected and too low, reduce I/O (caching, larger blocks), or use faster or more \
                   devices"
                .into(),
        },
        (_, Some(verdict)) => Cause {
            text: format!(
                "no fault found; at depth {MODERATE} the limit is: {} ({figures}); {JUDGED_BY}",
                verdict.limit.name()
            ),
            confidence: Some(verdict.confidence),
            cure: "check the application: its block size, queue depth and fsyncs".into(),
        },
        (_, None) => Cause {
            text: format!("no fault found: {figures} at depth {MODERATE}; {JUDGED_BY}"),
            confidence: Some(Confidence::Medium),
            cure: "check the application: its block size, queue depth and fsyncs".into(),
        },
    }
}
