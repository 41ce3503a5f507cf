//! The I/O engines. Each has a row in [`ENGINES`], or in [`UNBUILT_ENGINES`] if fathom knows only
//! its name. The `ioengine` option, the plan, the checks and the reports all read these rows.

use crate::Medium;

/// An engine that fathom has.
#[derive(Debug)]
pub struct EngineRow {
    /// The engine.
    pub engine: Engine,
    /// Value of `ioengine`.
    pub name: &'static str,
    /// Other names of the engine in `ioengine`.
    pub aliases: &'static [&'static str],
    /// How it does I/O, in one line.
    pub doc: &'static str,
    submission: Submission,
    target: Target,
}

/// An engine of fio's that is not built.
#[derive(Debug)]
pub struct UnbuiltEngine {
    /// Value of `ioengine`.
    pub name: &'static str,
    /// How it does I/O, in one line.
    pub doc: &'static str,
    /// What an implementation would need.
    pub needs: &'static str,
    /// What to use here instead.
    pub instead: &'static str,
}

/// How an engine submits I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Submission {
    /// Each call returns when its I/O has ended; `iodepth` has no effect.
    OneByOne,
    /// Each call does up to `iodepth` I/Os and returns when they have ended.
    Batched,
    /// Up to `iodepth` I/Os are in flight.
    Queued,
    /// As [`Queued`], performed by threads of the C library.
    LibraryThreads,
    /// As [`Queued`]; threads of the kernel perform I/O that would block.
    KernelThreads,
    /// As [`Queued`] with O_DIRECT. Buffered I/O is performed inside the submitting call, one at a time (io_submit(2), Notes).
    DirectOnly,
}
use Submission::{Batched, DirectOnly, KernelThreads, LibraryThreads, OneByOne, Queued};

/// What the I/O of an engine works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// Data of files or devices, which are opened.
    Data,
    /// Devices, which are opened and spoken to by commands or loads and stores: no page cache lies
    /// between.
    Commands,
    /// Data of a block device that a server exports. No file is opened.
    Export,
    /// Allocation or size of files, which are opened.
    Space,
    /// Names in directories. No file is opened, and each gets one I/O per pass.
    Names(NameUse),
    /// Memory of the process. Files are names only and as large as `size`.
    Memory,
    /// As [`Memory`], but no data moves: a run measures the load generator.
    Nothing,
    /// A socket.
    Socket,
    /// Objects of a remote store. Files are names only.
    Objects,
    /// Files, disks or objects behind a library or a program; the kernel knows none of them.
    Store,
    /// Time: I/O has no offset, no length and no file.
    Time,
    /// As [`Time`]: the worker waits for a program.
    Program,
}
use Target::{
    Commands, Data, Export, Memory, Names, Nothing, Objects, Program, Socket, Space, Store, Time,
};

/// What an engine does with the names of files or directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NameUse {
    /// The names are names of directories.
    pub directories: bool,
    /// They must exist before the run.
    pub must_exist: bool,
    /// The engine creates or removes them.
    pub changes: bool,
}

const fn creates(directories: bool) -> Target {
    Names(NameUse { directories, must_exist: false, changes: true })
}

const fn stats(directories: bool) -> Target {
    Names(NameUse { directories, must_exist: true, changes: false })
}

const fn removes(directories: bool) -> Target {
    Names(NameUse { directories, must_exist: true, changes: true })
}

/// One row per engine: its variant, names, doc, submission and target.
macro_rules! engines {
    ($($engine:ident: $name:literal $(or $alias:literal)*, $doc:literal, $submission:ident, $target:expr;)*) => {
        /// An I/O engine.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Engine { $(#[doc = $doc] $engine),* }

        /// All engines, in the order of [`Engine`].
        pub const ENGINES: &[EngineRow] = &[$(EngineRow {
            engine: Engine::$engine,
            name: $name,
            aliases: &[$($alias),*],
            doc: $doc,
            submission: $submission,
            target: $target,
        }),*];
    };
}

engines! {
    Sync: "sync", "lseek, then read or write", OneByOne, Data;
    Psync: "psync", "pread, pwrite", OneByOne, Data;
    Vsync: "vsync", "readv, writev, adjacent I/O joined", Batched, Data;
    Pvsync: "pvsync", "preadv, pwritev", OneByOne, Data;
    Pvsync2: "pvsync2", "preadv2, pwritev2 with flags", OneByOne, Data;
    Libaio: "libaio" or "aio" or "linuxaio", "Linux native asynchronous I/O", DirectOnly, Data;
    IoUring: "io_uring", "submission and completion rings shared with the kernel", KernelThreads, Data;
    Posixaio: "posixaio", "aio_read, aio_write", LibraryThreads, Data;
    Mmap: "mmap", "copies to and from a mapping", OneByOne, Data;
    Null: "null", "moves nothing", Queued, Nothing;
    Splice: "splice", "splice and vmsplice through a pipe", OneByOne, Data;
    Net: "net", "a TCP, UDP or UNIX socket", OneByOne, Socket;
    Netsplice: "netsplice", "net with splice", OneByOne, Socket;
    Rdma: "rdma", "memory of another host by RDMA, or messages to it", Queued, Socket;
    Cpuio: "cpuio", "computes, does no I/O", OneByOne, Time;
    Falloc: "falloc", "fallocate, no data", OneByOne, Space;
    Ftruncate: "ftruncate", "ftruncate, no data", OneByOne, Space;
    Filecreate: "filecreate", "makes files", OneByOne, creates(false);
    Filestat: "filestat", "stats files", OneByOne, stats(false);
    Filedelete: "filedelete", "removes files", OneByOne, removes(false);
    Dircreate: "dircreate", "makes directories", OneByOne, creates(true);
    Dirstat: "dirstat", "stats directories", OneByOne, stats(true);
    Dirdelete: "dirdelete", "removes directories", OneByOne, removes(true);
    PageFault: "page_fault", "touches pages of a mapping", OneByOne, Memory;
    Exec: "exec", "runs a program", OneByOne, Program;
    Sg: "sg", "SCSI commands through the sg driver", Queued, Commands;
    Libzbc: "libzbc", "zoned disks, by SCSI commands through the sg driver", Queued, Commands;
    IoUringCmd: "io_uring_cmd", "NVMe commands through io_uring", Queued, Commands;
    Mtd: "mtd", "raw flash, where trims erase", OneByOne, Commands;
    DevDax: "dev-dax", "copies to and from a DAX device", OneByOne, Commands;
    Libpmem: "libpmem", "copies to and from a file on persistent memory", OneByOne, Data;
    E4defrag: "e4defrag", "moves blocks of a donor into ext4 files", OneByOne, Space;
    Nbd: "nbd", "an export of an NBD server", Queued, Export;
    Http: "http", "objects of an S3, WebDAV or Swift store", Queued, Objects;
    Nfs: "nfs", "files of an NFS server through libnfs", Queued, Store;
    Rbd: "rbd", "a block device of Ceph through librbd", Queued, Store;
    Rados: "rados", "objects of Ceph through librados", Queued, Store;
    Custom: "custom", "a program of one's own, over rings in shared memory", Queued, Store;
    Libiscsi: "libiscsi", "a logical unit of an iSCSI target through libiscsi", Queued, Store;
}

const fn unbuilt(name: &'static str, doc: &'static str, needs: &'static str) -> UnbuiltEngine {
    UnbuiltEngine { name, doc, needs, instead: "take another ioengine" }
}

impl UnbuiltEngine {
    const fn instead(self, instead: &'static str) -> UnbuiltEngine {
        UnbuiltEngine { instead, ..self }
    }
}

const ON_A_MOUNT: &str = "mount it and take ioengine=psync or io_uring on its files";
const ON_A_DISK: &str = "take ioengine=io_uring on the block device";
const MEMORY_OF_A_PEER: &str = "take ioengine=rdma for the network, ioengine=mmap for the memory";

/// Engines of fio's that are refused by name.
pub const UNBUILT_ENGINES: &[UnbuiltEngine] = &[
    unbuilt("gfapi", "GlusterFS", "a GlusterFS volume and libgfapi").instead(ON_A_MOUNT),
    unbuilt("gfapi_async", "GlusterFS, asynchronous", "a GlusterFS volume and libgfapi")
        .instead(ON_A_MOUNT),
    unbuilt("libhdfs", "HDFS", "an HDFS, a Java runtime and libhdfs")
        .instead("mount it (its NFS gateway or fuse_dfs) and take ioengine=psync"),
    unbuilt("libblkio", "libblkio's drivers", "libblkio").instead(ON_A_DISK),
    unbuilt("libcufile", "GPU memory", "a GPU, its driver nvidia-fs and libcufile")
        .instead("take ioengine=io_uring with direct=1, which ends in the memory of the host"),
    unbuilt("xnvme", "NVMe through xNVMe", "libxnvme").instead(ON_A_DISK),
    unbuilt("dfs", "DAOS", "a DAOS pool and libdfs").instead(ON_A_MOUNT),
    unbuilt("ime_psync", "DDN IME", "a DDN IME").instead(ON_A_MOUNT),
    unbuilt("ime_psyncv", "DDN IME, vectored", "a DDN IME").instead(ON_A_MOUNT),
    unbuilt("ime_aio", "DDN IME, asynchronous", "a DDN IME").instead(ON_A_MOUNT),
    unbuilt("pmemblk", "persistent memory in blocks", "persistent memory and libpmemblk"),
    unbuilt("librpma_apm_client", "remote persistent memory, one-sided", RPMA)
        .instead(MEMORY_OF_A_PEER),
    unbuilt("librpma_apm_server", "remote persistent memory, one-sided", RPMA)
        .instead(MEMORY_OF_A_PEER),
    unbuilt("librpma_gpspm_client", "remote persistent memory, by messages", RPMA)
        .instead(MEMORY_OF_A_PEER),
    unbuilt("librpma_gpspm_server", "remote persistent memory, by messages", RPMA)
        .instead(MEMORY_OF_A_PEER),
    unbuilt("libdfc", "DFC through its library", "libdfc").instead(ON_A_DISK),
    unbuilt("guasi", "asynchronous I/O by GUASI's threads", "the library GUASI")
        .instead("take ioengine=posixaio, whose helpers are threads as well"),
    unbuilt("windowsaio", "Windows asynchronous I/O", "Windows").instead("take ioengine=io_uring"),
    unbuilt("solarisaio", "Solaris asynchronous I/O", "Solaris").instead("take ioengine=io_uring"),
    unbuilt("cpp_null", "fio's example of an engine in C++", "fio's own build")
        .instead("take ioengine=null, which does the same"),
    unbuilt(
        "external",
        "an engine in an object file",
        "fio: such an object file is compiled against the internal structures of one version of fio",
    )
    .instead("make the engine a program of its own and take ioengine=custom"),
];

const RPMA: &str = "RDMA devices, persistent memory and librpma";

impl Default for Engine {
    /// As in fio.
    fn default() -> Self {
        Engine::Psync
    }
}

impl Engine {
    /// The engine with this name or alias.
    pub fn named(name: &str) -> Option<Engine> {
        let is_named = |row: &&EngineRow| row.name == name || row.aliases.contains(&name);
        ENGINES.iter().find(is_named).map(|row| row.engine)
    }

    const fn row(self) -> &'static EngineRow {
        &ENGINES[self as usize]
    }

    /// fio's name.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// Whether one I/O at a time is in flight, whatever `iodepth` says.
    pub const fn is_synchronous(self) -> bool {
        matches!(self.row().submission, OneByOne)
    }

    /// Whether its calls return only when their I/O has ended.
    pub const fn blocks(self) -> bool {
        matches!(self.row().submission, OneByOne | Batched)
    }

    /// Whether threads of the C library perform its I/O.
    pub const fn uses_library_threads(self) -> bool {
        matches!(self.row().submission, LibraryThreads)
    }

    /// Whether threads of the kernel perform its I/O that would block.
    pub const fn uses_kernel_threads(self) -> bool {
        matches!(self.row().submission, KernelThreads)
    }

    /// Whether buffered I/O is performed inside the submitting call, one at a time, whatever `iodepth` says.
    pub const fn queues_direct_only(self) -> bool {
        matches!(self.row().submission, DirectOnly)
    }

    /// The target of its I/O.
    pub const fn medium(self) -> Medium {
        match self.row().target {
            Data | Commands | Export => Medium::Data,
            Space | Names(_) => Medium::Metadata,
            Memory | Nothing => Medium::Memory,
            Socket => Medium::Socket,
            Objects => Medium::Objects,
            Store => Medium::Store,
            Time | Program => Medium::Time,
        }
    }

    /// Whether it reaches files, disks or objects through a library or a program.
    pub const fn is_store(self) -> bool {
        matches!(self.row().target, Store)
    }

    /// Whether data moves between memory and a file or device.
    pub const fn moves_data(self) -> bool {
        matches!(self.row().target, Data | Commands | Export)
    }

    /// Whether it moves no data at all, so a run measures the load generator.
    pub const fn moves_nothing(self) -> bool {
        matches!(self.row().target, Nothing)
    }

    /// Whether it runs a program and waits for it.
    pub const fn runs_program(self) -> bool {
        matches!(self.row().target, Program)
    }

    /// Whether it changes the allocation or size of files, and none of their data.
    pub const fn changes_space(self) -> bool {
        matches!(self.row().target, Space)
    }

    /// Whether it speaks to devices by itself, by commands or by loads and stores: page cache, O_DIRECT and the counters of the
    /// block layer have no part in its I/O.
    pub const fn sends_commands(self) -> bool {
        matches!(self.row().target, Commands)
    }

    /// Whether files are opened before its I/O.
    pub const fn opens_files(self) -> bool {
        matches!(self.row().target, Data | Commands | Space)
    }

    /// What it does with names; `None` if it does not work on names.
    pub const fn name_use(self) -> Option<NameUse> {
        match self.row().target {
            Names(names) => Some(names),
            _ => None,
        }
    }

    /// Whether its I/O involves a filesystem or a device.
    pub const fn has_targets(self) -> bool {
        matches!(self.row().target, Data | Commands | Space | Names(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_engine_has_its_own_row_and_name() {
        for row in ENGINES {
            assert_eq!(row.engine.name(), row.name);
            for name in row.aliases.iter().chain([&row.name]) {
                assert_eq!(Engine::named(name), Some(row.engine), "{name}");
                assert!(UNBUILT_ENGINES.iter().all(|unbuilt| unbuilt.name != *name), "{name}");
            }
        }
        assert_eq!(Engine::named("gfapi"), None);
    }
}
