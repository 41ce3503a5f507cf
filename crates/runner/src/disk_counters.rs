//! Counters of the devices under the targets, at both ends of a run.

use host::Host;
use plan::DiskWatch;
use record::{DiskCounters, DiskResult, DiskSample, Nanos};
use std::collections::BTreeMap;
use std::time::Instant;

/// Counters of devices at one moment.
#[derive(Clone)]
pub(crate) struct DiskSnapshot {
    at: Instant,
    disks: BTreeMap<String, DiskSample>,
}

impl DiskSnapshot {
    /// Reads the counters now.
    pub fn take(host: &Host, names: &[String]) -> DiskSnapshot {
        let sample = |name: &String| Some((name.clone(), host.disk_sample(name)?));
        DiskSnapshot { at: Instant::now(), disks: names.iter().filter_map(sample).collect() }
    }
}

/// The I/O of the watched devices and their members between two snapshots.
pub(crate) fn disk_results(
    watched: &[DiskWatch],
    before: &DiskSnapshot,
    after: &DiskSnapshot,
) -> Vec<DiskResult> {
    let window = Nanos(after.at.duration_since(before.at).as_nanos() as u64);
    let result = |name: &str, members: &[String]| {
        let (before, after) = (*before.disks.get(name)?, *after.disks.get(name)?);
        let counters = DiskCounters { before, after, window };
        Some(DiskResult { name: name.into(), members: members.to_vec(), counters })
    };
    let mut results: Vec<DiskResult> = Vec::new();
    for watch in watched {
        let members = watch.members.iter().map(|m| (m.as_str(), &[][..]));
        for (name, below) in
            std::iter::once((watch.name.as_str(), &watch.members[..])).chain(members)
        {
            if results.iter().all(|r| r.name != name) {
                results.extend(result(name, below));
            }
        }
    }
    results
}
