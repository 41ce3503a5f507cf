//! A log-linear histogram of nanoseconds. Each octave has 128 sub-buckets, so a value read back is
//! within 0.4 % of the recorded value, from 1 ns to over an hour. Two histograms merge by addition.

use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Buckets in each power of two. 128 bounds the width of a bucket to 1/128 of its lower edge, so
/// its middle is within 1/256 (0.4 %) of any value in it.
pub const SUB_BUCKETS: usize = 1 << SUB_BITS;
const SUB_BITS: u32 = 7;
/// 2^42 ns is 73 minutes. A longer latency is counted in the last bucket; `max` and `sum` have its
/// exact value.
const VALUE_BITS: u32 = 42;
pub(crate) const BUCKETS: usize = ((VALUE_BITS - SUB_BITS) as usize + 1) * SUB_BUCKETS;

/// Counts of latencies in nanoseconds, with exact count, sum, extremes and sum of squares.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    buckets: Box<[u64; BUCKETS]>,
    sum: u64,
    sum_of_squares: u128,
    min: u64,
    max: u64,
    count: u64,
    /// Percentiles as another program printed them, in millionths of a per cent, with their values;
    /// empty for what was measured here.
    printed: Vec<(u64, u64)>,
}

/// A latency distribution as another program prints it: a few figures, and counts if it prints
/// them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PrintedLatency {
    /// Number of values.
    pub count: u64,
    /// Smallest, in nanoseconds.
    pub min: u64,
    /// Largest, in nanoseconds.
    pub max: u64,
    /// Arithmetic mean, in nanoseconds.
    pub mean: f64,
    /// Sample standard deviation, in nanoseconds.
    pub stddev: f64,
    /// (percentile 0 to 100, its value in nanoseconds).
    pub percentiles: Vec<(f64, u64)>,
    /// (value that represents a bin, count of the bin); empty if the program prints no bins.
    pub bins: Vec<(u64, u64)>,
}

/// Millionths of a per cent: as fine as fio prints percentiles.
fn millionths(percentile: f64) -> u64 {
    (percentile * 1e6).round() as u64
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Histogram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Histogram(n={}, min={}, mean={:.1}, max={})",
            self.count,
            self.min(),
            self.mean(),
            self.max
        )
    }
}

/// Zeroed by the allocator: pages of unused buckets cost no memory.
fn empty_buckets() -> Box<[u64; BUCKETS]> {
    // The length is right, so the conversion cannot fail.
    vec![0; BUCKETS].try_into().unwrap_or_else(|_| Box::new([0; BUCKETS]))
}

/// The bucket that counts `value`.
#[inline(always)]
pub(crate) fn bucket_of(value: u64) -> usize {
    // `| SUB_BUCKETS` makes every value below one octave of sub-buckets land in octave 0, where
    // buckets are one nanosecond wide, without a branch.
    let octave = (63 - (value | SUB_BUCKETS as u64).leading_zeros()) - SUB_BITS;
    let index = ((octave as usize) << SUB_BITS) + (value >> octave) as usize;
    index.min(BUCKETS - 1)
}

/// The smallest value that bucket `index` counts.
pub(crate) fn bucket_low(index: usize) -> u64 {
    if index < 2 * SUB_BUCKETS {
        return index as u64;
    }
    let octave = (index >> SUB_BITS) as u32 - 1;
    ((index & (SUB_BUCKETS - 1)) as u64 + SUB_BUCKETS as u64) << octave
}

impl Histogram {
    /// An empty histogram.
    pub fn new() -> Self {
        Histogram {
            buckets: empty_buckets(),
            sum: 0,
            sum_of_squares: 0,
            min: u64::MAX,
            max: 0,
            count: 0,
            printed: Vec::new(),
        }
    }

    /// What is known of a distribution that another program measured. Count, extremes, mean and
    /// deviation are as printed, and so are the printed percentiles; see
    /// [`Histogram::known_percentile`] for the others. Bins whose sum is not the count are left
    /// out.
    pub fn of_printed(printed: &PrintedLatency) -> Histogram {
        let mut out = Histogram::new();
        if printed.count == 0 {
            return out;
        }
        if printed.bins.iter().map(|bin| u128::from(bin.1)).sum::<u128>() == printed.count.into() {
            for (value, count) in &printed.bins {
                out.buckets[bucket_of(*value)] += count;
            }
        }
        (out.count, out.min, out.max) = (printed.count, printed.min, printed.max);
        let n = u128::from(printed.count);
        out.sum = (printed.mean * printed.count as f64).round() as u64;
        let around = (printed.stddev.powi(2) * (printed.count - 1) as f64).round() as u128;
        let sum = u128::from(out.sum);
        // No square exceeds value times largest value, so the sum of squares cannot overflow.
        let most = sum.saturating_mul(printed.max.into());
        out.sum_of_squares = (sum.saturating_mul(sum) / n).saturating_add(around).min(most);
        out.printed =
            printed.percentiles.iter().map(|(p, value)| (millionths(*p), *value)).collect();
        out.printed.sort_unstable();
        out
    }

    /// Counts one value, in nanoseconds.
    #[inline(always)]
    pub fn record(&mut self, value: u64) {
        self.record_n(value, 1);
    }

    /// Counts `times` equal values.
    #[inline(always)]
    pub fn record_n(&mut self, value: u64, times: u64) {
        self.buckets[bucket_of(value)] += times;
        self.sum += value * times;
        self.sum_of_squares += u128::from(value) * u128::from(value) * u128::from(times);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.count += times;
    }

    /// Adds every value of `other`. Percentiles that were only printed are not known of the merged
    /// histogram.
    pub fn merge(&mut self, other: &Histogram) {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => {}
            (true, false) => self.printed.clone_from(&other.printed),
            (false, false) => self.printed.clear(),
        }
        for (mine, theirs) in self.buckets.iter_mut().zip(other.buckets.iter()) {
            *mine += theirs;
        }
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.count += other.count;
    }

    /// The values recorded since the state `before`. Count, sum and buckets are exact. An extreme
    /// is exact if it is also an extreme of the whole; otherwise it is the edge of its bucket.
    pub fn since(&self, before: &Histogram) -> Histogram {
        let mut buckets = self.buckets.clone();
        for (now, then) in buckets.iter_mut().zip(before.buckets.iter()) {
            *now = now.saturating_sub(*then);
        }
        let mut out = Histogram {
            buckets,
            sum: self.sum.saturating_sub(before.sum),
            sum_of_squares: self.sum_of_squares.saturating_sub(before.sum_of_squares),
            min: u64::MAX,
            max: 0,
            count: self.count.saturating_sub(before.count),
            printed: Vec::new(),
        };
        let first = out.bins().next();
        let last = out.bins().last();
        if let (Some((low, ..)), Some((high, width, _))) = (first, last) {
            let new_min = before.is_empty() || self.min < before.min;
            out.min = if new_min { self.min } else { low.max(self.min) };
            out.max =
                if self.max > before.max { self.max } else { (high + width - 1).min(self.max) };
        }
        out
    }

    /// The count of each bucket.
    pub(crate) fn buckets(&self) -> &[u64] {
        &self.buckets[..]
    }

    /// Removes all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        (self.sum, self.sum_of_squares, self.min, self.max, self.count) = (0, 0, u64::MAX, 0, 0);
        self.printed.clear();
    }

    /// Number of recorded values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Sum of all values, exact, in nanoseconds.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Smallest value, exact; 0 when empty.
    pub fn min(&self) -> u64 {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Largest value, exact; 0 when empty.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Arithmetic mean, exact; 0 when empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Sample standard deviation (n − 1), from the exact sums; 0 for fewer than two values.
    pub fn stddev(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        // Integers up to the last division avoid cancellation.
        let n = u128::from(self.count);
        let sum = u128::from(self.sum);
        match (n.checked_mul(self.sum_of_squares), sum.checked_mul(sum)) {
            (Some(a), Some(b)) => (a.saturating_sub(b) as f64 / (n * (n - 1)) as f64).sqrt(),
            _ => {
                let mean = self.mean();
                let square = self.sum_of_squares as f64 / n as f64 - mean * mean;
                (square.max(0.0) * n as f64 / (n - 1) as f64).sqrt()
            }
        }
    }

    /// The value at `percentile` (0 to 100) by nearest rank: the smallest recorded value that at
    /// least this share of all values does not exceed. It is read as the middle of its bucket,
    /// within [min, max]. 0 if empty; the largest value if values are in no buckets
    /// ([`Histogram::is_binned`]).
    pub fn percentile(&self, percentile: f64) -> u64 {
        if self.count == 0 {
            return 0;
        }
        let rank = ((percentile / 100.0 * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (low, width, count) in self.bins() {
            seen += count;
            if seen >= rank {
                return (low + (width - 1) / 2).clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// Whether every value is in a bucket. Of a distribution that another program measured, often
    /// only a few figures are known.
    pub fn is_binned(&self) -> bool {
        self.buckets.iter().sum::<u64>() == self.count
    }

    /// The value at `percentile` as another program printed it, otherwise that of
    /// [`Histogram::percentile`]; `None` if it is empty or neither is known.
    pub fn known_percentile(&self, percentile: f64) -> Option<u64> {
        let wanted = millionths(percentile);
        if let Ok(at) = self.printed.binary_search_by_key(&wanted, |printed| printed.0) {
            return Some(self.printed[at].1.clamp(self.min, self.max));
        }
        match percentile {
            _ if self.count == 0 => None,
            0.0 => Some(self.min),
            100.0 => Some(self.max),
            _ => self.is_binned().then(|| self.percentile(percentile)),
        }
    }

    /// The occupied buckets in rising order: (lowest value, width, count).
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.buckets.iter().enumerate().filter(|(_, count)| **count > 0).map(|(index, count)| {
            let low = bucket_low(index);
            (low, bucket_low(index + 1) - low, *count)
        })
    }

    /// Number of values of at most `limit` nanoseconds, at bucket resolution: a bucket counts if
    /// its middle is not above `limit`.
    pub fn count_at_most(&self, limit: u64) -> u64 {
        self.bins().filter(|(low, width, _)| low + (width - 1) / 2 <= limit).map(|b| b.2).sum()
    }
}

/// Stored as count, sum, sum of squares (a decimal string: it exceeds 64 bits), extremes and a
/// sparse list of [bucket, count]; bucket numbers belong to the record's schema version. Percentiles
/// as another program printed them follow, [millionths of a per cent, value]; only then the buckets may
/// be empty.
impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sparse: Vec<(usize, u64)> =
            self.buckets.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect();
        let has_printed = !self.printed.is_empty() || !self.is_binned();
        let mut out = serializer.serialize_struct("Histogram", 6 + usize::from(has_printed))?;
        out.serialize_field("count", &self.count)?;
        out.serialize_field("sum_ns", &self.sum)?;
        out.serialize_field("sum_of_squares", &self.sum_of_squares.to_string())?;
        out.serialize_field("min_ns", &self.min())?;
        out.serialize_field("max_ns", &self.max)?;
        out.serialize_field("buckets", &sparse)?;
        // Absent in histograms that fathom measured.
        if has_printed {
            out.serialize_field("printed", &self.printed)?;
        }
        out.end()
    }
}

#[derive(Deserialize)]
struct Stored {
    count: u64,
    sum_ns: u64,
    sum_of_squares: String,
    min_ns: u64,
    max_ns: u64,
    buckets: Vec<(usize, u64)>,
    #[serde(default)]
    printed: Option<Vec<(u64, u64)>>,
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let stored = Stored::deserialize(deserializer)?;
        let mut out = Histogram::new();
        let mut counted = 0_u64;
        for (index, count) in stored.buckets {
            let bucket = out
                .buckets
                .get_mut(index)
                .ok_or_else(|| D::Error::custom(format!("histogram bucket {index} is outside")))?;
            *bucket += count;
            counted = counted.saturating_add(count);
        }
        let is_printed_only = stored.printed.is_some() && counted == 0;
        if counted != stored.count && !is_printed_only {
            return Err(D::Error::custom("histogram buckets do not add up to its count"));
        }
        out.count = stored.count;
        out.sum = stored.sum_ns;
        out.sum_of_squares = stored.sum_of_squares.parse().map_err(D::Error::custom)?;
        out.min = if stored.count == 0 { u64::MAX } else { stored.min_ns };
        out.max = stored.max_ns;
        out.printed = stored.printed.unwrap_or_default();
        // Lookups are binary searches.
        out.printed.sort_unstable();
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn histogram_of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|v| histogram.record(*v));
        histogram
    }

    #[test]
    fn every_bucket_begins_where_the_one_before_ends() {
        for index in 0..BUCKETS {
            assert_eq!(bucket_of(bucket_low(index)), index);
            if index > 0 {
                assert_eq!(bucket_of(bucket_low(index) - 1), index - 1);
            }
        }
    }

    #[test]
    fn an_hour_has_its_own_bucket_and_a_day_is_not_lost() {
        let hour = 3_600_000_000_000;
        assert!(bucket_of(hour) < BUCKETS - 1);
        let day = histogram_of(&[24 * hour]);
        assert_eq!((day.count(), day.max(), day.percentile(99.0)), (1, 24 * hour, 24 * hour));
    }

    #[test]
    fn percentiles_are_nearest_rank_and_stay_between_the_extremes() {
        let h = histogram_of(&(1..=100).collect::<Vec<_>>());
        assert_eq!(h.percentile(50.0), 50);
        assert_eq!(h.percentile(99.0), 99);
        assert_eq!(h.percentile(0.0), 1);
        assert_eq!(h.percentile(100.0), 100);
        // fio answers 9024 for this one: a bucket's middle above the largest value seen.
        assert_eq!(histogram_of(&[10, 8983]).percentile(99.99), 8983);
    }

    #[test]
    fn deviation_of_close_large_values_does_not_cancel() {
        let h = histogram_of(&[1_000_000_000_001, 1_000_000_000_003]);
        assert!((h.stddev() - std::f64::consts::SQRT_2).abs() < 1e-9, "{}", h.stddev());
    }

    fn printed(bins: &[(u64, u64)]) -> Histogram {
        Histogram::of_printed(&PrintedLatency {
            count: 4,
            min: 731,
            max: 2_000_009,
            mean: 500_500.25,
            stddev: 1000.5,
            percentiles: vec![(50.0, 99_840), (99.0, 1_990_000)],
            bins: bins.into(),
        })
    }

    #[test]
    fn only_printed_values_are_known() {
        let h = printed(&[]);
        assert_eq!((h.count(), h.min(), h.max(), h.mean()), (4, 731, 2_000_009, 500_500.25));
        assert!((h.stddev() - 1000.5).abs() < 1e-6, "{}", h.stddev());
        assert_eq!(h.known_percentile(99.0), Some(1_990_000));
        assert_eq!(h.known_percentile(99.9), None);
        assert_eq!(
            (h.known_percentile(0.0), h.known_percentile(100.0)),
            (Some(731), Some(2_000_009))
        );
        assert!(!h.is_binned() && h.bins().next().is_none());
        let text = serde_json::to_string(&h).unwrap();
        assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), h);
        let mut both = h.clone();
        both.merge(&histogram_of(&[10]));
        assert_eq!((both.count(), both.min(), both.known_percentile(50.0)), (5, 10, None));
        let mut alone = Histogram::new();
        alone.merge(&h);
        assert_eq!(alone, h);
    }

    #[test]
    fn printed_bins_tell_the_percentiles_that_were_not_printed() {
        let h = printed(&[(732, 1), (99_840, 2), (1_990_000, 1)]);
        assert!(h.is_binned());
        assert_eq!(h.known_percentile(99.0), Some(1_990_000));
        assert!(h.known_percentile(75.0).unwrap().abs_diff(99_840) < 400);
        let mut both = h.clone();
        both.merge(&h);
        assert!(both.known_percentile(99.0).unwrap().abs_diff(1_990_000) < 8000);
        assert!(!printed(&[(732, 1)]).is_binned(), "bins that lack values are none");
    }

    #[test]
    fn figures_that_cannot_be_do_no_harm() {
        let wild = PrintedLatency {
            count: u64::MAX,
            max: u64::MAX,
            mean: 1e300,
            stddev: f64::NAN,
            bins: vec![(5, u64::MAX), (6, u64::MAX)],
            ..PrintedLatency::default()
        };
        let h = Histogram::of_printed(&wild);
        assert!(h.stddev() >= 0.0 && h.known_percentile(50.0).is_none());
    }

    proptest! {
        #[test]
        fn a_value_reads_back_within_one_part_in_256(value in 0_u64..1 << VALUE_BITS) {
            let bucket = bucket_of(value);
            let (low, high) = (bucket_low(bucket), bucket_low(bucket + 1) - 1);
            prop_assert!(low <= value && value <= high);
            let middle = low + (high - low) / 2;
            prop_assert!(middle.abs_diff(value) as f64 <= value as f64 / 256.0);
        }

        #[test]
        fn merging_is_recording_into_one(
            a in prop::collection::vec(0_u64..1 << 44, 0..200),
            b in prop::collection::vec(0_u64..1 << 44, 0..200),
        ) {
            let mut merged = histogram_of(&a);
            merged.merge(&histogram_of(&b));
            prop_assert_eq!(merged, histogram_of(&[a, b].concat()));
        }

        #[test]
        fn what_came_since_merges_back_into_the_whole(
            a in prop::collection::vec(0_u64..1 << 44, 0..200),
            b in prop::collection::vec(0_u64..1 << 44, 0..200),
        ) {
            let (before, whole) = (histogram_of(&a), histogram_of(&[a, b.clone()].concat()));
            let since = whole.since(&before);
            prop_assert_eq!((since.count(), since.sum()), (b.len() as u64, histogram_of(&b).sum()));
            let mut again = before;
            again.merge(&since);
            prop_assert_eq!(again, whole);
        }

        #[test]
        fn stored_and_read_back_is_the_same(a in prop::collection::vec(0_u64..1 << 44, 0..200)) {
            let histogram = histogram_of(&a);
            let text = serde_json::to_string(&histogram).unwrap();
            prop_assert_eq!(serde_json::from_str::<Histogram>(&text).unwrap(), histogram);
        }
    }
}
