//! The cells of a test, with their jobs and depths.

use crate::knee::Knee;
use crate::order::Draw;
use crate::target::{EndCondition, JobSpec, LARGE, SMALL};
use crate::{Step, Target};
use record::{Bytes, Cell, Direction, Nanos};

/// One cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Load {
    /// Its name in records.
    pub name: &'static str,
    /// Its description.
    pub description: &'static str,
    /// I/Os in flight.
    pub depth: u32,
    rw: &'static str,
    block: Bytes,
    synchronous: bool,
    more: &'static [&'static str],
}

const fn load(
    name: &'static str,
    description: &'static str,
    rw: &'static str,
    block: Bytes,
    depth: u32,
) -> Load {
    Load { name, description, depth, rw, block, synchronous: false, more: &[] }
}

impl Load {
    pub(super) fn step(
        &self,
        target: &Target,
        region: Bytes,
        round: u32,
        seed: u64,
        ramp: Nanos,
        time: Nanos,
    ) -> Step {
        // Each round has its own offsets: repeated ones would be in a cache.
        let name = self.name.bytes().fold(seed, |h, b| h.rotate_left(8) ^ u64::from(b));
        target.step(&JobSpec {
            cell: Cell { name: self.name.into(), round, ..Cell::default() },
            description: format!("{}, depth {}", self.description, self.depth),
            rw: self.rw,
            block: self.block,
            region,
            depth: self.depth,
            synchronous: self.synchronous,
            seed: Draw::new(name ^ (u64::from(round) << 32)).bits(),
            more: self.more.to_vec(),
            until: EndCondition::Time { ramp, time },
        })
    }
}

/// The cells of a test, at the depths of its knees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cells {
    reads: Option<u32>,
    writes: Option<u32>,
}

/// The depth if no knee was found because every run of its sweep failed.
const DEPTH_GUESSED: u32 = 16;

impl Cells {
    /// Whether the knee of random reads or writes is known.
    pub(super) fn found(&mut self, direction: Direction, knee: Option<&Knee>) {
        let depth = knee.map(|knee| knee.at.depth);
        match direction {
            Direction::Read => self.reads = depth,
            Direction::Write | Direction::Trim => self.writes = depth,
        }
    }

    /// All cells. If the knee is at depth 1, the cell at the knee is the one at depth 1.
    pub fn all(&self) -> Vec<Load> {
        let reads = self.reads.unwrap_or(DEPTH_GUESSED);
        let writes = self.writes.unwrap_or(reads);
        let mut all = vec![
            load("seqread", "sequential read 1 MiB", "read", LARGE, 8),
            load("seqwrite", "sequential write 1 MiB", "write", LARGE, 8),
            load("randread-d1", "random read 4 KiB", "randread", SMALL, 1),
            load("randread-knee", "random read 4 KiB", "randread", SMALL, reads),
            load("randwrite-d1", "random write 4 KiB", "randwrite", SMALL, 1),
            load("randwrite-knee", "random write 4 KiB", "randwrite", SMALL, writes),
            Load {
                more: &["--rwmixread=70"],
                ..load("mix-knee", "70/30 mix 4 KiB", "randrw", SMALL, reads)
            },
            Load {
                synchronous: true,
                more: &["--fsync=1"],
                ..load("syncwrite", "write 4 KiB and fsync", "randwrite", SMALL, 1)
            },
        ];
        all.retain(|load| {
            let twice = load.name.ends_with("-knee") && load.depth == 1;
            !twice || load.name == "mix-knee"
        });
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knee::{Point, knee};

    #[test]
    fn cells_are_eight_or_fewer_where_the_knee_is_depth_one() {
        let at = |depth| knee(&[Point { depth, iops: 10.0, latency_ns: 1.0 }]);
        let mut cells = Cells::default();
        assert_eq!(cells.all().len(), 8);
        cells.found(Direction::Read, at(8).as_ref());
        let depths: Vec<u32> = cells.all().iter().map(|load| load.depth).collect();
        assert_eq!(depths, [8, 8, 1, 8, 1, 8, 8, 1], "reads stand for writes");
        cells.found(Direction::Write, at(1).as_ref());
        let names: Vec<&str> = cells.all().iter().map(|load| load.name).collect();
        assert!(names.contains(&"randread-knee") && !names.contains(&"randwrite-knee"));
        cells.found(Direction::Read, at(1).as_ref());
        assert!(cells.all().iter().any(|load| load.name == "mix-knee" && load.depth == 1));
    }

    #[test]
    fn no_two_runs_share_their_offsets() {
        let target = Target::new("x", true);
        let (ramp, time) = (Nanos::SECOND, Nanos::SECOND);
        let mut seeds = std::collections::BTreeSet::new();
        for round in 0..5 {
            for load in Cells::default().all() {
                let step = load.step(&target, Bytes(1 << 30), round, 1, ramp, time);
                seeds.extend(step.arguments.iter().find(|a| a.starts_with("--randseed=")).cloned());
            }
        }
        assert_eq!(seeds.len(), 40);
    }
}
