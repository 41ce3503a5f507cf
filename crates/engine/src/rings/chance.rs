//! What happens to a share of the I/Os: a flag set, a priority raised.

use crate::ops::OpKind;
use plan::EngineOptions;

/// A coin that falls on one side for so many per cent.
#[derive(Clone, Debug)]
pub struct Chance {
    percent: u8,
    state: u64,
}

impl Chance {
    /// True for `percent` of the draws, in an order that is the same in every run.
    pub fn of(percent: u8) -> Chance {
        Chance { percent: percent.min(100), state: 0 }
    }

    /// The next draw.
    #[inline(always)]
    pub fn draw(&mut self) -> bool {
        match self.percent {
            0 => false,
            100 => true,
            percent => self.below_hundred() < u64::from(percent),
        }
    }

    /// SplitMix64: a counter, well stirred.
    fn below_hundred(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((u128::from(z) * 100) >> 64) as u64
    }
}

/// Priorities of single I/Os (`cmdprio_percentage`, `cmdprio_class`, `cmdprio`).
#[derive(Clone, Debug)]
pub struct Priorities {
    usual: u16,
    raised: [(Chance, u16); 2],
}

/// Class of raised I/O unless one is given.
const CLASS_REALTIME: u8 = 1;
const CLASS_SHIFT: u32 = 13;

impl Priorities {
    /// What `options` ask for; every other I/O has the priority `usual` (0: its thread's).
    pub fn new(options: &EngineOptions, usual: u16) -> Priorities {
        let (reads, writes) = options.cmdprio_percentage.unwrap_or((0, 0));
        let classes = options.cmdprio_class.unwrap_or((CLASS_REALTIME, CLASS_REALTIME));
        let levels = options.cmdprio.unwrap_or((0, 0));
        let value = |class: u8, level: u8| u16::from(class) << CLASS_SHIFT | u16::from(level);
        Priorities {
            usual,
            raised: [
                (Chance::of(reads), value(classes.0, levels.0)),
                (Chance::of(writes), value(classes.1, levels.1)),
            ],
        }
    }

    /// Whether every I/O has its thread's priority.
    pub fn is_none(&self) -> bool {
        self.usual == 0 && self.raised.iter().all(|(chance, _)| chance.percent == 0)
    }

    /// The priority of the next I/O, which is of this kind; 0: its thread's.
    #[inline(always)]
    pub fn next(&mut self, kind: OpKind) -> u16 {
        let (chance, value) = match kind {
            OpKind::Read => &mut self.raised[0],
            OpKind::Write => &mut self.raised[1],
            _ => return self.usual,
        };
        if chance.draw() { *value } else { self.usual }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_out_as_asked() {
        for percent in [0, 1, 30, 99, 100, 255] {
            let mut chance = Chance::of(percent);
            let hits = (0..100_000).filter(|_| chance.draw()).count() as f64 / 1000.0;
            let expected = f64::from(percent.min(100));
            assert!((hits - expected).abs() < 0.5, "{percent}: {hits}");
        }
    }

    #[test]
    fn priorities_follow_direction_class_and_level() {
        let mut none = Priorities::new(&EngineOptions::default(), 0);
        assert!(none.is_none());
        assert_eq!(none.next(OpKind::Read), 0);
        let options = EngineOptions {
            cmdprio_percentage: Some((100, 0)),
            cmdprio_class: Some((2, 2)),
            cmdprio: Some((3, 4)),
            ..EngineOptions::default()
        };
        let mut some = Priorities::new(&options, 7);
        assert!(!some.is_none());
        assert_eq!(some.next(OpKind::Read), 2 << 13 | 3);
        assert_eq!(some.next(OpKind::Write), 7);
        assert_eq!(some.next(OpKind::Fsync), 7);
    }
}
