//! Can the medium be as fast as its synchronisations?

use super::prelude::*;

/// Smallest number of synchronisations with a meaningful median.
const SYNCS_MIN: u64 = 20;
/// Half a turn at 15 000 a minute: no head writes sooner on average.
const TURNING_MIN_NS: f64 = 2_000_000.0;
/// A command to flash and back, and the programming of one page.
const FLASH_MIN_NS: f64 = 25_000.0;

pub(super) const CHECK: Check = Check {
    id: "fsync-implausible",
    question: "Can the medium write as fast as the synchronisations completed?",
    evidence: "median latency of fsync and fdatasync, flushes that reached the disk, and the kind of disk",
    threshold: "warning when the median is below 2 ms on a spinning disk or 25 µs on flash, or when a disk with a volatile cache received no flush; note when a virtual disk with a volatile cache completes its flushes in less than 25 µs",
    reason: "2 ms is half a revolution at 15 000 rpm; flash needs tens of microseconds for a command and a page. A disk with a power-protected cache can really be faster",
    cause: "the flush ends in a cache: barriers are off, or the disk or its controller acknowledges without writing",
    remedy: || {
        "check the mount options and the power protection of the cache; test with a power cut before you rely on it".into()
    },
    proof: Proof::recorded("a_flush_faster_than_its_medium", "a_flush_that_takes_its_time"),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    let latency =
        crate::metrics::latency::merged(part.workers.iter().map(|job| &job.sync.latency))?;
    // sync_file_range promises no flush.
    let promises = part.setting("sync_file_range").is_none();
    if latency.count() < SYNCS_MIN || part.ios(Direction::Write) == 0 || !promises {
        return None;
    }
    let median = latency.percentile(50.0) as f64;
    let disks = case.disks_of(part);
    let too_fast = disks.iter().find(|disk| median < floor(disk));
    let cached = |disk: &&&DeviceFacts| disk.write_cache.as_deref() == Some("write back");
    let unflushed = disks.iter().filter(cached).find(|disk| {
        let usage = case.device_use(part, &disk.name);
        usage.is_some_and(|usage| usage.counters.write_ios > 0 && usage.counters.flush_ios == 0)
    });
    let is_answered = |disk: &&&DeviceFacts| {
        let usage = case.device_use(part, &disk.name);
        // Not every synchronisation has something to flush, but at least half of these had.
        usage.is_some_and(|usage| 2 * usage.counters.flush_ios >= latency.count())
    };
    let mut virtuals = disks.iter().filter(cached).filter(|disk| disk.is_virtual);
    let answered = virtuals.find(is_answered).filter(|_| median < FLASH_MIN_NS);
    let figures = [Figure::new("median of synchronisations", median, "ns")];
    let text = match (too_fast, unflushed) {
        (None, None) => {
            return Some(answered_without_medium(part, answered?, median).figures(figures));
        }
        (_, Some(disk)) => format!(
            "{} synchronisations completed, but no flush reached {}, which has a volatile cache",
            count(latency.count() as f64),
            disk.name
        ),
        (Some(disk), None) => format!(
            "the median synchronisation took {}: {}, a {}, cannot write that fast",
            time(median),
            disk.name,
            if disk.rotational == Some(true) { "spinning disk" } else { "flash disk" }
        ),
    };
    Some(CHECK.finding_for(part, Severity::Warning, text).figures(figures))
}

/// A virtual disk that answers flushes faster than a command to flash and back takes. A note, since the
/// host may have a cache that survives a power cut, which the guest cannot tell.
fn answered_without_medium(part: &Part, disk: &DeviceFacts, median: f64) -> Finding {
    let text = format!(
        "the median synchronisation took {}, and {} reports a volatile cache and completed the flushes: \
         in that time the data reached no medium, only memory of the host",
        time(median),
        disk.name
    );
    let cause = "the host probably ignores flushes (cache=unsafe) or keeps them in its memory; its cache \
                 may be protected against a power cut. The guest cannot tell which";
    let remedy = "check the cache mode of the disk on its host; until then do not take the figure for that \
                  of durable writes";
    CHECK.finding_for(part, Severity::Note, text).cause(cause).remedy(remedy)
}

/// The least time a disk takes to make something durable; 0 where that is not known.
fn floor(disk: &DeviceFacts) -> f64 {
    match (disk.is_virtual, disk.rotational) {
        (true, _) | (_, None) => 0.0,
        (false, Some(true)) => TURNING_MIN_NS,
        (false, Some(false)) => FLASH_MIN_NS,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::RunRecord;

    fn synced(turning: bool, latency: u64) -> RunRecord {
        let mut record = record(vec![job("log", Direction::Write, 10)]);
        record.jobs[0].sync.count = 1000;
        record.jobs[0].sync.latency.record_n(latency, 1000);
        record.facts.devices.get_mut("sda").unwrap().rotational = Some(turning);
        record
    }

    #[test]
    fn a_flush_faster_than_its_medium() {
        assert!(the_finding(&synced(true, 80_000), CHECK.id).text.contains("spinning disk"));
        assert!(the_finding(&synced(false, 9_000), CHECK.id).text.contains("flash disk"));
        let mut unflushed = synced(false, 500_000);
        unflushed.facts.devices.get_mut("sda").unwrap().write_cache = Some("write back".into());
        assert!(the_finding(&unflushed, CHECK.id).text.contains("no flush reached sda"));
    }

    #[test]
    fn a_virtual_disk_that_answers_flushes_at_once_is_remarked() {
        let virtual_disk = |latency, flushes_per_second: f64| {
            let mut run = synced(false, latency);
            let disk = run.facts.devices.get_mut("sda").unwrap();
            (disk.is_virtual, disk.rotational) = (true, None);
            disk.write_cache = Some("write back".into());
            at_each(&mut run, |at, sample| {
                let flushes = (at * flushes_per_second) as u64;
                sample.disks.get_mut("sda").unwrap().flush_ios = flushes;
            });
            run
        };
        let found = the_finding(&virtual_disk(12_800, 100.0), CHECK.id);
        assert_eq!(found.severity, Severity::Note);
        assert!(
            found.text.contains("took 12.8 µs, and sda reports a volatile cache"),
            "{}",
            found.text
        );
        assert!(found.cause.contains("The guest cannot tell"), "{}", found.cause);
        assert!(findings(&virtual_disk(126_000, 100.0), CHECK.id).is_empty());
        // Most of these had nothing to flush.
        assert!(findings(&virtual_disk(12_800, 10.0), CHECK.id).is_empty());
    }

    #[test]
    fn a_flush_that_takes_its_time() {
        assert!(findings(&synced(true, 8_000_000), CHECK.id).is_empty());
        assert!(findings(&synced(false, 300_000), CHECK.id).is_empty());
        let mut flushed = synced(false, 300_000);
        flushed.facts.devices.get_mut("sda").unwrap().write_cache = Some("write back".into());
        at_each(&mut flushed, |at, sample| {
            sample.disks.get_mut("sda").unwrap().flush_ios = (at * 100.0) as u64;
        });
        assert!(findings(&flushed, CHECK.id).is_empty());
    }
}
