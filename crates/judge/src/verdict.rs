//! What limited a job, how sure that is, and what its number may be used for.

mod cap;
mod indicators;
mod limit;
mod program;
mod rule;
mod rules;
mod storage;
mod validity;

pub use limit::{Confidence, Limit, Verdict};

use crate::case::{Case, Part};
use crate::finding::Finding;
use indicators::Indicators;
use record::{Medium, Nanos, RunRecord, Severity};
use rule::{RuleInput, RuleOutcome};

/// Kernel counters step by 10 ms and the machine is sampled every 100 ms: verdicts on a shorter window
/// are a guess.
const WINDOW_OF_A_GUESS: Nanos = Nanos::from_millis(100);
/// Shortest window for a verdict of high confidence.
const WINDOW_OF_CLEAR_SIGNS: Nanos = Nanos::from_millis(500);
/// Share of the disks' traffic, in percent, from which that of others makes it doubtful that the device is
/// the limit.
const OTHERS_SHARE_MIN: f64 = 25.0;

/// What each job of a run did, in words: (its name, "4 KiB random reads on this filesystem (ext4) at
/// depth 32, direct").
pub fn workloads(record: &RunRecord) -> Vec<(String, String)> {
    let case = Case::from_record(record);
    let did = |part: &&Part| !part.workers.iter().all(|job| job.did_nothing());
    let words = |part: &Part| (part.name.to_owned(), validity::describe_workload(&case, part));
    case.parts.iter().filter(did).map(words).collect()
}

/// The verdict on every part of a run.
pub(crate) fn verdicts(case: &Case, findings: &[Finding]) -> Vec<Verdict> {
    // Sockets have no storage limit; programs need a known directory.
    let judged = |part: &&Part| match part.medium() {
        Medium::Socket => false,
        Medium::Time => program::has_directory(part),
        Medium::Data | Medium::Metadata | Medium::Memory | Medium::Objects | Medium::Store => true,
    };
    case.parts.iter().filter(judged).map(|part| judge_part(case, part, findings)).collect()
}

/// The verdict on an imported result: the output of the other program does not show the limit.
fn judge_imported(part: &Part, program: &str) -> Verdict {
    Verdict {
        job: part.name.to_owned(),
        limit: Limit::Unknown,
        confidence: Confidence::Low,
        because: format!(
            "measured by {program}, whose output does not show what storage, CPUs and caches did"
        )
        .into(),
        figures: Vec::new(),
        valid_for:
            "valid for: comparison with runs of the same program on the same machine; not valid \
             for: the storage itself"
                .into(),
    }
}

fn judge_part(case: &Case, part: &Part, findings: &[Finding]) -> Verdict {
    if let Some(origin) = &case.record.origin {
        return judge_imported(part, &origin.program);
    }
    let about = |f: &&Finding| f.jobs.is_empty() || f.jobs.iter().any(|job| job == part.name);
    let findings: Vec<&Finding> = findings.iter().filter(about).collect();
    let input = RuleInput {
        case,
        part,
        findings: &findings,
        indicators: Indicators::from_part(case, part),
    };
    let RuleOutcome { limit, confidence, because, figures } = match part.medium() {
        Medium::Time => program::decide(&input),
        _ => rules::decide(&input),
    };
    Verdict {
        job: part.name.to_owned(),
        limit,
        confidence: confidence.min(max_confidence(&input, limit)),
        because,
        figures,
        valid_for: validity::sentence(case, part, limit, &findings),
    }
}

/// The highest confidence that the length of the run and other I/O allow.
fn max_confidence(input: &RuleInput, limit: Limit) -> Confidence {
    let window = input.indicators.window;
    let of_window = match window {
        short if short < WINDOW_OF_A_GUESS => Confidence::Low,
        short if short < WINDOW_OF_CLEAR_SIGNS => Confidence::Medium,
        _ => Confidence::High,
    };
    // Others with a small share of the traffic take as small a share of the time.
    let is_small = |f: &Finding| {
        f.figures.iter().any(|figure| figure.unit == "percent" && figure.value < OTHERS_SHARE_MIN)
    };
    let others = |f: &&Finding| {
        ["noisy-neighbour", "background-work"].contains(&f.check)
            && f.severity > Severity::Note
            && !is_small(f)
    };
    let disturbed = limit == Limit::Device && input.findings.iter().any(others);
    if disturbed { of_window.min(Confidence::Medium) } else { of_window }
}

#[cfg(test)]
mod tests;
