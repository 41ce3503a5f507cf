//! What a trace shows of its workload.

use crate::arrivals::Dispersion;
use crate::counts::{Counts, LogHistogram};
use crate::fit::Fit;
use crate::steps::Step;
use crate::threads::{Loop, ThreadClass};
use serde::Serialize;
use trace::ftr::Level;

/// The model of a workload.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// What the trace holds in all.
    pub totals: Totals,
    /// What limits what can be concluded, for the reader.
    pub warnings: Vec<String>,
    /// Stretches of time in which the load is alike.
    pub phases: Vec<Phase>,
    /// Streams, those with most time in storage first.
    pub streams: Vec<Stream>,
    /// When I/Os arrive.
    pub arrivals: Arrivals,
    /// The share of time at each number of outstanding I/Os, from 0 on.
    pub outstanding: Vec<f64>,
    /// Mean outstanding I/Os while there are any.
    pub outstanding_mean: f64,
    /// Reuse of blocks of all streams.
    pub locality: Locality,
    /// Durability that was asked for.
    pub syncs: Syncs,
    /// Share of the bytes read by the application that no device was asked for; `None` if the trace
    /// lacks one of the levels.
    pub cache_share: Option<f64>,
    /// What the threads do beside waiting for storage.
    pub cpu: Option<CpuLimit>,
    /// Load and working set over time.
    pub windows: Vec<Window>,
    /// What the streams consist of.
    #[serde(skip)]
    pub(crate) parts: Parts,
}

/// The distributions behind the model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub steps: Vec<Step>,
    pub threads: Vec<ThreadClass>,
    pub files: Vec<FileClass>,
    pub latency: [LogHistogram; 3],
    pub sizes: [Counts; 2],
    pub gaps: LogHistogram,
    /// Distances between accesses to the same block, in distinct blocks.
    pub reuse: LogHistogram,
    /// Accesses to blocks that were not used before.
    pub cold: u64,
    /// Time at each number of outstanding I/Os, by segments of time.
    pub depth_segments: Vec<Vec<u64>>,
    /// Load of the devices, if the model is that of the application.
    pub device_windows: Vec<Window>,
    pub dispersion: f64,
    /// When the first I/O began, in nanoseconds from the start of the trace.
    pub origin: u64,
}

/// Files that are alike.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileClass {
    pub name: String,
    /// How many files had I/O.
    pub count: u64,
    /// Bytes of all of them: as large as seen, or as far as I/O went.
    pub bytes: u64,
    /// Bytes that were there before: the size when first seen, and what was read or skipped beyond it.
    pub existing: u64,
    /// Whether it is a device.
    pub is_device: bool,
}

/// Sums over a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Totals {
    /// Where the modelled events were seen: "application" or "device".
    pub level: &'static str,
    /// Events of any kind.
    pub events: u64,
    /// Events that were lost while the trace was taken.
    pub lost: u64,
    /// From the first event to the end of the last, in seconds.
    pub seconds: f64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes that devices read, if the trace has them.
    pub device_read_bytes: u64,
    /// Bytes that devices wrote.
    pub device_written_bytes: u64,
    /// Files with I/O.
    pub files: u64,
    /// Threads with I/O.
    pub threads: u64,
    /// I/Os that failed.
    pub failed: u64,
}

/// A stretch of time in which the load is alike.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Phase {
    /// Its start, in seconds from the first event.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Reads and writes a second.
    pub iops: f64,
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Reads among reads and writes.
    pub read_share: f64,
    /// Its streams by their index, those with most I/Os first.
    pub streams: Vec<StreamShare>,
}

/// A stream in a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StreamShare {
    /// Index among the streams.
    pub stream: usize,
    /// I/Os of the stream a second.
    pub iops: f64,
    /// Bytes of the stream a second.
    pub bytes_per_second: f64,
}

/// A value and its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// The value.
    pub value: u64,
    /// Its share of all.
    pub share: f64,
}

/// What alike threads do with alike files.
#[derive(Clone, Debug, Serialize)]
pub struct Stream {
    /// A name for it: threads and files.
    pub name: String,
    /// Name of its threads, numbers as '#'.
    pub threads: String,
    /// Names of its files, numbers as '#'.
    pub files: Vec<String>,
    /// How many files it has.
    pub file_count: u64,
    /// Bytes of its files.
    pub file_bytes: u64,
    /// Bytes of its files that were there before; the rest was appended.
    pub file_existing: u64,
    /// Threads that do this at the same time.
    pub concurrency: u32,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes of reads and writes.
    pub bytes: u64,
    /// I/Os a second over the whole trace.
    pub iops: f64,
    /// Share of all I/Os of the trace.
    pub share: f64,
    /// The commonest sizes of reads.
    pub read_sizes: Vec<Share>,
    /// The commonest sizes of writes.
    pub write_sizes: Vec<Share>,
    /// I/Os that begin where the one before ended, among all.
    pub sequential: f64,
    /// Mean I/Os of a sequential run.
    pub run_mean: f64,
    /// A stride in bytes that at least a tenth of the I/Os keep, and their share.
    pub stride: Option<(i64, f64)>,
    /// How uneven the starts of runs are spread; `None` with too few.
    pub skew: Option<Fit>,
    /// The share of run starts in each sixteenth of the files.
    pub zones: Vec<f64>,
    /// Open or closed loop.
    pub pacing: Loop,
    /// Why it is taken for that.
    pub reason: String,
    /// What its threads do between two I/Os.
    pub think: Think,
    /// Outstanding I/Os of one of its threads.
    pub depth: u32,
    /// Share with O_DIRECT.
    pub direct: f64,
    /// Share of writes that are durable when they return.
    pub dsync: f64,
    /// Mean latency of reads, in nanoseconds; 0 without.
    pub read_latency_ns: f64,
    /// Mean latency of writes, in nanoseconds; 0 without.
    pub write_latency_ns: f64,
    /// Writes before each fsync or fdatasync; `None` without any.
    pub writes_per_sync: Option<f64>,
    /// Whether its syncs are fdatasync.
    pub datasync: bool,
    /// Writes for each sync_file_range; `None`: there was none.
    pub writes_per_range_sync: Option<f64>,
    #[serde(skip)]
    pub(crate) parts: Vec<usize>,
    #[serde(skip)]
    pub(crate) class: u32,
}

/// Time between the end of an I/O and the start of the next of the same thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Think {
    /// Mean time, in nanoseconds.
    pub mean_ns: f64,
    /// Mean CPU time in it; `None` if the trace does not tell.
    pub compute_ns: Option<f64>,
    /// I/Os without a long pause in between; 1 if pauses are alike.
    pub burst: f64,
    /// Mean of the pauses between bursts, in nanoseconds.
    pub pause_ns: f64,
}

/// When I/Os arrive.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Arrivals {
    /// I/Os a second, from the first to the last.
    pub rate: f64,
    /// Coefficient of variation of the gaps between arrivals: 1 for Poisson.
    pub gap_variation: f64,
    /// Index of dispersion over time scales: 1 for Poisson.
    pub dispersion: Vec<Dispersion>,
    /// Whether they are a Poisson process as far as can be told.
    pub poisson: bool,
    /// Largest distance between the gaps' distribution and an exponential one.
    pub exponential_distance: Option<f64>,
}

/// Reuse of blocks of 4 KiB.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Locality {
    /// Bytes of all blocks with I/O.
    pub footprint: f64,
    /// Share of block accesses that are the first of their block.
    pub first_accesses: f64,
    /// Size in bytes of a cache with least-recently-used replacement, and its hits among all accesses.
    pub cache: Vec<(f64, f64)>,
    /// Bytes of the smallest such cache that answers half of all accesses; `None` if none does.
    pub hot_set: Option<f64>,
    /// Share of the blocks whose accesses were sampled.
    pub sampled: f64,
}

/// Durability that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Syncs {
    /// Calls of fsync.
    pub fsync: u64,
    /// Calls of fdatasync.
    pub fdatasync: u64,
    /// Calls of sync_file_range.
    pub range: u64,
    /// Calls of sync and syncfs.
    pub all: u64,
    /// Writes with O_DSYNC, O_SYNC or the like.
    pub durable_writes: u64,
    /// Renames: a file replaced as a whole.
    pub renames: u64,
    /// Mean writes to a file before it is synced; `None` without syncs.
    pub writes_per_sync: Option<f64>,
    /// The median of them.
    pub writes_per_sync_median: Option<u64>,
}

/// Where the time of the threads that do I/O goes.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CpuLimit {
    /// Name of the threads that wait longest for storage.
    pub threads: String,
    /// Share of their time spent in I/O calls.
    pub waiting: f64,
    /// Share of their time spent computing; `None` if the trace does not tell.
    pub computing: Option<f64>,
    /// The most that they gain from storage that takes no time, as a share: 0.08 is 8 % (Amdahl).
    pub gain: f64,
}

/// Load in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Window {
    /// Its start, in seconds from the first event.
    pub from: f64,
    /// Its length in seconds.
    pub seconds: f64,
    /// Reads a second.
    pub reads: f64,
    /// Writes a second.
    pub writes: f64,
    /// Bytes a second.
    pub bytes: f64,
    /// Bytes a second that are read.
    pub read_bytes: f64,
    /// Distinct bytes with I/O in it.
    pub working_set: f64,
    /// Distinct bytes with I/O up to its end.
    pub footprint: f64,
}

impl Model {
    /// Whether the trace shows the application, and devices beside it.
    pub fn has_devices(&self) -> bool {
        !self.parts.device_windows.is_empty()
    }
}

impl Totals {
    pub(crate) fn level_name(level: Level) -> &'static str {
        match level {
            Level::Application => "application",
            Level::Device => "device",
        }
    }
}
