//! The part of one worker, or of several reported together.

use super::{exchange, failure, latency};
use crate::fio_numbers::{SizeStyle, count, percent};
use crate::fio_rates::FioRates;
use crate::fio_rows::{BATCHES, DEPTHS, LONG_BOUNDS, SHORT_BOUNDS, latency_depth};
use crate::options::RenderOptions;
use judge::{DirectionMetrics, PriorityStats, UnitMetrics};
use record::date::asctime;
use record::{Direction, FioVersion, RunRecord};
use std::fmt::Write;

/// Writes the whole part of `unit`.
pub(super) fn render(
    out: &mut String,
    record: &RunRecord,
    unit: &UnitMetrics,
    options: &RenderOptions,
) {
    heading(out, record, unit);
    for (name, metrics) in directions(unit) {
        direction(out, unit, name, metrics, options);
    }
    let classes = &unit.latency_classes;
    latency::classes(out, "nsec", &SHORT_BOUNDS, &classes.ns);
    latency::classes(out, "usec", &SHORT_BOUNDS, &classes.us);
    latency::classes(out, "msec", &LONG_BOUNDS, &classes.ms);
    if let Some(stats) = &unit.sync.latency {
        out.push_str("  fsync/fdatasync/sync_file_range:\n");
        latency::stats(out, "sync", stats);
        latency::percentiles(out, "sync", stats);
    }
    cpu_and_depth(out, unit, options);
    shared_stamps(out, unit, options);
    issued(out, unit);
    errors(out, unit, options);
    if let Some(asked) = unit.exchange.as_ref().filter(|_| !options.as_fio) {
        exchange::render(out, asked);
    }
    limits(out, unit);
}

/// fio's lines on the states of blocks with counted trims.
fn blocks(out: &mut String, unit: &UnitMetrics) {
    let Some(blocks) = &unit.blocks else { return };
    let _ = writeln!(out, "  block lifetime percentiles :");
    let survived = &blocks.trims_survived;
    if !survived.is_empty() {
        let shown = [1.0, 10.0, 50.0, 90.0, 99.0];
        let shown = shown.map(|p| format!("{p:5.2}th=[{}]", survived.percentile(p)));
        let _ = writeln!(out, "     | {}", shown.join(", "));
    }
    let _ = writeln!(
        out,
        "   |        states               : unwritten={}, trimmed={}, written={}, \
         trim failure={}, write failure={}",
        blocks.untouched, blocks.trimmed, blocks.written, blocks.trim_failed, blocks.write_failed
    );
}

/// fio's lines on the latency target and the steady state.
fn limits(out: &mut String, unit: &UnitMetrics) {
    let searched = latency_depth(unit);
    // fio prints the target in nanoseconds and the window in microseconds.
    let _ = writeln!(
        out,
        "     latency   : target={}, window={}, percentile={:.2}%, depth={}",
        searched.target.0,
        searched.window.0 / 1000,
        searched.percentile,
        searched.depth
    );
    blocks(out, unit);
    let Some(steady) = &unit.steady else { return };
    let found = &steady.found;
    let style = SizeStyle::from_options(&unit.show);
    let figure = found.criterion.trim_end_matches("_slope");
    let _ = writeln!(
        out,
        "  steadystate  : attained={}, bw={} ({}), iops={}, {figure} {}={:.3}{}",
        if found.attained { "yes" } else { "no" },
        style.rate(steady.mean.bytes_per_second),
        style.rate_other(steady.mean.bytes_per_second),
        count(steady.mean.iops as u64, style.figures),
        if found.criterion.ends_with("_slope") { "slope" } else { "mean dev" },
        found.value,
        if found.percent { "%" } else { "" },
    );
}

fn heading(out: &mut String, record: &RunRecord, unit: &UnitMetrics) {
    let error = match unit.error {
        0 => String::new(),
        errno => format!(" ({})", failure::cause(&unit.errors, errno)),
    };
    let _ = writeln!(
        out,
        "{}: (groupid={}, jobs={}): err={:2}{error}: pid={}: {}",
        unit.name,
        unit.group.group,
        unit.workers,
        unit.error,
        unit.tid,
        asctime(record.invocation.ended_unix_ms, record.invocation.utc_offset_seconds),
    );
    if !unit.description.is_empty() {
        let _ = writeln!(out, "  Description  : [{}]", unit.description);
    }
}

/// The directions a unit's text shows, with their names.
fn directions(unit: &UnitMetrics) -> Vec<(&'static str, &DirectionMetrics)> {
    let mut shown = Vec::new();
    if unit.show.unified != 1 {
        shown.extend(unit.directions.iter().map(|(direction, m)| (direction.name(), m)));
    }
    shown.extend(unit.mixed.iter().map(|metrics| ("mixed", metrics)));
    shown.retain(|(_, metrics)| metrics.runtime_ns > 0 && !metrics.is_idle());
    shown
}

fn direction(
    out: &mut String,
    unit: &UnitMetrics,
    name: &str,
    metrics: &DirectionMetrics,
    options: &RenderOptions,
) {
    let style = SizeStyle::from_options(&unit.show);
    let FioRates { runtime_ms, bytes_per_second, iops } = FioRates::of_direction(metrics);
    let _ = writeln!(
        out,
        "  {name}: IOPS={}, BW={} ({})({}/{runtime_ms}msec){}",
        count(iops as u64, style.figures),
        style.rate(bytes_per_second as f64),
        style.rate_other(bytes_per_second as f64),
        style.size(metrics.bytes),
        zone_resets(unit, name, options),
    );
    let kinds = [
        ("slat", &metrics.slat, unit.show.slat_percentiles),
        ("clat", &metrics.clat, unit.show.clat_percentiles),
        ("lat", &metrics.lat, unit.show.lat_percentiles),
    ];
    for (name, stats, _) in &kinds {
        if let Some(stats) = stats {
            latency::stats(out, &format!("{name:>4}"), stats);
        }
    }
    let kind = if unit.show.lat_percentiles { "lat" } else { "clat" };
    let prio_name = |prio: &PriorityStats| match options.compat {
        FioVersion::V3_42 => format!("{kind} prio {}/{}/{}", prio.class, prio.level, prio.hint),
        FioVersion::V3_33 => format!("{kind} prio {}/{}", prio.class, prio.level),
    };
    for prio in &metrics.prios {
        latency::stats(out, &prio_name(prio), &prio.latency);
    }
    for (name, stats, wanted) in &kinds {
        if let (Some(stats), true) = (stats, wanted) {
            latency::percentiles(out, name, stats);
        }
    }
    let shown = unit.show.lat_percentiles || unit.show.clat_percentiles;
    for prio in metrics.prios.iter().filter(|_| shown) {
        let name = format!("{} ({:.2}% of IOs)", prio_name(prio), prio.share);
        latency::percentiles(out, &name, &prio.latency);
    }
    if let (Some(response), false) = (&metrics.response, options.as_fio) {
        out.push_str("    response latency (from the intended start):\n");
        latency::stats(out, " response", response);
        latency::percentiles(out, "response", response);
    }
    series(out, metrics, &style);
}

/// fio 3.33 tells of zones whatever the zone mode, but only for writes.
fn zone_resets(unit: &UnitMetrics, name: &str, options: &RenderOptions) -> String {
    let resets = match options.compat {
        FioVersion::V3_42 => unit.zone_resets,
        FioVersion::V3_33 => (name == "write").then(|| unit.zone_resets.unwrap_or(0)),
    };
    resets.map_or(String::new(), |resets| format!("; {resets} zone resets"))
}

fn series(out: &mut String, metrics: &DirectionMetrics, style: &SizeStyle) {
    let (bandwidth, iops) = (&metrics.bandwidth, &metrics.iops_series);
    if bandwidth.samples == 0 {
        return;
    }
    let base = f64::from(style.kb_base);
    let large = bandwidth.mean > base.powi(3);
    let scale = if large { base.powi(2) } else { base };
    let unit = match (style.kb_base, large) {
        (1000, false) => "kB",
        (1000, true) => "MB",
        (_, false) => "KiB",
        (_, true) => "MiB",
    };
    let _ = writeln!(
        out,
        "   bw ({unit:>5}/s): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, \
         samples={}",
        (bandwidth.min / scale) as u64,
        (bandwidth.max / scale) as u64,
        metrics.group_share,
        bandwidth.mean / scale,
        bandwidth.stddev / scale,
        bandwidth.samples,
    );
    let _ = writeln!(
        out,
        "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}",
        iops.min as u64, iops.max as u64, iops.mean, iops.stddev, iops.samples,
    );
}

fn cpu_and_depth(out: &mut String, unit: &UnitMetrics, options: &RenderOptions) {
    let (cpu, depth) = (&unit.cpu, &unit.depth);
    let _ = writeln!(
        out,
        "  cpu          : usr={:3.2}%, sys={:3.2}%, ctx={}, majf={}, minf={}",
        cpu.user, cpu.system, cpu.context_switches, cpu.major_faults, cpu.minor_faults,
    );
    let line = |names: [&str; 7], shares: &[f64; 7]| {
        let entries: Vec<String> = names
            .iter()
            .zip(shares)
            .map(|(name, share)| format!("{name}={}", percent(*share, 1)))
            .collect();
        entries.join(", ")
    };
    let levels = line(DEPTHS, &depth.level);
    let _ = writeln!(out, "  IO depths    : {levels}");
    let _ = writeln!(out, "     submit    : {}", line(BATCHES, &depth.submit));
    let _ = writeln!(out, "     complete  : {}", line(BATCHES, &depth.complete));
    // Our own line: the job did not reach its queue depth.
    if !options.as_fio && depth.requested > 1 {
        let _ = writeln!(
            out,
            "     achieved  : mean={:.2}, requested={}",
            depth.achieved_mean, depth.requested
        );
    }
}

/// Where I/Os share stamps, how much of their latency may be the loop's own time.
fn shared_stamps(out: &mut String, unit: &UnitMetrics, options: &RenderOptions) {
    let Some(between) = unit.shared_stamps.between.as_ref().filter(|_| !options.as_fio) else {
        return;
    };
    let ios: u64 = unit.directions.iter().map(|(_, metrics)| metrics.ios).sum();
    let share = unit.shared_stamps.shared as f64 * 100.0 / ios.max(1) as f64;
    let _ = writeln!(
        out,
        "     stamps    : shared by {:.1}% of I/Os, which were ready {} nsec later (max {})",
        share.min(100.0),
        between.percentile(50.0),
        between.max(),
    );
}

fn issued(out: &mut String, unit: &UnitMetrics) {
    let row = |pick: fn(&DirectionMetrics) -> u64| {
        let [r, w, t] = Direction::ALL.map(|d| pick(&unit.directions[d]));
        format!("{r},{w},{t}")
    };
    let _ = writeln!(
        out,
        "     issued rwts: total={},{} short={},0 dropped={},0",
        row(|m| m.ios_issued),
        unit.sync.count,
        row(|m| m.short_ios),
        row(|m| m.dropped_ios),
    );
}

/// fio has one line, and only for jobs that tolerate errors. Ours shows every kind, always.
fn errors(out: &mut String, unit: &UnitMetrics, options: &RenderOptions) {
    let tolerates = unit.show.errors;
    if !tolerates && (options.as_fio || unit.errors.is_empty()) {
        return;
    }
    let first = unit.errors.first();
    let _ = writeln!(
        out,
        "     errors    : total={}, first_error={}/<{}>",
        unit.total_errors(),
        first.map_or(0, |error| error.errno),
        first.map_or("Success", |error| error.text.as_str()),
    );
    if options.as_fio {
        return;
    }
    for error in &unit.errors {
        let place = match (error.first_offset, error.first_length) {
            (Some(offset), Some(length)) => format!(" at offset {offset}, length {length}"),
            (Some(offset), None) => format!(" at offset {offset}"),
            _ => String::new(),
        };
        let _ = writeln!(
            out,
            "                 {} x {} in {}: first in {}{place}",
            error.count, error.text, error.operation, error.first_file,
        );
    }
}
