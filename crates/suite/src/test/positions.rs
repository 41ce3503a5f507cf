//! Speed by position: a disk that spins is fastest at its outer tracks, where it begins, and disks of
//! any kind may differ from place to place. Disks are only read.

use crate::estimate::{Estimated, iops_estimate, ratio};
use crate::outcome::{subset, went_well};
use crate::target::{EndCondition, JobSpec, LARGE};
use crate::{Step, Target};
use record::{Bytes, Cell, Coordinate, Direction, Nanos, RecordSet};

const RAMP: Nanos = Nanos::from_millis(500);
const TIME: Nanos = Nanos::from_millis(5_000);
/// A region that a disk's cache could hold shows the cache.
const REGION_MIN: u64 = 1 << 30;
const REGION_MAX: u64 = 64 << 30;
/// Dimensions of the coordinates of a cell.
const DISK: &str = "disk";
const POSITION: &str = "position";

/// A disk below the file of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disk {
    /// Its kernel name.
    pub name: String,
    /// Its size.
    pub size: Bytes,
}

impl Disk {
    /// The path of its device.
    pub fn path(&self) -> String {
        format!("/dev/{}", self.name)
    }
}

/// A place on a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    Start,
    Middle,
    End,
}

impl Position {
    const ALL: [Position; 3] = [Position::Start, Position::Middle, Position::End];

    fn name(self) -> &'static str {
        match self {
            Position::Start => "start",
            Position::Middle => "middle",
            Position::End => "end",
        }
    }
}

/// The region of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    disk: String,
    position: Position,
    start: u64,
    length: u64,
}

impl Region {
    /// The regions of a disk, which do not overlap; none of a disk that is too small for that.
    pub(super) fn all(disk: &Disk) -> Vec<Region> {
        let whole = |bytes: u64| bytes / LARGE.0 * LARGE.0;
        let size = disk.size.0;
        let length = whole((size / 20).clamp(REGION_MIN, REGION_MAX).min(size / 3));
        let region = |position| Region {
            disk: disk.name.clone(),
            position,
            start: match position {
                Position::Start => 0,
                Position::Middle => whole((size - length) / 2),
                Position::End => whole(size - length),
            },
            length,
        };
        let all = Position::ALL.into_iter().filter(|_| length > 0);
        all.map(region).collect()
    }

    pub(super) fn step(&self, file: &Target, round: u32, seed: u64) -> Step {
        let Region { disk, position, start, length } = self;
        let target = Target { path: format!("/dev/{disk}"), direct: true, engine: file.engine };
        let at = |dimension: &str, value: &str| Coordinate {
            dimension: dimension.into(),
            value: value.into(),
        };
        let name = format!("{disk}-{}", position.name());
        let mut step = target.step(&JobSpec {
            cell: Cell { name, round, at: vec![at(DISK, disk), at(POSITION, position.name())] },
            description: format!("sequential read 1 MiB at the {} of {disk}", position.name()),
            rw: "read",
            block: LARGE,
            region: Bytes(*length),
            depth: 8,
            synchronous: false,
            seed,
            more: Vec::new(),
            until: EndCondition::Time { ramp: RAMP, time: TIME },
        });
        step.arguments.push(format!("--offset={start}"));
        step
    }
}

/// The speed of a disk at one position.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PositionRow {
    /// Kernel name of the disk.
    pub disk: String,
    /// "start", "middle", "end".
    pub position: String,
    /// Where its region begins.
    pub start: Bytes,
    /// Bytes a second.
    pub bytes_per_second: Estimated,
    /// As a share of the speed at the start.
    pub share: Option<Estimated>,
    /// Whether the disk spins, where the kernel tells.
    pub rotational: Option<bool>,
}

/// The speed at each position, in the order of disks and positions.
pub(super) fn conclude(set: &RecordSet) -> Vec<PositionRow> {
    let runs = subset(set, |run| went_well(run) && coordinate(run, POSITION).is_some()).runs;
    let mut disks: Vec<&str> = runs.iter().filter_map(|run| coordinate(run, DISK)).collect();
    disks.sort_unstable();
    disks.dedup();
    let speeds = |disk: &str, position: Position| -> Vec<f64> {
        let at = [(DISK, disk), (POSITION, position.name())];
        let is_there = |run: &&record::RunRecord| {
            at.iter().all(|(dimension, value)| coordinate(run, dimension) == Some(*value))
        };
        let jobs = runs.iter().filter(is_there).filter_map(|run| run.jobs.first());
        let read = jobs.map(|job| &job.results[Direction::Read]);
        read.map(|read| read.bytes.0 as f64 / read.runtime.seconds().max(1e-9)).collect()
    };
    let row = |disk: &str, position: Position| {
        let speed = speeds(disk, position);
        let run =
            runs.iter().find(|run| run.cell_name() == format!("{disk}-{}", position.name()))?;
        let work = &run.jobs.first()?.workload;
        let share = match position {
            Position::Start => None,
            _ => ratio(&speed, &speeds(disk, Position::Start), set.seed),
        };
        Some(PositionRow {
            disk: disk.into(),
            position: position.name().into(),
            start: work.regions.first().map(|region| region.start).unwrap_or_default(),
            bytes_per_second: iops_estimate(&speed, &[], set.seed),
            share,
            rotational: run.facts.devices.get(disk).and_then(|device| device.rotational),
        })
    };
    let rows = disks.iter().flat_map(|disk| Position::ALL.map(|position| row(disk, position)));
    rows.flatten().collect()
}

/// The value of a dimension of a run's cell.
pub(super) fn coordinate<'a>(run: &'a record::RunRecord, dimension: &str) -> Option<&'a str> {
    let at = &run.cell.as_ref()?.at;
    at.iter().find(|one| one.dimension == dimension).map(|one| one.value.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Suite;
    use crate::test::{Length, Setting, Test};
    use crate::testing::SimulatedDisk;

    #[test]
    fn regions_are_apart_and_end_where_the_disk_ends() {
        let of = |size: u64| Region::all(&Disk { name: "sda".into(), size: Bytes(size) });
        for size in [4 << 20, 1 << 30, 100 << 30, 4_000_787_030_016] {
            let regions = of(size);
            assert_eq!(regions.len(), 3);
            let ends: Vec<u64> =
                regions.iter().map(|region| region.start + region.length).collect();
            assert!(regions[0].start == 0 && ends[0] <= regions[1].start);
            assert!(ends[1] <= regions[2].start && ends[2] <= size && size - ends[2] < 1 << 20);
        }
        assert_eq!(of(4_000_787_030_016)[0].length, 64 << 30);
        assert_eq!(of(1 << 20), [], "too small");
    }

    #[test]
    fn each_disk_is_read_at_three_positions_after_the_rounds() {
        let disks = vec![Disk { name: "sda".into(), size: Bytes(500 << 30) }];
        let target = Target::new("/mnt/x", true);
        let size = Bytes(1 << 30);
        let length = Length::Quick;
        let mut test =
            Test::new(Setting { target, size, length, seed: 1, disks, is_on_several_disks: false });
        let expected = test.expected().whole;
        let mut set = RecordSet { kind: "test".into(), ..RecordSet::default() };
        let mut disk = SimulatedDisk::fast();
        let mut took = 0.0;
        while let Some(step) = test.next() {
            let at_end = step.cell.name == "sda-end";
            disk.bandwidth = if at_end { 250e6 } else { 500e6 };
            if step.cell.name.starts_with("sda-") {
                assert!(step.arguments.contains(&"--filename=/dev/sda".to_owned()));
                assert!(step.arguments.contains(&"--rw=read".to_owned()), "disks are only read");
            }
            let mut run = disk.run(&step);
            run.jobs[0].name.clone_from(&step.cell.name);
            test.completed(&run);
            took += step.duration.seconds();
            set.runs.push(run);
        }
        assert!((expected.seconds() / took - 1.0).abs() < 0.3, "{expected:?} {took}");
        let rows = crate::test::conclude(&set).positions;
        let positions: Vec<&str> = rows.iter().map(|row| row.position.as_str()).collect();
        assert_eq!(positions, ["start", "middle", "end"]);
        let speed = rows[0].bytes_per_second;
        assert!((speed.value / 500e6 - 1.0).abs() < 0.02, "{speed:?}");
        assert_eq!(rows[0].share, None);
        assert!((rows[2].share.unwrap().value - 0.5).abs() < 0.01, "{:?}", rows[2]);
        assert_eq!(set.runs.iter().filter(|run| run.cell_name() == "sda-middle").count(), 3);
    }

    #[test]
    fn a_position_that_failed_leaves_the_others() {
        let run = |position: &str, mut run: record::RunRecord| {
            let at = |dimension: &str, value: &str| Coordinate {
                dimension: dimension.into(),
                value: value.into(),
            };
            let name = format!("sda-{position}");
            run.cell =
                Some(Cell { name, round: 0, at: vec![at(DISK, "sda"), at(POSITION, position)] });
            run
        };
        let step = crate::testing::step("read", 1 << 20, 8, 1000);
        let runs = vec![
            run("start", crate::testing::failed("sda-start", "read", 5)),
            run("end", SimulatedDisk::fast().run(&step)),
        ];
        let rows = conclude(&RecordSet { runs, ..RecordSet::default() });
        assert_eq!(rows.len(), 1);
        assert_eq!((rows[0].position.as_str(), rows[0].share), ("end", None));
    }
}
