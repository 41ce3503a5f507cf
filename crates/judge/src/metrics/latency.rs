//! Summaries of latency histograms.

use record::Histogram;

/// Figures of one latency histogram, in nanoseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyStats {
    /// How many values.
    pub count: u64,
    /// Smallest, exact.
    pub min: u64,
    /// Largest, exact.
    pub max: u64,
    /// Mean, exact.
    pub mean: f64,
    /// Sample standard deviation, exact.
    pub stddev: f64,
    /// (percentile 0 to 100, value), in rising order. Never outside `min` and `max`. Without those
    /// that another program, which measured, did not tell.
    pub percentiles: Vec<(f64, u64)>,
    /// Occupied bins in fio's scheme of 64 an octave: (middle, count), rising.
    pub bins: Vec<(u64, u64)>,
}

impl LatencyStats {
    /// Figures of `histogram` at the wanted `percentiles`.
    pub(crate) fn from_histogram(histogram: &Histogram, percentiles: &[f64]) -> Self {
        let known = |p: &f64| Some((*p, histogram.known_percentile(*p)?));
        let percentiles = percentiles.iter().filter_map(known).collect();
        LatencyStats {
            count: histogram.count(),
            min: histogram.min(),
            max: histogram.max(),
            mean: histogram.mean(),
            stddev: histogram.stddev(),
            percentiles,
            bins: fio_bins(histogram),
        }
    }
}

/// The histogram in bins of 64 an octave, each named by its middle as fio names them. One such bin
/// is exactly two of ours from 256 ns on, and one or two below.
fn fio_bins(histogram: &Histogram) -> Vec<(u64, u64)> {
    let mut bins: Vec<(u64, u64)> = Vec::new();
    for (low, _, count) in histogram.bins() {
        let middle = fio_bin_middle(low);
        match bins.last_mut() {
            Some(last) if last.0 == middle => last.1 += count,
            _ => bins.push((middle, count)),
        }
    }
    bins
}

/// The middle of the bin of 64 an octave that `value` falls into; values below 128 have their own.
fn fio_bin_middle(value: u64) -> u64 {
    if value < 128 {
        return value;
    }
    let width = 1 << (value.ilog2() - 6);
    value / width * width + width / 2
}

/// The merged histogram of those given; `None` when none of them holds a value.
pub(crate) fn merged<'a>(parts: impl Iterator<Item = &'a Histogram>) -> Option<Histogram> {
    let mut parts = parts.filter(|part| !part.is_empty());
    let mut out = parts.next()?.clone();
    parts.for_each(|part| out.merge(part));
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bins_are_named_as_the_oracle_names_them() {
        // Keys seen in fio's json+ output.
        for seen in [10, 20, 99, 131, 141, 548, 564, 1004, 1032, 2416, 20864, 44800] {
            assert_eq!(fio_bin_middle(seen), seen, "{seen}");
        }
        assert_eq!(fio_bin_middle(550), 548);
        assert_eq!(fio_bin_middle(20761), 20864);
    }

    proptest! {
        #[test]
        fn bins_lose_no_value_and_stay_close(
            values in prop::collection::vec(0_u64..1 << 41, 1..300),
        ) {
            let mut histogram = Histogram::new();
            values.iter().for_each(|v| histogram.record(*v));
            let bins = fio_bins(&histogram);
            prop_assert_eq!(bins.iter().map(|b| b.1).sum::<u64>(), values.len() as u64);
            prop_assert!(bins.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let mut direct: Vec<u64> = values.iter().map(|v| fio_bin_middle(*v)).collect();
            direct.sort_unstable();
            direct.dedup();
            prop_assert_eq!(bins.iter().map(|b| b.0).collect::<Vec<_>>(), direct);
        }
    }
}
