//! What fio's formats show for a second: counted over the run time they print, so that a reader who
//! divides the printed figures finds the printed rates.

use judge::{DirectionMetrics, GroupRow};

/// What moved in a run time, and how fast, as fio shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    /// Run time in milliseconds.
    pub runtime_ms: u64,
    /// Bytes a second, rounded down; 0 without a run time.
    pub bytes_per_second: u64,
    /// I/Os a second; 0 without a run time.
    pub iops: f64,
}

impl Rates {
    /// Of one direction.
    pub fn of(metrics: &DirectionMetrics) -> Self {
        Self::over(metrics.runtime_ns, metrics.bytes, metrics.ios)
    }

    /// Of a group; it counts no I/Os.
    pub fn of_row(row: &GroupRow) -> Self {
        Self::over(row.runtime_ns, row.bytes, 0)
    }

    fn over(runtime_ns: u64, bytes: u64, ios: u64) -> Self {
        let runtime_ms = runtime(runtime_ns);
        if runtime_ms == 0 {
            return Self::default();
        }
        let bytes = u128::from(bytes) * 1000 / u128::from(runtime_ms);
        let bytes_per_second = u64::try_from(bytes).unwrap_or(u64::MAX);
        Rates { runtime_ms, bytes_per_second, iops: ios as f64 * 1000.0 / runtime_ms as f64 }
    }
}

/// A run time in milliseconds as fio shows it: of whole microseconds, rounded up, and never 0 for
/// something that took time.
pub(crate) fn runtime(ns: u64) -> u64 {
    let rounded = (ns / 1000).div_ceil(1000);
    if ns > 0 { rounded.max(1) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_those_of_the_printed_run_time() {
        let rates = |runtime_ns, bytes, ios| {
            let metrics = DirectionMetrics { runtime_ns, bytes, ios, ..Default::default() };
            let Rates { runtime_ms, bytes_per_second, iops } = Rates::of(&metrics);
            (runtime_ms, bytes_per_second, iops)
        };
        // As fio 3.33 printed them for this much in this time.
        assert_eq!(rates(1_000_400_000, 4_096_000, 1000).0, 1001);
        assert_eq!(rates(1_000_400_000, 4_096_000, 1000).1, 4_091_908);
        assert_eq!(rates(700_000, 540_672, 132), (1, 540_672_000, 132_000.0));
        assert_eq!(rates(2_000_000_900, 40_960, 10), (2000, 20_480, 5.0));
        assert_eq!(rates(1, 1 << 20, 1).0, 1);
        assert_eq!(rates(0, 4096, 1), (0, 0, 0.0), "nothing is divided by none");
        assert_eq!(rates(1, u64::MAX, 1).1, u64::MAX);
    }
}
