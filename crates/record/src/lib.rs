//! The nouns of fathom. A [`RunRecord`] is the waist of the program: everything left of it makes
//! one, everything right of it reads one.
//!
//! This crate does no I/O and no judging. It defines the types, and how their figures are written for
//! people ([`human`]).

mod application;
mod blocks;
mod coarse;
mod counters;
pub mod date;
mod direction;
mod distinct;
mod engine;
mod environment;
mod evidence;
mod exchange;
mod facts;
mod few_files;
mod fleet;
mod format;
mod health;
mod histogram;
mod history;
pub mod human;
mod layers;
mod live;
mod logs;
mod named;
mod network;
mod numbered;
mod random;
mod reduce;
mod remaining;
pub mod remedy;
mod run;
mod saved;
mod sentence;
mod severity;
mod steady;
mod terminology;
mod timeline;
mod units;
mod url;
mod with_defaults;
mod work;

pub use application::{ApplicationIo, ApplicationSample, GroupIo, Wait, WaitCount};
pub use blocks::BlockStates;
pub use coarse::{COARSE_SUB_BUCKETS, Coarse};
pub use counters::{
    CpuUse, DepthUse, DirectionResult, ErrorCount, Interval, LatencyResult, PriorityResult,
    SharedStamps, SizeMap, SummedWorkers, SyncResult,
};
pub use direction::{Direction, PerDirection};
pub use distinct::distinct;
pub use engine::{ENGINES, Engine, EngineRow, NameUse, UNBUILT_ENGINES, UnbuiltEngine};
pub use environment::{CgroupFacts, CgroupPlace, Environment, InterruptFacts};
pub use evidence::{
    CodeUse, Content, CpuProfile, Evidence, FileEvidence, FileLook, Neighbour, RanksBeside,
    ServerProcess,
};
pub use exchange::{Exchange, HostResult, REQUESTS, RequestResult, Second};
pub use facts::{
    CpuFacts, CpuPlace, DeviceFacts, DeviceKind, DirectLimits, Extents, Facts, FilesystemFacts,
    FreeSpace, TargetFacts, TargetKind, Use,
};
pub use fleet::{
    ClockComparison, ClockOffset, CommonWindow, Fleet, FleetCosts, FleetWindow, RankFinding,
    RankGroup, RankRecord, RankState, RankVerdict, WINDOW_PARTS,
};
pub use format::{FioVersion, Format};
pub use health::Health;
pub use histogram::{Histogram, PrintedLatency, SUB_BUCKETS};
pub use history::{LatencyColumn, LatencyHistory};
pub use layers::{
    DeviceEvents, LayerClass, LayerPath, LayerSample, LayerSpans, LayerSums, LayerTimes, Layers,
    OtherRequests, SizeClasses, SlowIo, StampSums,
};
pub use live::{LayoutProgress, Snapshot, WorkerState, WorkerStatus};
pub use logs::{
    LOG_BINS, LogEntry, LogKind, LoggedHistogram, LoggedIo, LoggedLatency, LoggedWindow, Logs,
    WindowValue, log_bin, logged_direction,
};
pub use network::{InterfaceUse, NetworkUse, NfsUse};
pub use numbered::{ObjectsPut, numbered_path};
pub use random::SplitMix64;
pub use remedy::Remedy;
pub use run::{
    BLOCK_ABOVE_ZONE, Cell, Clock, Coordinate, DiskCounters, DiskResult, GroupKey, IdleProfile,
    Invocation, JobRecord, Medium, Message, Origin, REPLAY_DRAWN, RecordSet, Region, RunRecord,
    SCHEMA_VERSION, Show, SourceText, Workload, gather_histories,
};
pub use saved::SavedTo;
pub use sentence::Sentence;
pub use severity::Severity;
pub use steady::{LatencyDepth, SteadyResult, SteadySample};
pub use terminology::{Term, Terminology};
pub use timeline::{
    ArrayMember, ArraySample, ArraySync, CpuSample, DiskSample, OwnIo, PagingSample,
    PressureSample, Sample, SlowSample, Timeline, WorkerSample,
};
pub use units::{Bytes, Nanos};
pub use url::without_password;
pub use work::{Amount, CacheState, Work, WorkPart, WorkUnit};
