//! The nouns of fathom. A [`RunRecord`] is the waist of the program: everything left of it makes
//! one, everything right of it reads one.
//!
//! This crate does no I/O, no formatting and no judging; it only says what things are.

mod counters;
mod direction;
mod facts;
mod histogram;
mod live;
mod run;
mod timeline;
mod units;

pub use counters::{
    CpuUse, DepthUse, DirectionResult, ErrorCount, Interval, LatencyResult, SizeMap, SyncResult,
};
pub use direction::{Direction, PerDirection};
pub use facts::{
    CpuFacts, DeviceFacts, DeviceKind, DirectLimits, Extents, Facts, FilesystemFacts, TargetFacts,
    TargetKind, Use,
};
pub use histogram::{Histogram, SUB_BUCKETS};
pub use live::{LayoutProgress, Snapshot, WorkerState, WorkerStatus};
pub use run::{
    Clock, DiskCounters, DiskResult, GroupKey, Invocation, JobRecord, Message, RunRecord,
    SCHEMA_VERSION, Severity, Show, SourceText, Workload,
};
pub use timeline::{CpuSample, DiskSample, Sample, Timeline, WorkerSample};
pub use units::{Bytes, Nanos};
