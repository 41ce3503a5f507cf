//! CPUs and priorities of a job, its measurement, and its error policy.

use super::logs::Logs;
use super::named::named;
use record::{Nanos, PerDirection, with_defaults};

/// CPUs, priorities, identity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// `cpus_allowed` or `cpumask`: CPU numbers; empty: all.
    pub cpus_allowed: Vec<u32>,
    /// `cpus_allowed_policy`.
    pub cpus_policy: CpuSplit,
    /// `numa_cpu_nodes`; empty: all.
    pub numa_cpu_nodes: Vec<u32>,
    /// `numa_mem_policy`.
    pub numa_memory: Option<NumaMemory>,
    /// `nice`.
    pub nice: Option<i32>,
    /// `prio`.
    pub prio: Option<u8>,
    /// `prioclass`.
    pub prioclass: Option<u8>,
    /// `priohint`.
    pub priohint: Option<u16>,
    /// `thread` (accepted: workers are threads anyway).
    pub thread: bool,
    /// `comm`.
    pub comm: Option<String>,
}

/// `cpus_allowed_policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuSplit {
    /// Every clone may use all of the set.
    #[default]
    Shared,
    /// Each clone gets one CPU of the set.
    Split,
}

/// `numa_mem_policy=mode:nodes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumaMemory {
    /// The kernel's default.
    Default,
    /// Prefer one node.
    Prefer(u32),
    /// Only these nodes.
    Bind(Vec<u32>),
    /// Turn by turn over these nodes.
    Interleave(Vec<u32>),
    /// The node that runs the thread.
    Local,
}

with_defaults! {
    /// Measurement and its presentation.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Measure {
        /// `clat_percentiles`.
        pub clat_percentiles: Option<bool>,
        /// `lat_percentiles`.
        pub lat_percentiles: Option<bool>,
        /// `slat_percentiles`.
        pub slat_percentiles: Option<bool>,
        /// `percentile_list`.
        pub percentile_list: Vec<f64> = vec![
            1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5,
            99.9, 99.95, 99.99,
        ],
        /// `significant_figures`.
        pub significant_figures: u32 = 4,
        /// `disk_util`.
        pub disk_util: bool = true,
        /// `disable_lat`, or `gtod_reduce`.
        pub disable_lat: bool,
        /// `disable_clat`, or `gtod_reduce`.
        pub disable_clat: bool,
        /// `disable_slat`, or `gtod_reduce`.
        pub disable_slat: bool,
        /// `disable_bw`, or `gtod_reduce`.
        pub disable_bw: bool,
        /// `clocksource`: `None` is the best there is.
        pub clocksource: Option<String>,
        /// `kb_base`: 1024 or 1000.
        pub kb_base: u32 = 1024,
        /// `unit_base`: 0, 8 (bytes) or 1 (bits).
        pub unit_base: u32,
        /// `unified_rw_reporting`: 0 none, 1 mixed, 2 both.
        pub unified: u32,
        /// `stats`.
        pub stats: bool = true,
        /// `bwavgtime`.
        pub bwavgtime: Nanos = Nanos::from_millis(500),
        /// `iopsavgtime`.
        pub iopsavgtime: Nanos = Nanos::from_millis(500),
        /// `job_start_clock_id`.
        pub job_start_clock: u64,
        /// `block_error_percentiles`.
        pub block_errors: bool,
        /// Log files.
        pub logs: Logs,
    }
}

/// The reaction to errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorPolicy {
    /// `continue_on_error`: whether to continue after read errors.
    pub read: Retry,
    /// … after write errors.
    pub write: Retry,
    /// … after verification errors.
    pub verify: Retry,
    /// `ignore_error`: errno names or numbers ignored, for reads, writes and verification.
    pub ignored: PerDirection<Vec<i32>>,
    /// `error_dump`: print ignored errors.
    pub dump: bool,
    /// `exitall_on_error`.
    pub exitall: bool,
}

/// The jobs that end with a job that has `exitall` (`exit_what`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitScope {
    /// The jobs of its group, including those that have not started.
    #[default]
    Group,
    /// The running jobs; the next phase starts.
    Stonewall,
    /// Every job, including those that have not started.
    All,
}

/// Whether to continue after an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// End the job.
    #[default]
    Stop,
    /// Count it and go on.
    Continue,
}

named!(CpuSplit: Shared "shared", Split "split");

named!(ExitScope: Group "group", Stonewall "stonewall", All "all");
