//! fio's terse line: one for each unit, fields separated by semicolons, latencies in microseconds.

use crate::fio_rates::FioRates;
use crate::options::RenderOptions;
use crate::subject::Subject;
use judge::{DirectionMetrics, DiskMetrics, DiskTotals, LatencyStats, UnitMetrics};
use record::{Direction, Show};
use std::fmt::Write;

/// The number of percentiles in a line; unused places are "0%=0".
const PERCENTILES: usize = 20;

/// The terse lines of runs, in the version of the options.
///
/// Oracle: what a client shows of its servers has the disks on lines of their own, behind the jobs.
pub fn render(subject: Subject, options: &RenderOptions) -> String {
    let mut out = String::new();
    let of_clients = matches!(subject, Subject::Clients(_));
    for judged in subject.judged_runs() {
        let disks = if options.terse_version >= 3 { &judged.disks[..] } else { &[] };
        let (beside_jobs, below) = if of_clients { (&[][..], disks) } else { (disks, &[][..]) };
        judged.units.iter().for_each(|unit| line(&mut out, unit, beside_jobs, options));
        for disk in below {
            disk_fields(&mut out, disk);
            out.push('\n');
        }
    }
    out
}

fn line(out: &mut String, unit: &UnitMetrics, disks: &[DiskMetrics], options: &RenderOptions) {
    let version = options.terse_version;
    let _ = write!(out, "{version};");
    if version >= 3 {
        let _ = write!(out, "{};", options.version_line());
    }
    let _ = write!(out, "{};{};{}", unit.name, unit.group.group, unit.error);
    if unit.show.unified != 1 {
        for direction in Direction::ALL {
            if direction != Direction::Trim || version != 3 {
                direction_fields(out, &unit.directions[direction], unit, version);
            }
        }
    }
    unit.mixed.iter().for_each(|mixed| direction_fields(out, mixed, unit, version));
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
    // The first place holds all latencies below 2 µs.
    let below_2us: f64 = classes.ns.iter().sum::<f64>() + classes.us[0];
    for percent in [below_2us].iter().chain(&classes.us[1..]).chain(&classes.ms) {
        let _ = write!(out, ";{percent:3.2}%");
    }
    disks.iter().for_each(|disk| disk_fields(out, disk));
    if unit.show.errors {
        let first = unit.errors.first().map_or(0, |error| error.errno);
        let _ = write!(out, ";{};{first}", unit.total_errors());
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
    let FioRates { runtime_ms, bytes_per_second, iops } = FioRates::of_direction(metrics);
    let (kib, kib_per_second) = (metrics.bytes >> 10, bytes_per_second >> 10);
    let _ = write!(out, ";{kib};{kib_per_second};{};{runtime_ms}", iops as u64);
    latency(out, metrics.slat.as_ref());
    latency(out, metrics.clat.as_ref());
    let shown = |metrics| percentiles(metrics, &unit.show);
    // An idle direction still names the percentiles of the job.
    let names = unit.directions.iter().map(|(_, m)| shown(m)).find(|list| !list.is_empty());
    for place in 0..PERCENTILES {
        match (shown(metrics).get(place), names.and_then(|list| list.get(place))) {
            (Some((p, value)), _) => {
                let _ = write!(out, ";{p:.6}%={}", value / 1000);
            }
            (None, Some((p, _))) => {
                let _ = write!(out, ";{p:.6}%=0");
            }
            (None, None) => out.push_str(";0%=0"),
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

/// A line has one list: percentiles of total latency if the job asks for them.
fn percentiles<'a>(metrics: &'a DirectionMetrics, show: &Show) -> &'a [(f64, u64)] {
    let stats = match (show.lat_percentiles, show.clat_percentiles) {
        (true, _) => metrics.lat.as_ref(),
        (false, true) => metrics.clat.as_ref(),
        (false, false) => None,
    };
    stats.map_or(&[], |stats| &stats.percentiles)
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
        let Some(DiskTotals { counters: totals, util }) = totals else { continue };
        let _ = write!(
            out,
            ";{name};{};{};{};{};{};{};{};{:3.2}%",
            totals.read_ios,
            totals.write_ios,
            totals.read_merges,
            totals.write_merges,
            totals.read_ticks_ms,
            totals.write_ticks_ms,
            totals.queue_ms,
            util,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn fields(version: u8) -> Vec<String> {
        fields_of(&testing::mixed(), version)
    }

    fn fields_of(record: &record::RunRecord, version: u8) -> Vec<String> {
        let options = RenderOptions { terse_version: version, ..RenderOptions::default() };
        let text = render(Subject::Run(record, &judge::judge(record)), &options);
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
        assert_eq!(fields[..5], ["3", crate::FIO_VERSION, "mixed", "0", "0"]);
        assert_eq!(fields[5..9], ["4000", "2000", "500", "2000"], "KiB, KiB/s, IOPS, ms of reads");
        assert_eq!(fields[17], "1.000000%=107", "microseconds");
        assert_eq!(fields[121], "sda");
    }

    #[test]
    fn unified_figures_stand_alone_or_behind_the_directions() {
        // Counted as above; a direction has 38 fields in version 2, 41 in 3 and 4, 47 in 5.
        for (unified, version, count) in
            [(1, 2, 79), (1, 3, 80 + 9), (1, 5, 86 + 9), (2, 3, 162 + 9), (2, 4, 203 + 9)]
        {
            let mut record = testing::mixed();
            record.jobs.iter_mut().for_each(|job| job.show.unified = unified);
            assert_eq!(fields_of(&record, version).len(), count, "{unified} in version {version}");
        }
    }

    #[test]
    fn percentiles_of_total_latency_take_precedence() {
        let mut record = testing::mixed();
        let show =
            |lat, clat| Show { lat_percentiles: lat, clat_percentiles: clat, ..Show::default() };
        let mut p50 = |choice: Show| {
            record.jobs.iter_mut().for_each(|job| job.show = choice);
            let judged = judge::judge(&record);
            let read = &judged.units[0].directions.read;
            let of =
                |stats: &Option<LatencyStats>| stats.as_ref().unwrap().percentiles.get(6).copied();
            (fields_of(&record, 3)[23].clone(), of(&read.clat), of(&read.lat))
        };
        let told = |value: Option<(f64, u64)>| format!("50.000000%={}", value.unwrap().1 / 1000);
        let (field, clat, lat) = p50(show(true, true));
        assert!(field == told(lat) && field != told(clat), "{field}");
        let (field, clat, _) = p50(show(false, true));
        assert_eq!(field, told(clat));
        assert_eq!(p50(show(false, false)).0, "0%=0");
    }
}
