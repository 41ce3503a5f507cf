//! The checks: each turns evidence into findings. Each check has a file with its id as name.

mod background_work;
mod check;
mod client_bound;
mod compressible_data;
mod connection_bound;
mod coordinated_omission;
mod cpu_bound;
mod cpu_elsewhere;
mod cpu_starved;
pub(crate) mod depth_beyond_knee;
mod depth_not_reached;
mod device_pairs;
mod direct_not_direct;
mod env_changed;
mod errors;
mod fsync_implausible;
mod hosts_differ;
mod interrupts_on_one_cpu;
mod lossy_network;
mod misaligned;
mod missing_ranks;
mod mount_options;
pub(crate) mod never_written;
pub(crate) mod noisy_neighbour;
mod not_durable;
mod not_steady;
mod not_together;
mod overlapping_jobs;
mod prelude;
mod repeated_objects;
mod repeated_offsets;
mod runs_vary;
mod same_content;
mod served_from_cache;
pub(crate) mod server_on_this_host;
mod server_throttles;
mod smaller_than_memory;
mod stolen_time;
mod straggler;
mod tail_in_bursts;
#[cfg(test)]
pub(crate) mod testing;
mod throttled_hot;
mod too_few_samples;
mod too_short;
mod traffic;
mod uneven_clocks;
mod unhealthy_device;
mod unsigned_content;
mod virtual_device;

pub use check::{Check, CheckFunction, How, Proof};
pub use env_changed::{Difference, environment_differences};

use crate::case::Case;
use crate::finding::Finding;
use crate::fleet::named;
use record::{Fleet, RankRecord, RecordSet, RunRecord};
use std::cmp::Reverse;

/// Every check, in the order of docs/CHECKS.md.
pub const ALL: &[&Check] = &[
    &served_from_cache::CHECK,
    &smaller_than_memory::CHECK,
    &never_written::CHECK,
    &direct_not_direct::CHECK,
    &compressible_data::CHECK,
    &depth_not_reached::CHECK,
    &depth_beyond_knee::CHECK,
    &cpu_bound::CHECK,
    &cpu_starved::CHECK,
    &cpu_elsewhere::CHECK,
    &stolen_time::CHECK,
    &interrupts_on_one_cpu::CHECK,
    &noisy_neighbour::CHECK,
    &background_work::CHECK,
    &not_steady::CHECK,
    &tail_in_bursts::CHECK,
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
    &lossy_network::CHECK,
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
    &missing_ranks::CHECK,
    &straggler::CHECK,
    &hosts_differ::CHECK,
    &uneven_clocks::CHECK,
];

/// Former ids of checks, each with its id of today. Filters accept both.
pub const FORMER_IDS: [(&str, &str); 1] = [("depth-costume", depth_beyond_knee::CHECK.id)];

/// Checks that need only figures which other programs print too. The other checks would read missing
/// evidence of an imported record as an observation.
const FOR_IMPORTS: [&str; 3] = [errors::CHECK.id, too_few_samples::CHECK.id, too_short::CHECK.id];

/// The findings of all checks, the most severe first, within one severity in the order of [`ALL`].
/// Equal findings about several jobs are merged.
pub(crate) fn findings_of_run(case: &Case) -> Vec<Finding> {
    if let Some(fleet) = &case.record.fleet {
        // Each rank looks at its own host; the sum of all ranks does not fit the evidence of one host.
        let own = ALL.iter().filter(|check| matches!(check.function, CheckFunction::Fleet(_)));
        let own = own.flat_map(|check| check.findings(case));
        return arranged(own.chain(findings_of_ranks(fleet)));
    }
    let is_imported = case.record.origin.is_some();
    let has_evidence = |check: &&&Check| !is_imported || FOR_IMPORTS.contains(&check.id);
    arranged(ALL.iter().filter(has_evidence).flat_map(|check| check.findings(case)))
}

/// What the checks of the ranks found, those of one check about the same jobs together.
fn findings_of_ranks(fleet: &Fleet) -> Vec<Finding> {
    let mut found: Vec<(Vec<&RankRecord>, Finding)> = Vec::new();
    let all = fleet.ranks.iter().flat_map(|rank| rank.findings.iter().map(move |f| (rank, f)));
    // To a rank, others on its host are strangers.
    let shares_host = |rank: &RankRecord| {
        fleet.ranks.iter().any(|other| other.rank != rank.rank && other.host == rank.host)
    };
    for (rank, told) in all {
        if told.check == noisy_neighbour::CHECK.id && shares_host(rank) {
            continue;
        }
        let Some(check) = ALL.iter().find(|check| check.id == told.check) else { continue };
        let alike = |(_, known): &&mut (Vec<&RankRecord>, Finding)| {
            known.check == check.id && known.jobs == told.jobs
        };
        match found.iter_mut().find(alike) {
            Some((ranks, known)) => {
                known.severity = known.severity.max(told.severity);
                ranks.push(rank);
            }
            None => found.push((
                vec![rank],
                Finding {
                    check: check.id,
                    severity: told.severity,
                    jobs: told.jobs.clone(),
                    text: told.text.clone().into(),
                    figures: Vec::new(),
                    cause: told.cause.clone().into(),
                    remedy: told.remedy.clone().into(),
                },
            )),
        }
    }
    let with_ranks = |(ranks, finding): (Vec<&RankRecord>, Finding)| {
        let text = match ranks.len() == fleet.ranks.len() {
            true => format!("every rank; rank {}: {}", ranks[0].rank, finding.text),
            false => format!("{}: {}", named(&ranks), finding.text),
        };
        Finding { text: text.into(), ..finding }
    };
    found.into_iter().map(with_ranks).collect()
}

/// Checks that need a finished run: its length, the number of its samples and the other users of its
/// devices are known only at its end.
const AT_THE_END: &[&str] = &[
    too_short::CHECK.id,
    too_few_samples::CHECK.id,
    not_steady::CHECK.id,
    tail_in_bursts::CHECK.id,
    not_together::CHECK.id,
    noisy_neighbour::CHECK.id,
];

/// The findings about a run in progress, in the order of [`findings_of_run`].
pub(crate) fn findings_so_far(case: &Case) -> Vec<Finding> {
    let mut findings = findings_of_run(case);
    findings.retain(|finding| !AT_THE_END.contains(&finding.check));
    findings
}

/// The findings of checks that read a whole set: whether repeats agree. Findings about single runs are
/// not included.
pub fn over_set(set: &RecordSet) -> Vec<Finding> {
    arranged(ALL.iter().flat_map(|check| match check.function {
        CheckFunction::Set(check) => check(set),
        _ => Vec::new(),
    }))
}

/// The findings of checks that compare two runs: whether both ran in the same environment.
pub fn over_pair(earlier: &RunRecord, later: &RunRecord) -> Vec<Finding> {
    arranged(ALL.iter().flat_map(|check| match check.function {
        CheckFunction::Pair(check) => check(earlier, later),
        _ => Vec::new(),
    }))
}

/// Sorts findings, the most severe first, and merges equal findings about several jobs.
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
