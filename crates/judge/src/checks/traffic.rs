//! Bytes that the disks of the jobs moved, and the part of them that this process caused.

use crate::case::{At, Case};
use record::{DeviceKind, Direction, Medium, Nanos, RunRecord, Sample};

/// Filesystems that write a block elsewhere each time, and their trees with it: what they write is
/// a multiple of what they were asked to.
const COPY_ON_WRITE: [&str; 6] = ["btrfs", "zfs", "bcachefs", "nilfs2", "f2fs", "overlay"];

/// Writes of a journal for each synchronisation: a descriptor, some metadata blocks and a commit.
const JOURNAL_PER_SYNC: u64 = 64 << 10;

/// Traffic of the lowest disks while the jobs ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Traffic {
    /// Their names.
    pub(super) disks: Vec<String>,
    /// From the start of the first job's window to the end of the last one's.
    pub(super) window: Nanos,
    /// Bytes the disks read.
    pub(super) read: u64,
    /// Bytes the disks wrote.
    pub(super) written: u64,
    /// Bytes the disks discarded.
    pub(super) discarded: u64,
    /// Bytes read that the jobs did not ask for.
    pub(super) unasked_read: u64,
    /// Bytes written that the jobs did not ask for.
    pub(super) unasked_written: u64,
    /// Bytes read that this process did not cause.
    pub(super) foreign_read: u64,
    /// Bytes written that neither this process nor its filesystem caused, and that were not dirty before
    /// the run.
    pub(super) foreign_written: u64,
    /// Bytes written that were dirty in memory before the run.
    pub(super) left_over: u64,
    /// Data waiting to be written, or being written, when the run began.
    pub(super) dirty_before: u64,
    /// Nothing lies between the jobs and the disks that adds traffic of its own.
    pub(super) plain: bool,
}

impl Traffic {
    /// Bytes a second over the window.
    pub(super) fn rate(&self, bytes: u64) -> f64 {
        bytes as f64 / self.window.seconds()
    }

    /// Share of all bytes the disks moved.
    pub(super) fn share(&self, bytes: u64) -> f64 {
        bytes as f64 / (self.read + self.written).max(1) as f64
    }
}

/// The traffic of a run; `None` without samples of a disk.
pub(super) fn traffic(case: &Case) -> Option<Traffic> {
    let on_disks: Vec<_> = case.parts.iter().filter(|p| !case.disks_of(p).is_empty()).collect();
    // What a program that was run moved is not counted.
    if on_disks.iter().any(|part| part.medium() == Medium::Time) {
        return None;
    }
    let from = on_disks.iter().map(|part| part.from).min()?;
    let to = on_disks.iter().map(|part| part.to).max()?;
    let (first, last) = case.ends(from, to)?;
    let mut traffic = Traffic {
        window: to - from,
        plain: on_disks.iter().all(|part| {
            !part.is_buffered() && part.devices.iter().all(|name| is_plain(case.record, name))
        }),
        ..Traffic::default()
    };
    for disk in on_disks.iter().flat_map(|part| case.disks_of(part)) {
        let known = traffic.disks.contains(&disk.name);
        let Some((before, after)) = first.disk(&disk.name).zip(last.disk(&disk.name)) else {
            continue;
        };
        if !known {
            let moved = after.since(&before);
            traffic.read += moved.read_bytes;
            traffic.written += moved.write_bytes;
            traffic.discarded += moved.discard_bytes;
            traffic.disks.push(disk.name.clone());
        }
    }
    if traffic.disks.is_empty() {
        return None;
    }
    // Other ranks of this measurement asked as well.
    let beside = case.record.evidence.ranks_beside.unwrap_or_default();
    let of_ranks = |d| match d {
        Direction::Read => beside.read.0,
        Direction::Write => beside.written.0,
        Direction::Trim => 0,
    };
    let asked = |d| on_disks.iter().map(|part| part.bytes(d)).sum::<u64>() + of_ranks(d);
    traffic.unasked_read = traffic.read.saturating_sub(asked(Direction::Read));
    traffic.unasked_written = traffic.written.saturating_sub(asked(Direction::Write));
    let (own_read, own_written) = own_traffic(&first, &last).unwrap_or_default();
    let own_read = own_read + beside.read.0;
    traffic.foreign_read = traffic.read.saturating_sub(own_read.max(asked(Direction::Read)));
    let syncs = case.record.jobs.iter().map(synchronised).sum::<u64>();
    let own_written = (own_written + beside.written.0).max(asked(Direction::Write));
    // Unwritten extents that become written, and their journal, are the price of our own writes.
    let caused = own_written + own_written / 4 + syncs * JOURNAL_PER_SYNC;
    let unasked = traffic.written.saturating_sub(caused);
    let waiting = |sample: &Sample| sample.memory_dirty + sample.memory_writeback;
    let dirty = |at: &At| waiting(at.before).min(waiting(at.after));
    traffic.dirty_before = dirty(&first);
    traffic.left_over = left_over(case, unasked, traffic.dirty_before, dirty(&last));
    traffic.foreign_written = match copies_on_write(case) && own_written > 0 {
        true => 0,
        false => unasked - traffic.left_over,
    };
    Some(traffic)
}

/// How much of what the disks wrote unasked had been waiting since before the run. The kernel counts
/// what is dirty over all disks, so what became dirty meanwhile hides what was written: where nobody
/// was seen who wrote it, it was there before.
fn left_over(case: &Case, unasked: u64, before: u64, after: u64) -> u64 {
    let sure = unasked.min(before.saturating_sub(after));
    let seen: u64 = case.record.evidence.neighbours.iter().map(|n| n.written.0).sum();
    if seen >= (unasked - sure) / 2 { sure } else { unasked.min(before) }
}

/// What this process caused between two moments: (read, written).
fn own_traffic(first: &At, last: &At) -> Option<(u64, u64)> {
    let at = |at: &At| {
        let (before, after) = (at.before.own?, at.after.own?);
        let read = at.between(before.read_bytes, after.read_bytes);
        Some((read, at.between(before.write_bytes, after.write_bytes)))
    };
    let (before, after) = (at(first)?, at(last)?);
    Some((after.0.saturating_sub(before.0), after.1.saturating_sub(before.1)))
}

/// How often a worker had the filesystem commit.
fn synchronised(job: &record::JobRecord) -> u64 {
    let each_write = job.workload.settings.contains_key("sync");
    job.sync.count + if each_write { job.results[Direction::Write].ios } else { 0 }
}

/// Devices that pass on only the requested I/O. A file below a loop device brings
/// its filesystem and its cache with it, unless it is in memory.
fn is_plain(record: &RunRecord, name: &str) -> bool {
    record.facts.devices.get(name).is_some_and(|device| match device.kind {
        DeviceKind::DeviceMapper { .. } | DeviceKind::Md { .. } => false,
        DeviceKind::Loop { .. } => device.below.is_empty(),
        _ => true,
    })
}

fn copies_on_write(case: &Case) -> bool {
    let filesystems = case.parts.iter().flat_map(|part| case.filesystems_of(part));
    filesystems.into_iter().any(|f| COPY_ON_WRITE.contains(&f.kind.as_str()))
}
