//! Random choices per I/O: whether a flag is set, and which priority it has.

use crate::hot::op::OpKind;
use crate::sys::thread::io_priority_value;
use plan::{EngineOptions, PriorityShare};
use record::SplitMix64;

/// Random booleans with a given share of `true`. Every run draws the same sequence.
#[derive(Clone, Debug)]
pub struct Percentage {
    percent: u8,
    random: SplitMix64,
}

impl Percentage {
    /// True for `percent` of the draws.
    pub fn new(percent: u8) -> Percentage {
        Percentage { percent: percent.min(100), random: SplitMix64::new(0) }
    }

    /// The next draw.
    #[inline(always)]
    pub fn draw(&mut self) -> bool {
        match self.percent {
            0 => false,
            100 => true,
            percent => self.random.below(100) < u64::from(percent),
        }
    }
}

/// Priorities of single I/Os (the `cmdprio` options). The same options give the same sequence.
#[derive(Clone, Debug)]
pub struct IoPriorities {
    default: u16,
    /// For reads and for writes.
    directions: [PriorityShares; 2],
}

/// The priorities of one direction.
#[derive(Clone, Debug)]
struct PriorityShares {
    random: SplitMix64,
    shares: Vec<Share>,
}

/// `percent` of the I/Os of size `size` (`None`: of all I/Os) have this priority.
#[derive(Clone, Copy, Debug)]
struct Share {
    size: Option<u64>,
    percent: u8,
    priority: u16,
}

/// Default of `cmdprio_class`.
const CLASS_REALTIME: u8 = 1;

impl IoPriorities {
    /// I/Os to which `options` give no priority have the priority `default` (0: that of the thread).
    pub fn new(options: &EngineOptions, default: u16) -> IoPriorities {
        let classes = options.cmdprio_class.unwrap_or((CLASS_REALTIME, CLASS_REALTIME));
        let levels = options.cmdprio.unwrap_or((0, 0));
        let hints = options.cmdprio_hint.unwrap_or((0, 0));
        let (reads, writes) = options.cmdprio_percentage.unwrap_or((0, 0));
        let shares = |percent: u8, split: &[PriorityShare], value: (u8, u8, u16)| {
            let any_size = Share { size: None, percent, priority: priority(value) };
            let by_size = split.iter().map(|share| Share {
                size: Some(share.size),
                percent: share.percent,
                priority: priority(share.priority.unwrap_or(value)),
            });
            let shares = std::iter::once(any_size).chain(by_size).filter(|s| s.percent > 0);
            PriorityShares { random: SplitMix64::new(0), shares: shares.collect() }
        };
        let [read_split, write_split] = &options.cmdprio_split;
        IoPriorities {
            default,
            directions: [
                shares(reads, read_split, (classes.0, levels.0, hints.0)),
                shares(writes, write_split, (classes.1, levels.1, hints.1)),
            ],
        }
    }

    /// Whether every I/O has the priority of its thread.
    pub fn is_none(&self) -> bool {
        self.default == 0 && !self.differ()
    }

    /// Whether I/Os differ in priority.
    pub fn differ(&self) -> bool {
        self.directions.iter().any(|direction| !direction.shares.is_empty())
    }

    /// The priority of the next I/O, of this kind and length; 0: that of the thread.
    #[inline(always)]
    pub fn next(&mut self, kind: OpKind, length: u64) -> u16 {
        let direction = match kind {
            OpKind::Read => &mut self.directions[0],
            OpKind::Write => &mut self.directions[1],
            _ => return self.default,
        };
        if direction.shares.is_empty() {
            return self.default;
        }
        let mut left = direction.random.below(100);
        for share in direction.shares.iter().filter(|s| s.size.is_none_or(|size| size == length)) {
            match left.checked_sub(u64::from(share.percent)) {
                Some(rest) => left = rest,
                None => return share.priority,
            }
        }
        self.default
    }
}

fn priority((class, level, hint): (u8, u8, u16)) -> u16 {
    io_priority_value(class, level, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_as_requested() {
        for percent in [0, 1, 30, 99, 100, 255] {
            let mut chance = Percentage::new(percent);
            let hits = (0..100_000).filter(|_| chance.draw()).count() as f64 / 1000.0;
            let expected = f64::from(percent.min(100));
            assert!((hits - expected).abs() < 0.5, "{percent}: {hits}");
        }
    }

    #[test]
    fn priorities_follow_direction_class_and_level() {
        let mut none = IoPriorities::new(&EngineOptions::default(), 0);
        assert!(none.is_none());
        assert_eq!(none.next(OpKind::Read, 1), 0);
        let options = EngineOptions {
            cmdprio_percentage: Some((100, 0)),
            cmdprio_class: Some((2, 2)),
            cmdprio: Some((3, 4)),
            ..EngineOptions::default()
        };
        let mut some = IoPriorities::new(&options, 7);
        assert!(!some.is_none());
        assert_eq!(some.next(OpKind::Read, 1), 2 << 13 | 3);
        assert_eq!(some.next(OpKind::Write, 1), 7);
        assert_eq!(some.next(OpKind::Fsync, 1), 7);
    }

    #[test]
    fn priorities_by_size_keep_their_shares() {
        let share = |size, percent, priority| PriorityShare { size, percent, priority };
        let split = vec![share(4096, 25, Some((1, 1, 0))), share(4096, 75, Some((3, 2, 0)))];
        let options = EngineOptions {
            cmdprio_split: [split, vec![share(512, 40, None)]],
            ..EngineOptions::default()
        };
        let mut priorities = IoPriorities::new(&options, 0);
        let mut count = |kind, length, wanted| {
            (0..10_000).filter(|_| priorities.next(kind, length) == wanted).count()
        };
        assert!((2_300..2_700).contains(&count(OpKind::Read, 4096, 1 << 13 | 1)));
        assert!((7_300..7_700).contains(&count(OpKind::Read, 4096, 3 << 13 | 2)));
        assert_eq!(count(OpKind::Read, 8192, 0), 10_000);
        assert!((3_700..4_300).contains(&count(OpKind::Write, 512, 1 << 13)));
    }
}
