//! The knee of a device: the queue depth beyond which latency grows faster than throughput.
//!
//! It is the depth of greatest *power*, throughput over latency: L. Kleinrock, "Power and
//! deterministic rules of thumb for probabilistic problems in computer communications", Proc. ICC
//! 1979; the measure is from A. Giessler and others, "Free buffer allocation – an investigation by
//! simulation", Computer Networks 2 (1978). At the maximum of X/R the relative growths of X and R
//! are equal, so the knee is where latency starts to grow faster. For a device that serves `n` I/Os in
//! parallel in constant time, the knee is exactly `n`.

use crate::order::Draw;
use crate::outcome::summarize_run;
use crate::target::{EndCondition, JobSpec, Target};
use crate::{Step, Suite};
use record::{Bytes, Cell, Direction, Nanos, RunRecord};

/// The depths measured. Each is twice the one before, which is precise enough: a knee is not sharp.
pub const DEPTHS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

/// Powers within this share of the greatest count as equal, since short runs vary by some percent. The
/// deepest of them is the knee, since it has the most throughput.
const ALIKE: f64 = 0.9;

/// The figures at one depth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// I/Os in flight.
    pub depth: u32,
    /// I/Os a second.
    pub iops: f64,
    /// Mean latency, in nanoseconds.
    pub latency_ns: f64,
}

impl Point {
    /// Throughput over latency. Only ratios of powers are meaningful.
    fn power(&self) -> f64 {
        if self.latency_ns > 0.0 { self.iops / self.latency_ns } else { 0.0 }
    }
}

/// A knee, and its curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Knee {
    /// The point of the knee.
    pub at: Point,
    /// The point of most IOPS.
    pub most: Point,
    /// All points, by depth.
    pub curve: Vec<Point>,
}

/// The knee of a curve; `None` without points.
pub fn knee(points: &[Point]) -> Option<Knee> {
    let mut curve: Vec<Point> = points.iter().filter(|p| p.power() > 0.0).copied().collect();
    curve.sort_by_key(|point| point.depth);
    let greatest = curve.iter().map(Point::power).fold(0.0, f64::max);
    let at = *curve.iter().rfind(|point| point.power() >= greatest * ALIKE)?;
    let most = *curve.iter().max_by(|a, b| a.iops.total_cmp(&b.iops))?;
    Some(Knee { at, most, curve })
}

/// The random I/O of a sweep over depths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthSweep {
    /// Reads or writes.
    pub direction: Direction,
    /// Size of an I/O.
    pub block: Bytes,
    /// Size of the region it accesses, from the start of the target.
    pub region: Bytes,
    /// Time before each measured window.
    pub ramp: Nanos,
    /// Length of the window at each depth.
    pub time: Nanos,
    /// Seed of the offsets.
    pub seed: u64,
}

impl DepthSweep {
    /// The cell of the run at a depth.
    pub fn cell(direction: Direction, depth: u32) -> String {
        format!("sweep-{}-{depth}", random_rw(direction))
    }

    /// The knee of the runs of a sweep. Other runs are ignored.
    pub fn knee<'a>(
        direction: Direction,
        runs: impl Iterator<Item = &'a RunRecord>,
    ) -> Option<Knee> {
        let prefix = format!("sweep-{}-", random_rw(direction));
        let point = |run: &'a RunRecord| {
            let depth = run.cell.as_ref()?.name.strip_prefix(&prefix)?.parse().ok()?;
            let outcome = summarize_run(run, direction)?;
            Some(Point { depth, iops: outcome.iops, latency_ns: outcome.latency_mean_ns })
        };
        knee(&runs.filter_map(point).collect::<Vec<_>>())
    }

    fn step(&self, target: &Target, depth: u32) -> Step {
        let name = DepthSweep::cell(self.direction, depth);
        target.step(&JobSpec {
            cell: Cell { name, round: 0, ..Cell::default() },
            description: format!(
                "looking for the knee: {}, depth {depth}",
                random_rw(self.direction)
            ),
            rw: random_rw(self.direction),
            block: self.block,
            region: self.region,
            depth,
            synchronous: false,
            seed: Draw::new(self.seed ^ u64::from(depth)).bits(),
            more: Vec::new(),
            until: EndCondition::Time { ramp: self.ramp, time: self.time },
        })
    }
}

/// The value of `rw` for random I/O.
fn random_rw(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "randread",
        Direction::Write | Direction::Trim => "randwrite",
    }
}

/// The search for a knee: a sweep over [`DEPTHS`].
pub struct KneeSearch {
    target: Target,
    sweep: DepthSweep,
    done: usize,
    runs: Vec<Point>,
    spent: Nanos,
}

impl KneeSearch {
    /// Starts at the first depth.
    pub fn new(target: Target, sweep: DepthSweep) -> KneeSearch {
        KneeSearch { target, sweep, done: 0, runs: Vec::new(), spent: Nanos::default() }
    }

    /// The knee of the runs so far.
    pub fn knee(&self) -> Option<Knee> {
        knee(&self.runs)
    }
}

impl Suite for KneeSearch {
    fn next(&mut self) -> Option<Step> {
        Some(self.sweep.step(&self.target, *DEPTHS.get(self.done)?))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        let Some(depth) = DEPTHS.get(self.done) else { return Vec::new() };
        self.done += 1;
        self.spent += crate::outcome::run_duration(record);
        let point = summarize_run(record, self.sweep.direction).map(|outcome| Point {
            depth: *depth,
            iops: outcome.iops,
            latency_ns: outcome.latency_mean_ns,
        });
        self.runs.extend(point);
        Vec::new()
    }

    fn expected(&self) -> crate::Expected {
        let left = DEPTHS.iter().skip(self.done);
        let left = left.map(|depth| self.sweep.step(&self.target, *depth).duration.0).sum();
        crate::Expected::new(self.spent, Nanos(left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::SimulatedDisk;
    use proptest::prelude::*;

    fn curve(width: f64, service_ns: f64) -> Vec<Point> {
        let point = |depth: u32| {
            let busy = f64::from(depth).min(width);
            let iops = busy / service_ns * 1e9;
            Point { depth, iops, latency_ns: f64::from(depth) / iops * 1e9 }
        };
        DEPTHS.into_iter().map(point).collect()
    }

    #[test]
    fn the_knee_is_the_number_of_ios_served_in_parallel() {
        for (width, expected) in [(1.0, 1), (2.0, 2), (8.0, 8), (64.0, 64), (500.0, 128)] {
            let found = knee(&curve(width, 80_000.0)).unwrap();
            assert_eq!(found.at.depth, expected);
        }
        let found = knee(&curve(8.0, 80_000.0)).unwrap();
        assert_eq!((found.most.iops, found.curve.len()), (1e5, 8));
    }

    #[test]
    fn an_empty_curve_has_no_knee() {
        assert_eq!(knee(&[]), None);
        assert_eq!(knee(&[Point { depth: 1, iops: 0.0, latency_ns: 0.0 }]), None);
        let one = Point { depth: 4, iops: 10.0, latency_ns: 5.0 };
        assert_eq!(knee(&[one, Point { depth: 8, ..Point::default() }]).unwrap().at, one);
    }

    #[test]
    fn a_sweep_goes_through_all_depths_and_keeps_its_time() {
        let sweep = DepthSweep {
            direction: Direction::Read,
            block: Bytes(4096),
            region: Bytes(1 << 30),
            ramp: Nanos::from_millis(100),
            time: Nanos::from_millis(400),
            seed: 1,
        };
        let disk = SimulatedDisk { width: 8.0, ..SimulatedDisk::fast() };
        let mut sweeping = KneeSearch::new(Target::new("x", true), sweep);
        let whole = sweeping.expected().whole;
        let mut runs = Vec::new();
        while let Some(step) = sweeping.next() {
            let record = disk.run(&step);
            assert!(sweeping.completed(&record).is_empty());
            runs.push(record);
        }
        assert_eq!(sweeping.expected().left, Nanos(0));
        assert_eq!(whole, Nanos::from_millis(8 * 650));
        assert_eq!(sweeping.knee().unwrap().at.depth, 8);
        let again = DepthSweep::knee(Direction::Read, runs.iter()).unwrap();
        assert_eq!(Some(again), sweeping.knee());
        assert_eq!(DepthSweep::knee(Direction::Write, runs.iter()), None);
    }

    #[test]
    fn the_knee_is_the_deepest_of_equal_powers() {
        // A virtual disk, as measured: IOPS grow as the root of the depth up to 8.
        let seen = [23.9, 33.8, 47.4, 69.6, 77.5, 74.1, 91.4, 97.1];
        let point = |(depth, thousands): (u32, f64)| Point {
            depth,
            iops: thousands * 1e3,
            latency_ns: f64::from(depth) * 1e6 / thousands,
        };
        let points: Vec<Point> = DEPTHS.into_iter().zip(seen).map(point).collect();
        assert_eq!(knee(&points).unwrap().at.depth, 8);
    }

    proptest! {
        #[test]
        fn a_knee_is_found_through_noise(
            width in prop::sample::select(vec![1_u32, 4, 16, 64]),
            noise in prop::collection::vec(0.97_f64..1.03, 8),
        ) {
            let mut points = curve(f64::from(width), 100_000.0);
            for (point, noise) in points.iter_mut().zip(noise) {
                point.iops *= noise;
                point.latency_ns /= noise;
            }
            prop_assert_eq!(knee(&points).unwrap().at.depth, width);
        }
    }
}
