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
mod net;
mod numbered;
mod objects;
mod order;
mod pace;
mod placing;
mod policy;
mod problem;
mod random;
mod replay;
mod resolve;
mod safety;
mod sequence;
mod sizes;
mod sprandom;
mod surroundings;
pub mod trace;
mod verify;
mod workload;
mod zbd;
mod zones;

pub use job::{BlockPattern, Named, VerifyMethod};
pub use job::{
    BufferContent, Buffers, CpuLoad, DedupeMode, Distribution, Engine, EngineOptions, ErrorPolicy,
    ExitScope, Layout, LockFile, Medium, MemoryKind, NumaMemory, Program, RateProcess, ReadUse,
    ReadWrite, Retry, Sequencer, SequentialOrder, Size, StatCall, SteadyCriterion, SteadyFigure,
    SteadyLimit, SyncFileRange, SyncMode, Syncing, ThinkTime, WriteHint, ZoneShare,
};
pub use job::{ObjectMix, ObjectWork};
pub use job::{Payload, PriorityShare, Protocol, Secret, StoreKind, Tls};
pub use limits::{FlowPart, LatencySearch, Limits, SteadyWatch};
pub use machine::{Shortage, shortages};
pub use model::{
    BlockPlan, DiskWatch, File, FileOrder, FileSelection, Measuring, Pacing, Pattern, Placement,
    Plan, Prepare, Queue, RateLimit, Replay, Start, Stop, Worker,
};
pub use names::{Wanted, targets};
pub use net::Socket;
pub use numbered::ObjectSet;
pub use objects::{Access, Objects};
pub use placing::{Placing, Strides};
pub use policy::Policy;
pub use problem::{PlanError, Problem, ProblemKind};
pub use resolve::resolve;
pub use sprandom::Renewal;
pub use surroundings::{Cgroup, Surroundings};
pub use verify::{Trimming, Verify, state_name};
pub use zbd::{Zbd, ZonedFile};
