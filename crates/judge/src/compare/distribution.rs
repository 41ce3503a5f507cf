//! How two distributions of latency differ.

use crate::gate::measure::Member;
use crate::metrics::latency::merged;
use crate::stats::supports;
use record::{Direction, DirectionResult, Histogram};

/// Percentiles whose shift is told.
const SHIFTS: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

/// The difference between two distributions, of all runs of each side.
#[derive(Clone, Debug, PartialEq)]
pub struct Distance {
    /// The largest distance of the two (Kolmogorov and Smirnov's D), 0 to 1.
    pub largest: f64,
    /// The latency where it lies, in nanoseconds.
    pub at_ns: u64,
    /// Share of the earlier I/Os that took at most that long.
    pub before: f64,
    /// Share of the later ones.
    pub after: f64,
    /// Percentiles on both sides, where both have enough values.
    pub shifts: Vec<Shift>,
}

/// A percentile on both sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Which, 0 to 100.
    pub percentile: f64,
    /// Its earlier value, in nanoseconds.
    pub before: u64,
    /// Its later value, in nanoseconds.
    pub after: u64,
}

/// Of the completion latencies, or total ones where those were not recorded.
pub(super) fn distance(old: &Member, new: &Member, direction: Direction) -> Option<Distance> {
    let (old, new) = (histogram(old, direction)?, histogram(new, direction)?);
    Some(between(&old, &new))
}

fn histogram(member: &Member, direction: Direction) -> Option<Histogram> {
    let results = || member.runs.iter().flatten().map(|job| &job.results[direction]);
    merged(results().filter_map(|result| result.latency.clat.as_ref()))
        .or_else(|| merged(results().filter_map(DirectionResult::lat)))
}

fn between(old: &Histogram, new: &Histogram) -> Distance {
    let counts = |histogram: &Histogram, sign: bool| -> Vec<(u64, u64, bool)> {
        histogram.bins().map(|(low, width, count)| (low + width - 1, count, sign)).collect()
    };
    let mut steps = [counts(old, false), counts(new, true)].concat();
    steps.sort_unstable();
    let (mut below, mut largest) = ((0, 0), (0.0, 0, 0.0, 0.0));
    for same in steps.chunk_by(|a, b| a.0 == b.0) {
        for (_, count, is_new) in same {
            if *is_new { below.1 += count } else { below.0 += count }
        }
        let before = below.0 as f64 / old.count() as f64;
        let after = below.1 as f64 / new.count() as f64;
        if (after - before).abs() > largest.0 {
            largest = ((after - before).abs(), same[0].0, before, after);
        }
    }
    let supported = |p: &f64| supports(old.count(), *p) && supports(new.count(), *p);
    let shift = |percentile: f64| Shift {
        percentile,
        before: old.percentile(percentile),
        after: new.percentile(percentile),
    };
    Distance {
        largest: largest.0,
        at_ns: largest.1,
        before: largest.2,
        after: largest.3,
        shifts: SHIFTS.into_iter().filter(supported).map(shift).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|(value, times)| histogram.record_n(*value, *times));
        histogram
    }

    #[test]
    fn the_largest_distance_lies_where_the_shares_differ_most() {
        let (old, new) = (of(&[(100, 900), (5000, 100)]), of(&[(100, 600), (5000, 400)]));
        let found = between(&old, &new);
        assert!((found.largest - 0.3).abs() < 1e-9 && found.at_ns == 100, "{found:?}");
        assert_eq!((found.before, found.after), (0.9, 0.6));
        let p90 = found.shifts.iter().find(|shift| shift.percentile == 90.0).unwrap();
        assert!(p90.before == 100 && p90.after > 4900, "{p90:?}");
        assert!(found.shifts.iter().all(|shift| shift.percentile < 99.9), "too few values");
        assert_eq!(between(&old, &old).largest, 0.0);
    }
}
