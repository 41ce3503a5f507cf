//! How two distributions of latency differ.

use super::ratio::{Side, interval};
use crate::gate::condition::Metric;
use crate::metrics::latency::merged;
use crate::stats::{Estimate, MISS, mean, students_t, supports, variance};
use record::Histogram;

/// Percentiles whose shift is reported.
const SHIFTS: [f64; 12] = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 99.0, 99.9, 99.99];

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
    /// Independent I/Os that would vary as the runs of a side do from each other, of both sides
    /// together (n m / (n + m)); `None` when a side has one run, which does not show that.
    pub effective_count: Option<f64>,
    /// So many independent I/Os are this far apart by more than chance, at the level of the
    /// comparison (Kolmogorov and Smirnov's test).
    pub is_shown: bool,
    /// Percentiles on both sides, where both have enough values (shift function; Doksum 1974).
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
    /// Later over earlier as the runs have it, with an interval that holds in 95 of 100 cases on its
    /// own; `None` where the runs do not support one.
    pub ratio: Option<Estimate>,
}

/// Degrees of freedom with which Student's distribution is the normal one.
const NORMAL: f64 = 1e6;

/// Two distributions, before the level at which they are compared is known.
pub(super) struct Distribution {
    distance: Distance,
    /// Degrees of freedom of its effective count.
    freedom: f64,
}

impl Distribution {
    /// Of the latencies of both sides; `None` when one run recorded no latency, or only some percentiles of
    /// them are known.
    pub(super) fn compare(old: &Side, new: &Side) -> Option<Distribution> {
        let (olds, news) = (old.latencies.as_ref()?, new.latencies.as_ref()?);
        let (before, after) = (merged(olds.iter())?, merged(news.iter())?);
        if !(before.is_binned() && after.is_binned()) {
            return None;
        }
        let ratio = |percentile| {
            let metric = Metric::Percentile(percentile);
            let both = (old.logarithm(metric).ok()?, new.logarithm(metric).ok()?);
            Some(interval(&both.0, &both.1, MISS, true))
        };
        let supported = |p: &f64| supports(before.count(), *p) && supports(after.count(), *p);
        let shift = |percentile: f64| Shift {
            percentile,
            before: before.percentile(percentile),
            after: after.percentile(percentile),
            ratio: ratio(percentile),
        };
        let distance = Distance {
            effective_count: effective_count(olds, news),
            shifts: SHIFTS.into_iter().filter(supported).map(shift).collect(),
            ..between(&before, &after)
        };
        Some(Distribution { distance, freedom: (olds.len() + news.len()) as f64 - 2.0 })
    }

    /// Whether the runs show their spread, so that a difference can be tested.
    pub(super) fn is_tested(&self) -> bool {
        self.distance.effective_count.is_some()
    }

    /// With the outcome of the test that finds a difference where there is none with probability
    /// `miss`.
    pub(super) fn distance(&self, miss: f64) -> Distance {
        // A few runs estimate their spread badly: Student's t over the normal quantile shows how badly.
        let doubt = students_t(self.freedom, miss) / students_t(NORMAL, miss);
        let is_shown = self.distance.effective_count.is_some_and(|count| {
            // Kolmogorov's distribution, to its first term (Smirnov 1948), which errs to the safe side.
            let lambda = self.distance.largest * count.sqrt() / doubt;
            2.0 * (-2.0 * lambda.powi(2)).exp() < miss
        });
        Distance { is_shown, ..self.distance.clone() }
    }
}

/// Shares at which the runs of a side are held against each other.
const DECILES: [f64; 9] = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0];

/// How many independent I/Os vary as the runs do. I/Os of a run are alike (Kish 1965, design effect):
/// the share that is faster than a decile varies from run to run by more than the number of I/Os
/// explains.
fn effective_count(olds: &[Histogram], news: &[Histogram]) -> Option<f64> {
    if olds.len() < 2 || news.len() < 2 {
        return None;
    }
    let both = merged(olds.iter().chain(news))?;
    let (mut spread, mut independent) = (0.0, 0.0);
    for decile in DECILES.map(|percentile| both.percentile(percentile)) {
        let share = |run: &Histogram| run.count_at_most(decile) as f64 / run.count() as f64;
        let sides = [olds, news].map(|side| side.iter().map(share).collect::<Vec<f64>>());
        let freedom = (olds.len() + news.len() - 2) as f64;
        let within = |side: &Vec<f64>| variance(side) * (side.len() - 1) as f64;
        spread += sides.iter().map(within).sum::<f64>() / freedom;
        let overall = mean(&sides.concat());
        independent += overall * (1.0 - overall);
    }
    let counts = [olds, news].map(|side| side.iter().map(Histogram::count).sum::<u64>() as f64);
    // Between runs that agree to the last I/O the I/Os themselves are the limit.
    let per_run = if spread > 0.0 { independent / spread } else { f64::INFINITY };
    let [n, m] = [(olds.len(), counts[0]), (news.len(), counts[1])]
        .map(|(runs, count)| (runs as f64 * per_run).min(count));
    Some(n * m / (n + m))
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
    Distance {
        largest: largest.0,
        at_ns: largest.1,
        before: largest.2,
        after: largest.3,
        effective_count: None,
        is_shown: false,
        shifts: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram_of(values: &[(u64, u64)]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|(value, times)| histogram.record_n(*value, *times));
        histogram
    }

    #[test]
    fn the_largest_distance_lies_where_the_shares_differ_most() {
        let (old, new) =
            (histogram_of(&[(100, 900), (5000, 100)]), histogram_of(&[(100, 600), (5000, 400)]));
        let found = between(&old, &new);
        assert!((found.largest - 0.3).abs() < 1e-9 && found.at_ns == 100, "{found:?}");
        assert_eq!((found.before, found.after), (0.9, 0.6));
        assert_eq!(between(&old, &old).largest, 0.0);
    }
}
