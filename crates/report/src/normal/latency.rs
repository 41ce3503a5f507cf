//! Lines of latencies.

use crate::fio_numbers::{TimeUnit, count, percent};
use judge::LatencyStats;
use std::fmt::Write;

/// The longest line of percentiles.
const LINE_WIDTH: usize = 80;

/// "    clat (usec): min=…, max=…, avg=…, stdev=…"; `name` comes with its indentation.
pub(super) fn stats(out: &mut String, name: &str, latency: &LatencyStats) {
    let unit = TimeUnit::for_stats(latency.min, latency.max, latency.stddev);
    let scale = unit.nanos();
    let _ = writeln!(
        out,
        "    {name} ({}): min={}, max={}, avg={:5.2}, stdev={:5.2}",
        unit.name(),
        count(latency.min / scale, 6),
        count(latency.max / scale, 6),
        latency.mean / scale as f64,
        latency.stddev / scale as f64,
    );
}

/// "    clat percentiles (usec):" and the table below it; nothing without percentiles.
pub(super) fn percentiles(out: &mut String, name: &str, latency: &LatencyStats) {
    let percentiles = &latency.percentiles;
    let (Some(first), Some(last)) = (percentiles.first(), percentiles.last()) else { return };
    let unit = TimeUnit::for_range(first.1, last.1);
    let shown = |value: u64| value.div_ceil(unit.nanos()).to_string();
    let value_width = shown(last.1).len().max(5);
    let decimals = percentiles.iter().map(|p| decimals_of(p.0)).max().unwrap_or(0);
    // An entry is the percentile (three characters beside its decimals), "th=[", the value, "],"
    // and a space.
    let per_line = ((LINE_WIDTH - 7) / (decimals + 10 + value_width)).max(1);
    let _ = writeln!(out, "    {name} percentiles ({}):", unit.name());
    for (index, entries) in percentiles.chunks(per_line).enumerate() {
        let line: Vec<String> = entries
            .iter()
            .map(|(p, value)| {
                let width = decimals + 3;
                format!("{p:width$.decimals$}th=[{:>value_width$}]", shown(*value))
            })
            .collect();
        let more = if (index + 1) * per_line < percentiles.len() { "," } else { "" };
        let _ = writeln!(out, "     | {}{more}", line.join(", "));
    }
}

/// Decimals needed to print a percentile in full, at most 6.
fn decimals_of(percentile: f64) -> usize {
    let text = format!("{percentile:.6}");
    let text = text.trim_end_matches('0');
    text.find('.').map_or(0, |point| text.len() - point - 1)
}

/// Lines of shares by class, at most five per line. Empty classes are skipped.
pub(super) fn classes(out: &mut String, unit: &str, bounds: &[&str], shares: &[f64]) {
    let entries: Vec<String> = bounds
        .iter()
        .zip(shares)
        .filter(|(_, share)| **share > 0.0)
        .map(|(bound, share)| format!("{bound}={}", percent(*share, 2)))
        .collect();
    for line in entries.chunks(5) {
        let _ = writeln!(out, "  lat ({unit})   : {}", line.join(", "));
    }
}
