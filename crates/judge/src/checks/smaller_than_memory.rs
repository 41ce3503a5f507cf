//! Does the working set of buffered jobs fit into memory?

use super::prelude::*;
use std::collections::BTreeMap;

pub(super) const CHECK: Check = Check {
    id: "smaller-than-memory",
    question: "Does the working set of buffered jobs fit into memory?",
    evidence: "the regions of buffered jobs, compared with the memory of the machine or of its control group",
    threshold: "warning when the working set of buffered reads is smaller than the memory; note when only buffered writes use it, unless 64 of them or fewer are followed by a synchronisation",
    reason: "a block that was read once stays in memory while there is room; only a larger working set is read from the device again",
    cause: "the page cache holds the whole working set",
    remedy: || set("direct", 1).or(raise(["size"]).ending("above the machine's memory")),
    proof: Proof::real(
        "checks/cache.rs::reads_from_memory_are_served_from_cache",
        "checks/cache.rs::a_cold_direct_read_is_clean",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    if !part.is_buffered() || part.devices.is_empty() {
        return None;
    }
    let facts = &case.record.facts;
    let limit = facts.environment.cgroup.memory_max.unwrap_or(facts.memory);
    let memory = limit.min(facts.memory).0;
    let set = working_set(part);
    if set == 0 || set >= memory {
        return None;
    }
    let reads = part.ios(Direction::Read) > 0;
    if !reads && is_sent_on(part) {
        return None;
    }
    let text = format!(
        "the working set of the buffered job is {}, smaller than the {} of memory",
        size(set as f64),
        size(memory as f64)
    );
    let severity = if reads { Severity::Warning } else { Severity::Note };
    let figures = [
        Figure::new("working set", set as f64, "bytes"),
        Figure::new("memory", memory as f64, "bytes"),
    ];
    Some(CHECK.finding_for(part, severity, text).figures(figures).cause(cause(case, part)))
}

/// Writes between two synchronisations, at most, of a job that the page cache does not answer.
const WRITES_PER_SYNC_MAX: u64 = 64;

/// Whether the writes reach the device one by one or few together: as a database writes its log.
fn is_sent_on(part: &Part) -> bool {
    let syncs = part.metrics.sync.count.saturating_mul(WRITES_PER_SYNC_MAX);
    part.setting("sync").is_some() || syncs >= part.ios(Direction::Write)
}

/// A device that delivered so small a share of what was read was hardly asked.
const DELIVERED_MIN: f64 = 0.1;

/// What the page cache did, as far as the device's counters tell.
fn cause(case: &Case, part: &Part) -> String {
    let asked = part.bytes(Direction::Read);
    if asked == 0 {
        return "the page cache takes the writes".into();
    }
    let uses: Vec<_> = case
        .disks_of(part)
        .into_iter()
        .filter_map(|disk| case.device_use(part, &disk.name))
        .collect();
    let read: u64 = uses.iter().map(|usage| usage.counters.read_bytes).sum();
    match read as f64 / asked as f64 {
        _ if uses.is_empty() => "the working set fits into the page cache".into(),
        share if share < DELIVERED_MIN => CHECK.cause.into(),
        share => format!(
            "the working set fits into the page cache, but was not there at first: the device \
             delivered {} of what was read, and less each time it is read again",
            percent(share.min(1.0))
        ),
    }
}

/// Bytes of all different files together, as far as the workers go in each.
fn working_set(part: &Part) -> u64 {
    let mut reach: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for job in &part.workers {
        for (file, region) in job.workload.files.iter().zip(&job.workload.regions) {
            let (from, to) = (region.start.0, region.start.0 + region.length.0);
            let known = reach.entry(file).or_insert((from, to));
            *known = (known.0.min(from), known.1.max(to));
        }
    }
    reach.values().map(|(from, to)| to - from).sum()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::Bytes;

    #[test]
    fn only_buffered_jobs_that_fit_are_named() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        assert!(findings(&record, CHECK.id).is_empty());
        record.jobs[0].workload.direct = false;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        // The device of this record delivers all that is read.
        let cause = the_finding(&record, CHECK.id).cause.to_string();
        assert!(cause.contains("was not there at first: the device delivered 100 %"), "{cause}");
        at_each(&mut record, |_, sample| sample.disks.get_mut("sda").unwrap().read_bytes = 0);
        assert_eq!(
            the_finding(&record, CHECK.id).cause,
            "the page cache holds the whole working set"
        );
        record.facts.environment.cgroup.memory_max = Some(Bytes(1 << 29));
        assert!(findings(&record, CHECK.id).is_empty(), "more than the group may use");
    }

    #[test]
    fn a_log_that_is_synchronised_is_not_told_to_be_direct() {
        let mut record = record(vec![job("log", Direction::Write, 10)]);
        record.jobs[0].workload.direct = false;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
        record.jobs[0].workload.settings = [("sync".into(), "dsync".into())].into();
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
