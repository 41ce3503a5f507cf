//! The clock of stamps. All stamps are nanoseconds from the run's origin, comparable between workers.

use crate::sys::tsc;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A clock. Each worker has a copy; reading it shares nothing.
pub trait Clock: Copy + Send + 'static {
    /// Nanoseconds since the run's origin.
    fn now(&self) -> u64;

    /// Sleeps for about `nanoseconds`; 0 spins for a moment.
    fn pass(&self, nanoseconds: u64) {
        if nanoseconds > 0 {
            std::thread::sleep(Duration::from_nanos(nanoseconds));
        } else {
            std::hint::spin_loop();
        }
    }
}

/// The invariant time-stamp counter.
#[derive(Clone, Copy, Debug)]
pub struct Tsc {
    origin: u64,
    // Nanoseconds per tick, times 2^32.
    scale: u64,
}

impl Clock for Tsc {
    #[inline(always)]
    fn now(&self) -> u64 {
        // Counters of two CPUs may differ by some ticks: clamp to the origin.
        let ticks = tsc::read().saturating_sub(self.origin);
        ((u128::from(ticks) * u128::from(self.scale)) >> 32) as u64
    }
}

/// clock_gettime(CLOCK_MONOTONIC).
#[derive(Clone, Copy, Debug)]
pub struct Monotonic {
    origin: Instant,
}

impl Clock for Monotonic {
    #[inline(always)]
    fn now(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub enum RunClock {
    /// Time-stamp counter.
    Tsc(Tsc),
    /// clock_gettime.
    Monotonic(Monotonic),
}

impl Clock for RunClock {
    #[inline]
    fn now(&self) -> u64 {
        match self {
            RunClock::Tsc(clock) => clock.now(),
            RunClock::Monotonic(clock) => clock.now(),
        }
    }
}

/// Minimum time of the calibration against CLOCK_MONOTONIC. A pair of readings is exact to about 20 ns,
/// so 2 ms give an accuracy of about 20 ppm. The drift over the run is measured at its end.
const CALIBRATION: Duration = Duration::from_millis(2);
/// A counter with a frequency outside of this range is not used.
const PLAUSIBLE_HERTZ: std::ops::Range<f64> = 1e8..1e11;

impl RunClock {
    /// Starts the clock; its origin is now. `clocksource` is fio's option: values other than "cpu" select
    /// clock_gettime, as does a processor without an invariant counter.
    pub fn start(clocksource: Option<&str>) -> RunClock {
        let wants_counter = matches!(clocksource, None | Some("cpu"));
        if wants_counter
            && tsc::is_invariant()
            && let Some(tsc) = Tsc::calibrate()
        {
            return RunClock::Tsc(tsc);
        }
        RunClock::Monotonic(Monotonic { origin: Instant::now() })
    }

    /// Length of a CPU cycle, in nanoseconds; 1 where the clock counts no cycles.
    pub fn cycle_ns(&self) -> f64 {
        match self {
            RunClock::Tsc(tsc) => tsc.scale as f64 / 2f64.powi(32),
            RunClock::Monotonic(_) => 1.0,
        }
    }

    /// The current time on this clock and on CLOCK_MONOTONIC.
    pub fn moment(&self) -> (u64, Instant) {
        read_both(|| self.now())
    }

    /// Describes the clock for the record. `started` is CLOCK_MONOTONIC at `started_at` on this clock.
    pub fn describe(&self, started: Instant, started_at: u64) -> record::Clock {
        let (ended_at, ended) = self.moment();
        let elapsed_ns = ended_at - started_at;
        let reference_ns = ended.duration_since(started).as_nanos() as f64;
        let (source, hertz) = match self {
            RunClock::Tsc(tsc) => ("tsc", 1e9 * 2f64.powi(32) / tsc.scale as f64),
            RunClock::Monotonic(_) => ("clock_gettime", 1e9),
        };
        record::Clock {
            source: source.into(),
            hertz,
            drift_ppm: (elapsed_ns as f64 / reference_ns.max(1.0) - 1.0) * 1e6,
            stamp: record::Nanos(self.stamp_cost()),
        }
    }

    /// Cost of a stamp in nanoseconds: the median over 15 averages.
    fn stamp_cost(&self) -> u64 {
        let mut costs = [0_u64; 15];
        for cost in &mut costs {
            let begin = self.now();
            (0..64).for_each(|_| {
                std::hint::black_box(self.now());
            });
            *cost = (self.now() - begin) / 65;
        }
        costs.sort_unstable();
        costs[costs.len() / 2]
    }
}

impl Tsc {
    fn calibrate() -> Option<Tsc> {
        let (first_tick, first_time) = first_moment();
        while first_time.elapsed() < CALIBRATION {
            std::hint::spin_loop();
        }
        let (last_tick, last_time) = read_both(tsc::read);
        let hertz = last_tick.checked_sub(first_tick)? as f64
            / last_time.duration_since(first_time).as_secs_f64();
        PLAUSIBLE_HERTZ
            .contains(&hertz)
            .then(|| Tsc { origin: last_tick, scale: (1e9 / hertz * 2f64.powi(32)) as u64 })
    }
}

/// Takes the first reading for the calibration, so that a clock that starts soon waits less.
pub fn prepare_clock() {
    first_reading();
}

/// The counter and CLOCK_MONOTONIC at the first reading of this process.
fn first_reading() -> (u64, Instant) {
    static FIRST: OnceLock<(u64, Instant)> = OnceLock::new();
    *FIRST.get_or_init(|| read_both(tsc::read))
}

/// The start of the calibration: the first reading if it is recent, otherwise a new one. An old reading
/// is not used, because suspend stops only one of the two clocks.
fn first_moment() -> (u64, Instant) {
    const FRESH: Duration = Duration::from_secs(1);
    let first = first_reading();
    if first.1.elapsed() < FRESH { first } else { read_both(tsc::read) }
}

/// Reads both clocks. Takes the closest pair of eight tries, because the thread may be preempted between
/// two readings.
fn read_both(read: impl Fn() -> u64) -> (u64, Instant) {
    let try_once = || {
        let before = read();
        let time = Instant::now();
        let after = read();
        (after.saturating_sub(before), before + after.saturating_sub(before) / 2, time)
    };
    let (_, reading, time) =
        (0..8).map(|_| try_once()).min_by_key(|(gap, _, _)| *gap).unwrap_or_else(try_once);
    (reading, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_clocks_agree_while_busy() {
        for clocksource in [None, Some("clock_gettime")] {
            let clock = RunClock::start(clocksource);
            let (begin, time) = clock.moment();
            while time.elapsed() < Duration::from_millis(20) {}
            let drift = clock.describe(time, begin).drift_ppm;
            assert!(drift.abs() < 5000.0, "{clocksource:?} drifts by {drift} ppm");
        }
    }

    #[test]
    fn asking_for_clock_gettime_gives_it() {
        assert!(matches!(RunClock::start(Some("clock_gettime")), RunClock::Monotonic(_)));
    }
}
