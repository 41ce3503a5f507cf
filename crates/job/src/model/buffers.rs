//! Content and memory of buffers.

use super::named::named;
use record::{Bytes, with_defaults};

with_defaults! {
    /// Content and memory of buffers.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Buffers {
        /// The content of write buffers.
        pub content: BufferContent = BufferContent::Random,
        /// `refill_buffers`: new content for each write.
        pub refill: bool,
        /// `scramble_buffers`: cheap change of each buffer before each write.
        pub scramble: bool = true,
        /// `buffer_compress_percentage`.
        pub compress_percentage: Option<u8>,
        /// `buffer_compress_chunk`, bytes.
        pub compress_chunk: Bytes = Bytes(512),
        /// `dedupe_percentage`.
        pub dedupe_percentage: Option<u8>,
        /// `dedupe_mode`.
        pub dedupe_mode: DedupeMode = DedupeMode::Repeat,
        /// `dedupe_working_set_percentage`.
        pub dedupe_working_set_percentage: u8 = 5,
        /// `dedupe_global`: all jobs with this option share one working set.
        pub dedupe_global: bool,
        /// The use of the data of reads.
        pub read_use: ReadUse = ReadUse::Nothing,
        /// `mem` (iomem).
        pub memory: MemoryKind = MemoryKind::Malloc,
        /// `iomem_align` / `mem_align`, bytes.
        pub align: Option<Bytes>,
        /// `hugepage-size`.
        pub hugepage_size: Bytes = Bytes(2 << 20),
        /// `lockmem`: memory to take from the page cache.
        pub lockmem: Bytes,
    }
}

/// Base content of write buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum BufferContent {
    /// Random.
    #[default]
    Random,
    /// `zero_buffers`.
    Zero,
    /// `buffer_pattern`, repeated.
    Pattern(Vec<u8>),
    /// The data of the read before it, in the same buffer: a write after a read copies. No option
    /// sets it. It requires a synchronous engine, which has one buffer.
    AsRead,
}

/// The use of the data of each read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadUse {
    /// Nothing.
    #[default]
    Nothing,
    /// `touch_read`: one byte of every N bytes is read and written back. At least 1.
    Touch(u64),
    /// It is written to /dev/null, as in a copy. No option sets it.
    NullDevice,
}

/// `dedupe_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DedupeMode {
    /// Repeats the last block.
    #[default]
    Repeat,
    /// Draws from a working set.
    WorkingSet,
}

/// `mem`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MemoryKind {
    /// The allocator.
    #[default]
    Malloc,
    /// Shared memory segment.
    Shm,
    /// Shared memory segment of huge pages.
    ShmHuge,
    /// Anonymous mapping, or of the file named.
    Mmap(Option<String>),
    /// Mapping of huge pages (of the file named, on hugetlbfs).
    MmapHuge(Option<String>),
    /// Shared mapping.
    MmapShared(Option<String>),
}

named!(DedupeMode: Repeat "repeat", WorkingSet "working_set");
