//! "Run status group".

use crate::fio_numbers::SizeStyle;
use crate::fio_rates::{self, FioRates};
use judge::{DirectionMetrics, GroupMetrics, RowKind, UnitMetrics};
use std::fmt::Write;

/// Writes the rows of one group under their heading; its units are among `units`.
pub(super) fn render(out: &mut String, group: &GroupMetrics, units: &[UnitMetrics]) {
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
        let all = FioRates::of_group(row).bytes_per_second as f64;
        let (slowest, fastest) = range(group.group, row.kind, units);
        let _ = writeln!(
            out,
            "{name:>7}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec",
            style.rate(all),
            style.rate_other(all),
            style.rate(slowest),
            style.rate(fastest),
            style.rate_other(slowest),
            style.rate_other(fastest),
            style.size(row.bytes),
            style.size_other(row.bytes),
            fio_rates::runtime(row.runtime_min_ns),
            fio_rates::runtime(row.runtime_max_ns),
        );
    }
}

/// Bytes a second of the slowest and of the fastest unit of a group.
fn range(group: u32, kind: RowKind, units: &[UnitMetrics]) -> (f64, f64) {
    let figures = |unit: &UnitMetrics| {
        let metrics: Option<&DirectionMetrics> = match kind {
            RowKind::Direction(direction) => Some(&unit.directions[direction]),
            RowKind::Mixed => unit.mixed.as_ref(),
        };
        metrics
            .filter(|metrics| !metrics.is_idle())
            .map(|m| FioRates::of_direction(m).bytes_per_second)
    };
    let shown = || units.iter().filter(|unit| unit.group.group == group).filter_map(figures);
    let (slowest, fastest) = (shown().min(), shown().max());
    (slowest.unwrap_or(0) as f64, fastest.unwrap_or(0) as f64)
}
