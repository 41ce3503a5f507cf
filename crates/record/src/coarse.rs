//! Counts of latencies in coarse buckets, as histories keep them.

use crate::Histogram;
use crate::histogram::{BUCKETS, SUB_BUCKETS, bucket_low, bucket_of};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Coarse buckets in each power of two: the middle of one is within 3.2 % of any value in it.
pub const COARSE_SUB_BUCKETS: usize = 16;

/// Fine buckets in a coarse one.
const FINE_IN_COARSE: usize = SUB_BUCKETS / COARSE_SUB_BUCKETS;
/// The number of coarse buckets.
const COARSE_BUCKETS: usize = BUCKETS / FINE_IN_COARSE;

/// The smallest value that coarse bucket `index` counts.
fn coarse_low(index: usize) -> u64 {
    bucket_low(index * FINE_IN_COARSE)
}

/// Counts by coarse bucket, in rising order, each bucket at most once: (bucket, count). Stored as a
/// flat list of pairs: how far the bucket is from the one before (the first: from 0), and the count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coarse(Vec<(u16, u64)>);

impl Coarse {
    /// From (bucket, count) in rising order.
    pub(crate) fn new(counts: Vec<(u16, u64)>) -> Coarse {
        Coarse(counts)
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of counted values.
    pub fn count(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    /// The occupied buckets in rising order: (lowest value, width, count), in nanoseconds.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.0.iter().map(|(bucket, count)| {
            let low = coarse_low(usize::from(*bucket));
            (low, coarse_low(usize::from(*bucket) + 1) - low, *count)
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
            let is_known = bucket < COARSE_BUCKETS as u64;
            if !is_known || (index > 0 && *gap == 0) {
                return Err(D::Error::custom("latency counts name a bucket there is not"));
            }
            counts.push((bucket as u16, *count));
        }
        Ok(Coarse(counts))
    }
}

impl Histogram {
    /// The values recorded since the last call with the same `seen`, in coarse buckets. `seen` is empty
    /// before the first call. Only buckets between minimum and maximum are read.
    pub fn coarse_since(&self, seen: &mut Vec<u64>) -> Coarse {
        if self.is_empty() {
            return Coarse::default();
        }
        seen.resize(COARSE_BUCKETS, 0);
        let coarse = |value| bucket_of(value) / FINE_IN_COARSE;
        let (first, last) = (coarse(self.min()), coarse(self.max()));
        let mut new = Vec::new();
        for (index, seen) in seen.iter_mut().enumerate().take(last + 1).skip(first) {
            let fine = index * FINE_IN_COARSE;
            let now = self.buckets()[fine..fine + FINE_IN_COARSE].iter().sum();
            if now > *seen {
                new.push((index as u16, now - *seen));
                *seen = now;
            }
        }
        Coarse::new(new)
    }
}
