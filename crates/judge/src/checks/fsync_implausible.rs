//! Can a flush have been that fast?

use super::check::{Check, How, Look, Proof};
use super::words::{number, time};
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::{DeviceFacts, Direction, Severity};

/// Synchronisations whose median means something.
const SYNCS_MIN: u64 = 20;
/// Half a turn at 15 000 a minute: no head writes sooner on average.
const TURNING_MIN_NS: f64 = 2_000_000.0;
/// A command to flash and back, and the programming of one page.
const FLASH_MIN_NS: f64 = 25_000.0;

pub(super) const CHECK: Check = Check {
    id: "fsync-implausible",
    question: "Can the medium have taken the data in the time a synchronisation took?",
    evidence: "median latency of fsync and fdatasync, flushes that reached the disk, and what kind of disk it is",
    threshold: "warning when the median is below 2 ms on a turning disk or 25 µs on flash, or when a disk with a volatile cache saw no flush",
    reason: "2 ms is half a turn at 15 000 a minute; flash needs some tens of microseconds for a command and a page. A disk whose cache is protected may be faster in truth",
    cause: "the flush ends in a cache: barriers are off, or the disk or its controller acknowledges without writing",
    remedy: || {
        "look at the mount options and at the cache's protection; test it with a power cut before trusting it".into()
    },
    proof: Proof {
        how: How::Recorded,
        fires: "crates/judge/src/checks/fsync_implausible.rs::a_flush_faster_than_its_medium",
        silent: "crates/judge/src/checks/fsync_implausible.rs::a_flush_that_takes_its_time",
    },
    look: Look::Data(look),
};

fn look(case: &Case) -> Vec<Finding> {
    case.parts.iter().filter_map(|part| about(case, part)).collect()
}

fn about(case: &Case, part: &Part) -> Option<Finding> {
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
    let text = match (too_fast, unflushed) {
        (_, Some(disk)) => format!(
            "{} synchronisations, and no flush reached {}, whose cache is volatile",
            number(latency.count() as f64),
            disk.name
        ),
        (Some(disk), None) => format!(
            "half of the synchronisations took less than {}: {}, a {}, cannot write in that time",
            time(median),
            disk.name,
            if disk.rotational == Some(true) { "turning disk" } else { "flash disk" }
        ),
        (None, None) => return None,
    };
    let finding = CHECK.finding(Severity::Warning, vec![part.name.to_owned()], text);
    let figures = vec![Figure::new("median of synchronisations", median, "ns")];
    Some(Finding { figures, ..finding })
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
        assert!(the_finding(&synced(true, 80_000), CHECK.id).text.contains("turning disk"));
        assert!(the_finding(&synced(false, 9_000), CHECK.id).text.contains("flash disk"));
        let mut unflushed = synced(false, 500_000);
        unflushed.facts.devices.get_mut("sda").unwrap().write_cache = Some("write back".into());
        assert!(the_finding(&unflushed, CHECK.id).text.contains("no flush reached sda"));
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
