//! From [`job::Job`]s and [`record::Facts`] to a [`Plan`]: sizes, files, seeds, phases, depth,
//! buffers, and refusals. Pure: it looks at nothing but its arguments.

mod model;

pub use job::{
    BufferContent, Buffers, DedupeMode, Engine, EngineOptions, ErrorPolicy, Layout, LockFile,
    MemoryKind, NumaMemory, RateProcess, ReadWrite, Retry, Sequencer, SyncFileRange, SyncMode,
    Syncing, ThinkTime,
};
pub use model::{
    BlockPlan, DiskWatch, File, FileOrder, FileSelection, Measuring, Pacing, Pattern, Placement,
    Plan, Prepare, Queue, RateLimit, Start, Stop, Worker,
};
