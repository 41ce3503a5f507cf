//! One reader against two, on storage of several disks: a mirror can answer two readers from two disks,
//! and not every mirror does (md chooses a disk for each read, btrfs one for each process).

use super::positions::coordinate;
use crate::estimate::{Estimated, iops_estimate, ratio};
use crate::outcome::{subset, went_well};
use crate::target::{EndCondition, JobSpec, LARGE};
use crate::{Step, Target};
use record::{Bytes, Cell, Coordinate, Direction, Nanos, RecordSet, RunRecord};
use std::collections::BTreeMap;

const RAMP: Nanos = Nanos::from_millis(500);
const TIME: Nanos = Nanos::from_millis(5_000);
/// Dimension of the coordinate of a cell.
const READERS: &str = "readers";

/// Numbers of readers that are compared.
pub(super) const COUNTS: [u64; 2] = [1, 2];

/// Sequential reads of this many readers, each in its own half of the file's first `filled` bytes.
pub(super) fn step(target: &Target, readers: u64, filled: Bytes, round: u32, seed: u64) -> Step {
    let half = filled.0 / 2 / LARGE.0 * LARGE.0;
    let at = Coordinate { dimension: READERS.into(), value: readers.to_string() };
    let mut step = target.step(&JobSpec {
        cell: Cell { name: format!("readers-{readers}"), round, at: vec![at] },
        description: format!("sequential read 1 MiB, {readers} at once"),
        rw: "read",
        block: LARGE,
        region: Bytes(half),
        depth: 8,
        synchronous: false,
        seed,
        more: Vec::new(),
        until: EndCondition::Time { ramp: RAMP, time: TIME },
    });
    step.arguments.push(format!("--numjobs={readers}"));
    step.arguments.push(format!("--offset_increment={half}"));
    step
}

/// The speed of a number of readers together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReadersRow {
    /// Number of readers.
    pub readers: u64,
    /// Bytes a second of all together.
    pub bytes_per_second: Estimated,
    /// As a multiple of the speed of one.
    pub of_one: Option<Estimated>,
    /// The share of each disk in what all disks read, by kernel name.
    pub shares: Vec<(String, f64)>,
}

/// One row for each number of readers; none where the file is on one disk.
pub(super) fn conclude(set: &RecordSet) -> Vec<ReadersRow> {
    let runs = |readers: u64| {
        let is_of = |run: &RunRecord| coordinate(run, READERS) == Some(&*readers.to_string());
        subset(set, |run| went_well(run) && is_of(run)).runs
    };
    let speeds = |runs: &[RunRecord]| -> Vec<f64> { runs.iter().map(bytes_per_second).collect() };
    let alone = speeds(&runs(1));
    let row = |readers: u64| {
        let runs = runs(readers);
        let speeds = speeds(&runs);
        (!runs.is_empty()).then(|| ReadersRow {
            readers,
            bytes_per_second: iops_estimate(&speeds, &[], set.seed),
            of_one: (readers > 1).then(|| ratio(&speeds, &alone, set.seed)).flatten(),
            shares: shares(&runs),
        })
    };
    COUNTS.into_iter().filter_map(row).collect()
}

fn bytes_per_second(run: &RunRecord) -> f64 {
    let reads = run.jobs.iter().map(|job| &job.results[Direction::Read]);
    reads.map(|read| read.bytes.0 as f64 / read.runtime.seconds().max(1e-9)).sum()
}

fn shares(runs: &[RunRecord]) -> Vec<(String, f64)> {
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    // The line of a device with members adds up theirs.
    for disk in runs.iter().flat_map(|run| &run.disks).filter(|disk| disk.members.is_empty()) {
        let (before, after) = (disk.counters.before.read_bytes, disk.counters.after.read_bytes);
        *bytes.entry(&disk.name).or_default() += after.saturating_sub(before);
    }
    let all = bytes.values().sum::<u64>().max(1) as f64;
    bytes.into_iter().map(|(name, bytes)| (name.to_owned(), bytes as f64 / all)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SimulatedDisk;
    use record::{DiskCounters, DiskResult, DiskSample};

    /// A run of these readers in which each disk read so many bytes.
    fn run(readers: u64, disks: [u64; 2]) -> RunRecord {
        let step = step(&Target::new("/mnt/x", true), readers, Bytes(1 << 30), 0, 1);
        let mut run = SimulatedDisk::fast().run(&step);
        if readers == 2 {
            run.jobs.push(run.jobs[0].clone());
        }
        let read = |name: &str, read_bytes, members| DiskResult {
            name: name.into(),
            members,
            counters: DiskCounters {
                after: DiskSample { read_bytes, ..DiskSample::default() },
                ..DiskCounters::default()
            },
        };
        let members = vec!["sda".to_owned(), "sdb".to_owned()];
        run.disks = vec![
            read("md0", disks[0] + disks[1], members),
            read("sda", disks[0], Vec::new()),
            read("sdb", disks[1], Vec::new()),
        ];
        run
    }

    #[test]
    fn two_readers_read_halves_that_do_not_overlap() {
        let step = step(&Target::new("/mnt/x", true), 2, Bytes((1 << 30) + 4096), 1, 1);
        for expected in ["--numjobs=2", "--offset_increment=536870912", "--size=536870912"] {
            assert!(step.arguments.iter().any(|argument| argument == expected), "{step:?}");
        }
    }

    #[test]
    fn the_share_of_each_disk_is_of_what_disks_read_and_not_of_the_array() {
        let runs = vec![run(1, [100, 0]), run(2, [50, 50]), run(2, [50, 150])];
        let rows = conclude(&RecordSet { runs, ..RecordSet::default() });
        let share =
            |row: &ReadersRow| row.shares.iter().map(|(_, share)| *share).collect::<Vec<_>>();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].of_one, share(&rows[0])), (None, vec![1.0, 0.0]));
        assert!((rows[1].of_one.unwrap().value - 2.0).abs() < 1e-9, "{:?}", rows[1]);
        assert!((share(&rows[1])[0] - 1.0 / 3.0).abs() < 1e-9, "{:?}", rows[1]);
    }

    #[test]
    fn without_such_runs_there_is_nothing_to_say() {
        assert_eq!(conclude(&RecordSet::default()), []);
    }
}
