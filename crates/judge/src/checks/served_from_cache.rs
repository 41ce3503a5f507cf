//! Did the storage answer, or memory?

use super::words::{percent, size};
use super::{Check, How, Look, Proof};
use crate::case::{Case, Part};
use crate::finding::{Figure, Finding};
use record::remedy::{raise, set};
use record::{DeviceFacts, DeviceKind, Direction, DiskSample, Nanos, Remedy, Sentence, Severity};

/// Share of what was asked that the device must have moved at least. Read-ahead only adds to it, so
/// a run without a cache is at 1 or above; a tenth is left for edges of the window.
const FROM_DEVICE_MIN: f64 = 0.9;

/// Less is moved within the noise of other traffic.
const ASKED_MIN: u64 = 8 << 20;

/// Filesystems whose files are nowhere but in memory.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// In shorter windows too few samples of the device lie; the whole run is looked at.
const WINDOW_MIN: Nanos = Nanos(500_000_000);

/// Samples lie beside the ends of a window by some milliseconds: what was moved in so long may be missing.
/// Over the whole run nothing is: the kernel counts a transfer before it tells of its end.
const LAG: Nanos = Nanos(20_000_000);

pub(super) const CHECK: Check = Check {
    id: "served-from-cache",
    question: "Did the storage answer, or memory?",
    evidence: "bytes each level of the stack moved while the job ran, against the bytes the job moved; pages of the files in the page cache before and after",
    threshold: "warning when the lowest devices moved less than 90 % of what was read or written, or when the filesystem is in memory",
    reason: "read-ahead can only make the device read more than the job, and filesystems write more than they are asked to; a tenth is left for the edges of the window",
    cause: "the blocks were in the page cache, or in a cache below the filesystem",
    remedy: || set("direct", 1).or(raise(["size"]).ending("above the machine's memory")),
    proof: Proof {
        how: How::Real,
        fires: "crates/cli/tests/checks/cache.rs::reads_from_memory_are_served_from_cache",
        silent: "crates/cli/tests/checks/cache.rs::a_cold_direct_read_is_clean",
    },
    look: Look::Data(look),
};

fn look(case: &Case) -> Vec<Finding> {
    let about = |part| [in_memory(case, part), read(case, part), written(case, part)];
    case.parts.iter().flat_map(about).flatten().collect()
}

fn in_memory(case: &Case, part: &Part) -> Option<Finding> {
    let filesystem =
        case.filesystems_of(part).into_iter().find(|f| IN_MEMORY.contains(&&*f.kind))?;
    let text =
        format!("{} is a {}: its files are in memory", filesystem.mount_point, filesystem.kind);
    let finding = CHECK.finding(Severity::Warning, vec![part.name.to_owned()], text);
    Some(Finding {
        cause: "there is no storage device below this filesystem".into(),
        remedy: "name a directory on the storage you mean to measure".into(),
        ..finding
    })
}

fn read(case: &Case, part: &Part) -> Option<Finding> {
    // What compresses or was never written is asked of the device only in part, without a cache.
    if super::never_written::unwritten_share(case, part) > 0.0 || compresses(case, part) {
        return None;
    }
    // What another job found in the cache is no sign against one that goes past it.
    if !part.is_buffered_in(Direction::Read) && beside_buffered(case, part) {
        return None;
    }
    let (asked, moved) = lowest(case, part, Direction::Read)?;
    if is_enough(part, asked, moved) {
        return None;
    }
    let share = moved as f64 / asked as f64;
    let place = level(case, part);
    let text = format!(
        "of {} read, the device delivered {} ({})",
        size(asked as f64),
        size(moved as f64),
        percent(share)
    );
    let finding = CHECK.finding(Severity::Warning, vec![part.name.to_owned()], text);
    let (cause, remedy) = why(case, part, place);
    Some(Finding { figures: figures(asked, moved), cause, remedy, ..finding })
}

/// Whether the devices moved what they must, or too little was asked to tell.
fn is_enough(part: &Part, asked: u64, moved: u64) -> bool {
    let seen = if is_short(part) { 1.0 } else { 1.0 - LAG.0 as f64 / part.length().0 as f64 };
    asked < ASKED_MIN || moved as f64 >= FROM_DEVICE_MIN * seen * asked as f64
}

/// Whether the whole run is looked at instead of the part's window.
fn is_short(part: &Part) -> bool {
    part.length() < WINDOW_MIN
}

/// Whether a buffered job reads from the same disks in the time that is looked at.
fn beside_buffered(case: &Case, part: &Part) -> bool {
    let buffered = |p: &&Part| p.is_buffered_in(Direction::Read) && p.ios(Direction::Read) > 0;
    let beside = |p: &Part| is_short(part) || (p.from < part.to && part.from < p.to);
    sharing(case, &case.disks_of(part)).filter(buffered).any(beside)
}

/// The parts with I/O on one of these disks.
fn sharing<'c, 'a>(
    case: &'c Case<'a>,
    disks: &'c [&DeviceFacts],
) -> impl Iterator<Item = &'c Part<'a>> {
    let shares = move |part: &&Part| {
        case.disks_of(part).iter().any(|disk| disks.iter().any(|own| own.name == disk.name))
    };
    case.parts.iter().filter(shares)
}

fn figures(asked: u64, moved: u64) -> Vec<Figure> {
    vec![
        Figure::new("bytes the jobs moved", asked as f64, "bytes"),
        Figure::new("bytes the device moved", moved as f64, "bytes"),
    ]
}

fn why(case: &Case, part: &Part, place: Option<&str>) -> (Sentence, Remedy) {
    if let Some(device) = place {
        let is_loop = |kind: &DeviceKind| matches!(kind, DeviceKind::Loop { .. });
        if case.device(device).is_some_and(|facts| is_loop(&facts.kind)) {
            return (
                format!("{device} reads its file through the page cache").into(),
                format!("attach it with losetup --direct-io=on (now: {device})").into(),
            );
        }
        return (
            format!("a cache below {device} answered").into(),
            "measure the device below".into(),
        );
    }
    let remedy = match part.setting("invalidate") {
        Some(_) => set("invalidate", 1).or((CHECK.remedy)()),
        None => (CHECK.remedy)(),
    };
    ("the blocks were in the page cache".into(), remedy)
}

/// The upper one of two levels between which reads vanished; `None`: above the topmost device.
fn level<'a>(case: &Case<'a>, part: &Part<'a>) -> Option<&'a str> {
    let enough = |device: &&str| {
        let usage = case.device_use(part, device);
        usage.is_some_and(|u| u.counters.read_bytes as f64 >= FROM_DEVICE_MIN * u.read_asked as f64)
    };
    part.devices.iter().copied().take_while(enough).last()
}

/// Buffered writes that had not reached the device when the job ended.
fn written(case: &Case, part: &Part) -> Option<Finding> {
    if !part.is_buffered_in(Direction::Write) || compresses(case, part) {
        return None;
    }
    let (asked, moved) = lowest(case, part, Direction::Write)?;
    if is_enough(part, asked, moved) {
        return None;
    }
    let text = format!(
        "of {} written, {} had reached the device when the job ended ({})",
        size(asked as f64),
        size(moved as f64),
        percent(moved as f64 / asked as f64)
    );
    let finding = CHECK.finding(Severity::Warning, vec![part.name.to_owned()], text);
    Some(Finding {
        figures: figures(asked, moved),
        cause: "buffered writes end in memory and are written back later".into(),
        remedy: set("direct", 1)
            .or(set("end_fsync", 1))
            .ending("so that the time to reach the device counts"),
        ..finding
    })
}

fn compresses(case: &Case, part: &Part) -> bool {
    super::compressible_data::compressor(case, part).is_some()
}

/// What was asked of the lowest devices in the part's window by all jobs on them, and what they moved;
/// `None` where there are none.
fn lowest(case: &Case, part: &Part, direction: Direction) -> Option<(u64, u64)> {
    let disks = case.disks_of(part);
    if disks.is_empty() || part.bytes(direction) == 0 {
        return None;
    }
    if is_short(part) {
        return whole_run(case, direction, &disks);
    }
    let uses: Option<Vec<_>> = disks.iter().map(|d| case.device_use(part, &d.name)).collect();
    let uses = uses?;
    let pick = |read: u64, write: u64| if direction == Direction::Read { read } else { write };
    let moved = uses.iter().map(|u| pick(u.counters.read_bytes, u.counters.write_bytes)).sum();
    // Disks of one job share what it asks: the largest of them is what all were asked for.
    let asked = uses.iter().map(|u| pick(u.read_asked, u.write_asked)).max()?;
    Some((asked, moved))
}

/// The same over the whole run, its ramps included: the devices may have moved more.
fn whole_run(case: &Case, direction: Direction, disks: &[&DeviceFacts]) -> Option<(u64, u64)> {
    let asked = sharing(case, disks).map(|part| part.bytes(direction)).sum();
    let counters = disks.iter().map(|disk| {
        let moved = counted(case, &disk.name)?;
        Some(if direction == Direction::Read { moved.read_bytes } else { moved.write_bytes })
    });
    Some((asked, counters.sum::<Option<u64>>()?))
}

/// What a disk moved over the whole run. Those below the file of a loop device are in samples alone.
fn counted(case: &Case, name: &str) -> Option<DiskSample> {
    if let Some(result) = case.record.disks.iter().find(|result| result.name == name) {
        return Some(result.counters.after.since(&result.counters.before));
    }
    let samples = &case.record.timeline.samples;
    let (first, last) = (samples.first()?, samples.last()?);
    Some(last.disks.get(name)?.since(first.disks.get(name)?))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{at_each, findings, job, record, the_finding};
    use super::*;
    use record::{Bytes, DiskResult, GroupKey, RunRecord};

    #[test]
    fn a_device_that_reads_less_than_the_job_is_named_with_its_share() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        record.jobs[0].workload.direct = false;
        at_each(&mut record, |_, sample| {
            sample.disks.get_mut("sda").unwrap().read_bytes /= 10;
        });
        let found = the_finding(&record, CHECK.id);
        assert!(found.text.contains("(10 %)"), "{found:?}");
        assert!(found.remedy.to_string().contains("--direct=1"));
    }

    #[test]
    fn writes_that_stay_in_memory_and_filesystems_that_are_memory() {
        let mut record = record(vec![job("log", Direction::Write, 10)]);
        record.jobs[0].workload.direct = false;
        at_each(&mut record, |_, sample| {
            sample.disks.get_mut("sda").unwrap().write_bytes = 0;
        });
        assert!(the_finding(&record, CHECK.id).text.contains("had reached the device"));
        let target = record.facts.targets.values_mut().next().unwrap();
        target.device = None;
        let filesystem = target.filesystem.as_mut().unwrap();
        (filesystem.kind, filesystem.devices) = ("tmpfs".into(), Vec::new());
        assert!(the_finding(&record, CHECK.id).text.contains("in memory"));
    }

    /// A run of 10 ms that moved 64 MiB, its device these bytes.
    fn short(direction: Direction, is_direct: bool, moved: u64) -> RunRecord {
        let mut record = record(vec![job("log", direction, 1)]);
        let job = &mut record.jobs[0];
        job.workload.direct = is_direct;
        job.ended = job.started + Nanos(10_000_000);
        job.results[direction].bytes = Bytes(64 << 20);
        let mut disk = DiskResult { name: "sda".into(), ..DiskResult::default() };
        let after = &mut disk.counters.after;
        (after.read_bytes, after.write_bytes) = (moved, moved);
        record.disks = vec![disk];
        record
    }

    #[test]
    fn shorter_runs_than_a_sample_are_judged_by_the_counters_at_their_ends() {
        let found = the_finding(&short(Direction::Write, false, 0), CHECK.id);
        assert!(found.text.starts_with("of 64.0 MiB written, 0 B had reached"), "{found:?}");
        assert!(findings(&short(Direction::Write, false, 64 << 20), CHECK.id).is_empty());
        assert!(findings(&short(Direction::Read, true, 64 << 20), CHECK.id).is_empty());
        let mut sampled = short(Direction::Read, true, 0);
        sampled.disks.clear();
        at_each(&mut sampled, |_, sample| {
            sample.disks.get_mut("sda").unwrap().read_bytes = 0;
        });
        assert!(the_finding(&sampled, CHECK.id).text.contains("0 B"));
        // The counters cannot tell which of two jobs found its blocks in the cache …
        let mut two = short(Direction::Read, true, 64 << 20);
        two.jobs.extend(short(Direction::Read, false, 0).jobs);
        two.jobs[1].group = GroupKey { group: 1, report: 1 };
        (two.jobs[1].job, two.jobs[1].name) = (1, "cached".into());
        assert_eq!(the_finding(&two, CHECK.id).jobs, ["cached"]);
        // … but do tell those on other disks apart.
        let mut apart = short(Direction::Read, true, 64 << 20);
        let mut elsewhere = job("elsewhere", Direction::Read, 1);
        elsewhere.workload.files = vec!["/dev/null".into()];
        (elsewhere.job, elsewhere.group) = (1, GroupKey { group: 1, report: 1 });
        apart.jobs.push(elsewhere);
        assert!(findings(&apart, CHECK.id).is_empty());
    }

    #[test]
    fn read_ahead_is_no_cache() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        at_each(&mut record, |_, sample| {
            sample.disks.get_mut("sda").unwrap().read_bytes *= 2;
        });
        assert!(findings(&record, CHECK.id).is_empty());
    }
}
