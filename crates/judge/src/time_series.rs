//! Time series of a run: each job in steps, and the machine.

use crate::case::{Case, CpuShare, Part};
use crate::metrics::series::{Slot, slots};
use crate::metrics::window::per_second;
use crate::stats::{change_points, median, supports};
use record::{Direction, LatencyHistory, Nanos, RunRecord, Sample, distinct};

/// Largest number of steps; neighbours are merged.
const STEPS_MAX: usize = 600;
/// CPU times are counted in hundredths of a second: a shorter step says little.
const MACHINE_STEP_MIN: u64 = 500_000_000;
/// Smallest number of intervals that shows a level.
const SLOTS_MIN: usize = 10;
/// Smallest change of level that is shown, as a share.
const LEVEL: f64 = 0.10;

/// The percentiles that are followed over time.
pub const PERCENTILES: [f64; 3] = [50.0, 99.0, 99.9];

/// One job over the time of its run. All times are nanoseconds from the run's origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobSeries {
    /// Its name.
    pub job: String,
    /// The ramp before its measured window.
    pub ramp: Option<(u64, u64)>,
    /// Its measured window.
    pub window: (u64, u64),
    /// Where its rate changed to another level, by a tenth at least.
    pub new_levels: Vec<u64>,
    /// The steady time: the window in which `steadystate` was attained or, without that option, the
    /// time after the last change of level.
    pub steady: Option<(u64, u64)>,
    /// The directions in which it did I/O.
    pub directions: Vec<DirectionSeries>,
    /// I/Os in flight, by Little's law, in each step: (begin, number).
    pub depth: Vec<(u64, f64)>,
}

/// One direction of a job over time.
#[derive(Clone, Debug, PartialEq)]
pub struct DirectionSeries {
    /// Which.
    pub direction: Direction,
    /// Its rates, step by step.
    pub steps: Vec<SeriesStep>,
    /// How its completion latencies were distributed; empty in older records.
    pub history: LatencyHistory,
    /// For each of [`PERCENTILES`] the (begin, nanoseconds) of the steps with enough completions for
    /// it.
    pub percentiles: Vec<(f64, Vec<(u64, f64)>)>,
}

/// One step of a job.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesStep {
    /// Where it begins.
    pub start: u64,
    /// How long it is.
    pub length: u64,
    /// I/Os a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Mean completion latency in nanoseconds; `None` when nothing completed.
    pub latency: Option<f64>,
}

/// The machine over the time of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MachineSeries {
    /// Its CPUs.
    pub cpus: Vec<CpuStep>,
    /// The devices under the targets.
    pub devices: Vec<DeviceSeries>,
}

/// The CPUs in one step, as shares from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuStep {
    /// Where it begins.
    pub start: u64,
    /// Busy, of all CPUs.
    pub busy: f64,
    /// Busy, of the busiest one.
    pub busiest: f64,
    /// Taken by the hypervisor, of all CPUs.
    pub stolen: f64,
}

/// One device over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceSeries {
    /// Kernel name.
    pub name: String,
    /// What it did.
    pub steps: Vec<DeviceStep>,
}

/// A device in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceStep {
    /// Where it begins.
    pub start: u64,
    /// Bytes a second it read.
    pub read: f64,
    /// Bytes a second it wrote.
    pub written: f64,
    /// I/Os in flight, on average.
    pub in_flight: f64,
}

/// Bytes that a device moved over a run, and bytes that jobs requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceTraffic {
    /// Kernel name.
    pub device: String,
    /// Bytes the jobs read.
    pub read_asked: u64,
    /// Bytes it read.
    pub read: u64,
    /// Bytes the jobs wrote.
    pub write_asked: u64,
    /// Bytes it wrote.
    pub written: u64,
}

/// The course of every job that did I/O.
pub fn job_series(record: &RunRecord) -> Vec<JobSeries> {
    Case::from_record(record).parts.iter().filter_map(course).collect()
}

fn course(part: &Part) -> Option<JobSeries> {
    let directions: Vec<DirectionSeries> = Direction::ALL
        .into_iter()
        .filter(|direction| part.ios(*direction) > 0)
        .map(|direction| of_direction(part, direction))
        .collect();
    if directions.is_empty() {
        return None;
    }
    let all = slots(&part.workers, &Direction::ALL);
    let window = (part.from.0, part.to.0);
    let new_levels = new_levels(&all);
    let ramp = part.first().workload.ramp;
    Some(JobSeries {
        job: part.name.to_owned(),
        ramp: (ramp.0 > 0).then(|| (window.0.saturating_sub(ramp.0), window.0)),
        steady: steady(part, &new_levels, window),
        depth: thinned(&all).iter().map(|s| (s.start, ratio(s.clat_ns_sum, s.length))).collect(),
        window,
        new_levels,
        directions,
    })
}

fn steady(part: &Part, new_levels: &[u64], window: (u64, u64)) -> Option<(u64, u64)> {
    let searched = part.workers.iter().find_map(|job| job.steady.as_ref());
    match searched {
        Some(found) => found
            .attained
            .then(|| (window.1.saturating_sub(found.duration.0).max(window.0), window.1)),
        None => new_levels.last().map(|from| (*from, window.1)),
    }
}

/// Starts of levels that differ enough from the level before.
fn new_levels(all: &[Slot]) -> Vec<u64> {
    if all.len() < SLOTS_MIN {
        return Vec::new();
    }
    let rates: Vec<f64> = all.iter().map(Slot::iops).collect();
    let points = change_points(&rates);
    let bounds: Vec<usize> = [&[0], &points[..], &[rates.len()]].concat();
    let differs = |b: &&[usize]| {
        let (before, after) = (median(&rates[b[0]..b[1]]), median(&rates[b[1]..b[2]]));
        (after - before).abs() >= LEVEL * before.max(after)
    };
    bounds.windows(3).filter(differs).map(|b| all[b[1]].start).collect()
}

fn of_direction(part: &Part, direction: Direction) -> DirectionSeries {
    let step = |slot: &Slot| SeriesStep {
        start: slot.start,
        length: slot.length,
        iops: slot.iops(),
        bytes_per_second: per_second(slot.bytes, slot.length),
        latency: slot.latency(),
    };
    let mut history = LatencyHistory::default();
    part.workers.iter().for_each(|job| history.merge(job.latency_history.clone()));
    let steps = thinned(&slots(&part.workers, &[direction])).iter().map(step).collect();
    let percentiles = PERCENTILES.map(|p| (p, followed(&history, direction, p))).into();
    DirectionSeries { direction, steps, history, percentiles }
}

/// A percentile in each step that has enough completions for it.
fn followed(history: &LatencyHistory, direction: Direction, percentile: f64) -> Vec<(u64, f64)> {
    let columns = history.columns.iter();
    let known = columns.filter_map(|column| {
        let counts = &column.counts[direction];
        let value = counts.percentile(percentile)?;
        supports(counts.count(), percentile).then_some((column.at * history.step.0, value))
    });
    known.collect()
}

/// Neighbours taken together until there are few enough.
fn thinned(all: &[Slot]) -> Vec<Slot> {
    let together = all.len().div_ceil(STEPS_MAX).max(1);
    let merge = |slots: &[Slot]| {
        slots[1..].iter().fold(slots[0], |mut sum, slot| {
            sum.length += slot.length;
            sum.ios += slot.ios;
            sum.bytes += slot.bytes;
            sum.clat_ns_sum += slot.clat_ns_sum;
            sum
        })
    };
    all.chunks(together).map(merge).collect()
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The machine over the time of a run, as it was sampled.
pub fn machine_series(record: &RunRecord) -> MachineSeries {
    let case = Case::from_record(record);
    let samples = spaced(&record.timeline.samples);
    let pairs = || samples.windows(2).map(|pair| (pair[0], pair[1]));
    let cpus = pairs().filter_map(|(from, to)| cpu_step(&case, from, to)).collect();
    let names = record.timeline.samples.first().map(|s| s.disks.keys()).into_iter().flatten();
    let device = |name: &String| DeviceSeries {
        name: name.clone(),
        steps: pairs().filter_map(|(from, to)| device_step(name, from, to)).collect(),
    };
    MachineSeries { cpus, devices: names.map(device).collect() }
}

/// Samples far enough apart that their differences say something, and few enough.
fn spaced(samples: &[Sample]) -> Vec<&Sample> {
    let whole = samples.last().map_or(0, |last| last.at.0);
    let step = (whole / STEPS_MAX as u64).max(MACHINE_STEP_MIN);
    let mut kept: Vec<&Sample> = Vec::new();
    for sample in samples {
        if kept.last().is_none_or(|last| sample.at.0 >= last.at.0 + step) {
            kept.push(sample);
        }
    }
    kept
}

fn cpu_step(case: &Case, from: &Sample, to: &Sample) -> Option<CpuStep> {
    let shares = case.cpu_use(from.at, to.at);
    let count = shares.len() as f64;
    let busy = |share: &CpuShare| share.user + share.system + share.interrupts;
    let all = shares.iter().map(|(_, share)| share);
    (count > 0.0).then(|| CpuStep {
        start: from.at.0,
        busy: all.clone().map(busy).sum::<f64>() / count,
        busiest: all.clone().map(busy).fold(0.0, f64::max),
        stolen: all.map(|share| share.steal).sum::<f64>() / count,
    })
}

fn device_step(name: &str, from: &Sample, to: &Sample) -> Option<DeviceStep> {
    let did = to.disks.get(name)?.since(from.disks.get(name)?);
    let length = to.at.0.saturating_sub(from.at.0);
    Some(DeviceStep {
        start: from.at.0,
        read: per_second(did.read_bytes, length),
        written: per_second(did.write_bytes, length),
        in_flight: ratio(did.queue_ms * 1_000_000, length),
    })
}

/// Bytes a second that all lowest devices under the jobs read and wrote while they ran, step by step.
pub fn storage_rates(record: &RunRecord) -> Vec<DeviceStep> {
    let case = Case::from_record(record);
    let from = case.parts.iter().map(|part| part.from.0).min().unwrap_or_default();
    let to = case.parts.iter().map(|part| part.to.0).max().unwrap_or_default();
    let disks = distinct(case.parts.iter().flat_map(|part| case.disks_of(part)).map(|d| &d.name));
    let samples: Vec<&Sample> = spaced(&record.timeline.samples);
    let within = |pair: &&[&Sample]| pair[0].at.0 >= from && pair[1].at.0 <= to;
    let step = |pair: &[&Sample]| {
        let steps = disks.iter().filter_map(|name| device_step(name, pair[0], pair[1]));
        steps.fold(DeviceStep { start: pair[0].at.0, ..DeviceStep::default() }, |sum, one| {
            DeviceStep {
                start: sum.start,
                read: sum.read + one.read,
                written: sum.written + one.written,
                in_flight: sum.in_flight + one.in_flight,
            }
        })
    };
    samples.windows(2).filter(within).map(step).collect()
}

/// What every lowest device under the jobs moved while they ran.
pub fn device_traffic(record: &RunRecord) -> Vec<DeviceTraffic> {
    let case = Case::from_record(record);
    let from = case.parts.iter().map(|part| part.from).min().unwrap_or_default();
    let to = case.parts.iter().map(|part| part.to).max().unwrap_or(Nanos(0));
    let devices = case.parts.iter().flat_map(|part| case.disks_of(part));
    let names = distinct(devices.map(|device| device.name.as_str()));
    let traffic = |name: &str| {
        let used = case.device_use_in(name, from, to)?;
        Some(DeviceTraffic {
            device: name.to_owned(),
            read_asked: used.read_asked,
            read: used.counters.read_bytes,
            write_asked: used.write_asked,
            written: used.counters.write_bytes,
        })
    };
    names.into_iter().filter_map(traffic).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::testing::{IOPS, SECOND, job, record};
    use record::Histogram;

    #[test]
    fn a_calm_job_has_one_level_and_the_machine_is_followed() {
        let run = record(vec![job("read", Direction::Read, 10)]);
        let all = job_series(&run);
        assert_eq!(all.len(), 1);
        let course = &all[0];
        assert_eq!(course.ramp, Some((0, SECOND)));
        assert!(course.new_levels.is_empty() && course.steady.is_none());
        let steps = &course.directions[0].steps;
        assert_eq!(steps.len(), 20);
        assert!(steps.iter().all(|step| (step.iops - IOPS as f64).abs() < 1.0));
        assert!(course.depth.iter().all(|(_, depth)| (depth - 1.0).abs() < 0.05));
        let machine = machine_series(&run);
        assert!(!machine.cpus.is_empty() && machine.devices[0].name == "sda");
        let rates = storage_rates(&run);
        assert!(rates.len() >= 15 && rates.iter().all(|step| step.read > 3.9e6), "{rates:?}");
        let moved = &device_traffic(&run)[0];
        assert!(moved.read_asked > 0 && moved.read.abs_diff(moved.read_asked) < moved.read / 10);
    }

    #[test]
    fn a_fall_is_a_new_level_and_what_follows_counts_as_steady() {
        let mut run = record(vec![job("read", Direction::Read, 20)]);
        for interval in run.jobs[0].intervals.iter_mut().skip(20) {
            interval.ios.read /= 2;
        }
        let course = &job_series(&run)[0];
        assert_eq!(course.new_levels, [11 * SECOND]);
        assert_eq!(course.steady, Some((11 * SECOND, 21 * SECOND)));
    }

    #[test]
    fn percentiles_are_followed_only_where_there_are_enough() {
        let mut run = record(vec![job("read", Direction::Read, 10)]);
        let mut latencies = Histogram::new();
        let history = &mut run.jobs[0].latency_history;
        *history = LatencyHistory::new(Nanos(SECOND));
        let mut seen = Vec::new();
        for (second, count) in [(1, 1000), (2, 20)] {
            latencies.record_n(80_000, count);
            let counts = record::PerDirection {
                read: latencies.coarse_since(&mut seen),
                ..Default::default()
            };
            history.push(Nanos(second * SECOND), counts);
        }
        let followed = &job_series(&run)[0].directions[0].percentiles;
        let counts: Vec<usize> = followed.iter().map(|(_, steps)| steps.len()).collect();
        assert_eq!(counts, [2, 1, 0]);
        assert!((followed[1].1[0].1 / 80_000.0 - 1.0).abs() < 0.04);
    }

    #[test]
    fn a_run_of_very_many_intervals_has_few_steps() {
        let mut run = record(vec![job("read", Direction::Read, 10)]);
        let one = run.jobs[0].intervals[0];
        run.jobs[0].intervals = (0..5000)
            .map(|index| record::Interval { start: Nanos(index * one.length.0), ..one })
            .collect();
        let steps = job_series(&run).remove(0).directions.remove(0).steps;
        assert!(steps.len() <= 600 && steps.iter().all(|s| (s.iops - IOPS as f64).abs() < 1.0));
    }
}
