//! What limited a job, how sure that is, and what its number may be used for.

mod program;
mod rules;
mod signs;
mod use_for;

use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::{Medium, Nanos, RunRecord, Sentence, Severity};
use rules::{Matter, Ruling};
use signs::Signs;

/// What a job could not go beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Limit {
    /// The storage device, its queue or its medium.
    Device,
    /// The processors.
    Cpu,
    /// Memory: the device was not asked.
    Cache,
    /// The load generator itself: filling buffers, verifying, keeping a schedule.
    Client,
    /// A limit that somebody set: control group, cloud quota, heat.
    Throttle,
    /// The server that was asked, or the network to it.
    Server,
    /// The rate the job asks for.
    Rate,
    /// Nothing in the evidence decides it.
    Unknown,
}

impl Limit {
    /// As it is printed: "device", "CPU" …
    pub fn name(self) -> &'static str {
        match self {
            Limit::Device => "device",
            Limit::Cpu => "CPU",
            Limit::Cache => "cache",
            Limit::Client => "client",
            Limit::Throttle => "throttle",
            Limit::Server => "server",
            Limit::Rate => "rate",
            Limit::Unknown => "unknown",
        }
    }
}

/// How sure a verdict is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// One sign, or signs that disagree.
    Low,
    /// The signs agree, but one that would decide is missing.
    Medium,
    /// The deciding figures are there and clear.
    High,
}

impl Confidence {
    /// As it is printed: "low", "medium", "high".
    pub fn name(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// The verdict on one job.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The job.
    pub job: String,
    /// What limited it.
    pub limit: Limit,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why, in one sentence with the deciding figures.
    pub because: Sentence,
    /// The two or three figures that decide it.
    pub figures: Vec<Figure>,
    /// What the number may be used for, in one sentence.
    pub use_for: String,
}

/// Counters of the kernel move by hundredths of a second, and the machine is sampled ten times in
/// one: what they say of a shorter window is a guess.
const WINDOW_OF_A_GUESS: Nanos = Nanos::from_millis(100);
/// From so long a window on, they decide.
const WINDOW_OF_CLEAR_SIGNS: Nanos = Nanos::from_millis(500);

/// What each job of a run did, in words: (its name, "4 KiB random reads of this filesystem (ext4) at
/// depth 32, direct").
pub fn workloads(record: &RunRecord) -> Vec<(String, String)> {
    let case = Case::of(record);
    let did = |part: &&Part| !part.workers.iter().all(|job| job.did_nothing());
    let words = |part: &Part| (part.name.to_owned(), use_for::what(&case, part));
    case.parts.iter().filter(did).map(words).collect()
}

/// The verdict on every part of a run.
pub(crate) fn of(case: &Case, findings: &[Finding]) -> Vec<Verdict> {
    // What is no I/O of this machine has no limit to look for here.
    let judged = |part: &&Part| match part.medium() {
        Medium::Socket => false,
        Medium::Time => program::is_told_where(part),
        Medium::Data | Medium::Metadata | Medium::Memory | Medium::Objects => true,
    };
    case.parts.iter().filter(judged).map(|part| of_part(case, part, findings)).collect()
}

/// Where another program measured: what it prints decides nothing.
fn of_imported(part: &Part, program: &str) -> Verdict {
    Verdict {
        job: part.name.to_owned(),
        limit: Limit::Unknown,
        confidence: Confidence::Low,
        because: format!(
            "it was measured by {program}, which does not tell what storage, CPUs and caches did"
        )
        .into(),
        figures: Vec::new(),
        use_for:
            "use it for: comparison with runs of the same program on the same machine; not for \
                  a figure of the storage itself"
                .into(),
    }
}

fn of_part(case: &Case, part: &Part, findings: &[Finding]) -> Verdict {
    if let Some(origin) = &case.record.origin {
        return of_imported(part, &origin.program);
    }
    let about = |f: &&Finding| f.jobs.is_empty() || f.jobs.iter().any(|job| job == part.name);
    let findings: Vec<&Finding> = findings.iter().filter(about).collect();
    let matter = Matter { case, part, findings: &findings, signs: Signs::of(case, part) };
    let Ruling { limit, confidence, because, figures } = match part.medium() {
        Medium::Time => program::decide(&matter),
        _ => rules::decide(&matter),
    };
    Verdict {
        job: part.name.to_owned(),
        limit,
        confidence: confidence.min(most_to_be_had(&matter, limit)),
        because,
        figures,
        use_for: use_for::sentence(case, part, limit, &findings),
    }
}

/// The most that can be said of a limit in a run like this one.
fn most_to_be_had(matter: &Matter, limit: Limit) -> Confidence {
    let window = matter.signs.window;
    let of_window = match window {
        short if short < WINDOW_OF_A_GUESS => Confidence::Low,
        short if short < WINDOW_OF_CLEAR_SIGNS => Confidence::Medium,
        _ => Confidence::High,
    };
    let others = |f: &&Finding| {
        ["noisy-neighbour", "background-work"].contains(&f.check) && f.severity > Severity::Note
    };
    let disturbed = limit == Limit::Device && matter.findings.iter().any(others);
    if disturbed { of_window.min(Confidence::Medium) } else { of_window }
}

#[cfg(test)]
mod tests;
