//! Parses text into [`Job`]s: the options table, fio's job files, the command line, and the help,
//! man page and web reference generated from the table.
//!
//! The only files this crate opens are those that a `buffer_pattern` names; job files and the
//! environment come through [`Inputs`]. It reads no clock and knows engines only by name.

mod apply;
mod assemble;
mod clients;
mod command_line;
pub mod debug;
pub mod docs;
mod error;
pub mod examples;
mod expand;
mod explain;
mod file;
pub mod help;
mod invocation;
mod model;
pub mod options;
pub mod profile;
pub mod program_options;
mod secrets;
mod showcmd;
pub mod value;

pub use command_line::{parse, parse_instead, parse_with};
pub use error::{JobError, JobErrors, Origin};
pub use expand::{Keywords, RankPlace};
pub use invocation::{
    Access, Action, Client, Dialect, Eta, IdleProf, Inputs, Invocation, LayerTiming, Override,
    Trigger, Typed,
};
pub use model::{
    BlockPattern, BlockSizes, BufferContent, Buffers, Ceph, CpuLoad, CpuSplit, CustomEngine,
    DataPlacement, DedupeMode, DelayRange, Distribution, EngineOptions, ErrorPolicy, ExitScope,
    FileService, FileServiceOrder, FileSizeRange, FileType, Flash, Flow, Http, Identity, Job,
    JobOptions, LatencyGoal, Layout, LockFile, Logs, Measure, MemoryKind, Merge, Named, Net,
    NumaMemory, NvmeOptions, NvmeVerifyMode, NvmeWriteMode, ObjectMix, ObjectSet, ObjectWork,
    Pattern, Payload, PlacementSelect, PlacementUse, PriorityShare, Process, ProcessContext,
    Program, ProtectionChecks, Protocol, Queue, Rate, RateProcess, RdmaVerb, ReadUse, ReadWrite,
    Replay, Retry, Secret, Sequencer, SequentialOrder, Served, SgWriteMode, Size, SplitEntry,
    StatCall, SteadyCriterion, SteadyFigure, SteadyLimit, SteadyState, StoreKind, SyncFileRange,
    SyncMode, Syncing, Target, ThinkTime, Timing, Tls, Unmet, Verify, VerifyMethod, WriteHint,
    ZoneMode, ZoneShare, Zones,
};
pub use record::{Engine, Medium};
pub use secrets::{hide_in_arguments, hide_secrets};
