//! `fathom knee`: throughput and latency at every depth, the knee on that curve, and the depth to use.
//!
//! Every depth is measured once per round, in a new random order, so that influences that change
//! with time do not affect one depth alone. Then the depths between the important ones (around the
//! knee, and where the latency crosses a bound) are measured as often, together with the depths
//! that they are compared with. [`crate::knee`] defines the knee and names its source.

mod access;
mod bound;
mod conclusion;
mod depth_run;
mod depths;
mod row;

pub use access::Access;
pub use bound::{Bound, Figure};
pub use conclusion::{BoundResult, ChoiceReason, Conclusion, DepthChoice, conclude};
pub use depths::{DEPTHS, depths};
pub use row::{PERCENTILES, Row};

use crate::order::Draw;
use crate::outcome::{bytes_moved, run_duration};
use crate::target::{EndCondition, JobSpec, LARGE};
use crate::{Expected, Step, Suite, Target, failure};
use depth_run::{DIMENSION, DepthRun};
use record::{Bytes, Cell, Coordinate, Direction, Nanos, RunRecord};
use row::{knee_of, rows};
use std::collections::VecDeque;

/// The setting of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The file or device.
    pub target: Target,
    /// Whether it is an existing, empty file that is filled first.
    pub is_filled_first: bool,
    /// The accesses.
    pub access: Access,
    /// Size of an access.
    pub block: Bytes,
    /// Size of the region, from the start of the target.
    pub region: Bytes,
    /// I/Os in flight of each thread, in rising order.
    pub depths: Vec<u32>,
    /// Whether important depths between these are measured too.
    pub is_refined: bool,
    /// Threads, each with its own I/Os in flight.
    pub threads: u32,
    /// Number of rounds.
    pub repeat: u32,
    /// Length of the window at each depth.
    pub time: Nanos,
    /// The bounds of the latency.
    pub bounds: Vec<Bound>,
    /// Seed of the order and of the offsets.
    pub seed: u64,
}

impl Setting {
    /// Time before each window.
    fn ramp(&self) -> Nanos {
        Nanos((self.time.0 / 5).clamp(50_000_000, 2_000_000_000))
    }

    /// Size of one thread's region. Sequential threads divide the region, because a thread that
    /// follows another would find its data in a cache.
    fn region_each(&self) -> Bytes {
        match self.access.is_sequential() {
            true => {
                let each = self.region.0 / u64::from(self.threads.max(1));
                Bytes((each / self.block.0.max(1) * self.block.0).max(self.block.0))
            }
            false => self.region,
        }
    }

    fn step(&self, depth: u32, round: u32) -> Step {
        let name = format!("{}-d{depth}", self.access.name());
        let at = vec![Coordinate { dimension: DIMENSION.into(), value: depth.to_string() }];
        let region = self.region_each();
        let mut step = self.target.step(&JobSpec {
            cell: Cell { name, round, at },
            description: format!("{}, depth {depth}", self.access.title()),
            rw: self.access.name(),
            block: self.block,
            region,
            depth,
            synchronous: false,
            seed: Draw::new(self.seed ^ u64::from(depth) ^ u64::from(round) << 32).bits(),
            more: Vec::new(),
            until: EndCondition::Time { ramp: self.ramp(), time: self.time },
        });
        if self.threads > 1 {
            step.arguments.push(format!("--numjobs={}", self.threads));
            step.arguments.extend(["--thread=1".into(), "--group_reporting=1".into()]);
            if self.access.is_sequential() {
                step.arguments.push(format!("--offset_increment={}", region.0));
            }
        }
        step
    }
}

/// The running suite.
pub struct Curve {
    setting: Setting,
    stage: Stage,
    measured: Vec<DepthRun>,
    spent: Nanos,
}

enum Stage {
    Filling,
    Depths { left: VecDeque<(u32, u32)>, is_fine: bool },
    Over,
}

impl Curve {
    /// Starts at the beginning.
    pub fn new(setting: Setting) -> Curve {
        let stage = if setting.is_filled_first { Stage::Filling } else { Curve::coarse(&setting) };
        Curve { setting, stage, measured: Vec::new(), spent: Nanos::default() }
    }

    fn fill(&self) -> Step {
        let Setting { target, region, seed, .. } = &self.setting;
        target.fill("filling the file", *region, *seed, None)
    }

    fn coarse(setting: &Setting) -> Stage {
        let left = rounds(&setting.depths, 0, setting.repeat, setting.seed);
        Stage::Depths { left, is_fine: false }
    }

    /// The depths between the important ones, together with those that they are compared with; none
    /// if the important ones are neighbours.
    fn fine(&self) -> Stage {
        let setting = &self.setting;
        let rows = rows(&self.measured, setting.seed);
        let all: Vec<u32> = rows.iter().map(|row| row.depth).collect();
        let knee = knee_of(&rows).map(|knee| knee.at.depth);
        let mut beside = Vec::new();
        beside.extend(knee.map(|knee| (knee, depths::around(&all, knee))));
        for bound in &setting.bounds {
            let within = bound.deepest(&rows);
            beside.extend(within.map(|deepest| (deepest, depths::above(&all, deepest))));
        }
        beside.retain(|(_, new)| !new.is_empty());
        let mut fine: Vec<u32> =
            beside.into_iter().flat_map(|(from, new)| [vec![from], new].concat()).collect();
        fine.sort_unstable();
        fine.dedup();
        if fine.is_empty() || !setting.is_refined {
            return Stage::Over;
        }
        let left = rounds(&fine, setting.repeat, setting.repeat, setting.seed);
        Stage::Depths { left, is_fine: true }
    }

    fn fill_completed(&mut self, record: &RunRecord) -> Vec<String> {
        if let Some(given_up) = self.setting.target.step_down(record) {
            return vec![given_up];
        }
        let written = bytes_moved(record, Direction::Write);
        let whole = failure(record).is_none() && written + LARGE.0 > self.setting.region.0;
        self.stage = if whole { Curve::coarse(&self.setting) } else { Stage::Over };
        Vec::new()
    }

    fn depth_completed(&mut self, record: &RunRecord) -> Vec<String> {
        if self.measured.is_empty()
            && let Some(given_up) = self.setting.target.step_down(record)
        {
            return vec![given_up];
        }
        if failure(record).is_some() {
            // A failure at one depth would repeat at the next.
            self.stage = Stage::Over;
            return Vec::new();
        }
        self.measured.extend(DepthRun::from_record(record));
        let Stage::Depths { left, is_fine } = &mut self.stage else { return Vec::new() };
        left.pop_front();
        if left.is_empty() {
            self.stage = if *is_fine { Stage::Over } else { self.fine() };
        }
        Vec::new()
    }

    /// Remaining time of the current stage and of those that will probably follow.
    fn left(&self) -> Nanos {
        let setting = &self.setting;
        let one = setting.step(1, 0).duration.0;
        // The knee with a depth on each side, and three more for each bound.
        let fine = if setting.is_refined { 3 + 3 * setting.bounds.len() as u64 } else { 0 };
        let fine = fine * u64::from(setting.repeat);
        let coarse = setting.depths.len() as u64 * u64::from(setting.repeat);
        match &self.stage {
            Stage::Filling => self.fill().duration + Nanos(one * (coarse + fine)),
            Stage::Depths { left, is_fine: false } => Nanos(one * (left.len() as u64 + fine)),
            Stage::Depths { left, is_fine: true } => Nanos(one * left.len() as u64),
            Stage::Over => Nanos::default(),
        }
    }
}

/// Every depth once per round, each round in its own order.
fn rounds(depths: &[u32], first: u32, count: u32, seed: u64) -> VecDeque<(u32, u32)> {
    let mut draw = Draw::new(seed ^ u64::from(first));
    let mut all = VecDeque::new();
    for round in first..first + count {
        let mut order = depths.to_vec();
        draw.shuffle(&mut order);
        all.extend(order.into_iter().map(|depth| (depth, round)));
    }
    all
}

impl Suite for Curve {
    fn next(&mut self) -> Option<Step> {
        match &self.stage {
            Stage::Filling => Some(self.fill()),
            Stage::Depths { left, .. } => {
                let (depth, round) = left.front()?;
                Some(self.setting.step(*depth, *round))
            }
            Stage::Over => None,
        }
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        if record.interrupted_by.is_some() {
            self.stage = Stage::Over;
            return Vec::new();
        }
        match self.stage {
            Stage::Filling => self.fill_completed(record),
            Stage::Depths { .. } => self.depth_completed(record),
            Stage::Over => Vec::new(),
        }
    }

    fn expected(&self) -> Expected {
        Expected::new(self.spent, self.left())
    }
}

#[cfg(test)]
mod tests;
