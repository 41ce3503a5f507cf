//! Counters of the machine during the run, sampled ten times per second.

use crate::{ApplicationSample, LayerSample, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Samples of the machine, in time order. Counters are those of the kernel (since boot), so any two
/// samples give a difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The samples; the first is from before the first I/O, the last from after the last.
    pub samples: Vec<Sample>,
    /// Samples from just before the workers of each phase start their I/O, without `workers`; empty
    /// in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phase_starts: Vec<Sample>,
}

/// One sample of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The time, from the run's origin; samples before it are at 0.
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
    /// Dirty memory.
    pub memory_dirty: u64,
    /// Memory that is being written back.
    pub memory_writeback: u64,
    /// Storage traffic of this process so far (/proc/self/io); `None` if the kernel does not count
    /// it.
    #[serde(default)]
    pub own: Option<OwnIo>,
    /// CPU time of this process so far, with all its threads and those the kernel runs in it, in
    /// milliseconds (/proc/self/stat).
    #[serde(default)]
    pub own_cpu_ms: Option<u64>,
    /// The application that is watched, in samples of `fathom watch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationSample>,
    /// Where I/Os spend their time in the kernel, in samples of `fathom watch --layers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<LayerSample>,
    /// What is sampled less often: once per second, and in the first and last sample.
    #[serde(default)]
    pub slow: Option<SlowSample>,
}

/// Storage traffic of this process, as the kernel accounts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnIo {
    /// Bytes that were read from the storage layer.
    pub read_bytes: u64,
    /// Bytes that were sent to the storage layer or made dirty in the page cache.
    pub write_bytes: u64,
}

/// What costs more to read than counters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SlowSample {
    /// Interrupts of the watched devices so far: name ("nvme0q1") → count for each CPU.
    pub interrupts: BTreeMap<String, Vec<u64>>,
    /// Current frequency of each CPU, in kHz; empty if the kernel does not report it.
    pub cpu_khz: Vec<u64>,
    /// Sensors (hwmon and thermal zones) by name ("nvme0 Composite"), in thousandths of a degree
    /// Celsius.
    pub temperature_mc: BTreeMap<String, i64>,
    /// Number of times that heat slowed down a CPU so far.
    pub cpu_throttle_count: u64,
    /// Time for which its CPU quota throttled the control group so far, in microseconds.
    pub cgroup_throttled_us: u64,
    /// Other activity in the watched devices, by kernel name ("resync 12.5 %").
    pub activity: BTreeMap<String, String>,
    /// Traffic of the page cache and the swap so far; `None` if the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paging: Option<PagingSample>,
    /// Time for which tasks were stalled so far; `None` if the kernel does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<PressureSample>,
    /// The watched md arrays, by kernel name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub arrays: BTreeMap<String, ArraySample>,
}

/// Traffic between memory and block devices since boot, in bytes (/proc/vmstat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PagingSample {
    /// Reads from block devices by all processes, O_DIRECT included (pgpgin).
    pub in_bytes: u64,
    /// Writes to block devices by all processes, O_DIRECT included (pgpgout).
    pub out_bytes: u64,
    /// Pages of files that were read again after they had been dropped from the page cache
    /// (workingset_refault_file). A larger memory would have avoided these reads.
    pub refault_bytes: u64,
    /// Reads from swap (pswpin).
    pub swap_in_bytes: u64,
    /// Writes to swap (pswpout).
    pub swap_out_bytes: u64,
    /// Page faults that waited for a device (pgmajfault).
    pub major_faults: u64,
}

/// Time since boot in which tasks were stalled, in microseconds (/proc/pressure; the kernel's
/// accounting/psi.rst). "some": at least one task was; "full": all non-idle tasks were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PressureSample {
    /// For a CPU.
    pub cpu_some_us: u64,
    /// For I/O.
    pub io_some_us: u64,
    /// For I/O.
    pub io_full_us: u64,
    /// For memory.
    pub memory_some_us: u64,
    /// For memory.
    pub memory_full_us: u64,
}

/// An md array (/proc/mdstat).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArraySample {
    /// Its level ("raid1"); empty while it is inactive.
    pub level: String,
    /// Its members, as the kernel lists them.
    pub members: Vec<ArrayMember>,
    /// Number of members that it should have; 0 for levels without redundancy.
    pub wanted: u32,
    /// Number of working members.
    pub working: u32,
    /// The operation on the whole array; `None` if there is none.
    pub sync: Option<ArraySync>,
}

/// A member of an md array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrayMember {
    /// Kernel name.
    pub name: String,
    /// Its number in the array.
    pub number: u32,
    /// The kernel's letters for its state: F faulty, S spare, W write-mostly, J journal, R
    /// replacement; empty: in use.
    pub marks: String,
}

/// An operation of md on a whole array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArraySync {
    /// "resync", "recovery", "check" or "reshape".
    pub action: String,
    /// Why it is stopped: "delayed" (another array on the same disks comes first), "pending" (the
    /// array is read-only) or "remote"; `None` if it is running.
    pub waits: Option<String>,
    /// Completed bytes of each member.
    pub done_bytes: u64,
    /// Total bytes of each member.
    pub total_bytes: u64,
    /// Speed, which the kernel measures over the last half minute.
    pub bytes_per_second: u64,
}

impl ArraySync {
    /// The completed share, from 0 to 1; `None` while it waits.
    pub fn fraction(&self) -> Option<f64> {
        let started = self.waits.is_none() && self.total_bytes > 0;
        started.then(|| (self.done_bytes as f64 / self.total_bytes as f64).min(1.0))
    }

    /// Seconds until its end at the current speed; `None` while it is stopped.
    pub fn seconds_left(&self) -> Option<f64> {
        let left = self.total_bytes.saturating_sub(self.done_bytes) as f64;
        (self.waits.is_none() && self.bytes_per_second > 0)
            .then(|| left / self.bytes_per_second as f64)
    }
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
    /// Stolen by the hypervisor.
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

/// Scheduling times of one worker (/proc/PID/task/TID/schedstat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerSample {
    /// Time on a CPU.
    pub run_ns: u64,
    /// Time runnable but waiting for a CPU.
    pub delay_ns: u64,
}

impl CpuSample {
    /// Combines each field of this and another sample.
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
    /// Combines each field of this and another sample.
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

    /// The counts since an earlier sample. A counter that decreased, because the device was
    /// replaced, counts as 0. `in_flight` is that of this sample.
    pub fn since(&self, earlier: &Self) -> Self {
        DiskSample { in_flight: self.in_flight, ..self.zip(earlier, u64::saturating_sub) }
    }
}
