//! The rows of fio's distributions, and its search for a queue depth, in text and in JSON.

use judge::UnitMetrics;
use record::LatencyDepth;

// Upper bounds of the classes of latencies, in ns, µs and ms; queue depths; I/Os in one call.
pub(crate) const SHORT_BOUNDS: [&str; 10] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000"];
pub(crate) const LONG_BOUNDS: [&str; 12] =
    ["2", "4", "10", "20", "50", "100", "250", "500", "750", "1000", "2000", ">=2000"];
pub(crate) const DEPTHS: [&str; 7] = ["1", "2", "4", "8", "16", "32", ">=64"];
pub(crate) const BATCHES: [&str; 7] = ["0", "4", "8", "16", "32", "64", ">=64"];

/// The depth that `latency_target` found; without one, the whole depth.
pub(crate) fn latency_depth(unit: &UnitMetrics) -> LatencyDepth {
    unit.latency_depth.unwrap_or(LatencyDepth {
        depth: unit.depth.requested,
        percentile: 100.0,
        ..LatencyDepth::default()
    })
}
