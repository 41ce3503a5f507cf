//! Shares of latencies in fio's 1-2-5 classes.

use record::Histogram;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// Upper bounds of the classes, in nanoseconds, exclusive; the last class (2 s and above) has none.
/// The first ten are fio's "nsec" classes, the next ten its "usec", the rest its "msec".
pub const LATENCY_CLASSES: [u64; 31] = {
    let mut bounds = [2_000 * MS; 31];
    let mut class = 0;
    while class < 30 {
        bounds[class] = DECADES[class % 10] * [1, US, MS][class / 10];
        class += 1;
    }
    bounds
};

/// Bounds of the classes in each unit.
const DECADES: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];

/// Percentages of completion latencies per class, all directions together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LatencyClasses {
    /// "nsec" classes: below 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 ns.
    pub ns: [f64; 10],
    /// "usec" classes: below 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000 µs.
    pub us: [f64; 10],
    /// "msec" classes: below 2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000 ms, and above.
    pub ms: [f64; 12],
}

impl LatencyClasses {
    /// Shares over all the histograms together. A bucket that straddles a bound counts where its
    /// middle is.
    pub(super) fn from_histograms<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Self {
        let mut counts = [0_u64; 32];
        for (low, width, count) in histograms.flat_map(Histogram::bins) {
            let middle = low + (width - 1) / 2;
            counts[LATENCY_CLASSES.partition_point(|bound| *bound <= middle)] += count;
        }
        let total = counts.iter().sum::<u64>();
        let share = |index: usize| match total {
            0 => 0.0,
            _ => counts[index] as f64 * 100.0 / total as f64,
        };
        LatencyClasses {
            ns: std::array::from_fn(share),
            us: std::array::from_fn(|i| share(i + 10)),
            ms: std::array::from_fn(|i| share(i + 20)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_belong_to_the_class_above() {
        let mut histogram = Histogram::new();
        for value in [0, 1, 2, 10, 19, 20, 1000, 2_000_000_000, 9_000_000_000_000] {
            histogram.record(value);
        }
        let classes = LatencyClasses::from_histograms([&histogram].into_iter());
        let ninth = 100.0 / 9.0;
        assert!((classes.ns[0] - 2.0 * ninth).abs() < 1e-9, "0 and 1 are below 2");
        assert!((classes.ns[1] - ninth).abs() < 1e-9, "2 is below 4");
        assert!((classes.ns[3] - 2.0 * ninth).abs() < 1e-9, "10 and 19 are below 20");
        assert!((classes.ns[4] - ninth).abs() < 1e-9, "20 is below 50");
        assert!((classes.us[0] - ninth).abs() < 1e-9, "1000 ns is below 2 us");
        assert!((classes.ms[11] - 2.0 * ninth).abs() < 1e-9, "2 s and more");
    }

    #[test]
    fn nothing_recorded_is_no_share() {
        assert_eq!(LatencyClasses::from_histograms(std::iter::empty()), LatencyClasses::default());
    }
}
