//! "Run status group".

use crate::numbers::{SizeStyle, millis};
use judge::{GroupMetrics, RowKind};
use std::fmt::Write;

/// Writes the rows of one group under their heading.
pub(super) fn render(out: &mut String, group: &GroupMetrics) {
    let _ = writeln!(out, "\nRun status group {} (all jobs):", group.group);
    let style = SizeStyle {
        kb_base: group.kb_base,
        bits: group.unit_base == 1,
        figures: group.significant_figures,
    };
    for row in &group.rows {
        let name = match row.kind {
            RowKind::Direction(direction) => direction.name().to_uppercase(),
            RowKind::Mixed => "MIXED".into(),
        };
        let _ = writeln!(
            out,
            "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
            style.rate(row.bytes_per_second),
            style.rate_other(row.bytes_per_second),
            style.rate(row.unit_min),
            style.rate(row.unit_max),
            style.rate_other(row.unit_min),
            style.rate_other(row.unit_max),
            style.size(row.bytes),
            style.size_other(row.bytes),
            millis(row.runtime_min_ns),
            millis(row.runtime_max_ns),
        );
    }
}
