//! Figures of a report unit in one direction, or in all directions together.

use super::latency::{LatencyStats, merged};
use super::series::{self, SeriesStats};
use super::window::{busy, longest_ns, per_second, union_ns};
use record::{Direction, DirectionResult, Histogram, JobRecord};
use std::collections::BTreeMap;

/// Figures of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DirectionMetrics {
    /// I/Os issued.
    pub ios_issued: u64,
    /// I/Os completed.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Short I/Os: fewer bytes moved than requested.
    pub short_ios: u64,
    /// I/Os given up.
    pub dropped_ios: u64,
    /// Time in which at least one worker was busy in this direction, in nanoseconds.
    pub runtime_ns: u64,
    /// The longest time that one worker was busy in this direction, in nanoseconds.
    pub longest_ns: u64,
    /// Bytes a second over `runtime_ns`.
    pub bytes_per_second: f64,
    /// I/Os a second over `runtime_ns`.
    pub iops: f64,
    /// Submission latency, if the engine measures it.
    pub slat: Option<LatencyStats>,
    /// Completion latency.
    pub clat: Option<LatencyStats>,
    /// Total latency.
    pub lat: Option<LatencyStats>,
    /// Latency from the intended start, for jobs with a schedule.
    pub response: Option<LatencyStats>,
    /// Latency by I/O priority, the default one first; empty if all I/Os had the same.
    pub prios: Vec<PriorityStats>,
    /// Bandwidth over intervals, in bytes a second.
    pub bandwidth: SeriesStats,
    /// IOPS over intervals.
    pub iops_series: SeriesStats,
    /// Share of the bytes of its group in this direction, in percent.
    pub group_share: f64,
}

impl DirectionMetrics {
    /// (bytes, I/Os) a second over `longest_ns`, as fio computes rates of several workers. Too high if
    /// the workers did not run at the same time.
    pub fn over_longest(&self) -> (f64, f64) {
        (per_second(self.bytes, self.longest_ns), per_second(self.ios, self.longest_ns))
    }

    /// Whether no I/O was issued.
    pub fn is_idle(&self) -> bool {
        self.ios_issued == 0 && self.ios == 0
    }
}

/// Latency of the I/Os of one priority.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorityStats {
    /// The class, as ioprio_set(2) numbers it; 0: none was set.
    pub class: u16,
    /// Level within the class.
    pub level: u16,
    /// The hint for the device (`priohint`); 0: none.
    pub hint: u16,
    /// Share of the I/Os with a known priority, in percent.
    pub share: f64,
    /// Their latency.
    pub latency: LatencyStats,
}

/// The latency of each priority, if there are several. A worker that does not record priorities has all
/// I/Os at its own priority.
fn by_priority(
    jobs: &[&JobRecord],
    directions: &[Direction],
    percentiles: &[f64],
) -> Vec<PriorityStats> {
    let mut merged: BTreeMap<u16, Histogram> = BTreeMap::new();
    for job in jobs {
        for result in directions.iter().map(|direction| &job.results[*direction]) {
            for prio in &result.prios {
                merged.entry(prio.priority).or_default().merge(&prio.latency);
            }
            let total = job.show.lat_percentiles;
            let all = if total { result.lat() } else { result.latency.clat.as_ref() };
            if let Some(all) = all.filter(|all| result.prios.is_empty() && !all.is_empty()) {
                merged.entry(job.priority).or_default().merge(all);
            }
        }
    }
    if merged.len() < 2 {
        return Vec::new();
    }
    let all: u64 = merged.values().map(Histogram::count).sum();
    let stats = merged.into_iter().map(|(priority, histogram)| PriorityStats {
        class: priority >> 13,
        level: priority & 7,
        hint: (priority >> 3) & 0x3ff,
        share: histogram.count() as f64 * 100.0 / all.max(1) as f64,
        latency: LatencyStats::from_histogram(&histogram, percentiles),
    });
    stats.collect()
}

/// The figures of all `jobs` in all `directions`, summed.
pub(super) fn measure(
    jobs: &[&JobRecord],
    directions: &[Direction],
    percentiles: &[f64],
) -> DirectionMetrics {
    let results = || jobs.iter().flat_map(|job| directions.iter().map(|d| &job.results[*d]));
    let stats = |pick: fn(&DirectionResult) -> Option<&Histogram>| {
        merged(results().filter_map(pick))
            .map(|all| LatencyStats::from_histogram(&all, percentiles))
    };
    let (bandwidth, iops_series) = series::measure(jobs, directions);
    let windows = busy(jobs, directions);
    let runtime_ns = union_ns(&windows);
    let bytes = results().map(|r| r.bytes.0).sum();
    let ios = results().map(|r| r.ios).sum();
    DirectionMetrics {
        ios_issued: results().map(|r| r.ios_issued).sum(),
        ios,
        bytes,
        short_ios: results().map(|r| r.short_ios).sum(),
        dropped_ios: results().map(|r| r.dropped_ios).sum(),
        runtime_ns,
        longest_ns: longest_ns(&windows),
        bytes_per_second: per_second(bytes, runtime_ns),
        iops: per_second(ios, runtime_ns),
        slat: stats(|r| r.latency.slat.as_ref()),
        clat: stats(|r| r.latency.clat.as_ref()),
        lat: stats(DirectionResult::lat).filter(|_| jobs.iter().any(|job| job.show.lat)),
        response: stats(|r| r.latency.response.as_ref()),
        prios: by_priority(jobs, directions, percentiles),
        bandwidth,
        iops_series,
        group_share: 0.0,
    }
}
