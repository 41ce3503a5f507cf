//! Bandwidth and IOPS over the intervals of the time series.

use super::window::per_second;
use crate::stats::{mean, variance};
use record::human::time;
use record::{Direction, JobRecord, Nanos, Show};
use std::collections::BTreeMap;

/// Extremes, mean and deviation of a rate over whole intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeriesStats {
    /// Smallest rate of an interval.
    pub min: f64,
    /// Largest rate of an interval.
    pub max: f64,
    /// Mean over intervals.
    pub mean: f64,
    /// Sample standard deviation over intervals.
    pub stddev: f64,
    /// Intervals.
    pub samples: u64,
}

impl SeriesStats {
    fn from_rates(rates: &[f64]) -> Self {
        if rates.is_empty() {
            return SeriesStats::default();
        }
        SeriesStats {
            min: rates.iter().copied().fold(f64::INFINITY, f64::min),
            max: rates.iter().copied().fold(0.0, f64::max),
            mean: mean(rates),
            stddev: variance(rates).sqrt(),
            samples: rates.len() as u64,
        }
    }
}

/// One step of the time series of several workers together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Slot {
    /// Where it begins, in nanoseconds from the run's origin.
    pub(crate) start: u64,
    /// From the start of the slot's first interval to the end of its last, in nanoseconds: a worker
    /// that ended early leaves the slot whole, and so do two that took turns.
    pub(crate) length: u64,
    /// Completed I/Os.
    pub(crate) ios: u64,
    /// Bytes that moved.
    pub(crate) bytes: u64,
    /// Sum of the completion latencies, in nanoseconds.
    pub(crate) clat_ns_sum: u64,
}

impl Slot {
    /// I/Os a second.
    pub(crate) fn iops(&self) -> f64 {
        per_second(self.ios, self.length)
    }

    /// Bytes a second.
    pub(crate) fn bandwidth(&self) -> f64 {
        per_second(self.bytes, self.length)
    }

    /// Mean completion latency in nanoseconds; `None` when nothing completed.
    pub(crate) fn latency(&self) -> Option<f64> {
        (self.ios > 0).then(|| self.clat_ns_sum as f64 / self.ios as f64)
    }
}

/// The whole slots of some workers in the given directions, in time order. Workers' intervals are
/// aligned to the run's origin, so those of one slot add up; only whole slots count, since a rate
/// over a sliver of time says nothing. A worker idle in a direction takes part with its empty
/// intervals.
pub(crate) fn slots(jobs: &[&JobRecord], directions: &[Direction]) -> Vec<Slot> {
    slots_of_length(jobs, directions, step(jobs))
}

/// The step of the intervals of all of them.
fn step(jobs: &[&JobRecord]) -> u64 {
    jobs.iter().map(|job| job.interval_step.0).max().unwrap_or(0)
}

/// The same slots, each of `step` nanoseconds: as long as an interval, or several together.
fn slots_of_length(jobs: &[&JobRecord], directions: &[Direction], step: u64) -> Vec<Slot> {
    if step == 0 {
        return Vec::new();
    }
    let mut slots: BTreeMap<u64, Slot> = BTreeMap::new();
    for interval in jobs.iter().flat_map(|job| &job.intervals) {
        let (start, end) = (interval.start.0, interval.start.0 + interval.length.0);
        let slot = slots.entry(start / step).or_insert(Slot { start, ..Slot::default() });
        let end = end.max(slot.start + slot.length);
        slot.start = slot.start.min(start);
        slot.length = end - slot.start;
        for direction in directions.iter().copied() {
            slot.ios += interval.ios[direction];
            slot.bytes += interval.bytes[direction];
            slot.clat_ns_sum += interval.clat_ns_sum[direction];
        }
    }
    slots.into_values().filter(|slot| slot.length >= step).collect()
}

/// Why the course of workers over time says nothing, where they have fewer than two whole slots: what
/// it takes.
pub(crate) fn too_few(jobs: &[&JobRecord]) -> String {
    let step = step(jobs) as f64;
    // Slots are aligned to the run, so a window may begin and end within one.
    format!(
        "too short: two whole intervals of {} are needed; run for {} or longer",
        time(step),
        time(step * 3.0)
    )
}

/// (bandwidth in bytes a second, IOPS) of all workers together in the given directions, over whole
/// slots of the periods that the jobs ask for.
pub(super) fn measure(jobs: &[&JobRecord], directions: &[Direction]) -> (SeriesStats, SeriesStats) {
    // A worker without I/O of these kinds has no part in them, however long it ran.
    let active: Vec<&JobRecord> =
        jobs.iter().copied().filter(|job| active(job, directions)).collect();
    let step = step(&active);
    let rates = |period: fn(&Show) -> Nanos, amount: fn(&Slot) -> u64| {
        let longest = active.iter().map(|job| period(&job.show).0).max().unwrap_or(0);
        // Intervals cannot be divided.
        let intervals = longest.checked_div(step).unwrap_or(0).max(1);
        let whole = slots_of_length(&active, directions, intervals * step);
        let rates = whole.iter().map(|slot| per_second(amount(slot), slot.length));
        SeriesStats::from_rates(&rates.collect::<Vec<f64>>())
    };
    (
        rates(|show| show.bandwidth_period, |slot| slot.bytes),
        rates(|show| show.iops_period, |slot| slot.ios),
    )
}

fn active(job: &JobRecord, directions: &[Direction]) -> bool {
    directions.iter().any(|direction| job.results[*direction].ios > 0)
}
