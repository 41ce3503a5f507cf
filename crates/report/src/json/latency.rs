//! A latency as an object.

use super::tree::{Json, object};
use judge::LatencyStats;

/// min, max, mean, stddev and N, with percentiles and bins when `tables` and there are values.
pub(super) fn latency(stats: Option<&LatencyStats>, tables: bool, bins: bool) -> Json {
    let none = LatencyStats::default();
    let stats = stats.unwrap_or(&none);
    let mut out = object! {
        "min" => stats.min,
        "max" => stats.max,
        "mean" => stats.mean,
        "stddev" => stats.stddev,
        "N" => stats.count,
    };
    if !tables || stats.count == 0 {
        return out;
    }
    if !stats.percentiles.is_empty() {
        let pairs = stats.percentiles.iter().map(|(p, v)| (format!("{p:.6}"), (*v).into()));
        out.push("percentile", Json::Object(pairs.collect()));
    }
    if bins {
        let pairs = stats.bins.iter().map(|(middle, count)| (middle.to_string(), (*count).into()));
        out.push("bins", Json::Object(pairs.collect()));
    }
    out
}
