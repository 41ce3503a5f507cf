//! Did the storage do background work during the run?

use super::prelude::*;
use super::traffic::{self, Traffic};
use std::collections::BTreeMap;

const MIB: f64 = 1_048_576.0;
/// Share of the disks' traffic, and bytes a second, that was left over from before.
const LEFT_OVER_MIN: (f64, f64) = (0.05, 4.0 * MIB);
/// Smallest number of discarded bytes that no job requested.
const DISCARDED_MIN: u64 = 64 << 20;

pub(super) const CHECK: Check = Check {
    id: "background-work",
    question: "Did the storage do background work during the run?",
    evidence: "state of arrays and pools (sync_action, scrub); dirty memory at the start of the run, compared with the bytes that the disks wrote without a request of the job; bytes discarded",
    threshold: "warning for a resync, check or scrub; for writeback from before the run of at least 5 % of the disks' traffic and 4 MiB/s; for 64 MiB of discards that no job requested (note if a filesystem on the disk is mounted with discard)",
    reason: "background work takes throughput that the next run has; smaller amounts are lost in the noise",
    cause: "work that began before the run continued during it",
    remedy: || "wait until it ends, then run again".into(),
    proof: Proof::real(
        "checks/machine.rs::writeback_from_before_is_background_work",
        "checks/machine.rs::a_disk_of_ones_own_has_no_neighbour",
    ),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    let traffic = traffic::traffic(case);
    let traffic = traffic.as_ref();
    let found = activity(case)
        .or_else(|| traffic.and_then(left_over))
        .or_else(|| traffic.and_then(|traffic| discards(case, traffic)));
    found.into_iter().collect()
}

/// What the devices under the jobs were busy with, by name.
fn activity(case: &Case) -> Option<Finding> {
    let ours = |name: &str| case.parts.iter().any(|part| part.devices.contains(&name));
    let mut busy: BTreeMap<&str, &str> = BTreeMap::new();
    let slow = case.record.timeline.samples.iter().filter_map(|sample| sample.slow.as_ref());
    for (name, what) in slow.flat_map(|slow| &slow.activity).filter(|(name, _)| ours(name)) {
        busy.entry(name).or_insert(what);
    }
    for device in case.record.facts.devices.values().filter(|device| ours(&device.name)) {
        if let Some(what) = &device.activity {
            busy.insert(&device.name, what);
        }
    }
    if busy.is_empty() {
        return None;
    }
    let what: Vec<String> = busy.iter().map(|(name, what)| format!("{name}: {what}")).collect();
    let text = format!("the storage did background work during the run ({})", list(&what));
    let cause = "a resync, check or scrub reads and writes the members of the array beside the job";
    let remedy = "wait until it ends (cat /proc/mdstat, btrfs scrub status), or stop it for the run (echo idle > /sys/block/mdN/md/sync_action, btrfs scrub cancel)";
    Some(CHECK.finding(Severity::Warning, Vec::new(), text).cause(cause).remedy(remedy))
}

/// Data that others had left in memory, and that reached the disks during the run.
fn left_over(traffic: &Traffic) -> Option<Finding> {
    let share = traffic.share(traffic.left_over);
    if share < LEFT_OVER_MIN.0 || traffic.rate(traffic.left_over) < LEFT_OVER_MIN.1 {
        return None;
    }
    let text = format!(
        "writeback of {} from before the run reached {} during it, {} of the traffic",
        size(traffic.left_over as f64),
        list(&traffic.disks),
        percent(share),
    );
    let figures = [
        Figure::new("dirty when the run began", traffic.dirty_before as f64, "bytes"),
        Figure::new("of it written during the run", traffic.left_over as f64, "bytes"),
        Figure::new("share of the disks' traffic", share * 100.0, "percent"),
    ];
    let cause = "buffered writes from before the run were still in memory, and the kernel wrote them back while the job ran";
    let remedy = "run sync, wait until it returns, then run again";
    let finding = CHECK.finding(Severity::Warning, Vec::new(), text);
    Some(finding.figures(figures).cause(cause).remedy(remedy))
}

fn discards(case: &Case, traffic: &Traffic) -> Option<Finding> {
    let asked: u64 = case.parts.iter().map(|part| part.bytes(Direction::Trim)).sum();
    let unasked = traffic.discarded.saturating_sub(asked);
    if unasked < DISCARDED_MIN || asked > 0 {
        return None;
    }
    let mut filesystems = case.parts.iter().flat_map(|part| case.filesystems_of(part));
    let discards = |name: &&str| case.device(name).is_some_and(|d| d.mounted_with_discard);
    // The filesystem under a loop device discards as well.
    let by_itself = filesystems.any(|f| {
        f.options.iter().any(|option| option == "discard" || option.starts_with("discard="))
    }) || case.parts.iter().flat_map(|part| &part.devices).any(discards);
    let text = format!(
        "{} of {} were discarded during the run, but no job requested it",
        size(unasked as f64),
        list(&traffic.disks),
    );
    let (severity, cause, remedy) = match by_itself {
        true => (
            Severity::Note,
            "a filesystem on the disk is mounted with discard: it discards the blocks of deleted files",
            "mount it without discard and run fstrim at quiet times",
        ),
        false => (
            Severity::Warning,
            "fstrim, or another program on the same disk, discarded blocks",
            "wait until it ends (systemctl status fstrim), then run again",
        ),
    };
    let figures = [Figure::new("bytes discarded", unasked as f64, "bytes")];
    Some(CHECK.finding(severity, Vec::new(), text).figures(figures).cause(cause).remedy(remedy))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::SlowSample;

    #[test]
    fn a_resync_is_told_with_its_progress() {
        let mut record = record(vec![job("read", Direction::Read, 5)]);
        let disk = record.facts.devices.get_mut("sda").unwrap();
        disk.activity = Some("resync 12.5 %".into());
        assert!(the_finding(&record, CHECK.id).text.contains("sda: resync 12.5 %"));
        record.facts.devices.get_mut("sda").unwrap().activity = None;
        at_each(&mut record, |at, sample| {
            let activity = [("sda".to_owned(), "check".to_owned())].into();
            sample.slow = (at == 3.0).then(|| SlowSample { activity, ..SlowSample::default() });
        });
        assert!(the_finding(&record, CHECK.id).text.contains("sda: check"));
    }

    #[test]
    fn what_was_dirty_before_is_no_neighbour() {
        let mut record = record(vec![job("read", Direction::Read, 5)]);
        at_each(&mut record, |at, sample| {
            sample.memory_dirty = 600_000_000 - (at * 1e8) as u64;
            sample.disks.get_mut("sda").unwrap().write_bytes += (at * 1e8) as u64;
        });
        let found = the_finding(&record, CHECK.id);
        assert!(
            found.text.contains("before the run reached sda during it, 96 %"),
            "{}",
            found.text
        );
        assert!(findings(&record, "noisy-neighbour").is_empty());
    }

    #[test]
    fn discards_of_a_filesystem_that_discards_are_a_note() {
        let mut record = record(vec![job("read", Direction::Read, 5)]);
        at_each(&mut record, |at, sample| {
            sample.disks.get_mut("sda").unwrap().discard_bytes += (at * 1e8) as u64;
        });
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        let target = record.facts.targets.values_mut().next().unwrap();
        target.filesystem.as_mut().unwrap().options.push("discard".into());
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
        // Another filesystem on the disk does the same: that under a loop device.
        record.facts.targets.values_mut().next().unwrap().filesystem = None;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        record.facts.devices.get_mut("sda").unwrap().mounted_with_discard = true;
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Note);
    }
}
