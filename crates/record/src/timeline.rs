//! What the machine did during the run, sampled ten times a second.

use crate::{ApplicationSample, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Samples of the machine, in time order. Counters are as the kernel keeps them (since boot), so
/// any two samples give a difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    /// The samples; the first is from before the first I/O, the last from after the last.
    pub samples: Vec<Sample>,
    /// Samples from just before the workers of each phase began their I/O, without those of
    /// `workers`; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phase_starts: Vec<Sample>,
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
    /// The application that is watched, in samples of `fathom watch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<ApplicationSample>,
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
    /// What the page cache and the swap moved so far; `None` where the kernel does not count it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paging: Option<PagingSample>,
    /// Time tasks stood still for want of something so far; `None` where the kernel does not tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pressure: Option<PressureSample>,
    /// The watched devices that are arrays of md, by kernel name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub arrays: BTreeMap<String, ArraySample>,
}

/// What went between memory and block devices since boot, in bytes (/proc/vmstat).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PagingSample {
    /// Read from block devices by whomever, O_DIRECT included (pgpgin).
    pub in_bytes: u64,
    /// Written to block devices by whomever, O_DIRECT included (pgpgout).
    pub out_bytes: u64,
    /// Pages of files read again that had been dropped from the page cache
    /// (workingset_refault_file): what a larger memory would have spared.
    pub refault_bytes: u64,
    /// Read from swap (pswpin).
    pub swap_in_bytes: u64,
    /// Written to swap (pswpout).
    pub swap_out_bytes: u64,
    /// Page faults that had to wait for a device (pgmajfault).
    pub major_faults: u64,
}

/// Time since boot in which tasks stood still, in microseconds (/proc/pressure; the kernel's
/// accounting/psi.rst). "some": at least one task did; "full": all that were not idle did.
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

/// An array of md (/proc/mdstat).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArraySample {
    /// Its level ("raid1"); empty while it is inactive.
    pub level: String,
    /// Its members, as the kernel lists them.
    pub members: Vec<ArrayMember>,
    /// Members it should have; 0 for levels that cannot miss any.
    pub wanted: u32,
    /// Members that work.
    pub working: u32,
    /// What is being done to all of it; `None`: nothing.
    pub sync: Option<ArraySync>,
}

/// A member of an array of md.
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

/// Work of md on a whole array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArraySync {
    /// "resync", "recovery", "check" or "reshape".
    pub action: String,
    /// Why it does not go on: "delayed" (another array on the same disks comes first), "pending"
    /// (the array is read-only) or "remote"; `None` while it goes on.
    pub waits: Option<String>,
    /// Done, of each member.
    pub done_bytes: u64,
    /// To be done, of each member.
    pub total_bytes: u64,
    /// Speed, as the kernel measures it over the last half minute.
    pub bytes_per_second: u64,
}

impl ArraySync {
    /// How much is done, from 0 to 1; `None` while it waits.
    pub fn fraction(&self) -> Option<f64> {
        let started = self.waits.is_none() && self.total_bytes > 0;
        started.then(|| (self.done_bytes as f64 / self.total_bytes as f64).min(1.0))
    }

    /// Seconds until it is done at its present speed; `None` while it does not go on.
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
