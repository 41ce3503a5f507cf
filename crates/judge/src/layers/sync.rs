//! The journal's part and the device's part in synchronisations.

use record::{DeviceEvents, JobRecord, Layers, human};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Fewer synchronisations than this give no reliable mean.
const SYNCS_MIN: u64 = 10;
/// A commit for each synchronisation. Where several wait for one commit, its time is not that of each.
const COMMITS_EACH: RangeInclusive<f64> = 0.9..=1.1;
/// A device that cannot write through its cache is flushed before and after the journal's last block.
const FLUSHES_EACH: RangeInclusive<f64> = 0.9..=2.2;

/// Where synchronisations (fsync, fdatasync) spent their time, on average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SyncParts {
    /// Their latency, in nanoseconds.
    pub latency_ns: f64,
    /// In commits of the filesystem's journal, in nanoseconds; `None` unless each had one.
    pub journal_ns: Option<f64>,
    /// In flushes of the device's cache, in nanoseconds, which may be part of commits; `None` unless each had
    /// one or two.
    pub flush_ns: Option<f64>,
}

impl SyncParts {
    /// "fsync took 1.3 ms on average: 0.9 ms passed in a commit of the journal, 0.6 ms while the device flushed
    /// its cache, which is part of the commit."
    pub fn sentence(&self) -> String {
        let journal = self
            .journal_ns
            .map(|ns| format!("{} passed in a commit of the journal", human::time(ns)));
        let flush = self.flush_ns.map(|ns| {
            let part =
                if self.journal_ns.is_some() { ", which may be part of the commit" } else { "" };
            format!("{} while the device flushed its cache{part}", human::time(ns))
        });
        let parts: Vec<String> = journal.into_iter().chain(flush).collect();
        format!("fsync took {} on average: {}.", human::time(self.latency_ns), parts.join(", "))
    }
}

/// The parts of the jobs' synchronisations; `None` if nothing is known of them, or the jobs use several
/// disks.
pub(super) fn parts(layers: &Layers, jobs: &[JobRecord]) -> Option<SyncParts> {
    let count: u64 = jobs.iter().map(|job| job.sync.count).sum();
    let time: u64 = jobs.iter().map(|job| job.sync.latency.sum()).sum();
    let is_whole_run = layers.since.0 == 0;
    let paths = layers.paths.iter().filter(|path| !path.is_member);
    let disks: BTreeSet<&str> = paths.map(|path| path.device_name.as_str()).collect();
    if count < SYNCS_MIN || !is_whole_run || disks.len() != 1 {
        return None;
    }
    let mean = |events: &[DeviceEvents], each: RangeInclusive<f64>| {
        let on_it = events.iter().find(|events| disks.contains(events.device.as_str()))?;
        let fits = each.contains(&(on_it.count as f64 / count as f64)) && on_it.time.0 <= time;
        fits.then(|| on_it.time.0 as f64 / count as f64)
    };
    let journal_ns = mean(&layers.journals, COMMITS_EACH);
    let flush_ns = mean(&layers.flushes, FLUSHES_EACH);
    let latency_ns = time as f64 / count as f64;
    (journal_ns.is_some() || flush_ns.is_some()).then_some(SyncParts {
        latency_ns,
        journal_ns,
        flush_ns,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{LayerPath, Nanos, SyncResult};

    fn events(count: u64, time: u64) -> Vec<DeviceEvents> {
        let time = Nanos(time);
        vec![DeviceEvents { device: "sda".into(), count, time, longest: time }]
    }

    #[test]
    fn parts_are_known_where_each_sync_has_its_own() {
        let mut sync = SyncResult { count: 100, ..SyncResult::default() };
        sync.latency.record_n(1000, 100);
        let jobs = [JobRecord { sync, ..JobRecord::default() }];
        let path = LayerPath { device_name: "sda".into(), ..LayerPath::default() };
        let timed = |journals, flushes| Layers {
            paths: vec![path.clone()],
            journals,
            flushes,
            ..Layers::default()
        };
        let both = parts(&timed(events(99, 80_000), events(200, 60_000)), &jobs).unwrap();
        assert_eq!((both.journal_ns, both.flush_ns), (Some(800.0), Some(600.0)));
        assert_eq!(
            both.sentence(),
            "fsync took 1 µs on average: 800 ns passed in a commit of the journal, 600 ns while the device \
             flushed its cache, which may be part of the commit."
        );
        let shared = parts(&timed(events(30, 80_000), events(100, 60_000)), &jobs).unwrap();
        assert_eq!((shared.journal_ns, shared.flush_ns), (None, Some(600.0)));
        let of_others = events(100, 200_000);
        assert_eq!(parts(&timed(of_others, Vec::new()), &jobs), None, "more than all syncs took");
        let later = Layers { since: Nanos(1), ..timed(events(99, 80_000), Vec::new()) };
        assert_eq!(parts(&later, &jobs), None);
    }
}
