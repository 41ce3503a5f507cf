//! Completion latencies over time: how many I/Os took how long in each step of a run, sparse and
//! bounded, so that a run of days keeps no more than one of minutes.

use crate::{Nanos, PerDirection};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Coarse buckets in each power of two: the middle of one is within 3.2 % of any value in it.
pub const COARSE_SUB_BUCKETS: usize = 16;

/// A history never has more columns: beyond, each two neighbours become one.
const COLUMNS_MAX: usize = 600;

/// Completion latencies over time. Columns are aligned to multiples of the step from the run's
/// origin, so those of several workers add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyHistory {
    /// Distance of two columns.
    pub step: Nanos,
    /// In time order; a column without a completion is left out.
    pub columns: Vec<LatencyColumn>,
}

/// What completed in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyColumn {
    /// Where it begins, in steps from the run's origin.
    pub at: u64,
    /// How many took how long.
    pub counts: PerDirection<Coarse>,
}

/// Counts by coarse bucket, in rising order, each bucket at most once: (bucket, count). Stored as a
/// flat list of pairs: how far the bucket is from the one before (the first: from 0), and the count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coarse(Vec<(u16, u64)>);

impl Coarse {
    /// Of (bucket, count) in rising order.
    pub(crate) fn new(counts: Vec<(u16, u64)>) -> Coarse {
        Coarse(counts)
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The occupied buckets in rising order: (lowest value, width, count), in nanoseconds.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.0.iter().map(|(bucket, count)| {
            let low = crate::histogram::coarse_low(usize::from(*bucket));
            (low, crate::histogram::coarse_low(usize::from(*bucket) + 1) - low, *count)
        })
    }

    /// The value at `percentile` (0 to 100) by nearest rank, placed within its bucket as if that
    /// were evenly filled; `None` when empty.
    pub fn percentile(&self, percentile: f64) -> Option<f64> {
        let rank = (percentile / 100.0 * self.count() as f64).ceil().max(1.0);
        let mut seen = 0.0;
        for (low, width, count) in self.bins() {
            let count = count as f64;
            if seen + count >= rank {
                return Some(low as f64 + width as f64 * ((rank - seen - 0.5) / count));
            }
            seen += count;
        }
        None
    }

    /// Adds the counts of another one.
    pub fn merge(&mut self, other: &Coarse) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(&other.0);
        all.sort_by_key(|(bucket, _)| *bucket);
        for (bucket, count) in all {
            match self.0.last_mut().filter(|last| last.0 == bucket) {
                Some(last) => last.1 += count,
                None => self.0.push((bucket, count)),
            }
        }
    }
}

impl Serialize for Coarse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut last = 0;
        let pairs = self.0.iter().flat_map(|(bucket, count)| {
            let gap = u64::from(bucket - last);
            last = *bucket;
            [gap, *count]
        });
        serializer.collect_seq(pairs)
    }
}

impl<'de> Deserialize<'de> for Coarse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let flat = Vec::<u64>::deserialize(deserializer)?;
        let mut counts: Vec<(u16, u64)> = Vec::with_capacity(flat.len() / 2);
        let mut bucket = 0_u64;
        for (index, pair) in flat.chunks(2).enumerate() {
            let [gap, count] = pair else {
                return Err(D::Error::custom("latency counts come in pairs"));
            };
            bucket = bucket.saturating_add(*gap);
            let is_known = bucket < crate::histogram::COARSE_BUCKETS as u64;
            if !is_known || (index > 0 && *gap == 0) {
                return Err(D::Error::custom("latency counts name a bucket there is not"));
            }
            counts.push((bucket as u16, *count));
        }
        Ok(Coarse(counts))
    }
}

impl LatencyHistory {
    /// An empty one with columns so far apart.
    pub fn new(step: Nanos) -> LatencyHistory {
        LatencyHistory { step, columns: Vec::new() }
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds what completed in a step that began at `start`.
    pub fn push(&mut self, start: Nanos, counts: PerDirection<Coarse>) {
        if counts.iter().all(|(_, counts)| counts.is_empty()) {
            return;
        }
        self.add(LatencyColumn { at: start.0 / self.step.0.max(1), counts });
        while self.columns.len() > COLUMNS_MAX {
            self.widen();
        }
    }

    /// Adds those of another worker. Steps differ by powers of two, as both began with one.
    pub fn merge(&mut self, mut other: LatencyHistory) {
        if self.is_empty() {
            *self = other;
            return;
        }
        while !other.is_empty() && other.step < self.step {
            other.widen();
        }
        while !other.is_empty() && self.step < other.step {
            self.widen();
        }
        let mut all = std::mem::take(&mut self.columns);
        all.append(&mut other.columns);
        all.sort_by_key(|column| column.at);
        all.into_iter().for_each(|column| self.add(column));
    }

    /// Makes columns twice as wide.
    fn widen(&mut self) {
        self.step = Nanos(self.step.0.saturating_mul(2).max(1));
        let all = std::mem::take(&mut self.columns);
        all.into_iter().for_each(|column| self.add(LatencyColumn { at: column.at / 2, ..column }));
    }

    /// Adds a column that is not before the last.
    fn add(&mut self, column: LatencyColumn) {
        match self.columns.last_mut().filter(|last| last.at == column.at) {
            Some(last) => {
                last.counts.read.merge(&column.counts.read);
                last.counts.write.merge(&column.counts.write);
                last.counts.trim.merge(&column.counts.trim);
            }
            None => self.columns.push(column),
        }
    }
}

/// Gives the first worker of each job the histories of all its clones: that is what is drawn, and a
/// thousand clones need no thousand of them.
pub fn gather_histories(jobs: &mut [crate::JobRecord]) {
    let mut first: std::collections::BTreeMap<u32, usize> = std::collections::BTreeMap::new();
    for index in 0..jobs.len() {
        let kept = *first.entry(jobs[index].job).or_insert(index);
        if kept != index {
            let history = std::mem::take(&mut jobs[index].latency_history);
            jobs[kept].latency_history.merge(history);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Histogram, JobRecord};
    use proptest::prelude::*;

    fn coarse(values: &[u64]) -> Coarse {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value));
        histogram.coarse_since(&mut Vec::new())
    }

    fn reads(values: &[u64]) -> PerDirection<Coarse> {
        PerDirection { read: coarse(values), ..PerDirection::default() }
    }

    fn total(history: &LatencyHistory) -> u64 {
        history.columns.iter().map(|column| column.counts.read.count()).sum()
    }

    #[test]
    fn only_what_is_new_is_taken_each_time() {
        let mut histogram = Histogram::new();
        let mut seen = Vec::new();
        [100, 5_000, 5_001].iter().for_each(|value| histogram.record(*value));
        assert_eq!(histogram.coarse_since(&mut seen).count(), 3);
        assert!(histogram.coarse_since(&mut seen).is_empty());
        histogram.record(9_000_000);
        let new = histogram.coarse_since(&mut seen);
        let middle = new.percentile(50.0).unwrap();
        assert_eq!(new.count(), 1);
        assert!((middle / 9e6 - 1.0).abs() < 0.035, "{middle}");
    }

    #[test]
    fn a_long_run_keeps_no_more_than_a_short_one_and_loses_nothing() {
        let mut history = LatencyHistory::new(Nanos(1000));
        for step in 0..5_000 {
            history.push(Nanos(step * 1000 + 1), reads(&[step + 1]));
        }
        assert!((300..=600).contains(&history.columns.len()), "{}", history.columns.len());
        assert_eq!((history.step, total(&history)), (Nanos(16_000), 5_000));
        assert!(history.columns.windows(2).all(|pair| pair[0].at < pair[1].at));
    }

    #[test]
    fn clones_add_up_in_the_first_of_them_whatever_their_steps() {
        let mut jobs = vec![JobRecord::default(), JobRecord::default(), JobRecord::default()];
        jobs[2].job = 1;
        for (job, count) in jobs.iter_mut().zip([10, 900, 5]) {
            job.latency_history = LatencyHistory::new(Nanos(10));
            (0..count).for_each(|at| job.latency_history.push(Nanos(at * 10), reads(&[70])));
        }
        gather_histories(&mut jobs);
        let counts: Vec<u64> = jobs.iter().map(|job| total(&job.latency_history)).collect();
        assert_eq!(counts, [910, 0, 5]);
        assert_eq!(jobs[0].latency_history.step, Nanos(20));
    }

    proptest! {
        #[test]
        fn stored_merged_and_read_is_the_same(
            a in prop::collection::vec(0_u64..1 << 43, 0..60),
            b in prop::collection::vec(0_u64..1 << 43, 0..60),
        ) {
            let mut merged = coarse(&a);
            merged.merge(&coarse(&b));
            let whole = coarse(&[a, b].concat());
            prop_assert_eq!(&merged, &whole);
            let text = serde_json::to_string(&whole).unwrap();
            prop_assert_eq!(serde_json::from_str::<Coarse>(&text).unwrap(), whole);
        }
    }

    #[test]
    fn counts_that_cannot_be_are_refused() {
        for text in ["[1]", "[1,2,0,3]", "[600,1]", "[18446744073709551615,1,5,5]"] {
            assert!(serde_json::from_str::<Coarse>(text).is_err(), "{text}");
        }
    }
}
