//! The nouns of fathom. A [`RunRecord`] is the waist of the program: everything left of it makes
//! one, everything right of it reads one.
//!
//! This crate does no I/O, no formatting and no judging; it only says what things are.

mod blocks;
mod counters;
mod direction;
mod environment;
mod evidence;
mod facts;
mod health;
mod histogram;
mod live;
mod logs;
mod run;
mod steady;
mod timeline;
mod units;

pub use blocks::BlockStates;
pub use counters::{
    CpuUse, DepthUse, DirectionResult, ErrorCount, Interval, LatencyResult, PriorityResult, Seams,
    SizeMap, SyncResult,
};
pub use direction::{Direction, PerDirection};
pub use environment::{CgroupFacts, CgroupPlace, Environment, InterruptFacts};
pub use evidence::{Content, Evidence, FileEvidence, FileLook, Neighbour};
pub use facts::{
    CpuFacts, DeviceFacts, DeviceKind, DirectLimits, Extents, Facts, FilesystemFacts, TargetFacts,
    TargetKind, Use,
};
pub use health::Health;
pub use histogram::{Histogram, SUB_BUCKETS};
pub use live::{LayoutProgress, Snapshot, WorkerState, WorkerStatus};
pub use logs::{
    LOG_BINS, LogEntry, LogKind, LoggedHistogram, LoggedIo, LoggedLatency, LoggedWindow, Logs,
    WindowValue, log_bin, logged_direction,
};
pub use run::{
    Cell, Clock, DiskCounters, DiskResult, GroupKey, IdleProfile, Invocation, JobRecord, Medium,
    Message, RecordSet, Region, RunRecord, SCHEMA_VERSION, Severity, Show, SourceText, Workload,
};
pub use steady::{LatencyDepth, SteadyResult, SteadySample};
pub use timeline::{CpuSample, DiskSample, OwnIo, Sample, SlowSample, Timeline, WorkerSample};
pub use units::{Bytes, Nanos};
