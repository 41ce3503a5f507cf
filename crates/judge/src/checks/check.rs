//! The description of a check.

use crate::case::{Case, Part};
use crate::finding::Finding;
use record::remedy::set;
use record::{Fleet, RecordSet, Remedy, RunRecord, Sentence, Severity};

/// One check, with its entry in docs/CHECKS.md.
pub struct Check {
    /// Its id: printed in brackets behind findings, and the name of its file.
    pub id: &'static str,
    /// The question it answers ("Did the storage serve the I/O, or memory?").
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
    pub function: CheckFunction,
}

impl Check {
    /// The test in which it reports a finding: `file::function` below the repository's root.
    pub fn firing_test(&self) -> String {
        self.test(self.proof.fires)
    }

    /// The test in which it reports nothing.
    pub fn silent_test(&self) -> String {
        self.test(self.proof.silent)
    }

    fn test(&self, name: &str) -> String {
        match name.contains("::") {
            true => format!("crates/cli/tests/{name}"),
            false => format!("crates/judge/src/checks/{}.rs::{name}", self.id.replace('-', "_")),
        }
    }

    /// Its findings about one run.
    pub(super) fn findings(&self, case: &Case) -> Vec<Finding> {
        match self.function {
            CheckFunction::Part(check) => {
                case.parts.iter().filter_map(|part| check(case, part)).collect()
            }
            CheckFunction::Data(check) => {
                case.data_parts().filter_map(|part| check(case, part)).collect()
            }
            CheckFunction::Run(check) => check(case),
            CheckFunction::Fleet(check) => case.record.fleet.iter().flat_map(check).collect(),
            CheckFunction::Set(_) | CheckFunction::Pair(_) => Vec::new(),
        }
    }

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
    pub(super) fn finding_for(
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
pub enum CheckFunction {
    /// Each job of a run.
    Part(fn(&Case, &Part) -> Option<Finding>),
    /// Each job of a run that moves data of files or devices.
    Data(fn(&Case, &Part) -> Option<Finding>),
    /// A whole run.
    Run(fn(&Case) -> Vec<Finding>),
    /// The ranks of a fleet together.
    Fleet(fn(&Fleet) -> Vec<Finding>),
    /// Repeats of a run; see [`over_set`](super::over_set).
    Set(fn(&RecordSet) -> Vec<Finding>),
    /// An earlier and a later run that are compared; see [`over_pair`](super::over_pair).
    Pair(fn(&RunRecord, &RunRecord) -> Vec<Finding>),
}

/// The remedy that gives each worker its own CPUs.
pub(super) fn own_cpus() -> Remedy {
    set("cpus_allowed_policy", "split")
}

/// The tests that prove a check: in which it reports a finding, and in which it reports nothing. Each is
/// `file::function` below crates/cli/tests, or a function in the check's own file.
pub struct Proof {
    /// How the test that fires it makes the situation.
    pub how: How,
    fires: &'static str,
    silent: &'static str,
}

impl Proof {
    /// With real I/O.
    pub(super) const fn real(fires: &'static str, silent: &'static str) -> Proof {
        Proof { how: How::Real, fires, silent }
    }

    /// From recorded facts or a recorded timeline.
    pub(super) const fn recorded(fires: &'static str, silent: &'static str) -> Proof {
        Proof { how: How::Recorded, fires, silent }
    }
}

/// How a test makes the situation that a check detects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// With real I/O.
    Real,
    /// From recorded facts or a recorded timeline.
    Recorded,
}
