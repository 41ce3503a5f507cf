//! The checks: each turns evidence into findings. One file a check, named as its id.

mod background_work;
mod client_bound;
mod compressible_data;
mod connection_bound;
mod coordinated_omission;
mod cpu_bound;
mod cpu_elsewhere;
mod cpu_starved;
mod depth_costume;
mod depth_not_reached;
mod direct_not_direct;
mod env_changed;
mod errors;
mod fsync_implausible;
mod interrupts_on_one_cpu;
mod misaligned;
mod mount_options;
mod never_written;
mod noisy_neighbour;
mod not_durable;
mod not_steady;
mod not_together;
mod overlapping_jobs;
mod repeated_objects;
mod repeated_offsets;
mod runs_vary;
mod same_content;
mod served_from_cache;
pub(crate) mod server_on_this_host;
mod server_throttles;
mod smaller_than_memory;
mod stolen_time;
#[cfg(test)]
pub(crate) mod testing;
mod throttled_hot;
mod too_few_samples;
mod too_short;
mod traffic;
mod unhealthy_device;
mod unsigned_content;
mod virtual_device;
pub mod words;

pub use env_changed::{Difference, environment_differences};

use crate::case::{Case, Part};
use crate::finding::Finding;
use record::remedy::set;
use record::{Medium, RecordSet, Remedy, RunRecord, Sentence, Severity};
use std::cmp::Reverse;

/// One check, and everything docs/CHECKS.md says of it.
pub struct Check {
    /// Its id, as printed in brackets and as its file is called.
    pub id: &'static str,
    /// What it asks, in one sentence ("Did the storage answer, or memory?").
    pub question: &'static str,
    /// What it looks at.
    pub evidence: &'static str,
    /// From where on it speaks up, and at which level.
    pub threshold: &'static str,
    /// Why there.
    pub reason: &'static str,
    /// What usually makes it so.
    pub cause: &'static str,
    /// What to do.
    pub remedy: fn() -> Remedy,
    /// How it is proven.
    pub proof: Proof,
    /// The check itself: at most one finding for each job, or one for the run.
    pub look: Look,
}

impl Check {
    /// A finding with the usual cause and remedy, without figures.
    fn finding(&self, severity: Severity, jobs: Vec<String>, text: impl Into<Sentence>) -> Finding {
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

    /// The same about one job.
    fn about(&self, part: &Part, severity: Severity, text: impl Into<Sentence>) -> Finding {
        self.finding(severity, vec![part.name.to_owned()], text)
    }
}

/// What a check looks at.
#[derive(Clone, Copy)]
pub enum Look {
    /// One run; every run is looked at when it is judged.
    Run(fn(&Case) -> Vec<Finding>),
    /// The same, where it says something only of jobs that move data of files or devices.
    Data(fn(&Case) -> Vec<Finding>),
    /// Runs that repeat each other; see [`over_set`].
    Set(fn(&RecordSet) -> Vec<Finding>),
    /// An earlier run and a later one compared with it; see [`over_pair`].
    Pair(fn(&RunRecord, &RunRecord) -> Vec<Finding>),
}

/// Each worker on CPUs of its own.
fn own_cpus() -> Remedy {
    set("cpus_allowed_policy", "split")
}

/// The tests that prove a check: `file::function` below the repository's root.
pub struct Proof {
    /// How the situation is had in the test that shows it fire.
    pub how: How,
    /// The test that shows it fire.
    pub fires: &'static str,
    /// The test that shows it silent.
    pub silent: &'static str,
}

/// How a test has a situation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Made for real, with real I/O.
    Real,
    /// From a recorded tree or timeline.
    Recorded,
}

/// Every check, in the order of docs/CHECKS.md.
pub const ALL: &[&Check] = &[
    &served_from_cache::CHECK,
    &smaller_than_memory::CHECK,
    &never_written::CHECK,
    &direct_not_direct::CHECK,
    &compressible_data::CHECK,
    &depth_not_reached::CHECK,
    &depth_costume::CHECK,
    &cpu_bound::CHECK,
    &cpu_starved::CHECK,
    &cpu_elsewhere::CHECK,
    &stolen_time::CHECK,
    &interrupts_on_one_cpu::CHECK,
    &noisy_neighbour::CHECK,
    &background_work::CHECK,
    &not_steady::CHECK,
    &too_short::CHECK,
    &too_few_samples::CHECK,
    &not_durable::CHECK,
    &fsync_implausible::CHECK,
    &misaligned::CHECK,
    &overlapping_jobs::CHECK,
    &not_together::CHECK,
    &repeated_offsets::CHECK,
    &client_bound::CHECK,
    &server_on_this_host::CHECK,
    &connection_bound::CHECK,
    &server_throttles::CHECK,
    &repeated_objects::CHECK,
    &same_content::CHECK,
    &unsigned_content::CHECK,
    &coordinated_omission::CHECK,
    &throttled_hot::CHECK,
    &unhealthy_device::CHECK,
    &mount_options::CHECK,
    &virtual_device::CHECK,
    &runs_vary::CHECK,
    &env_changed::CHECK,
    &errors::CHECK,
];

/// Those that look at nothing but what other programs print too. The others would take for an
/// observation that there is none.
const OF_FIGURES: [&str; 3] = [errors::CHECK.id, too_few_samples::CHECK.id, too_short::CHECK.id];

/// What all checks find, the gravest first, those of one severity in the order of [`ALL`]. The same
/// finding about several jobs is one.
pub(crate) fn look(case: &Case) -> Vec<Finding> {
    let is_imported = case.record.origin.is_some();
    let can_tell = |check: &&&Check| !is_imported || OF_FIGURES.contains(&check.id);
    arranged(ALL.iter().filter(can_tell).flat_map(|check| match check.look {
        Look::Run(look) => look(case),
        Look::Data(look) => of_data(case, look(case)),
        Look::Set(_) | Look::Pair(_) => Vec::new(),
    }))
}

/// Checks that say something only of a whole run: how long it was and what its figures rest on is
/// known when it has ended, and who else used the devices is looked at then.
const OF_THE_WHOLE: &[&str] = &[
    too_short::CHECK.id,
    too_few_samples::CHECK.id,
    not_steady::CHECK.id,
    not_together::CHECK.id,
    noisy_neighbour::CHECK.id,
];

/// What shows of a run that still goes on, arranged as in [`look`].
pub(crate) fn look_so_far(case: &Case) -> Vec<Finding> {
    let mut findings = look(case);
    findings.retain(|finding| !OF_THE_WHOLE.contains(&finding.check));
    findings
}

/// What of the findings is about jobs that move data.
fn of_data(case: &Case, mut findings: Vec<Finding>) -> Vec<Finding> {
    let moves = |name: &str| {
        case.parts.iter().any(|part| part.name == name && part.medium() == Medium::Data)
    };
    findings.iter_mut().for_each(|finding| finding.jobs.retain(|job| moves(job)));
    findings.retain(|finding| !finding.jobs.is_empty());
    findings
}

/// What only several runs together show: whether repeats agree. What single runs show is with each.
pub fn over_set(set: &RecordSet) -> Vec<Finding> {
    arranged(ALL.iter().flat_map(|check| match check.look {
        Look::Set(look) => look(set),
        Look::Run(_) | Look::Data(_) | Look::Pair(_) => Vec::new(),
    }))
}

/// What a comparison of two runs has to say before any figure: whether they were made in the same
/// circumstances.
pub fn over_pair(earlier: &RunRecord, later: &RunRecord) -> Vec<Finding> {
    arranged(ALL.iter().flat_map(|check| match check.look {
        Look::Pair(look) => look(earlier, later),
        Look::Run(_) | Look::Data(_) | Look::Set(_) => Vec::new(),
    }))
}

/// The gravest first; the same finding about several jobs is one.
pub(crate) fn arranged(found: impl Iterator<Item = Finding>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for finding in found {
        let same = |f: &&mut Finding| f.check == finding.check && f.text == finding.text;
        match findings.iter_mut().find(same) {
            Some(known) => known.jobs.extend(finding.jobs),
            None => findings.push(finding),
        }
    }
    findings.sort_by_key(|finding| Reverse(finding.severity));
    findings
}
