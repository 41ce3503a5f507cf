//! What the machine did during the run, sampled ten times a second.

use crate::Nanos;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Samples of the machine, in time order. Counters are as the kernel keeps them (since boot), so
/// any two samples give a difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The samples; the first is from before the first I/O, the last from after the last.
    pub samples: Vec<Sample>,
}

/// One look at the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When, from the run's origin; samples before it are at 0.
    pub at: Nanos,
    /// Per CPU (index = CPU number).
    pub cpus: Vec<CpuSample>,
    /// Per block device under a target.
    pub disks: BTreeMap<String, DiskSample>,
    /// Per worker thread id.
    pub workers: BTreeMap<u32, WorkerSample>,
    /// Free memory and page cache, in bytes: MemAvailable, Cached, Dirty, Writeback.
    pub memory_available: u64,
    /// Page cache.
    pub memory_cached: u64,
    /// Waiting to be written back.
    pub memory_dirty: u64,
    /// Being written back.
    pub memory_writeback: u64,
    /// Storage traffic of this process so far (/proc/self/io); `None` where the kernel does not
    /// count it.
    #[serde(default)]
    pub own: Option<OwnIo>,
    /// CPU time of this process so far, with all its threads and those the kernel runs in it, in
    /// milliseconds (/proc/self/stat).
    #[serde(default)]
    pub own_cpu_ms: Option<u64>,
    /// What is looked at more seldom: once a second and in the first and last sample.
    #[serde(default)]
    pub slow: Option<SlowSample>,
}

/// Storage traffic that this process caused, as the kernel accounts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnIo {
    /// Bytes fetched from the storage layer.
    pub read_bytes: u64,
    /// Bytes sent to the storage layer, or made dirty in the page cache.
    pub write_bytes: u64,
}

/// What costs more to look at than counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlowSample {
    /// Interrupts of the watched devices so far: name ("nvme0q1") → count for each CPU.
    pub interrupts: BTreeMap<String, Vec<u64>>,
    /// Current frequency of each CPU, in kHz; empty where the kernel does not tell.
    pub cpu_khz: Vec<u64>,
    /// Sensors (hwmon and thermal zones) by name ("nvme0 Composite"), in thousandths of a degree
    /// Celsius.
    pub temperature_mc: BTreeMap<String, i64>,
    /// Times any CPU was slowed down by heat so far.
    pub cpu_throttle_count: u64,
    /// Time the control group was kept off the CPU by its quota so far, in microseconds.
    pub cgroup_throttled_us: u64,
    /// What goes on in a watched device beside our I/O, by kernel name ("resync 12.5 %").
    pub activity: BTreeMap<String, String>,
}

/// Times of one CPU since boot, in milliseconds (/proc/stat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CpuSample {
    /// User mode, nice included.
    pub user_ms: u64,
    /// Kernel.
    pub system_ms: u64,
    /// Idle.
    pub idle_ms: u64,
    /// Idle with I/O outstanding.
    pub iowait_ms: u64,
    /// Interrupts.
    pub irq_ms: u64,
    /// Soft interrupts.
    pub softirq_ms: u64,
    /// Taken by the hypervisor.
    pub steal_ms: u64,
}

/// Counters of one block device since boot (/sys/block/NAME/stat; the kernel's iostats.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSample {
    /// Reads completed.
    pub read_ios: u64,
    /// Reads merged.
    pub read_merges: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Sum of read times, ms.
    pub read_ticks_ms: u64,
    /// Writes completed.
    pub write_ios: u64,
    /// Writes merged.
    pub write_merges: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Sum of write times, ms.
    pub write_ticks_ms: u64,
    /// I/Os in flight now.
    pub in_flight: u64,
    /// Time with I/O in flight, ms.
    pub busy_ms: u64,
    /// Sum over time of I/Os in flight, ms.
    pub queue_ms: u64,
    /// Discards completed.
    pub discard_ios: u64,
    /// Bytes discarded.
    pub discard_bytes: u64,
    /// Flushes completed.
    pub flush_ios: u64,
    /// Sum of flush times, ms.
    pub flush_ticks_ms: u64,
}

/// /proc/PID/task/TID/schedstat of one worker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSample {
    /// Time on a CPU.
    pub run_ns: u64,
    /// Time runnable but waiting for one.
    pub delay_ns: u64,
}

impl CpuSample {
    /// Each field from the two of this and another sample.
    pub fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        CpuSample {
            user_ms: f(self.user_ms, other.user_ms),
            system_ms: f(self.system_ms, other.system_ms),
            idle_ms: f(self.idle_ms, other.idle_ms),
            iowait_ms: f(self.iowait_ms, other.iowait_ms),
            irq_ms: f(self.irq_ms, other.irq_ms),
            softirq_ms: f(self.softirq_ms, other.softirq_ms),
            steal_ms: f(self.steal_ms, other.steal_ms),
        }
    }
}

impl DiskSample {
    /// Each field from the two of this and another sample.
    pub fn zip(&self, other: &Self, f: impl Fn(u64, u64) -> u64) -> Self {
        DiskSample {
            read_ios: f(self.read_ios, other.read_ios),
            read_merges: f(self.read_merges, other.read_merges),
            read_bytes: f(self.read_bytes, other.read_bytes),
            read_ticks_ms: f(self.read_ticks_ms, other.read_ticks_ms),
            write_ios: f(self.write_ios, other.write_ios),
            write_merges: f(self.write_merges, other.write_merges),
            write_bytes: f(self.write_bytes, other.write_bytes),
            write_ticks_ms: f(self.write_ticks_ms, other.write_ticks_ms),
            in_flight: f(self.in_flight, other.in_flight),
            busy_ms: f(self.busy_ms, other.busy_ms),
            queue_ms: f(self.queue_ms, other.queue_ms),
            discard_ios: f(self.discard_ios, other.discard_ios),
            discard_bytes: f(self.discard_bytes, other.discard_bytes),
            flush_ios: f(self.flush_ios, other.flush_ios),
            flush_ticks_ms: f(self.flush_ticks_ms, other.flush_ticks_ms),
        }
    }

    /// What was counted since an earlier sample; a counter that went back, because the device was
    /// replaced, counts as 0. `in_flight` is that of this sample.
    pub fn since(&self, earlier: &Self) -> Self {
        DiskSample { in_flight: self.in_flight, ..self.zip(earlier, u64::saturating_sub) }
    }
}
