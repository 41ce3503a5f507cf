//! The tree fio's readers know. Keys, order and number forms are observed from fio 3.33; what 3.42 has
//! added is left out with [`FioVersion::V3_33`].

use super::fathom;
use super::latency::latency;
use super::tree::{Json, array, object};
use crate::fio_numbers::millis;
use crate::fio_rates::FioRates;
use crate::fio_rows::{BATCHES, DEPTHS, LONG_BOUNDS, SHORT_BOUNDS, latency_depth};
use crate::options::RenderOptions;
use judge::{
    DirectionMetrics, DiskMetrics, DiskTotals, Idleness, Judged, PriorityStats, SeriesStats,
    SteadyMetrics, UnitMetrics,
};
use record::date::asctime;
use record::{Direction, FioVersion, RunRecord, SteadySample};

/// Bytes of a sector in fio's disk statistics.
const SECTOR: u64 = 512;
/// fio's value for "no estimate"; readers check for it.
const NO_ETA: i32 = i32::MAX;
/// fio estimates from this second on: a shorter run has no estimate, a longer one ends with 0.
const FIRST_ETA_S: u64 = 3;

/// The whole document.
pub(super) fn document(
    record: &RunRecord,
    judged: &Judged,
    bins: bool,
    options: &RenderOptions,
) -> Json {
    let ended = record.invocation.ended_unix_ms;
    let mut out = object! {
        "fio version" => options.version_line(),
        "timestamp" => ended / 1000,
        "timestamp_ms" => ended,
        "time" => asctime(ended, record.invocation.utc_offset_seconds),
    };
    let globals = option_list(&record.global_options, options);
    if globals != Json::Object(Vec::new()) {
        out.push("global options", globals);
    }
    let elapsed_s = judged.elapsed_ns.div_ceil(1_000_000_000).max(1);
    let eta = if options.so_far || elapsed_s < FIRST_ETA_S { NO_ETA } else { 0 };
    let times = Times { elapsed_s, eta };
    let jobs = judged.units.iter().map(|unit| job(record, unit, &times, bins, options)).collect();
    out.push("jobs", Json::Array(jobs));
    if !judged.disks.is_empty() {
        out.push("disk_util", array(&judged.disks, |found| disk(found, options)));
    }
    if let Some(idleness) = &judged.idleness {
        out.push("cpu_idleness", idle(idleness));
    }
    let mut about = fathom::run_part(record, judged);
    if let Some(id) = &options.archived_as {
        about.push("archived_as", id);
    }
    out.push("fathom", about);
    out
}

/// Whether the options of a unit, or the global ones, set `name`.
fn option_is_set(record: &RunRecord, unit: &UnitMetrics, name: &str) -> bool {
    unit.options.iter().chain(&record.global_options).any(|(key, _)| key == name)
}

/// Options as typed. Those without a value have an empty one, which fio 3.33 leaves out.
pub(super) fn option_list(typed: &[(String, String)], options: &RenderOptions) -> Json {
    let mut pairs: Vec<(String, Json)> = Vec::new();
    let is_shown = |value: &str| !value.is_empty() || options.compat != FioVersion::V3_33;
    for (name, value) in typed.iter().filter(|(_, value)| is_shown(value)) {
        // A repeated option keeps its first place and has its last value.
        match pairs.iter_mut().find(|(known, _)| known == name) {
            Some(known) => known.1 = value.into(),
            None => pairs.push((name.clone(), value.into())),
        }
    }
    Json::Object(pairs)
}

/// Seconds of a run as jobs show them.
pub(super) struct Times {
    pub elapsed_s: u64,
    pub eta: i32,
}

impl Times {
    /// As fio's client has them.
    pub const UNKNOWN: Times = Times { elapsed_s: 0, eta: NO_ETA };
}

pub(super) fn job(
    record: &RunRecord,
    unit: &UnitMetrics,
    times: &Times,
    bins: bool,
    options: &RenderOptions,
) -> Json {
    let mut out = object! {
        "jobname" => &unit.name,
        "groupid" => unit.group.group,
    };
    // Newer than fio 3.33, so there only on request.
    let on_request = option_is_set(record, unit, "job_start_clock_id");
    if options.compat != FioVersion::V3_33 || on_request {
        out.push("job_start", unit.start_clock_ms);
    }
    out.push("error", unit.error);
    out.push("eta", times.eta);
    out.push("elapsed", times.elapsed_s);
    let own = option_list(&unit.options, options);
    if own != Json::Object(Vec::new()) {
        out.push("job options", own);
    }
    let form = Form::new(unit, bins, options.compat);
    if unit.show.unified != 1 {
        for direction in Direction::ALL {
            out.push(direction.name(), form.direction(&unit.directions[direction]));
        }
        out.push("sync", form.sync(unit));
    }
    if let Some(mixed) = &unit.mixed {
        out.push("mixed", form.direction(mixed));
    }
    usage(&mut out, unit);
    if unit.show.errors {
        out.push("total_err", unit.total_errors());
        out.push("first_error", unit.errors.first().map_or(0, |error| error.errno));
    }
    let searched = latency_depth(unit);
    out.push("latency_depth", searched.depth);
    out.push("latency_target", searched.target.0);
    out.push("latency_percentile", searched.percentile);
    // fio prints the target in nanoseconds and the window in microseconds.
    out.push("latency_window", searched.window.0 / 1000);
    if !unit.description.is_empty() {
        out.push("desc", &unit.description);
    }
    if let Some(steady) = &unit.steady {
        out.push("steadystate", steady_state(steady));
    }
    out.push("fathom", fathom::unit_part(unit, bins));
    out
}

fn steady_state(steady: &SteadyMetrics) -> Json {
    let found = &steady.found;
    let percent = if found.percent { "%" } else { "" };
    let samples = steady.samples();
    let series = |of: fn(&SteadySample) -> f64| {
        Json::Array(samples.iter().map(|sample| (of(sample) as u64).into()).collect())
    };
    let mut data = object! {
        "bw_mean" => steady.mean_of_window.bytes_per_second as u64,
        "iops_mean" => steady.mean_of_window.iops as u64,
        "iops" => series(|sample| sample.iops),
        "bw" => series(|sample| sample.bytes_per_second),
    };
    if steady.is_latency() {
        data.push("lat_mean", steady.mean_of_window.latency_ns);
        data.push("lat", series(|sample| sample.latency_ns));
    }
    object! {
        "ss" => format!("{}:{:.6}{percent}", found.criterion, found.limit),
        "duration" => found.duration.0 / 1_000_000_000,
        "attained" => u32::from(found.attained),
        "criterion" => format!("{:.6}{percent}", found.value),
        "max_deviation" => found.deviation,
        "slope" => found.slope,
        "data" => data,
    }
}

/// CPU, depths and latency classes.
fn usage(out: &mut Json, unit: &UnitMetrics) {
    out.push("job_runtime", millis(unit.job_runtime_ns));
    out.push("usr_cpu", unit.cpu.user);
    out.push("sys_cpu", unit.cpu.system);
    out.push("ctx", unit.cpu.context_switches);
    out.push("majf", unit.cpu.major_faults);
    out.push("minf", unit.cpu.minor_faults);
    out.push("iodepth_level", shares(&DEPTHS, &unit.depth.level));
    out.push("iodepth_submit", shares(&BATCHES, &unit.depth.submit));
    out.push("iodepth_complete", shares(&BATCHES, &unit.depth.complete));
    out.push("latency_ns", shares(&SHORT_BOUNDS, &unit.latency_classes.ns));
    out.push("latency_us", shares(&SHORT_BOUNDS, &unit.latency_classes.us));
    out.push("latency_ms", shares(&LONG_BOUNDS, &unit.latency_classes.ms));
}

fn shares(names: &[&str], values: &[f64]) -> Json {
    Json::Object(names.iter().zip(values).map(|(n, v)| (n.to_string(), (*v).into())).collect())
}

/// Which tables the latencies of a unit have.
struct Form {
    slat: bool,
    clat: bool,
    lat: bool,
    bins: bool,
    /// Whether priorities have their hint, which fio 3.33 does not know.
    hints: bool,
}

impl Form {
    fn new(unit: &UnitMetrics, bins: bool, compat: FioVersion) -> Self {
        Form {
            slat: unit.show.slat_percentiles,
            clat: unit.show.clat_percentiles,
            lat: unit.show.lat_percentiles,
            bins,
            hints: compat != FioVersion::V3_33,
        }
    }

    fn direction(&self, metrics: &DirectionMetrics) -> Json {
        let FioRates { runtime_ms, bytes_per_second, iops } = FioRates::of_direction(metrics);
        let mut out = object! {
            "io_bytes" => metrics.bytes,
            "io_kbytes" => metrics.bytes >> 10,
            "bw_bytes" => bytes_per_second,
            "bw" => bytes_per_second >> 10,
            "iops" => iops,
            "runtime" => runtime_ms,
            "total_ios" => metrics.ios,
            "short_ios" => metrics.short_ios,
            "drop_ios" => metrics.dropped_ios,
            "slat_ns" => latency(metrics.slat.as_ref(), self.slat, self.bins),
            "clat_ns" => latency(metrics.clat.as_ref(), self.clat, self.bins),
            "lat_ns" => latency(metrics.lat.as_ref(), self.lat, self.bins),
        };
        self.prios(&mut out, metrics);
        series(&mut out, metrics);
        out
    }

    /// fio's list of priorities, present only when there are several.
    fn prios(&self, out: &mut Json, metrics: &DirectionMetrics) {
        if metrics.prios.is_empty() {
            return;
        }
        let (name, tables) = if self.lat { ("lat_ns", true) } else { ("clat_ns", self.clat) };
        let one = |prio: &PriorityStats| {
            let mut entry =
                object! { "prioclass" => u32::from(prio.class), "prio" => u32::from(prio.level) };
            if self.hints {
                entry.push("priohint", u32::from(prio.hint));
            }
            entry.push(name, latency(Some(&prio.latency), tables, self.bins));
            entry
        };
        out.push("prios", array(&metrics.prios, one));
    }

    fn sync(&self, unit: &UnitMetrics) -> Json {
        object! {
            "total_ios" => unit.sync.count,
            "lat_ns" => latency(unit.sync.latency.as_ref(), true, self.bins),
        }
    }
}

fn series(out: &mut Json, metrics: &DirectionMetrics) {
    let whole = |value: f64| value as u64;
    let SeriesStats { min, max, mean, stddev, samples } = metrics.bandwidth;
    out.push("bw_min", whole(min / 1024.0));
    out.push("bw_max", whole(max / 1024.0));
    out.push("bw_agg", if samples > 0 { metrics.group_share } else { 0.0 });
    out.push("bw_mean", mean / 1024.0);
    out.push("bw_dev", stddev / 1024.0);
    out.push("bw_samples", samples);
    let SeriesStats { min, max, mean, stddev, samples } = metrics.iops_series;
    out.push("iops_min", whole(min));
    out.push("iops_max", whole(max));
    out.push("iops_mean", mean);
    out.push("iops_stddev", stddev);
    out.push("iops_samples", samples);
}

pub(super) fn idle(idleness: &Idleness) -> Json {
    let mut out = object! { "system" => idleness.system };
    if idleness.profile.per_cpu {
        for (number, cpu) in idleness.cpus.iter().enumerate() {
            out.push(&format!("cpu-{number}"), *cpu);
        }
    }
    out.push("unit_mean", idleness.profile.unit_mean_us);
    out.push("unit_stddev", idleness.profile.unit_stddev_us);
    out
}

pub(super) fn disk(disk: &DiskMetrics, options: &RenderOptions) -> Json {
    let mut out = object! { "name" => &disk.name };
    // Of totals fio writes the merges of writes without their plural, and its readers look for that.
    push_totals(&mut out, "", "write_merges", &disk.own, options);
    if let Some(members) = &disk.members {
        push_totals(&mut out, "aggr_", "write_merge", members, options);
    }
    out
}

/// The counters of a disk or of its members, with a prefix before each key.
fn push_totals(
    out: &mut Json,
    prefix: &str,
    write_merges: &str,
    totals: &DiskTotals,
    options: &RenderOptions,
) {
    let DiskTotals { counters, util } = totals;
    let mut push = |key: &str, value: u64| out.push(&format!("{prefix}{key}"), value);
    push("read_ios", counters.read_ios);
    push("write_ios", counters.write_ios);
    if options.compat != FioVersion::V3_33 {
        push("read_sectors", counters.read_bytes / SECTOR);
        push("write_sectors", counters.write_bytes / SECTOR);
    }
    push("read_merges", counters.read_merges);
    push(write_merges, counters.write_merges);
    push("read_ticks", counters.read_ticks_ms);
    push("write_ticks", counters.write_ticks_ms);
    push("in_queue", counters.queue_ms);
    out.push(&format!("{prefix}util"), *util);
}
