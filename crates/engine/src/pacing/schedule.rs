//! When I/O is due: the schedule of a worker with a rate.

use crate::random::Random;
use plan::{Pacing, RateLimit, RateProcess};
use record::{Direction, PerDirection};

/// Intended starts of a worker's I/O, in nanoseconds from the worker's start. Directions are
/// independent of each other.
///
/// The first I/O of a direction is due at 0. The gap to the next one is its bytes (or one I/O) divided
/// by the rate: exactly (linear), or an exponential gap with that mean (Poisson). Fractions of a
/// nanosecond are carried over, so there is no drift.
#[derive(Clone, Debug)]
pub struct Schedule {
    directions: PerDirection<Option<DirectionSchedule>>,
}

#[derive(Clone, Debug)]
struct DirectionSchedule {
    due: u64,
    gaps: Gaps,
}

#[derive(Clone, Debug)]
enum Gaps {
    Linear(Linear),
    Poisson(Poisson),
}

/// Gaps of `cost` × 10⁹ / `rate` ns. The remainder is carried over in units of 1/`rate` ns.
#[derive(Clone, Debug)]
struct Linear {
    rate: u64,
    by_bytes: bool,
    /// Bytes or I/Os for which `whole` and `part` were computed.
    cost: u64,
    whole: u64,
    part: u64,
    carried: u64,
}

#[derive(Clone, Debug)]
struct Poisson {
    /// Mean gap of an I/O or of a byte.
    mean_ns: f64,
    by_bytes: bool,
    carried: f64,
    random: Random,
}

const SECOND: u64 = 1_000_000_000;

impl Schedule {
    /// The schedule that `pacing` asks for; `None` when no direction has a limit. Equal seeds give
    /// equal schedules.
    pub fn new(pacing: &Pacing, seed: u64) -> Option<Schedule> {
        let directions = pacing.limit.map(|direction, limit| {
            limit.map(|limit| {
                // Offsets, sizes, directions and files use the streams below 16.
                let random = Random::new(seed, 16 + direction as u64);
                DirectionSchedule { due: 0, gaps: Gaps::new(limit, pacing.process, random) }
            })
        });
        let limited = directions.iter().any(|(_, schedule)| schedule.is_some());
        limited.then_some(Schedule { directions })
    }

    /// When the next I/O of `direction`, moving `bytes`, is due; `None` when the direction is not
    /// limited. Called once per I/O.
    #[inline]
    pub fn next(&mut self, direction: Direction, bytes: u64) -> Option<u64> {
        let schedule = self.directions[direction].as_mut()?;
        let due = schedule.due;
        schedule.due = due.saturating_add(schedule.gaps.next(bytes));
        Some(due)
    }

    /// When the next I/O of `direction` will be due; `None` when the direction is not limited.
    #[inline]
    pub fn due(&self, direction: Direction) -> Option<u64> {
        self.directions[direction].as_ref().map(|schedule| schedule.due)
    }

    /// Delays all later I/O by `ns`, for pauses that must not be caught up (`rate_ignore_thinktime`).
    pub fn shift(&mut self, ns: u64) {
        for direction in Direction::ALL {
            if let Some(schedule) = &mut self.directions[direction] {
                schedule.due = schedule.due.saturating_add(ns);
            }
        }
    }
}

impl Gaps {
    fn new(limit: RateLimit, process: RateProcess, random: Random) -> Gaps {
        let (rate, by_bytes) = match limit {
            RateLimit::Bytes(rate) => (rate.max(1), true),
            RateLimit::Iops(rate) => (rate.max(1), false),
        };
        match process {
            RateProcess::Linear => Gaps::Linear(Linear::new(rate, by_bytes)),
            RateProcess::Poisson => {
                let mean_ns = SECOND as f64 / rate as f64;
                Gaps::Poisson(Poisson { mean_ns, by_bytes, carried: 0.0, random })
            }
        }
    }

    #[inline]
    fn next(&mut self, bytes: u64) -> u64 {
        match self {
            Gaps::Linear(linear) => linear.next(bytes),
            Gaps::Poisson(poisson) => poisson.next(bytes),
        }
    }
}

impl Linear {
    fn new(rate: u64, by_bytes: bool) -> Linear {
        let mut linear = Linear { rate, by_bytes, cost: 0, whole: 0, part: 0, carried: 0 };
        linear.set_cost(1);
        linear
    }

    #[inline]
    fn next(&mut self, bytes: u64) -> u64 {
        if self.by_bytes && bytes != self.cost {
            self.set_cost(bytes);
        }
        // Compares without adding, because a rate may be near 2^64.
        let room = self.rate - self.part;
        if self.carried >= room {
            self.carried -= room;
            self.whole.saturating_add(1)
        } else {
            self.carried += self.part;
            self.whole
        }
    }

    #[cold]
    fn set_cost(&mut self, cost: u64) {
        let (product, rate) = (u128::from(cost) * u128::from(SECOND), u128::from(self.rate));
        self.cost = cost;
        self.whole = u64::try_from(product / rate).unwrap_or(u64::MAX);
        self.part = (product % rate) as u64;
    }
}

impl Poisson {
    #[inline]
    fn next(&mut self, bytes: u64) -> u64 {
        let mean = if self.by_bytes { self.mean_ns * bytes as f64 } else { self.mean_ns };
        let gap = self.carried - self.random.unit().ln() * mean;
        let whole = gap.floor();
        self.carried = gap - whole;
        whole as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn schedule(limit: RateLimit, process: RateProcess) -> Schedule {
        let mut pacing = Pacing { process, ..Pacing::default() };
        pacing.limit.write = Some(limit);
        Schedule::new(&pacing, 42).unwrap()
    }

    proptest! {
        #[test]
        fn linear_never_drifts(rate in 1u64..20_000_000_000, sizes in prop::collection::vec(1u64..1 << 24, 1..200)) {
            let mut schedule = schedule(RateLimit::Bytes(rate), RateProcess::Linear);
            let mut before = 0u128;
            for size in sizes {
                let exact = before * 1_000_000_000 / u128::from(rate);
                prop_assert_eq!(u128::from(schedule.next(Direction::Write, size).unwrap()), exact);
                before += u128::from(size);
            }
        }

        #[test]
        fn linear_iops_are_independent_of_sizes(rate in 1u64..10_000_000, sizes in prop::collection::vec(1u64..1 << 24, 1..50)) {
            let mut schedule = schedule(RateLimit::Iops(rate), RateProcess::Linear);
            for (index, size) in sizes.into_iter().enumerate() {
                let exact = u128::from(index as u64) * 1_000_000_000 / u128::from(rate);
                prop_assert_eq!(u128::from(schedule.next(Direction::Write, size).unwrap()), exact);
            }
        }
    }

    #[test]
    fn a_day_at_an_odd_rate_ends_to_the_nanosecond() {
        let mut schedule = schedule(RateLimit::Iops(7), RateProcess::Linear);
        let last = (0..7 * 86_400 + 1).map(|_| schedule.next(Direction::Write, 4096)).last();
        assert_eq!(last.unwrap(), Some(86_400 * SECOND));
    }

    #[test]
    fn extreme_rates_neither_overflow_nor_stop() {
        let mut fast = schedule(RateLimit::Bytes(u64::MAX), RateProcess::Linear);
        assert!((0..1000).all(|_| fast.next(Direction::Write, 1 << 30).unwrap() < SECOND));
        let mut slow = schedule(RateLimit::Bytes(1), RateProcess::Linear);
        assert_eq!(slow.next(Direction::Write, u64::MAX), Some(0));
        assert_eq!(slow.next(Direction::Write, u64::MAX), Some(u64::MAX));
        assert_eq!(slow.next(Direction::Write, 1), Some(u64::MAX));
    }

    /// Mean within 1 %, and the shape: of exponential gaps 1/e are longer than the mean, and their
    /// standard deviation equals it.
    #[test]
    fn poisson_gaps_are_exponential_with_the_right_mean() {
        for (limit, bytes, mean) in [
            (RateLimit::Iops(1_000_000), 4096, 1e3),
            (RateLimit::Iops(1), 4096, 1e9),
            (RateLimit::Bytes(4096 * 3_000_000), 4096, 1e3 / 3.0),
        ] {
            let mut schedule = schedule(limit, RateProcess::Poisson);
            let count = 400_000;
            let (mut before, mut longer, mut squares) = (0, 0, 0.0);
            assert_eq!(schedule.next(Direction::Write, bytes), Some(0));
            for _ in 0..count {
                let due = schedule.next(Direction::Write, bytes).unwrap();
                let gap = (due - before) as f64 / mean;
                longer += u32::from(gap > 1.0);
                squares += (gap - 1.0).powi(2);
                before = due;
            }
            let count = f64::from(count);
            assert!((before as f64 / count / mean - 1.0).abs() < 0.01, "{limit:?}");
            assert!((f64::from(longer) / count - 1f64.exp().recip()).abs() < 0.01, "{limit:?}");
            assert!((squares / count - 1.0).abs() < 0.03, "{limit:?}");
        }
    }

    #[test]
    fn directions_are_independent_and_unlimited_ones_free() {
        let mut pacing = Pacing::default();
        assert!(Schedule::new(&pacing, 1).is_none());
        pacing.limit.read = Some(RateLimit::Iops(1000));
        pacing.limit.trim = Some(RateLimit::Bytes(4096));
        let mut schedule = Schedule::new(&pacing, 1).unwrap();
        assert_eq!(schedule.next(Direction::Write, 4096), None);
        assert_eq!(schedule.next(Direction::Read, 4096), Some(0));
        assert_eq!(schedule.next(Direction::Read, 4096), Some(1_000_000));
        assert_eq!(schedule.next(Direction::Trim, 4096), Some(0));
        schedule.shift(5);
        assert_eq!(schedule.next(Direction::Trim, 4096), Some(SECOND + 5));
        assert_eq!(schedule.next(Direction::Read, 4096), Some(2_000_005));
    }

    #[test]
    fn equal_seeds_give_equal_schedules() {
        let mut pacing = Pacing { process: RateProcess::Poisson, ..Pacing::default() };
        pacing.limit.read = Some(RateLimit::Iops(1000));
        let draw = |seed| {
            let mut schedule = Schedule::new(&pacing, seed).unwrap();
            (0..20).map(|_| schedule.next(Direction::Read, 1)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
    }
}
