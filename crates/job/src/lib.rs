//! From text to [`Job`]s: THE options table, fio's job files, the command line, and the help, man
//! page and web reference generated from the table.
//!
//! This crate opens nothing itself but the files of bytes that a `buffer_pattern` names: job files and
//! the environment come through [`Inputs`]. It reads no clock and knows no engine beyond its name.

mod apply;
mod assemble;
mod clients;
mod command_line;
pub mod debug;
pub mod docs;
mod error;
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
pub use expand::Keywords;
pub use invocation::{
    Action, Client, Dialect, Eta, IdleProf, Inputs, Invocation, Override, Trigger,
};
pub use model::{BlockPattern, Verify, VerifyMethod};
pub use model::{
    BlockSizes, BufferContent, Buffers, CpuLoad, CpuSplit, DedupeMode, DelayRange, Distribution,
    EngineOptions, ErrorPolicy, ExitScope, FileService, FileServiceOrder, FileSizeRange, FileType,
    Flash, Flow, Identity, Job, JobOptions, LatencyGoal, Layout, LockFile, Logs, Measure,
    MemoryKind, Named, NumaMemory, Pattern, Process, ProcessContext, Program, Queue, Rate,
    RateProcess, ReadUse, ReadWrite, Retry, Sequencer, SequentialOrder, Served, Size, SplitEntry,
    StatCall, SteadyCriterion, SteadyFigure, SteadyLimit, SteadyState, SyncFileRange, SyncMode,
    Syncing, Target, ThinkTime, Timing, WriteHint, ZoneMode, ZoneShare, Zones,
};
pub use model::{Http, Payload, Secret, StoreKind, Tls};
pub use model::{Merge, Replay};
pub use model::{Net, PriorityShare, Protocol};
pub use model::{ObjectMix, ObjectSet, ObjectWork};
pub use record::{Engine, Medium};
pub use secrets::{hide_in_arguments, hide_secrets};
