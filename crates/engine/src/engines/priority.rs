//! What happens to a share of the I/Os: a flag set, a priority raised.

use crate::hot::op::OpKind;
use crate::sys::thread::io_priority_value;
use plan::{EngineOptions, PriorityShare};
use record::SplitMix64;

/// A coin that falls on one side for so many per cent.
#[derive(Clone, Debug)]
pub struct Percentage {
    percent: u8,
    random: SplitMix64,
}

impl Percentage {
    /// True for `percent` of the draws, in an order that is the same in every run.
    pub fn of(percent: u8) -> Percentage {
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

/// Priorities of single I/Os (`cmdprio_percentage`, `cmdprio_bssplit` and what belongs to them). Two
/// made from the same options draw the same.
#[derive(Clone, Debug)]
pub struct IoPriorities {
    usual: u16,
    raised: [Raised; 2],
}

/// Which I/Os of a direction have a priority of their own.
#[derive(Clone, Debug)]
struct Raised {
    random: SplitMix64,
    shares: Vec<Share>,
}

/// So many per cent of the I/Os of a size (of all, without one) have this priority.
#[derive(Clone, Copy, Debug)]
struct Share {
    size: Option<u64>,
    percent: u8,
    priority: u16,
}

/// Class of raised I/O unless one is given.
const CLASS_REALTIME: u8 = 1;

impl IoPriorities {
    /// What `options` ask for; every other I/O has the priority `usual` (0: its thread's).
    pub fn new(options: &EngineOptions, usual: u16) -> IoPriorities {
        let classes = options.cmdprio_class.unwrap_or((CLASS_REALTIME, CLASS_REALTIME));
        let levels = options.cmdprio.unwrap_or((0, 0));
        let hints = options.cmdprio_hint.unwrap_or((0, 0));
        let (reads, writes) = options.cmdprio_percentage.unwrap_or((0, 0));
        let raised = |percent: u8, split: &[PriorityShare], own: (u8, u8, u16)| {
            let of_all = Share { size: None, percent, priority: value(own) };
            let by_size = split.iter().map(|share| Share {
                size: Some(share.size),
                percent: share.percent,
                priority: value(share.priority.unwrap_or(own)),
            });
            let shares = std::iter::once(of_all).chain(by_size).filter(|s| s.percent > 0);
            Raised { random: SplitMix64::new(0), shares: shares.collect() }
        };
        let [of_reads, of_writes] = &options.cmdprio_split;
        IoPriorities {
            usual,
            raised: [
                raised(reads, of_reads, (classes.0, levels.0, hints.0)),
                raised(writes, of_writes, (classes.1, levels.1, hints.1)),
            ],
        }
    }

    /// Whether every I/O has its thread's priority.
    pub fn is_none(&self) -> bool {
        self.usual == 0 && !self.differ()
    }

    /// Whether not all I/Os have the same.
    pub fn differ(&self) -> bool {
        self.raised.iter().any(|raised| !raised.shares.is_empty())
    }

    /// The priority of the next I/O, which is of this kind and length; 0: its thread's.
    #[inline(always)]
    pub fn next(&mut self, kind: OpKind, length: u64) -> u16 {
        let raised = match kind {
            OpKind::Read => &mut self.raised[0],
            OpKind::Write => &mut self.raised[1],
            _ => return self.usual,
        };
        if raised.shares.is_empty() {
            return self.usual;
        }
        let mut left = raised.random.below(100);
        for share in raised.shares.iter().filter(|s| s.size.is_none_or(|size| size == length)) {
            match left.checked_sub(u64::from(share.percent)) {
                Some(rest) => left = rest,
                None => return share.priority,
            }
        }
        self.usual
    }
}

fn value((class, level, hint): (u8, u8, u16)) -> u16 {
    io_priority_value(class, level, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_out_as_asked() {
        for percent in [0, 1, 30, 99, 100, 255] {
            let mut chance = Percentage::of(percent);
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
