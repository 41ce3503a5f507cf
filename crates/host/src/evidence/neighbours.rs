//! Storage traffic of other processes during a run.

use crate::Host;
use record::{Bytes, Neighbour, RanksBeside};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::os::unix::fs::{FileTypeExt, MetadataExt};

/// Most processes that are examined.
const PROCESSES_MAX: usize = 4096;
/// Most neighbours that are reported.
const NAMED_MAX: usize = 5;
/// Less traffic than this is ignored.
const BYTES_MIN: u64 = 1 << 20;
/// Most open files of a neighbour that are examined.
const FILES_MAX: usize = 256;

/// Storage traffic of a process so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    /// Empty for a process without traffic.
    name: String,
    read: u64,
    written: u64,
}

impl Host {
    /// The traffic of every other process whose counters are readable.
    pub(super) fn traffic(&self) -> BTreeMap<u32, Traffic> {
        let own = std::process::id();
        let pids = self.names("/proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
        let pids = pids.filter(|pid| *pid != own).take(PROCESSES_MAX);
        pids.filter_map(|pid| Some((pid, self.traffic_of(pid)?))).collect()
    }

    fn traffic_of(&self, pid: u32) -> Option<Traffic> {
        let [read, written] = self.storage_io(&pid.to_string())?;
        let name = match (read, written) {
            (0, 0) => String::new(),
            _ => self.text(format!("/proc/{pid}/comm")).unwrap_or_default(),
        };
        Some(Traffic { name, read, written })
    }

    /// `read_bytes` and `write_bytes` of /proc/PID/io (proc_pid_io(5)).
    pub(crate) fn storage_io(&self, pid: &str) -> Option<[u64; 2]> {
        let text = self.text(format!("/proc/{pid}/io"))?;
        let value = |name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim_start_matches(':').trim().parse().ok()
        };
        Some([value("read_bytes")?, value("write_bytes")?])
    }
}

impl Host {
    /// Marks the neighbours that have a file open on one of these filesystems or devices, by their
    /// numbers (`st_dev`).
    pub(super) fn mark_same_storage(&self, neighbours: &mut [Neighbour], numbers: &[u64]) {
        for neighbour in neighbours {
            let directory = self.real(format!("/proc/{}/fd", neighbour.pid));
            let open = std::fs::read_dir(directory).into_iter().flatten().flatten();
            neighbour.same_storage = open.take(FILES_MAX).any(|file| {
                let facts = std::fs::metadata(file.path());
                facts.is_ok_and(|facts| numbers.contains(&storage_number(&facts)))
            });
        }
    }
}

/// The number of the device that a file is, or of the filesystem that it is on.
pub(super) fn storage_number(facts: &std::fs::Metadata) -> u64 {
    if facts.file_type().is_block_device() { facts.rdev() } else { facts.dev() }
}

/// The traffic of each process between the two readings. A new process counts from its start; one that ended
/// is missing.
pub(super) fn between(
    before: &BTreeMap<u32, Traffic>,
    after: BTreeMap<u32, Traffic>,
) -> Vec<Neighbour> {
    let since = |(pid, after): (u32, Traffic)| {
        let before = before.get(&pid).filter(|before| before.name == after.name);
        let (read, written) = before.map_or((0, 0), |before| (before.read, before.written));
        Neighbour {
            pid,
            name: after.name,
            read: Bytes(after.read.saturating_sub(read)),
            written: Bytes(after.written.saturating_sub(written)),
            same_storage: false,
        }
    };
    after.into_iter().map(since).collect()
}

/// The processes with the most traffic.
pub(super) fn busiest(mut neighbours: Vec<Neighbour>) -> Vec<Neighbour> {
    neighbours.retain(|neighbour| moved(neighbour) >= BYTES_MIN);
    neighbours.sort_by_key(|neighbour| Reverse(moved(neighbour)));
    neighbours.truncate(NAMED_MAX);
    neighbours
}

/// The traffic of all ranks together; `None` without ranks.
pub(super) fn total_of_ranks(ranks: &[Neighbour]) -> Option<RanksBeside> {
    let sum = |bytes: fn(&Neighbour) -> Bytes| Bytes(ranks.iter().map(|rank| bytes(rank).0).sum());
    (!ranks.is_empty()).then(|| RanksBeside {
        ranks: ranks.len() as u32,
        read: sum(|rank| rank.read),
        written: sum(|rank| rank.written),
    })
}

fn moved(neighbour: &Neighbour) -> u64 {
    neighbour.read.0 + neighbour.written.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn traffic(name: &str, read: u64, written: u64) -> Traffic {
        Traffic { name: name.into(), read, written }
    }

    #[test]
    fn the_busiest_come_first_and_idle_ones_not_at_all() {
        let mib = 1 << 20;
        let before = BTreeMap::from([
            (1, traffic("init", 900 * mib, 0)),
            (7, traffic("backup", 10 * mib, 0)),
            (9, traffic("old", 500 * mib, 0)),
        ]);
        let after = BTreeMap::from([
            (1, traffic("init", 900 * mib + 5, 0)),
            (7, traffic("backup", 20 * mib, 5 * mib)),
            (8, traffic("dd", 0, 40 * mib)),
            // The number of an ended process was given to a new one.
            (9, traffic("new", 2 * mib, 0)),
        ]);
        let named: Vec<(u32, u64)> =
            busiest(between(&before, after)).iter().map(|n| (n.pid, moved(n) / mib)).collect();
        assert_eq!(named, [(8, 40), (7, 15), (9, 2)]);
    }
}
