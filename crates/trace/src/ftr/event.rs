//! What a trace of an application consists of.

/// Where an event was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// At the system call: what the application asked for.
    Application,
    /// At the block device: what reached the storage.
    Device,
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operation {
    /// A read, by any call.
    Read,
    /// A write, by any call.
    Write,
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2), with its range.
    SyncRange,
    /// sync(2) or syncfs(2).
    SyncAll,
    /// fallocate(2) that allocates, with its range.
    Allocate,
    /// fallocate(2) that punches a hole or zeroes, and a discard at the device.
    Discard,
    /// ftruncate(2) or truncate(2); `offset` is the new size.
    Truncate,
    /// open(2) in any form; `flags` are those of the file.
    Open,
    /// close(2).
    Close,
    /// A page fault on a mapped file that read the page from storage.
    Fault,
    /// A flush of the cache of a block device.
    Flush,
    /// rename(2) in any form; `file` is the file that got a new name.
    Rename,
    /// unlink(2) in any form.
    Unlink,
}

impl Operation {
    /// All, in the order of their numbers in trace files and in the programs of a capture.
    pub const ALL: [Operation; 15] = [
        Operation::Read,
        Operation::Write,
        Operation::Fsync,
        Operation::Fdatasync,
        Operation::SyncRange,
        Operation::SyncAll,
        Operation::Allocate,
        Operation::Discard,
        Operation::Truncate,
        Operation::Open,
        Operation::Close,
        Operation::Fault,
        Operation::Flush,
        Operation::Rename,
        Operation::Unlink,
    ];
}

/// How an operation was asked for; several may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u16);

impl Flags {
    /// The file is open with O_DIRECT.
    pub const DIRECT: Flags = Flags(1);
    /// The write is durable when it returns, data and size (O_DSYNC, RWF_DSYNC).
    pub const DSYNC: Flags = Flags(1 << 1);
    /// The write is durable when it returns, with all metadata (O_SYNC, RWF_SYNC).
    pub const SYNC: Flags = Flags(1 << 2);
    /// The file is open with O_APPEND.
    pub const APPEND: Flags = Flags(1 << 3);
    /// The call does not wait for the I/O (io_uring, libaio): `duration_ns` runs from submission
    /// to completion and other events of the thread may lie between.
    pub const ASYNC: Flags = Flags(1 << 4);
    /// The offset is the position of the file, not an argument of the call.
    pub const POSITION: Flags = Flags(1 << 5);
    /// Forced unit access, at the device.
    pub const FUA: Flags = Flags(1 << 6);
    /// Metadata of a filesystem, at the device.
    pub const METADATA: Flags = Flags(1 << 7);
    /// Read ahead of the application, at the device.
    pub const READAHEAD: Flags = Flags(1 << 8);
    /// The open created the file (it did not exist before, or O_EXCL was given).
    pub const CREATED: Flags = Flags(1 << 9);

    /// Whether all of `other` hold.
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These and `other`.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// One call of the application, or one request of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When it began, in nanoseconds from the start of the trace.
    pub at_ns: u64,
    /// How long it took, in nanoseconds. `None` if the trace does not tell, or ended before it did.
    pub duration_ns: Option<u64>,
    /// Where it was seen.
    pub level: Level,
    /// What was asked for.
    pub operation: Operation,
    /// How.
    pub flags: Flags,
    /// Number of the thread, as in [`Thread::number`]. At the device it is the one that submitted
    /// the request, which for writeback is a thread of the kernel.
    pub thread: u32,
    /// Number of the file or device, as in [`File::number`].
    pub file: u32,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes, as asked.
    pub length: u64,
    /// Bytes that were moved, or a negative error number. `None` if the trace does not tell.
    pub result: Option<i64>,
    /// CPU time in nanoseconds that the thread used between the end of its previous event and the
    /// beginning of this one. The rest of that time it slept or waited. `None` if the trace does
    /// not tell.
    pub cpu_before_ns: Option<u64>,
}

/// What kind of thing a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// A regular file.
    Regular,
    /// A directory.
    Directory,
    /// A block device, asked by the application or seen at the device level.
    Block,
    /// Unknown.
    Unknown,
}

/// A file or device that events name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its number in this trace. Numbers start at 0 and are given in order.
    pub number: u32,
    /// Its path, or the hash of it in an anonymous trace.
    pub name: String,
    /// Its kind.
    pub kind: FileKind,
    /// Its size in bytes when first seen; 0 if unknown.
    pub size: u64,
    /// Major and minor number of the device it is on, or of itself; `None` if unknown.
    pub device: Option<(u32, u32)>,
}

/// A thread that events name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number in this trace. Numbers start at 0 and are given in order.
    pub number: u32,
    /// Its process.
    pub process: u32,
    /// Its thread identifier; that of the process for the first thread.
    pub thread: u32,
    /// Its name (comm).
    pub name: String,
}

/// What was found in samples of the blocks that were written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Number of the file.
    pub file: u32,
    /// Blocks that were sampled.
    pub blocks: u32,
    /// By how much they can be compressed, in thousandths of their size.
    pub compressible: u16,
    /// Share of the blocks that are equal to an earlier one of the trace, in thousandths.
    pub duplicate: u16,
}

/// One entry of a trace. Files and threads come before the events that name them; events come
/// nearly in the order of their ends, so `at_ns` may go back by the longest duration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file or device.
    File(File),
    /// A thread.
    Thread(Thread),
    /// An event.
    Event(Event),
    /// So many events were lost before the next entry.
    Lost(u64),
    /// Samples of a file's contents; at the end of a trace.
    Contents(Contents),
}
