//! Counters and latencies of one worker.

use crate::{Bytes, Direction, Histogram, Nanos, PerDirection};
use serde::{Deserialize, Serialize};

/// The latencies of one direction. A latency that an engine cannot measure is `None`, not zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LatencyResult {
    /// Submission latency: from ready to issue until the kernel had it. `None` for synchronous
    /// engines, where submission and completion are one call.
    pub slat: Option<Histogram>,
    /// Completion latency (service latency): from issued until completed.
    pub clat: Option<Histogram>,
    /// Total latency: from ready to issue until completed. `None` when it equals `clat` by
    /// construction (synchronous engines stamp once before the call): read `clat` then.
    pub lat: Option<Histogram>,
    /// Response latency: from the intended start until completed. Only jobs with a schedule
    /// (rate, rate_iops) have one; it is free of coordinated omission.
    pub response: Option<Histogram>,
}

/// The results of one worker in one direction, in its measured window (after the ramp).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DirectionResult {
    /// I/Os issued, ramp excluded.
    pub ios_issued: u64,
    /// Completed I/Os, including short ones, without failed ones.
    pub ios: u64,
    /// Moved bytes.
    pub bytes: Bytes,
    /// I/Os that moved fewer bytes than requested.
    pub short_ios: u64,
    /// I/Os that failed with a tolerated error.
    pub dropped_ios: u64,
    /// Length of the measured window; 0 if nothing was issued in this direction.
    pub runtime: Nanos,
    /// Latency histograms.
    pub latency: LatencyResult,
    /// Latency by I/O priority, for jobs in which some I/Os have a priority of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prios: Vec<PriorityResult>,
}

/// The I/Os of one priority in one direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PriorityResult {
    /// As in ioprio_set(2): class in the three highest bits, then hint, level in the three lowest;
    /// 0 if none was set.
    pub priority: u16,
    /// Their total latency if the job shows its percentiles, else their completion latency.
    pub latency: Histogram,
}

/// Synchronisations (fsync, fdatasync, sync_file_range) of one worker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SyncResult {
    /// Number of synchronisations.
    pub count: u64,
    /// Their latency.
    pub latency: Histogram,
}

/// One step of a worker's time series. Intervals are aligned to the run's origin, so those of
/// several workers add up. A stalled worker has intervals without I/Os.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Its start, from the run's origin.
    pub start: Nanos,
    /// Its length: the step of the series. The first and the last may be shorter, and the last
    /// includes I/Os that ended up to a tenth of a step after it.
    pub length: Nanos,
    /// Completed I/Os.
    pub ios: PerDirection<u64>,
    /// Moved bytes.
    pub bytes: PerDirection<u64>,
    /// Sum of the completion latencies, in nanoseconds.
    pub clat_ns_sum: PerDirection<u64>,
    /// Largest completion latency, in nanoseconds.
    pub clat_ns_max: PerDirection<u64>,
    /// The longest delay of an I/O after its intended start, in nanoseconds; 0 without a schedule.
    #[serde(default)]
    pub lag_ns_max: u64,
}

/// The depth of the queue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DepthUse {
    /// `iodepth` of the job.
    pub requested: u32,
    /// Mean number of I/Os in flight over the measured window, weighted by time.
    pub achieved_mean: f64,
    /// Number of I/Os in flight, the new one included, at the issue of each I/O: depth → count.
    pub at_issue: SizeMap,
    /// I/Os per submission: size → number of submissions.
    pub submit: SizeMap,
    /// I/Os per reap: size → number of reaps.
    pub complete: SizeMap,
}

/// Counts of sizes in fio's seven classes: 0 → class 0, 1–4 → 1, 5–8 → 2, 9–16 → 3, 17–32 → 4,
/// 33–64 → 5, above → 6. Depths use classes by power of two instead: 1, 2–3, 4–7, 8–15, 16–31,
/// 32–63, 64 and above.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeMap(pub [u64; 7]);

impl SizeMap {
    /// Counts `times` batches of `size` (submit and complete maps).
    #[inline(always)]
    pub fn count_batch(&mut self, size: u32, times: u64) {
        let class = match size {
            0 => 0,
            1..=4 => 1,
            5..=64 => 31 - (size - 1).leading_zeros() as usize,
            _ => 6,
        };
        self.0[class] += times;
    }

    /// Counts `times` I/Os issued at depth `depth` (at least 1).
    #[inline(always)]
    pub fn count_depth(&mut self, depth: u32, times: u64) {
        let class = (31 - depth.max(1).leading_zeros()).min(6) as usize;
        self.0[class] += times;
    }

    /// Adds the counts of another map.
    pub fn merge(&mut self, other: &SizeMap) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }

    /// Sum of all classes.
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

/// I/Os that share a stamp with another. With a synchronous engine, the end of one I/O is the start of
/// the next: the loop's time between the two is part of its clat. I/Os submitted together are ready
/// when the first of them is: the loop's time is part of their slat and lat. A sample of the I/Os has
/// stamps of its own, to measure that time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SharedStamps {
    /// Number of I/Os that start at a stamp of another.
    pub shared: u64,
    /// How much later the sampled I/Os were ready, in nanoseconds, including the cost of a stamp;
    /// `None` without a sample.
    pub between: Option<Histogram>,
}

impl SharedStamps {
    /// Adds a sampled I/O that was ready `later` nanoseconds after the stamp it could have shared.
    pub fn add_sample(&mut self, later: u64) {
        self.between.get_or_insert_default().record(later);
    }

    /// Number of sampled I/Os.
    pub fn samples(&self) -> u64 {
        self.between.as_ref().map_or(0, Histogram::count)
    }

    /// Adds the figures of another worker.
    pub fn merge(&mut self, other: &SharedStamps) {
        self.shared += other.shared;
        if let Some(between) = &other.between {
            self.between.get_or_insert_default().merge(between);
        }
    }

    /// Whether each I/O had stamps of its own.
    pub fn is_empty(&self) -> bool {
        self.shared == 0
    }
}

/// CPU use of the measured window, from getrusage(RUSAGE_THREAD).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuUse {
    /// Time in user mode.
    pub user: Nanos,
    /// Time in the kernel.
    pub system: Nanos,
    /// Time runnable but waiting for a CPU (schedstat); `None` if the kernel does not report it.
    pub run_delay: Option<Nanos>,
    /// Voluntary and involuntary context switches.
    pub context_switches: u64,
    /// Page faults that needed I/O.
    pub major_faults: u64,
    /// Page faults that did not.
    pub minor_faults: u64,
}

impl CpuUse {
    /// The sum with `helper`, another thread of the same worker. The wait for a CPU is that of the
    /// first thread alone.
    pub fn and(self, helper: &CpuUse) -> CpuUse {
        CpuUse {
            user: self.user + helper.user,
            system: self.system + helper.system,
            run_delay: self.run_delay,
            context_switches: self.context_switches + helper.context_switches,
            major_faults: self.major_faults + helper.major_faults,
            minor_faults: self.minor_faults + helper.minor_faults,
        }
    }
}

/// The workers that a record is the sum of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummedWorkers {
    /// How many.
    pub workers: u32,
    /// The sum of their measured windows.
    pub ran: Nanos,
}

/// I/Os that failed in the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// errno.
    pub errno: i32,
    /// The errno's text.
    pub text: String,
    /// The failed operation: "read", "write", "trim", "fsync", "open", "layout" …
    pub operation: String,
    /// Number of failures.
    pub count: u64,
    /// The file of the first failure.
    pub first_file: String,
    /// The offset of the first failure, if it has one.
    pub first_offset: Option<u64>,
    /// The length of the first failure, if it has one.
    pub first_length: Option<u64>,
}

impl DirectionResult {
    /// The histogram of total latency, in whichever field it was recorded.
    pub fn lat(&self) -> Option<&Histogram> {
        self.latency.lat.as_ref().or(self.latency.clat.as_ref())
    }
}

impl Interval {
    /// Adds the counts of the worker's next interval; the times do not change.
    pub fn add(&mut self, next: &Interval) {
        for d in Direction::ALL {
            self.ios[d] += next.ios[d];
            self.bytes[d] += next.bytes[d];
            self.clat_ns_sum[d] += next.clat_ns_sum[d];
            self.clat_ns_max[d] = self.clat_ns_max[d].max(next.clat_ns_max[d]);
        }
        self.lag_ns_max = self.lag_ns_max.max(next.lag_ns_max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batch_sizes_fall_into_fio_classes() {
        let expected =
            [(0, 0), (1, 1), (4, 1), (5, 2), (8, 2), (9, 3), (16, 3), (17, 4), (32, 4), (33, 5)];
        for (size, class) in expected.into_iter().chain([(64, 5), (65, 6), (4096, 6)]) {
            let mut map = SizeMap::default();
            map.count_batch(size, 1);
            assert_eq!(map.0[class], 1, "size {size}");
        }
    }

    #[test]
    fn depths_fall_into_powers_of_two() {
        for (depth, class) in [(1, 0), (2, 1), (3, 1), (4, 2), (31, 4), (32, 5), (63, 5), (64, 6)] {
            let mut map = SizeMap::default();
            map.count_depth(depth, 1);
            assert_eq!(map.0[class], 1, "depth {depth}");
        }
    }
}
