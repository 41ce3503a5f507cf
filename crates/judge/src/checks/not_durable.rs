//! Would the acknowledged writes survive a power cut?

use super::prelude::*;
use crate::durability::{durability, durability_reason};

pub(super) const CHECK: Check = Check {
    id: "not-durable",
    question: "Would the acknowledged writes survive a power cut?",
    evidence: "whether the job bypasses the page cache and synchronises, and whether the stack below keeps a completed write (write cache, FUA, mount options)",
    threshold: "warning for buffered writes without synchronisation; note for direct writes into a volatile cache without a flush",
    reason: "a buffered write is a copy in memory. A direct write may be in the device's volatile cache, which many benchmarks measure but no database counts as written",
    cause: "the writes were acknowledged before they reached the medium",
    remedy: || {
        let as_program = set("fsync", 1).or(set("fdatasync", 1)).or(set("sync", "dsync"));
        let once = set("end_fsync", 1).ending("to make a copy durable once");
        as_program.ending("to synchronise as the application does").or(once)
    },
    proof: Proof::real(
        "checks/durability.rs::buffered_writes_are_not_durable",
        "checks/durability.rs::synchronised_writes_are_durable",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    if part.ios(Direction::Write) == 0 || part.devices.is_empty() || synchronises(case, part) {
        return None;
    }
    let file = part.files().next()?;
    let facts = &case.record.facts;
    let class = durability(facts, file);
    if part.is_buffered_in(Direction::Write) {
        let nothing = match part.setting("sync_file_range") {
            Some(_) => "`sync_file_range` flushes neither the disk's cache nor the file's metadata",
            None => "nothing synchronises them",
        };
        let text = Sentence::from("buffered writes are only in memory: ")
            .sentence(&nothing.into())
            .text(format!(" (storage below: {})", class.name()));
        return Some(CHECK.finding_for(part, Severity::Warning, text));
    }
    if class.keeps_completed() != Some(false) {
        return None;
    }
    let text = format!("the writes complete in a volatile cache ({})", class.name());
    Some(CHECK.finding_for(part, Severity::Note, text).cause(durability_reason(facts, file)))
}

/// Whether what the job wrote is made durable, at the latest at its end.
fn synchronises(case: &Case, part: &Part) -> bool {
    let has = |name: &str| part.setting(name).is_some();
    let named = ["sync", "fsync", "fdatasync", "end_fsync", "end_syncfs", "fsync_on_close"];
    // What is to be read back is synchronised first, unless a signal ended the run before.
    let reads_back = has("verify") && !has("do_verify") && case.record.interrupted_by.is_none();
    let synchronised = part.metrics.sync.count > 0 && !has("sync_file_range");
    synchronised || named.iter().any(|name| has(name)) || reads_back
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
        for (only, severity) in [("write", Severity::Note), ("read", Severity::Warning)] {
            record.jobs[0].workload.settings = [("direct_only".into(), only.into())].into();
            assert_eq!(the_finding(&record, CHECK.id).severity, severity, "{only}");
        }
        record.jobs[0].workload.settings.clear();
        record.jobs[0].workload.direct = false;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        for name in ["fsync", "end_fsync", "end_syncfs", "fsync_on_close", "verify"] {
            record.jobs[0].workload.settings = [(name.into(), "1".into())].into();
            assert!(findings(&record, CHECK.id).is_empty(), "{name}");
        }
    }

    #[test]
    fn what_is_not_read_back_or_only_on_its_way_is_not_durable() {
        let mut record = record(vec![job("log", Direction::Write, 10)]);
        record.jobs[0].workload.direct = false;
        let settings = [("verify".to_owned(), "md5".to_owned())];
        record.jobs[0].workload.settings = settings.into();
        record.interrupted_by = Some(2);
        assert!(the_finding(&record, CHECK.id).text.contains("nothing synchronises"));
        record.interrupted_by = None;
        record.jobs[0].workload.settings.insert("do_verify".into(), "0".into());
        assert!(the_finding(&record, CHECK.id).text.contains("nothing synchronises"));
        record.jobs[0].workload.settings = [("sync_file_range".into(), "8".into())].into();
        record.jobs[0].sync.count = 100;
        assert!(the_finding(&record, CHECK.id).text.contains("neither the disk's cache"));
    }
}
