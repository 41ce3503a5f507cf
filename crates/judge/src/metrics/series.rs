//! Bandwidth and IOPS over the intervals of the time series.

use super::window::per_second;
use record::{Direction, Interval, JobRecord};
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
    fn of(rates: &[f64]) -> Self {
        let n = rates.len() as f64;
        if rates.is_empty() {
            return SeriesStats::default();
        }
        let mean = rates.iter().sum::<f64>() / n;
        let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
        SeriesStats {
            min: rates.iter().copied().fold(f64::INFINITY, f64::min),
            max: rates.iter().copied().fold(0.0, f64::max),
            mean,
            stddev: if rates.len() < 2 { 0.0 } else { (squares / (n - 1.0)).sqrt() },
            samples: rates.len() as u64,
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Slot {
    ios: u64,
    bytes: u64,
    /// The longest interval in the slot: a worker that ended early leaves the slot whole.
    length: u64,
}

/// (bandwidth in bytes a second, IOPS) of all workers together in the given directions. Workers'
/// intervals are aligned to the run's origin, so those of one slot add up; only whole slots count,
/// since a rate over a sliver of time says nothing. A worker idle in a direction takes part with
/// its empty intervals.
pub(super) fn measure(jobs: &[&JobRecord], directions: &[Direction]) -> (SeriesStats, SeriesStats) {
    let step = jobs.iter().map(|job| job.interval_step.0).max().unwrap_or(0);
    if step == 0 || !jobs.iter().any(|job| active(job, directions)) {
        return Default::default();
    }
    let mut slots: BTreeMap<u64, Slot> = BTreeMap::new();
    for interval in jobs.iter().flat_map(|job| &job.intervals) {
        let slot = slots.entry(interval.start.0 / step).or_default();
        slot.length = slot.length.max(interval.length.0);
        let (ios, bytes) = moved(interval, directions);
        slot.ios += ios;
        slot.bytes += bytes;
    }
    let whole: Vec<Slot> = slots.into_values().filter(|slot| slot.length >= step).collect();
    let rates = |amount: fn(&Slot) -> u64| -> Vec<f64> {
        whole.iter().map(|slot| per_second(amount(slot), slot.length)).collect()
    };
    (SeriesStats::of(&rates(|slot| slot.bytes)), SeriesStats::of(&rates(|slot| slot.ios)))
}

fn active(job: &JobRecord, directions: &[Direction]) -> bool {
    directions.iter().any(|direction| job.results[*direction].ios > 0)
}

fn moved(interval: &Interval, directions: &[Direction]) -> (u64, u64) {
    directions.iter().fold((0, 0), |(ios, bytes), direction| {
        (ios + interval.ios[*direction], bytes + interval.bytes[*direction])
    })
}
