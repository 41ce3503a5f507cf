//! Completion latencies over time: a histogram for each step of a run. They are sparse and bounded,
//! so a run of days takes no more room than one of minutes.

use crate::{Coarse, Nanos, PerDirection};
use serde::{Deserialize, Serialize};

/// Maximum number of columns of a history. With more, neighbours are merged in pairs.
const COLUMNS_MAX: usize = 600;

/// Completion latencies over time. Columns are aligned to multiples of the step from the run's
/// origin, so those of several workers add up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyHistory {
    /// Length of a column.
    pub step: Nanos,
    /// The columns in time order, without empty ones.
    pub columns: Vec<LatencyColumn>,
}

/// The I/Os that completed in one step.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LatencyColumn {
    /// Its start, in steps from the run's origin.
    pub at: u64,
    /// Counts of latencies.
    pub counts: PerDirection<Coarse>,
}

impl LatencyHistory {
    /// An empty history with columns of this length.
    pub fn new(step: Nanos) -> LatencyHistory {
        LatencyHistory { step, columns: Vec::new() }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// Adds the I/Os that completed in a step from `start` on.
    pub fn push(&mut self, start: Nanos, counts: PerDirection<Coarse>) {
        if counts.iter().all(|(_, counts)| counts.is_empty()) {
            return;
        }
        self.add(LatencyColumn { at: start.0 / self.step.0.max(1), counts });
        while self.columns.len() > COLUMNS_MAX {
            self.widen();
        }
    }

    /// Adds the history of another worker. The two steps differ by a power of two, as both started
    /// with the same one.
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

    /// Doubles the length of columns.
    fn widen(&mut self) {
        self.step = Nanos(self.step.0.saturating_mul(2).max(1));
        let all = std::mem::take(&mut self.columns);
        all.into_iter().for_each(|column| self.add(LatencyColumn { at: column.at / 2, ..column }));
    }

    /// Adds a column that is not before the last one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Histogram, JobRecord, gather_histories};
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
    fn each_call_takes_only_new_entries() {
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
