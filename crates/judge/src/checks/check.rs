//! The description of a check.

use crate::case::{Case, Part};
use crate::finding::Finding;
use record::remedy::set;
use record::{RecordSet, Remedy, RunRecord, Sentence, Severity};

/// One check, with its entry in docs/CHECKS.md.
pub struct Check {
    /// Its id: printed in brackets behind findings, and the name of its file.
    pub id: &'static str,
    /// The question it answers ("Did the storage answer, or memory?").
    pub question: &'static str,
    /// The evidence it reads.
    pub evidence: &'static str,
    /// The values at which it reports a finding, and the severity.
    pub threshold: &'static str,
    /// Why these values.
    pub reason: &'static str,
    /// The usual cause of the finding.
    pub cause: &'static str,
    /// What the user can do.
    pub remedy: fn() -> Remedy,
    /// The tests that prove it.
    pub proof: Proof,
    /// The check itself: at most one finding for each job, or one for the run.
    pub look: Look,
}

impl Check {
    /// A finding with the check's cause and remedy, without figures.
    pub(super) fn finding(
        &self,
        severity: Severity,
        jobs: Vec<String>,
        text: impl Into<Sentence>,
    ) -> Finding {
        Finding {
            check: self.id,
            severity,
            jobs,
            text: text.into(),
            figures: Vec::new(),
            cause: self.cause.into(),
            remedy: (self.remedy)(),
        }
    }

    /// A finding about one job.
    pub(super) fn about(
        &self,
        part: &Part,
        severity: Severity,
        text: impl Into<Sentence>,
    ) -> Finding {
        self.finding(severity, vec![part.name.to_owned()], text)
    }
}

/// The function of a check, by what it reads.
#[derive(Clone, Copy)]
pub enum Look {
    /// One run. Every run is checked when it is judged.
    Run(fn(&Case) -> Vec<Finding>),
    /// One run, only about jobs that move data of files or devices.
    Data(fn(&Case) -> Vec<Finding>),
    /// Repeats of a run; see [`over_set`](super::over_set).
    Set(fn(&RecordSet) -> Vec<Finding>),
    /// An earlier and a later run that are compared; see [`over_pair`](super::over_pair).
    Pair(fn(&RunRecord, &RunRecord) -> Vec<Finding>),
}

/// The remedy that gives each worker its own CPUs.
pub(super) fn own_cpus() -> Remedy {
    set("cpus_allowed_policy", "split")
}

/// The tests that prove a check: `file::function` below the repository's root.
pub struct Proof {
    /// How the test that fires it makes the situation.
    pub how: How,
    /// A test in which the check reports a finding.
    pub fires: &'static str,
    /// A test in which the check reports nothing.
    pub silent: &'static str,
}

/// How a test makes the situation that a check detects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With real I/O.
    Real,
    /// From recorded facts or a recorded timeline.
    Recorded,
}
