//! Are the I/Os aligned to the blocks below them?

use super::prelude::*;
use record::DeviceKind;

/// Smallest ratio of bytes the disk read to bytes the write-only job wrote.
const READ_BACK_MIN: f64 = 0.1;

pub(super) const CHECK: Check = Check {
    id: "misaligned",
    question: "Are the I/Os aligned to the blocks below them?",
    evidence: "start of the partition, block sizes and offsets of the job, block sizes of the filesystem and the disk, and bytes the disk read during a write-only job",
    threshold: "warning when a partition does not start at a physical block, when writes are smaller than a block below them, or when the disk read at least 10 % of the bytes that a write-only job wrote; note when writes are smaller than the physical block of a virtual disk",
    reason: "the storage reads a block before it writes a part of it, which halves the throughput and doubles the latency",
    cause: "the I/Os, or the partition below them, are not multiples of the physical block",
    remedy: || choose(["bs", "offset"]).ending("to multiples of the largest block below"),
    proof: Proof::real(
        "checks/durability.rs::writes_smaller_than_a_block_are_misaligned",
        "checks/durability.rs::synchronised_writes_are_durable",
    ),
    look: Look::Data(about),
};

fn about(case: &Case, part: &Part) -> Option<Finding> {
    partition(case, part).or_else(|| read_back(case, part)).or_else(|| small(case, part))
}

/// A partition that does not begin at a physical block of its disk.
fn partition(case: &Case, part: &Part) -> Option<Finding> {
    let partition = part.devices.iter().filter_map(|name| case.device(name)).find(|device| {
        let unit = device.physical_block.0.max(1);
        let start = device.partition_start.map_or(0, |start| start.0);
        device.kind == DeviceKind::Partition && !start.is_multiple_of(unit)
    })?;
    let text = format!(
        "{} starts {} after the start of a physical block of {}",
        partition.name,
        size((partition.partition_start?.0 % partition.physical_block.0) as f64),
        size(partition.physical_block.0 as f64)
    );
    let cause = "the partition was created without alignment to the disk's blocks";
    let remedy = "recreate the partition at a multiple of 1 MiB";
    Some(CHECK.about(part, Severity::Warning, text).cause(cause).remedy(remedy))
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
        CHECK.about(part, Severity::Warning, text).figures(figures)
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
    Some(CHECK.about(part, severity, text))
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

    #[test]
    fn a_partition_that_begins_anywhere_is_named() {
        let mut record = record(vec![job("scan", Direction::Read, 10)]);
        let mut partition = disk("sda1");
        partition.kind = DeviceKind::Partition;
        partition.partition_start = Some(Bytes(63 * 512));
        partition.below = vec!["sda".into()];
        record.facts.devices.insert("sda1".into(), partition);
        record.facts.targets.values_mut().for_each(|t| t.device = Some("sda1".into()));
        assert!(the_finding(&record, CHECK.id).text.starts_with("sda1 starts 3.5 KiB after"));
    }
}
