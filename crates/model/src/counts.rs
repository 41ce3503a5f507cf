//! Distributions in bounded memory: exact counts of a few values, and logarithmic bins of many.

use std::collections::BTreeMap;

/// The most values that are counted one by one.
const VALUES: usize = 256;

/// Counts of values. Up to 256 values are exact; then the rarer ones are counted with the next power of two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

impl Counts {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.add_n(value, 1);
    }

    /// Counts a value `times` times.
    pub fn add_n(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.total += times;
        *self.counts.entry(value).or_default() += times;
        if self.counts.len() > VALUES {
            self.coarsen();
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Counts) {
        other.iter().for_each(|(value, count)| self.add_n(value, count));
    }

    /// Keeps the values that are common and rounds the others up to a power of two.
    fn coarsen(&mut self) {
        let mut counts: Vec<u64> = self.counts.values().copied().collect();
        counts.sort_unstable();
        let common = counts[counts.len() * 3 / 4].max(2);
        for (value, count) in std::mem::take(&mut self.counts) {
            let to = if count >= common {
                value
            } else {
                value.checked_next_power_of_two().unwrap_or(value)
            };
            *self.counts.entry(to).or_default() += count;
        }
    }

    /// The number of values counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Values and their counts, smallest value first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().map(|(value, count)| (*value, *count))
    }

    /// The mean; 0 without values.
    pub fn mean(&self) -> f64 {
        let sum: f64 = self.iter().map(|(value, count)| value as f64 * count as f64).sum();
        sum / self.total.max(1) as f64
    }

    /// The most common value and its share of all.
    pub fn mode(&self) -> Option<(u64, f64)> {
        let (value, count) = self.iter().max_by_key(|(_, count)| *count)?;
        Some((value, count as f64 / self.total as f64))
    }

    /// The smallest value that at least `share` of all do not exceed.
    pub fn quantile(&self, share: f64) -> u64 {
        let wanted = (share * self.total as f64).ceil() as u64;
        let mut seen = 0;
        let found = self.iter().find(|(_, count)| {
            seen += count;
            seen >= wanted.max(1)
        });
        found.map_or(0, |(value, _)| value)
    }

    /// The same values with other counts.
    #[must_use]
    pub fn recounted(&self, mut count: impl FnMut(u64) -> u64) -> Counts {
        let counts: BTreeMap<u64, u64> = self.iter().map(|(value, n)| (value, count(n))).collect();
        Counts { total: counts.values().sum(), counts }
    }

    /// The largest value that divides all counted values, as a power of two.
    pub fn grain(&self) -> u64 {
        let bits = self.iter().fold(0, |bits, (value, _)| bits | value);
        if bits == 0 { 1 } else { 1 << bits.trailing_zeros() }
    }
}

/// Bins of an octave.
const BINS: u64 = 8;

/// A histogram with eight bins an octave: a value is known within 9 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogHistogram {
    bins: Vec<u64>,
    count: u64,
    sum: u128,
}

impl LogHistogram {
    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.add_n(value, 1);
    }

    /// Counts a value `times` times.
    pub fn add_n(&mut self, value: u64, times: u64) {
        let bin = bin_of(value);
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += times;
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &LogHistogram) {
        if self.bins.len() < other.bins.len() {
            self.bins.resize(other.bins.len(), 0);
        }
        self.bins.iter_mut().zip(&other.bins).for_each(|(bin, more)| *bin += more);
        self.count += other.count;
        self.sum += other.sum;
    }

    /// The same bins with other counts.
    #[must_use]
    pub fn recounted(&self, mut count: impl FnMut(u64) -> u64) -> LogHistogram {
        let bins: Vec<u64> = self.bins.iter().map(|n| if *n > 0 { count(*n) } else { 0 }).collect();
        LogHistogram { count: bins.iter().sum(), bins, sum: self.sum }
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum of the values.
    pub fn sum(&self) -> f64 {
        self.sum as f64
    }

    /// The mean; 0 without values.
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// (lower end, upper end, count) of each bin that holds values.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let bins = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        bins.map(|(bin, count)| (lower(bin), lower(bin + 1), *count))
    }

    /// The middle of the bin that holds this quantile.
    pub fn quantile(&self, share: f64) -> f64 {
        let wanted = (share * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (low, high, count) in self.bins() {
            seen += count;
            if seen >= wanted {
                return (low as f64 + high.saturating_sub(1) as f64) / 2.0;
            }
        }
        0.0
    }

    /// Number and sum of the values in bins from `from` on; the sum takes the middle of each bin.
    pub fn above(&self, from: f64) -> (u64, f64) {
        let bins = self.bins().filter(|(low, ..)| *low as f64 >= from);
        bins.fold((0, 0.0), |(n, sum), (low, high, count)| {
            (n + count, sum + (low + high) as f64 / 2.0 * count as f64)
        })
    }

    /// The coefficient of variation, from the middles of the bins.
    pub fn variation(&self) -> f64 {
        let mean = self.mean();
        let square: f64 = self
            .bins()
            .map(|(low, high, count)| {
                let middle = (low + high.saturating_sub(1)) as f64 / 2.0;
                (middle - mean).powi(2) * count as f64
            })
            .sum();
        if mean > 0.0 { (square / self.count.max(1) as f64).sqrt() / mean } else { 0.0 }
    }
}

fn bin_of(value: u64) -> usize {
    if value < BINS {
        return value as usize;
    }
    let octave = 63 - u64::from(value.leading_zeros());
    let within = (value >> (octave - 3)) - BINS;
    ((octave - 2) * BINS + within) as usize
}

fn lower(bin: usize) -> u64 {
    let bin = bin as u64;
    if bin < BINS {
        return bin;
    }
    let octave = bin / BINS + 2;
    (BINS + bin % BINS).checked_shl(octave as u32 - 3).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bin() {
        for value in (0..100_u64).chain([1000, 4095, 4096, 1 << 40, (1 << 40) - 1]) {
            let bin = bin_of(value);
            assert!(lower(bin) <= value && value < lower(bin + 1), "{value} {bin}");
        }
    }

    #[test]
    fn many_values_are_counted_in_bounded_memory() {
        let mut counts = Counts::default();
        (0..100_000_u64).for_each(|n| counts.add(if n % 2 == 0 { 4096 } else { n }));
        assert!(counts.counts.len() <= VALUES + 1);
        assert_eq!((counts.total(), counts.mode().unwrap().0), (100_000, 4096));
        assert_eq!(counts.iter().map(|(_, count)| count).sum::<u64>(), 100_000);
    }
}
