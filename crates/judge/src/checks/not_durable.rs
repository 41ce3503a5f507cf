//! Would the writes that were counted survive a power cut?

use super::{Check, How, Look, Proof};
use crate::case::{Case, Part};
use crate::durability::{durability, durability_reason};
use crate::finding::Finding;
use record::{Direction, Severity};

pub(super) const CHECK: Check = Check {
    id: "not-durable",
    question: "Would the writes that were counted survive a power cut?",
    evidence: "whether the job writes past the page cache and synchronises, and what the stack below keeps of a completed write (write cache, FUA, mount options)",
    threshold: "warning for buffered writes that nothing synchronises; note for direct writes into a volatile cache without a flush",
    reason: "a buffered write is a copy in memory. A direct one is where the device's cache is, which is what most want to measure, but no database would call it written",
    cause: "the writes were acknowledged before they were on the medium",
    cure: "add --fsync=1, --fdatasync=1 or --sync=dsync as the program does; --end_fsync=1 for a copy that is made durable once",
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks_durability.rs::buffered_writes_are_not_durable",
        silent: "crates/cli/tests/checks_durability.rs::synchronised_writes_are_durable",
    },
    look: Look::Data(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(|part| about(case, part)).collect()
}

fn about(case: &Case, part: &Part) -> Option<Finding> {
    let synchronises = part.metrics.sync.count > 0
        || ["sync", "fsync", "fdatasync", "end_fsync"]
            .iter()
            .any(|name| part.setting(name).is_some());
    if part.ios(Direction::Write) == 0 || part.devices.is_empty() || synchronises {
        return None;
    }
    let file = part.files().next()?;
    let facts = &case.record.facts;
    let class = durability(facts, file);
    let jobs = vec![part.name.to_owned()];
    if part.is_buffered() {
        let text = format!(
            "its writes end in memory and nothing synchronises them (storage below: {})",
            class.name()
        );
        return Some(CHECK.finding(Severity::Warning, jobs, text));
    }
    if class.keeps_completed() != Some(false) {
        return None;
    }
    let text = format!("its writes complete in a volatile cache ({})", class.name());
    let cause = durability_reason(facts, file);
    Some(Finding { cause, ..CHECK.finding(Severity::Note, jobs, text) })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{findings, job, record, the_finding};
    use super::*;

    #[test]
    fn it_depends_on_cache_and_synchronisation() {
        let mut record = record(vec![job("log", Direction::Write, 10)]);
        assert!(findings(&record, CHECK.id).is_empty(), "direct, and no volatile cache");
        let disk = record.facts.devices.get_mut("sda").unwrap();
        (disk.write_cache, disk.fua) = (Some("write back".into()), Some(false));
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
        record.jobs[0].workload.direct = false;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        record.jobs[0].workload.settings.insert("fsync".into(), "1".into());
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
