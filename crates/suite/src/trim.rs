//! `fathom trim`: writes before and after a trim, and devices discarded as a job.

use crate::order::Draw;
use crate::outcome::{bytes_moved, failures, interrupted_by, run_duration, subset, went_well};
use crate::target::{EndCondition, JobSpec, LARGE};
use crate::{Expected, Failure, Step, Suite, Target, failure};
use judge::compare::{Comparison, Options, compare};
use record::{Bytes, Cell, Coordinate, Direction, Nanos, RecordSet, RunRecord};
use std::collections::VecDeque;

/// The coordinate of a run: before or after the trim.
const DIMENSION: &str = "trim";
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// The writes: name, block, depth. Both keep a disk busy, one with whole erase blocks, one with the
/// smallest blocks.
const LOADS: [(&str, &str, Bytes, u32); 2] =
    [("seqwrite", "write", LARGE, 8), ("randwrite", "randwrite", Bytes(4096), 32)];

/// The setting of the writes before and after a trim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The file or device.
    pub target: Target,
    /// Size of the region, from its start.
    pub region: Bytes,
    /// Number of runs of each kind, before and after.
    pub repeat: u32,
    /// Length of a window.
    pub time: Nanos,
    /// Seed of the order and of the offsets.
    pub seed: u64,
}

/// The running suite of writes before or after the trim.
pub struct Writes {
    setting: Setting,
    is_after: bool,
    is_filled: bool,
    left: VecDeque<(usize, u32)>,
    spent: Nanos,
}

impl Writes {
    /// The writes before the trim, after the region was written once from end to end.
    pub fn before(setting: Setting) -> Writes {
        Writes::side(setting, false)
    }

    /// The same writes after the trim.
    pub fn after(self) -> Writes {
        Writes::side(self.setting, true)
    }

    fn side(setting: Setting, is_after: bool) -> Writes {
        // Another order than before the trim, from the same seed.
        let mut draw = Draw::new(setting.seed ^ u64::from(is_after));
        let mut left = VecDeque::new();
        for round in 0..setting.repeat {
            let mut order: Vec<usize> = (0..LOADS.len()).collect();
            draw.shuffle(&mut order);
            left.extend(order.into_iter().map(|load| (load, round)));
        }
        Writes { setting, is_after, is_filled: is_after, left, spent: Nanos::default() }
    }

    fn fill(&self) -> Step {
        let Setting { target, region, seed, .. } = &self.setting;
        target.fill("writing the whole target once", *region, *seed, None)
    }

    fn step(&self, load: usize, round: u32) -> Step {
        let (name, rw, block, depth) = LOADS[load];
        let side = if self.is_after { AFTER } else { BEFORE };
        let at = vec![Coordinate { dimension: DIMENSION.into(), value: side.into() }];
        self.setting.target.step(&JobSpec {
            cell: Cell { name: name.into(), round, at },
            description: format!(
                "{name} {side} the trim, {} of {}",
                round + 1,
                self.setting.repeat
            ),
            rw,
            block,
            region: self.setting.region,
            depth,
            synchronous: false,
            seed: Draw::new(self.setting.seed ^ (load as u64) << 32 ^ u64::from(round)).bits(),
            more: vec!["--refill_buffers=1"],
            until: EndCondition::Time {
                ramp: Nanos(self.setting.time.0 / 5),
                time: self.setting.time,
            },
        })
    }
}

impl Suite for Writes {
    fn next(&mut self) -> Option<Step> {
        if !self.is_filled {
            return Some(self.fill());
        }
        let (load, round) = self.left.front()?;
        Some(self.step(*load, *round))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        if !self.is_filled {
            if let Some(given_up) = self.setting.target.step_down(record) {
                return vec![given_up];
            }
            self.is_filled = true;
        } else {
            self.left.pop_front();
        }
        if record.interrupted_by.is_some() || failure(record).is_some() {
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        let fill = if self.is_filled { Nanos::default() } else { self.fill().duration };
        let left = self.left.iter().map(|(load, round)| self.step(*load, *round).duration.0).sum();
        Expected::new(self.spent, fill + Nanos(left))
    }
}

/// The region to discard, as jobs that trim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Its start.
    pub offset: Bytes,
    /// Its length, in whole units of the device.
    pub length: Bytes,
    /// Length of one discard, in whole units.
    pub piece: Bytes,
}

/// Maximum length of one discard: long enough that calls cost nothing, and short enough for a quick
/// response to signals.
pub const PIECE_MAX: Bytes = Bytes(1 << 30);

/// The running suite that discards a device.
pub struct Discard {
    target: Target,
    left: VecDeque<Range>,
    spent: Nanos,
}

impl Discard {
    /// Starts at the start of the range; an incomplete piece comes last.
    pub fn new(target: Target, range: Range) -> Discard {
        let rest = range.length.0 % range.piece.0.max(1);
        let whole = range.length.0 - rest;
        let parts = [
            Range { length: Bytes(whole), ..range },
            Range {
                offset: Bytes(range.offset.0 + whole),
                length: Bytes(rest),
                piece: Bytes(rest),
            },
        ];
        let left = parts.into_iter().filter(|part| part.length.0 > 0).collect();
        Discard { target, left, spent: Nanos::default() }
    }

    fn step(&self, range: &Range) -> Step {
        let mut step = self.target.step(&JobSpec {
            cell: Cell { name: "discard".into(), ..Cell::default() },
            description: format!("discarding {} MiB", range.length.0 >> 20),
            rw: "trim",
            block: range.piece,
            region: range.length,
            depth: 1,
            synchronous: true,
            seed: 0,
            more: Vec::new(),
            until: EndCondition::Written { limit: None, expected: Nanos::SECOND },
        });
        step.arguments.push(format!("--offset={}", range.offset.0));
        step
    }
}

impl Suite for Discard {
    fn next(&mut self) -> Option<Step> {
        self.left.front().map(|range| self.step(range))
    }

    fn completed(&mut self, record: &RunRecord) -> Vec<String> {
        self.spent += run_duration(record);
        self.left.pop_front();
        if record.interrupted_by.is_some() || failure(record).is_some() {
            self.left.clear();
        }
        Vec::new()
    }

    fn expected(&self) -> Expected {
        Expected::new(self.spent, Nanos(self.left.iter().map(|r| self.step(r).duration.0).sum()))
    }
}

/// The results of a trim.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conclusion {
    /// Bytes that jobs discarded.
    pub discarded: Bytes,
    /// Time their discards took.
    pub took: Nanos,
    /// The comparison of the writes after the trim (the later ones) with those before; `None`
    /// without both.
    pub comparison: Option<Comparison>,
    /// Runs that failed.
    pub failures: Vec<Failure>,
    /// The signal that ended it.
    pub interrupted_by: Option<i32>,
}

/// The conclusion from the records.
pub fn conclude(set: &RecordSet) -> Conclusion {
    let discards = || set.runs.iter().filter(|run| bytes_moved(run, Direction::Trim) > 0);
    let times = discards().flat_map(|run| &run.jobs).map(|job| job.results.trim.runtime.0);
    Conclusion {
        discarded: Bytes(discards().map(|run| bytes_moved(run, Direction::Trim)).sum()),
        took: Nanos(times.sum()),
        comparison: comparison(set),
        failures: failures(set),
        interrupted_by: interrupted_by(set),
    }
}

/// Only IOPS and p99, as each further figure widens all intervals.
fn comparison(set: &RecordSet) -> Option<Comparison> {
    let (before, after) = (side(set, BEFORE), side(set, AFTER));
    if before.runs.is_empty() || after.runs.is_empty() {
        return None;
    }
    let metrics = vec!["iops".into(), "p99".into()];
    Some(compare(&before, &after, &Options { metrics, ..Options::default() }))
}

/// The successful, complete runs before or after the trim.
fn side(set: &RecordSet, side: &str) -> RecordSet {
    subset(set, |run| {
        let mut at = run.cell.iter().flat_map(|cell| &cell.at);
        went_well(run) && at.any(|at| at.dimension == DIMENSION && at.value == side)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, SimulatedDisk};

    fn setting() -> Setting {
        Setting {
            target: Target::new("/mnt/x", true),
            region: Bytes(64 << 20),
            repeat: 5,
            time: Nanos::from_millis(1000),
            seed: 3,
        }
    }

    #[test]
    fn both_sides_write_alike_and_are_told_apart() {
        let mut writes = Writes::before(setting());
        let whole = writes.expected().whole;
        let before = SimulatedDisk::fast().drive(&mut writes, 100);
        assert_eq!(before.names()[0], "fill");
        assert_eq!((before.steps.len(), writes.expected().left), (11, Nanos(0)));
        assert!(whole > Nanos::from_millis(10 * 1200));
        let mut writes = writes.after();
        let fast = SimulatedDisk { write_ns: 125_000.0, ..SimulatedDisk::fast() };
        let after = { fast }.drive(&mut writes, 100);
        assert_eq!(after.steps.len(), 10, "what is written is written");
        let runs = [before.records, after.records].concat();
        let set = RecordSet { runs, ..RecordSet::default() };
        let conclusion = conclude(&set);
        let jobs = conclusion.comparison.unwrap().jobs;
        let job = |name: &str| jobs.iter().find(|job| job.name == name).unwrap();
        let iops = |name: &str| job(name).directions[0].metrics[0].clone();
        assert_eq!(job("randwrite").rounds, (5, 5));
        assert_eq!(iops("randwrite").change, judge::compare::Change::Faster);
        assert!((iops("randwrite").ratio.unwrap().value - 2.0).abs() < 0.05);
        assert_eq!(iops("seqwrite").change, judge::compare::Change::NoDifference);
    }

    #[test]
    fn one_side_alone_is_compared_with_nothing() {
        let before = SimulatedDisk::fast().drive(&mut Writes::before(setting()), 100);
        let set = RecordSet { runs: before.records, ..RecordSet::default() };
        assert_eq!(conclude(&set).comparison, None);
    }

    #[test]
    fn a_failure_or_a_signal_ends_it() {
        let mut writes = Writes::before(setting());
        writes.completed(&testing::failed("fill", "write", 28));
        assert!(writes.next().is_none());
        let mut writes = Writes::before(setting());
        assert!(writes.completed(&testing::failed("fill", "open", 22))[0].contains("O_DIRECT"));
        assert_eq!(writes.next().unwrap().cell.name, "fill");
    }

    #[test]
    fn a_device_is_discarded_in_whole_pieces_and_a_rest() {
        let range = Range { offset: Bytes(4096), length: Bytes(10 << 20), piece: Bytes(4 << 20) };
        let mut discard = Discard::new(Target::new("/dev/x", true), range);
        let mut options = Vec::new();
        while let Some(step) = discard.next() {
            let of = |name: &str| {
                let prefix = format!("--{name}=");
                let found = step.arguments.iter().find_map(|a| a.strip_prefix(&prefix));
                found.unwrap().parse::<u64>().unwrap()
            };
            options.push((of("offset"), of("size"), of("bs")));
            assert!(step.arguments.contains(&"--rw=trim".to_owned()));
            discard.completed(&SimulatedDisk::fast().run(&testing::step("write", 4096, 1, 10)));
        }
        assert_eq!(options, [(4096, 8 << 20, 4 << 20), (4096 + (8 << 20), 2 << 20, 2 << 20)]);
        let even = Range { length: Bytes(8 << 20), ..range };
        assert_eq!(Discard::new(Target::new("/dev/x", true), even).left.len(), 1);
    }
}
