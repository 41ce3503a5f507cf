//! Did the storage serve the I/O, or memory?

use super::prelude::*;
use record::{DeviceKind, DiskSample, Nanos};

/// The least share of the requested bytes that the device must have moved. Without a cache the share is
/// 1 or more (read-ahead only adds); a tenth is left for the edges of the window.
const FROM_DEVICE_MIN: f64 = 0.9;

/// Fewer requested bytes are lost in the noise of other traffic.
const ASKED_MIN: u64 = 8 << 20;

/// Shorter windows have too few samples of the device, so the check reads the whole run.
const WINDOW_MIN: Nanos = Nanos(500_000_000);

/// Samples are taken some milliseconds before or after the ends of a window, so the bytes of this time
/// may be missing. They are not for the whole run: the kernel counts a transfer before it completes.
const LAG: Nanos = Nanos(20_000_000);

pub(super) const CHECK: Check = Check {
    id: "served-from-cache",
    question: "Did the storage serve the I/O, or memory?",
    evidence: "bytes each device of the stack moved while the job ran, compared with the bytes the job moved; pages of the files in the page cache before and after",
    threshold: "warning when the lowest devices moved less than 90 % of what was read or written, or when the filesystem is in memory",
    reason: "without a cache the device reads at least what the job reads, because read-ahead only adds to it, and filesystems add writes of their own; 10 % is a margin for the edges of the window",
    cause: "the blocks were in the page cache, or in a cache below the filesystem",
    remedy: || set("direct", 1).or(raise(["size"]).ending("above the machine's memory")),
    proof: Proof::real(
        "checks/cache.rs::reads_from_memory_are_served_from_cache",
        "checks/cache.rs::a_cold_direct_read_is_clean",
    ),
    function: CheckFunction::Run(check),
};

fn check(case: &Case) -> Vec<Finding> {
    let all = |part| [in_memory(case, part), read(case, part), written(case, part)];
    case.data_parts().flat_map(all).flatten().collect()
}

fn in_memory(case: &Case, part: &Part) -> Option<Finding> {
    let filesystem = case.filesystems_of(part).into_iter().find(|f| f.is_in_memory())?;
    let text = format!(
        "{} is a {}, which keeps its files in memory",
        filesystem.mount_point, filesystem.kind
    );
    let cause = "there is no storage device below this filesystem";
    let remedy = "use a directory on the storage to be measured";
    Some(CHECK.finding_for(part, Severity::Warning, text).cause(cause).remedy(remedy))
}

fn read(case: &Case, part: &Part) -> Option<Finding> {
    // Devices read less for compressed and for never written blocks, even without a cache.
    if super::never_written::unwritten_share(case, part) > 0.0 || compresses(case, part) {
        return None;
    }
    // Cache hits of a buffered job say nothing about a direct job on the same disks.
    if !part.is_buffered_in(Direction::Read) && beside_buffered(case, part) {
        return None;
    }
    let (asked, moved) = asked_and_moved(case, part, Direction::Read)?;
    if is_enough(part, asked, moved) {
        return None;
    }
    let share = moved as f64 / asked as f64;
    let place = lowest_reached(case, part);
    let text = format!(
        "the jobs read {}, but the device delivered only {} ({})",
        size(asked as f64),
        size(moved as f64),
        percent(share)
    );
    let finding = CHECK.finding_for(part, Severity::Warning, text);
    let (cause, remedy) = cause_and_remedy(case, part, place);
    Some(finding.figures(figures(asked, moved)).cause(cause).remedy(remedy))
}

/// Whether the devices moved enough, or too little was requested to judge.
fn is_enough(part: &Part, asked: u64, moved: u64) -> bool {
    let seen = if is_short(part) { 1.0 } else { 1.0 - LAG.0 as f64 / part.length().0 as f64 };
    asked < ASKED_MIN || moved as f64 >= FROM_DEVICE_MIN * seen * asked as f64
}

/// Whether the part is too short, so that the check reads the whole run.
fn is_short(part: &Part) -> bool {
    part.length() < WINDOW_MIN
}

/// Whether a buffered job reads from the same disks at the same time.
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

fn cause_and_remedy(case: &Case, part: &Part, place: Option<&str>) -> (Sentence, Remedy) {
    if let Some(device) = place {
        let is_loop = |kind: &DeviceKind| matches!(kind, DeviceKind::Loop { .. });
        if case.device(device).is_some_and(|facts| is_loop(&facts.kind)) {
            return (
                format!("{device} reads and writes its file through the page cache").into(),
                format!("attach {device} with losetup --direct-io=on").into(),
            );
        }
        return (
            format!("a cache below {device} served the reads").into(),
            "measure the device below the cache".into(),
        );
    }
    let remedy = match part.setting("invalidate") {
        Some(_) => set("invalidate", 1).or((CHECK.remedy)()),
        None => (CHECK.remedy)(),
    };
    ("the blocks were in the page cache".into(), remedy)
}

/// The lowest device of the stack that still received the reads; `None`: not even the topmost did.
fn lowest_reached<'a>(case: &Case<'a>, part: &Part<'a>) -> Option<&'a str> {
    let enough = |device: &&str| {
        let usage = case.device_use(part, device);
        usage.is_some_and(|u| u.counters.read_bytes as f64 >= FROM_DEVICE_MIN * u.read_asked as f64)
    };
    part.devices.iter().copied().take_while(enough).last()
}

/// Writes that had not reached the device when the job ended: buffered ones, and those to a loop device
/// that goes through the page cache.
fn written(case: &Case, part: &Part) -> Option<Finding> {
    let buffered_loop = case.buffered_loop_under(part);
    let is_buffered = part.is_buffered_in(Direction::Write) || buffered_loop.is_some();
    if !is_buffered || compresses(case, part) {
        return None;
    }
    let (asked, moved) = asked_and_moved(case, part, Direction::Write)?;
    if is_enough(part, asked, moved) {
        return None;
    }
    let text = format!(
        "the jobs wrote {}, but only {} had reached the device when the job ended ({})",
        size(asked as f64),
        size(moved as f64),
        percent(moved as f64 / asked as f64)
    );
    let finding = CHECK.finding_for(part, Severity::Warning, text).figures(figures(asked, moved));
    if buffered_loop.is_some() {
        let (cause, remedy) = cause_and_remedy(case, part, buffered_loop);
        return Some(Finding { cause, remedy, ..finding });
    }
    let cause = "the page cache takes buffered writes and writes them back later";
    let remedy = set("direct", 1)
        .or(set("end_fsync", 1))
        .ending("to include the time until the data reaches the device");
    Some(finding.cause(cause).remedy(remedy))
}

fn compresses(case: &Case, part: &Part) -> bool {
    super::compressible_data::compressor(case, part).is_some()
}

/// The bytes that all jobs requested from the lowest devices in the part's window, and the bytes that
/// these devices moved; `None` without devices, and if the block layer counts none of the requests.
fn asked_and_moved(case: &Case, part: &Part, direction: Direction) -> Option<(u64, u64)> {
    let disks = case.disks_of(part);
    let counted = !part.has_engine(Engine::sends_commands);
    if !counted || disks.is_empty() || part.bytes(direction) == 0 {
        return None;
    }
    if is_short(part) {
        return whole_run(case, direction, &disks);
    }
    let uses: Option<Vec<_>> = disks.iter().map(|d| case.device_use(part, &d.name)).collect();
    let uses = uses?;
    let pick = |read: u64, write: u64| if direction == Direction::Read { read } else { write };
    let moved = uses.iter().map(|u| pick(u.counters.read_bytes, u.counters.write_bytes)).sum();
    // The disks of a job share its requests, and each disk counts all of them.
    let asked = uses.iter().map(|u| pick(u.read_asked, u.write_asked)).max()?;
    Some((asked, moved))
}

/// The same over the whole run. Devices may have moved more, since ramps are included.
fn whole_run(case: &Case, direction: Direction, disks: &[&DeviceFacts]) -> Option<(u64, u64)> {
    let asked = sharing(case, disks).map(|part| part.bytes(direction)).sum();
    let counters = disks.iter().map(|disk| {
        let moved = counters_of_run(case, &disk.name)?;
        Some(if direction == Direction::Read { moved.read_bytes } else { moved.write_bytes })
    });
    Some((asked, counters.sum::<Option<u64>>()?))
}

/// The counters of a disk over the whole run. Disks below a loop device are only in the samples.
fn counters_of_run(case: &Case, name: &str) -> Option<DiskSample> {
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
        assert!(
            found.text.starts_with("the jobs wrote 64 MiB, but only 0 B had reached"),
            "{found:?}"
        );
        assert!(findings(&short(Direction::Write, false, 64 << 20), CHECK.id).is_empty());
        assert!(findings(&short(Direction::Read, true, 64 << 20), CHECK.id).is_empty());
        let mut sampled = short(Direction::Read, true, 0);
        sampled.disks.clear();
        at_each(&mut sampled, |_, sample| {
            sample.disks.get_mut("sda").unwrap().read_bytes = 0;
        });
        assert!(the_finding(&sampled, CHECK.id).text.contains("0 B"));
        // Counters do not show which of two jobs on one disk had cache hits …
        let mut two = short(Direction::Read, true, 64 << 20);
        two.jobs.extend(short(Direction::Read, false, 0).jobs);
        two.jobs[1].group = GroupKey { group: 1, report: 1 };
        (two.jobs[1].job, two.jobs[1].name) = (1, "cached".into());
        assert_eq!(the_finding(&two, CHECK.id).jobs, ["cached"]);
        // … but they do for jobs on different disks.
        let mut apart = short(Direction::Read, true, 64 << 20);
        let mut elsewhere = job("elsewhere", Direction::Read, 1);
        elsewhere.workload.files = vec!["/dev/null".into()];
        (elsewhere.job, elsewhere.group) = (1, GroupKey { group: 1, report: 1 });
        apart.jobs.push(elsewhere);
        assert!(findings(&apart, CHECK.id).is_empty());
    }

    #[test]
    fn commands_that_the_block_layer_does_not_count_are_no_cache_hits() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        at_each(&mut record, |_, sample| {
            sample.disks.get_mut("sda").unwrap().read_bytes = 0;
        });
        assert_eq!(findings(&record, CHECK.id).len(), 1);
        record.jobs[0].workload.ioengine = Engine::IoUringCmd.name().into();
        assert!(findings(&record, CHECK.id).is_empty());
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
