//! Are the I/Os aligned to the blocks below them?

use super::prelude::*;
use record::{DeviceFacts, DeviceKind};

/// Smallest ratio of bytes the disk read to bytes the write-only job wrote.
const READ_BACK_MIN: f64 = 0.1;
/// Where partitions begin that suit every disk.
const ALIGNED: u64 = 1 << 20;
/// Larger "optimal" sizes are those of bridges that report their largest request.
const STRIPE_MAX: u64 = 64 << 20;

pub(super) const CHECK: Check = Check {
    id: "misaligned",
    question: "Are the I/Os aligned to the blocks below them?",
    evidence: "start of the partition, block sizes and offsets of the job, block sizes of the filesystem and the disk, and bytes the disk read during a write-only job",
    threshold: "warning when a partition does not start at a physical block or at a chunk of the array below it, when writes are smaller than a block below them, or when the disk read at least 10 % of the bytes that a write-only job wrote; note when a partition does not start at a stripe of an array with parity, or when writes are smaller than the physical block of a virtual disk",
    reason: "the storage reads a block before it writes a part of it, which halves the throughput and doubles the latency",
    cause: "the I/Os, or the partition below them, are not multiples of the physical block",
    remedy: || choose(["bs", "offset"]).ending("to multiples of the largest block below"),
    proof: Proof::real(
        "checks/durability.rs::writes_smaller_than_a_block_are_misaligned",
        "checks/durability.rs::synchronised_writes_are_durable",
    ),
    function: CheckFunction::Data(check),
};

fn check(case: &Case, part: &Part) -> Option<Finding> {
    partition(case, part).or_else(|| read_back(case, part)).or_else(|| small(case, part))
}

/// A partition that does not begin where a block, chunk or stripe below it begins.
fn partition(case: &Case, part: &Part) -> Option<Finding> {
    part.devices.iter().filter_map(|name| case.device(name)).find_map(|partition| {
        let start =
            partition.partition_start.filter(|_| partition.kind == DeviceKind::Partition)?;
        let disk = partition.below.first().and_then(|name| case.device(name)).unwrap_or(partition);
        let (what, unit, severity) = misfit(start.0, partition, disk)?;
        let text = format!(
            "{} starts {} after the start of a {what} of {}",
            partition.name,
            size((start.0 % unit) as f64),
            size(unit as f64)
        );
        let cause = format!("the partition was created without alignment to the {what}s below");
        let remedy = moved(start.0, partition, disk);
        Some(CHECK.finding_for(part, severity, text).cause(cause).remedy(remedy))
    })
}

/// What a start does not fit: its name, its size, and how grave that is.
fn misfit(
    start: u64,
    partition: &DeviceFacts,
    disk: &DeviceFacts,
) -> Option<(&'static str, u64, Severity)> {
    let block = partition.physical_block.0.max(disk.physical_block.0);
    let (chunk, stripe) = stripes(disk).unwrap_or((1, 1));
    [
        ("physical block", block, Severity::Warning),
        // An I/O that crosses a chunk needs two disks.
        ("chunk", chunk, Severity::Warning),
        // A write of a whole stripe needs no read; one that crosses two does.
        ("stripe", if has_parity(disk) { stripe } else { 1 }, Severity::Note),
    ]
    .into_iter()
    .find(|(_, unit, _)| *unit > 1 && !start.is_multiple_of(*unit))
}

fn has_parity(disk: &DeviceFacts) -> bool {
    matches!(&disk.kind, DeviceKind::Md { level } if ["raid4", "raid5", "raid6"].contains(&level.as_str()))
}

/// The chunk and the stripe of an array, by software or by a controller; `None` for other disks, and for
/// sizes that no array has.
fn stripes(disk: &DeviceFacts) -> Option<(u64, u64)> {
    let (chunk, stripe) = (disk.io_min.0, disk.io_opt.0);
    let is_array = chunk > disk.physical_block.0.max(4096) && stripe >= chunk;
    (is_array && stripe.is_multiple_of(chunk) && stripe <= STRIPE_MAX).then_some((chunk, stripe))
}

/// How to move a partition to the first place after its start that suits all that is below.
fn moved(start: u64, partition: &DeviceFacts, disk: &DeviceFacts) -> String {
    let sector = disk.logical_block.0.max(512);
    let stripe = stripes(disk).map_or(1, |(_, stripe)| stripe);
    let aligned = start.next_multiple_of(least_common_multiple(ALIGNED, stripe)) / sector;
    let (disk_name, name) = (&disk.name, &partition.name);
    let number = name.strip_prefix(disk_name.as_str()).unwrap_or(name).trim_start_matches('p');
    let last = (start + partition.size.0) / sector;
    let last = last.saturating_sub(1).max(aligned);
    format!(
        "move the partition to sector {aligned}, the first aligned one: save its data, unmount it, \
         then `echo '{aligned},' | sfdisk --move-data /dev/{disk_name} -N {number}`, which needs {} of \
         free space behind it; or make it anew, empty: `parted /dev/{disk_name} unit s rm {number} \
         mkpart data {aligned} {last}`",
        size((aligned * sector).saturating_sub(start) as f64)
    )
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    a / divisor * b
}

/// Reads of a disk in a job that only writes.
fn read_back(case: &Case, part: &Part) -> Option<Finding> {
    let alone = case.parts.iter().all(|other| other.ios(Direction::Read) == 0);
    let written = part.bytes(Direction::Write);
    if !alone || written == 0 || !is_small(case, part) {
        return None;
    }
    let uses = case.disks_of(part).into_iter().filter_map(|d| case.device_use(part, &d.name));
    let read: u64 = uses.map(|usage| usage.counters.read_bytes).sum();
    (read as f64 >= READ_BACK_MIN * written as f64).then(|| {
        let text = format!(
            "the job wrote {} and read nothing, but the disk read {}: it reads blocks that are partly overwritten",
            size(written as f64),
            size(read as f64)
        );
        let figures = [
            Figure::new("bytes written", written as f64, "bytes"),
            Figure::new("bytes the disk read", read as f64, "bytes"),
        ];
        CHECK.finding_for(part, Severity::Warning, text).figures(figures)
    })
}

/// The largest block that has to be written whole: of the disks, and buffered of the filesystem.
fn unit(case: &Case, part: &Part) -> u64 {
    let devices = part.devices.iter().filter_map(|name| case.device(name));
    let physical = devices.map(|device| device.physical_block.0);
    let filesystems = case.filesystems_of(part);
    let buffered = filesystems.iter().map(|f| f.block_size.0).filter(|_| part.is_buffered());
    physical.chain(buffered).max().unwrap_or(0)
}

fn smallest_write(part: &Part) -> u64 {
    let blocks = part.workers.iter().map(|job| job.workload.block_size[Direction::Write].0.0);
    blocks.min().unwrap_or(0)
}

fn is_small(case: &Case, part: &Part) -> bool {
    let unit = unit(case, part);
    let smallest = smallest_write(part);
    let off = |job: &&record::JobRecord| {
        job.workload.regions.iter().any(|region| !region.start.0.is_multiple_of(unit))
    };
    smallest > 0 && unit > 0 && (!smallest.is_multiple_of(unit) || part.workers.iter().any(off))
}

/// Writes that no block below takes whole. Sequential buffered ones are put together in memory.
fn small(case: &Case, part: &Part) -> Option<Finding> {
    let merged = part.is_buffered() && !part.is_random();
    if part.ios(Direction::Write) == 0 || merged || !is_small(case, part) {
        return None;
    }
    let text = format!(
        "writes of {} are not aligned to the blocks of {} below them",
        size(smallest_write(part) as f64),
        size(unit(case, part) as f64)
    );
    let virtual_only = case.disks_of(part).iter().all(|disk| disk.is_virtual);
    let severity = if virtual_only { Severity::Note } else { Severity::Warning };
    Some(CHECK.finding_for(part, severity, text))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{disk, findings, job, record, the_finding};
    use super::*;
    use record::Bytes;

    #[test]
    fn small_writes_and_odd_offsets_are_misaligned() {
        let mut record = record(vec![job("log", Direction::Write, 10)]);
        assert!(findings(&record, CHECK.id).is_empty());
        record.jobs[0].workload.block_size[Direction::Write] = (Bytes(512), Bytes(4096));
        assert_eq!(the_finding(&record, CHECK.id).severity, Severity::Warning);
        record.jobs[0].workload.block_size[Direction::Write] = (Bytes(4096), Bytes(4096));
        record.jobs[0].workload.regions[0].start = Bytes(1024);
        assert!(the_finding(&record, CHECK.id).text.contains("not aligned"));
    }

    /// A run on the first partition of a disk, of 1 GiB from `start` on.
    fn on_partition(start: u64, below: DeviceFacts) -> record::RunRecord {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        let name = if below.name.ends_with(char::is_numeric) { "p1" } else { "1" };
        let mut partition = disk(&format!("{}{name}", below.name));
        partition.kind = DeviceKind::Partition;
        partition.size = Bytes(1 << 30);
        partition.partition_start = Some(Bytes(start));
        partition.below = vec![below.name.clone()];
        let name = partition.name.clone();
        record.facts.devices.insert(below.name.clone(), below);
        record.facts.devices.insert(name.clone(), partition);
        for target in record.facts.targets.values_mut() {
            target.device = Some(name.clone());
            target.filesystem.as_mut().unwrap().devices = vec![name.clone()];
        }
        record
    }

    fn array(level: &str, chunk: u64, stripe: u64) -> DeviceFacts {
        let mut array = disk("md0");
        array.kind = DeviceKind::Md { level: level.into() };
        (array.io_min, array.io_opt) = (Bytes(chunk), Bytes(stripe));
        array
    }

    #[test]
    fn a_partition_that_begins_anywhere_is_to_be_moved() {
        let found = the_finding(&on_partition(63 * 512, disk("sda")), CHECK.id);
        assert!(
            found.text.starts_with("sda1 starts 3.5 KiB after the start of a physical block of 4")
        );
        let remedy = found.remedy.to_string();
        for command in [
            "echo '2048,' | sfdisk --move-data /dev/sda -N 1",
            "992 KiB of free space",
            "parted /dev/sda unit s rm 1 mkpart data 2048 2097214",
        ] {
            assert!(remedy.contains(command), "{command}: {remedy}");
        }
        assert!(findings(&on_partition(1 << 20, disk("sda")), CHECK.id).is_empty());
    }

    #[test]
    fn a_partition_of_an_array_begins_at_a_chunk_and_a_stripe() {
        let (mib, kib) = (1 << 20, 1 << 10);
        let of = |start, array| on_partition(start, array);
        let chunk = the_finding(&of(64 * kib, array("raid0", 512 * kib, mib)), CHECK.id);
        assert_eq!(chunk.severity, Severity::Warning);
        assert!(
            chunk.text.contains("md0p1 starts 64 KiB after the start of a chunk of 512"),
            "{}",
            chunk.text
        );
        // Stripes of 1.5 MiB: 3 MiB is the first place after 1 MiB that suits them.
        let raid5 = array("raid5", 512 * kib, 1536 * kib);
        let stripe = the_finding(&of(mib, raid5.clone()), CHECK.id);
        assert_eq!(stripe.severity, Severity::Note);
        assert!(stripe.text.contains("after the start of a stripe of 1.5 MiB"), "{}", stripe.text);
        let remedy = stripe.remedy.to_string();
        assert!(remedy.contains("echo '6144,' | sfdisk --move-data /dev/md0 -N 1"), "{remedy}");
        assert!(findings(&of(3 * mib, raid5), CHECK.id).is_empty());
        assert!(findings(&of(mib, array("raid0", 512 * kib, 1536 * kib)), CHECK.id).is_empty());
        // The largest request of a bridge is no stripe.
        assert!(findings(&of(mib, array("raid5", 4096, 33_553_920)), CHECK.id).is_empty());
    }
}
