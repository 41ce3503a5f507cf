//! fio's terse line: one a unit, fields separated by semicolons, latencies in microseconds.

use crate::Dress;
use crate::numbers::millis;
use judge::{DirectionMetrics, DiskMetrics, Judged, LatencyStats, UnitMetrics};
use record::Direction;
use std::fmt::Write;

/// Percentiles a line has room for; unused places are "0%=0".
const PERCENTILES: usize = 20;

/// The terse lines of a run, in the version `dress` names.
pub fn render(judged: &Judged, dress: &Dress) -> String {
    let mut out = String::new();
    for unit in &judged.units {
        line(&mut out, unit, &judged.disks, dress);
    }
    out
}

fn line(out: &mut String, unit: &UnitMetrics, disks: &[DiskMetrics], dress: &Dress) {
    let version = dress.terse_version;
    let _ = write!(out, "{version};");
    if version >= 3 {
        let _ = write!(out, "{};", dress.fio_version);
    }
    let _ = write!(out, "{};{};{}", unit.name, unit.group.group, unit.error);
    let idle = DirectionMetrics::default();
    for direction in Direction::ALL {
        if direction == Direction::Trim && version == 3 {
            continue;
        }
        // Unified figures stand where the reads would.
        let metrics = match (&unit.mixed, direction) {
            (Some(mixed), Direction::Read) if unit.show.unified == 1 => mixed,
            (Some(_), _) if unit.show.unified == 1 => &idle,
            _ => &unit.directions[direction],
        };
        direction_fields(out, metrics, unit, version);
    }
    let cpu = &unit.cpu;
    let _ = write!(
        out,
        ";{:.6}%;{:.6}%;{};{};{}",
        cpu.user, cpu.system, cpu.context_switches, cpu.major_faults, cpu.minor_faults
    );
    unit.depth.level.iter().for_each(|percent| {
        let _ = write!(out, ";{percent:3.1}%");
    });
    let classes = &unit.latency_classes;
    // There are no places for nanoseconds: all of them are below 2 us.
    let below_2us: f64 = classes.ns.iter().sum::<f64>() + classes.us[0];
    for percent in [below_2us].iter().chain(&classes.us[1..]).chain(&classes.ms) {
        let _ = write!(out, ";{percent:3.2}%");
    }
    if version >= 3 {
        disks.iter().for_each(|disk| disk_fields(out, disk));
    }
    match (unit.description.as_str(), version) {
        ("", _) => out.push('\n'),
        (text, 2) => {
            let _ = writeln!(out, "\n;{text}");
        }
        (text, _) => {
            let _ = writeln!(out, ";{text}");
        }
    }
}

fn direction_fields(out: &mut String, metrics: &DirectionMetrics, unit: &UnitMetrics, version: u8) {
    let _ = write!(
        out,
        ";{};{};{};{}",
        metrics.bytes >> 10,
        (metrics.bytes_per_second / 1024.0) as u64,
        metrics.iops as u64,
        millis(metrics.runtime_ns),
    );
    latency(out, metrics.slat.as_ref());
    latency(out, metrics.clat.as_ref());
    let shown = match unit.show.clat_percentiles {
        true => metrics.clat.as_ref(),
        false => metrics.lat.as_ref().filter(|_| unit.show.lat_percentiles),
    };
    let percentiles = shown.map_or(&[][..], |stats| &stats.percentiles);
    // An idle direction still names the percentiles of the job.
    let names = unit.directions.iter().filter_map(|(_, m)| m.clat.as_ref()).next();
    let names = names.map_or(&[][..], |stats| &stats.percentiles);
    for place in 0..PERCENTILES {
        match (percentiles.get(place), names.get(place)) {
            (Some((p, value)), _) => {
                let _ = write!(out, ";{p:.6}%={}", value / 1000);
            }
            (None, Some((p, _))) if unit.show.clat_percentiles => {
                let _ = write!(out, ";{p:.6}%=0");
            }
            _ => out.push_str(";0%=0"),
        }
    }
    latency(out, metrics.lat.as_ref());
    let bandwidth = &metrics.bandwidth;
    let _ = write!(
        out,
        ";{};{};{:.6}%;{:.6};{:.6}",
        (bandwidth.min / 1024.0) as u64,
        (bandwidth.max / 1024.0) as u64,
        if bandwidth.samples > 0 { metrics.group_share } else { 0.0 },
        bandwidth.mean / 1024.0,
        bandwidth.stddev / 1024.0,
    );
    if version >= 5 {
        let iops = &metrics.iops_series;
        let _ = write!(
            out,
            ";{};{};{};{:.6};{:.6};{}",
            bandwidth.samples,
            iops.min as u64,
            iops.max as u64,
            iops.mean,
            iops.stddev,
            iops.samples,
        );
    }
}

fn latency(out: &mut String, stats: Option<&LatencyStats>) {
    let none = LatencyStats::default();
    let stats = stats.unwrap_or(&none);
    let _ = write!(
        out,
        ";{};{};{:.6};{:.6}",
        stats.min / 1000,
        stats.max / 1000,
        stats.mean / 1000.0,
        stats.stddev / 1000.0
    );
}

fn disk_fields(out: &mut String, disk: &DiskMetrics) {
    for (name, totals) in [(disk.name.as_str(), Some(&disk.own)), ("slaves", disk.members.as_ref())]
    {
        let Some(totals) = totals else { continue };
        let _ = write!(
            out,
            ";{name};{};{};{};{};{};{};{};{:3.2}%",
            totals.read_ios,
            totals.write_ios,
            totals.read_merges,
            totals.write_merges,
            totals.read_ticks_ms,
            totals.write_ticks_ms,
            totals.in_queue_ms,
            totals.util,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn fields(version: u8) -> Vec<String> {
        let record = sample::mixed();
        let dress = Dress { terse_version: version, ..Dress::default() };
        let text = render(&judge::judge(&record), &dress);
        text.trim_end().split(';').map(Into::into).collect()
    }

    #[test]
    fn every_version_has_the_oracles_number_of_fields() {
        // Counted in fio 3.33's output of a job without a disk; the sample's disk adds nine, but for
        // version 2, which knows of no disks.
        for (version, count) in [(2, 161), (3, 121 + 9), (4, 162 + 9), (5, 180 + 9)] {
            assert_eq!(fields(version).len(), count, "version {version}");
        }
    }

    #[test]
    fn fields_stand_where_readers_look() {
        let fields = fields(3);
        assert_eq!(fields[..5], ["3", "fio-3.33", "mixed", "0", "0"]);
        assert_eq!(fields[5..9], ["4000", "2000", "500", "2000"], "KiB, KiB/s, IOPS, ms of reads");
        assert_eq!(fields[17], "1.000000%=107", "microseconds");
        assert_eq!(fields[121], "sda");
    }
}
