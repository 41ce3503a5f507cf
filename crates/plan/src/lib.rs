//! From [`job::Job`]s and [`record::Facts`] to a [`Plan`]: sizes, files, seeds, phases, depth,
//! buffers, and refusals. Pure: it looks at nothing but its arguments.

mod blocks;
mod checks;
mod contents;
mod cursor;
mod disks;
mod engines;
mod files;
mod limits;
mod logs;
mod machine;
mod model;
mod names;
mod nbd;
mod net;
mod numbered;
mod objects;
mod order;
mod pace;
mod placing;
mod policy;
mod problem;
mod process_context;
mod random;
mod replay;
mod resolve;
mod safety;
mod sequence;
mod sizes;
mod sprandom;
mod store;
pub mod trace;
mod verify;
mod workload;
mod zbd;
mod zones;

pub use job::{BlockPattern, Named, VerifyMethod};
pub use job::{
    BufferContent, Buffers, CpuLoad, DataPlacement, DedupeMode, Distribution, Engine,
    EngineOptions, ErrorPolicy, ExitScope, Layout, LockFile, Medium, MemoryKind, NumaMemory,
    Program, RateProcess, ReadUse, ReadWrite, Retry, Sequencer, SequentialOrder, SgWriteMode, Size,
    StatCall, SteadyCriterion, SteadyFigure, SteadyLimit, SyncFileRange, SyncMode, Syncing,
    ThinkTime, WriteHint, ZoneShare,
};
pub use job::{
    NvmeOptions, NvmeVerifyMode, NvmeWriteMode, PlacementSelect, PlacementUse, ProtectionChecks,
};
pub use job::{ObjectMix, ObjectWork};
pub use job::{Payload, PriorityShare, Protocol, RdmaVerb, Secret, StoreKind, Tls};
pub use machine::{Shortage, filesystem, shortages};
pub use model::{
    Access, BlockPlan, Cgroup, DiskWatch, File, FileOrder, FileSelection, FlowPart, LatencySearch,
    Limits, Measuring, ObjectSet, Objects, Pacing, Pattern, Placement, Placing, Plan, Prepare,
    ProcessContext, Queue, RateLimit, RdmaUse, Renewal, Replay, Socket, Start, SteadyWatch, Stop,
    Strides, Trimming, Verify, Worker, Zbd, ZonedFile,
};
pub use names::{Wanted, targets};
pub use nbd::exports;
pub use policy::Policy;
pub use problem::{PlanError, Problem, ProblemKind};
pub use resolve::resolve;
pub use store::{store_names, store_remedy};
pub use verify::state_name;
