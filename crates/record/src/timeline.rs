//! What the machine did during the run, sampled once a second.

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
