//! Rates in fio's formats. They are over the printed run time, so that the printed figures agree with
//! each other.

use judge::{DirectionMetrics, GroupRow};

/// The run time and the rates of a direction or group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FioRates {
    /// Run time in milliseconds.
    pub runtime_ms: u64,
    /// Bytes a second, rounded down; 0 without a run time.
    pub bytes_per_second: u64,
    /// I/Os a second; 0 without a run time.
    pub iops: f64,
}

impl FioRates {
    /// The rates of one direction.
    pub fn of_direction(metrics: &DirectionMetrics) -> Self {
        Self::over(metrics.runtime_ns, metrics.bytes, metrics.ios)
    }

    /// The rates of a group, without IOPS.
    pub fn of_group(row: &GroupRow) -> Self {
        Self::over(row.runtime_ns, row.bytes, 0)
    }

    fn over(runtime_ns: u64, bytes: u64, ios: u64) -> Self {
        let runtime_ms = runtime(runtime_ns);
        if runtime_ms == 0 {
            return Self::default();
        }
        let bytes = u128::from(bytes) * 1000 / u128::from(runtime_ms);
        let bytes_per_second = u64::try_from(bytes).unwrap_or(u64::MAX);
        FioRates { runtime_ms, bytes_per_second, iops: ios as f64 * 1000.0 / runtime_ms as f64 }
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
    fn rates_follow_from_the_printed_run_time() {
        let rates = |runtime_ns, bytes, ios| {
            let metrics = DirectionMetrics { runtime_ns, bytes, ios, ..Default::default() };
            let FioRates { runtime_ms, bytes_per_second, iops } = FioRates::of_direction(&metrics);
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
