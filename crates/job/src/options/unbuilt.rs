//! Options of engines that fathom knows by name and does not run.

use super::Group::Engine;
use super::row::{NO_MAX, boolean, choice, flag, int, rows, size, text, value};
use super::{Choice, OptionDef};

const HDFS: &str = "the libhdfs engine (HDFS, a Java runtime and libhdfs)";
const DAOS: &str = "the dfs engine (DAOS)";
const GPU: &str = "the libcufile engine (a GPU, nvidia-fs and libcufile)";
const RPMA: &str = "the librpma engines (RDMA, persistent memory and librpma)";
const XNVME: &str = "the xnvme engine (libxnvme)";
const BLKIO: &str = "the libblkio engine (libblkio)";

const RPMA_SERVERS: &[&str] = &["librpma_apm_server", "librpma_gpspm_server"];
const RPMA_ALL: &[&str] =
    &["librpma_apm_client", "librpma_apm_server", "librpma_gpspm_client", "librpma_gpspm_server"];

const CUDA_IO: &[Choice] = &[
    value("cufile", "between the filesystem and the GPU"),
    value("posix", "through a buffer of the host"),
];

const ASYNC: &[Choice] = &[
    value("emu", "one thread over the synchronous interface"),
    value("thrpool", "several threads over the synchronous interface"),
    value("io_uring", "io_uring"),
    value("io_uring_ucmd", "NVMe commands through io_uring"),
    value("io_uring_cmd", "NVMe commands through io_uring"),
    value("libaio", "Linux native asynchronous I/O"),
    value("posix", "POSIX asynchronous I/O"),
    value("vfio", "the driver libvfn"),
    value("nil", "moves nothing"),
];

const SYNC: &[Choice] = &[
    value("nvme", "ioctls of the NVMe driver"),
    value("psync", "pread, pwrite"),
    value("block", "pread, pwrite and ioctls of the block layer for zones"),
];

const ADMIN: &[Choice] =
    &[value("nvme", "ioctls of the NVMe driver"), value("block", "ioctls of the block layer")];

const MEMORY: &[Choice] =
    &[value("posix", "malloc"), value("hugepage", "huge pages"), value("spdk", "SPDK's allocator")];

const WAITS: &[Choice] = &[
    value("block", "wait within the library"),
    value("eventfd", "wait for its descriptor"),
    value("loop", "poll"),
];

/// Options of engines that fathom does not run.
pub(super) const ROWS: &[OptionDef] = rows! {
    /// Name node of HDFS
    ///
    /// A host name or an address.
    "namenode" => text(Engine).for_engines(&["libhdfs"]).needs(HDFS),

    /// Directory of HDFS
    ///
    /// Chunks are made in it.
    "hdfsdirectory" => text(Engine).for_engines(&["libhdfs"]).needs(HDFS),

    /// Length of a chunk
    ///
    /// Of each file of HDFS or DAOS; the container's own length with DAOS if it is not given.
    "chunk_size" => size(Engine, false, false).for_engines(&["libhdfs", "dfs"]).needs(DAOS),

    /// Replicas of a file
    ///
    /// One instance for all jobs of a process otherwise.
    "single_instance" => boolean(Engine).for_engines(&["libhdfs"]).default("1").needs(HDFS),

    /// Read without copies
    ///
    /// Short-circuit reads of blocks that are on this machine.
    "hdfs_use_direct" => boolean(Engine).for_engines(&["libhdfs"]).needs(HDFS),

    /// Container of DAOS
    ///
    /// Its label or its UUID, within the pool.
    "cont" => text(Engine).for_engines(&["dfs"]).needs(DAOS),

    /// Object class of DAOS
    ///
    /// The container's own without it.
    "object_class" => text(Engine).for_engines(&["dfs"]).needs(DAOS),

    /// Service replicas of the pool of DAOS
    ///
    /// Older releases of fio and DAOS need it.
    "svcl" => text(Engine).for_engines(&["dfs"]).needs(DAOS),

    /// GPUs
    ///
    /// Numbers separated by colons; workers use them round robin.
    "gpu_dev_ids" => text(Engine).for_engines(&["libcufile"]).default("0").needs(GPU),

    /// How data reaches the GPU
    ///
    /// Directly, or copied by the host.
    "cuda_io" => choice(Engine, CUDA_IO).for_engines(&["libcufile"]).default("cufile").needs(GPU),

    /// Address of the server
    ///
    /// Of the RDMA device it listens on.
    "serverip" => text(Engine).for_engines(RPMA_ALL).needs(RPMA),

    /// Writes go from the device directly to persistent memory
    ///
    /// 1 only if the platform makes them durable there.
    "direct_write_to_pmem" => boolean(Engine).for_engines(RPMA_SERVERS).needs(RPMA),

    /// Poll for completions
    ///
    /// 0 waits for an event instead.
    "busy_wait_polling" => boolean(Engine).for_engines(RPMA_SERVERS).default("1").needs(RPMA),

    /// Asynchronous interface of xNVMe
    ///
    /// What xNVMe does its I/O with.
    "xnvme_async" => choice(Engine, ASYNC).for_engines(&["xnvme"]).default("emu").needs(XNVME),

    /// Synchronous interface of xNVMe
    ///
    /// Used by xnvme_async=emu and thrpool.
    "xnvme_sync" => choice(Engine, SYNC).for_engines(&["xnvme"]).default("nvme").needs(XNVME),

    /// Administration interface of xNVMe
    ///
    /// What xNVMe identifies the device with.
    "xnvme_admin" => choice(Engine, ADMIN).for_engines(&["xnvme"]).default("nvme").needs(XNVME),

    /// Memory of xNVMe
    ///
    /// Allocator of buffers.
    "xnvme_mem" => choice(Engine, MEMORY).for_engines(&["xnvme"]).default("posix").needs(XNVME),

    /// Namespace
    ///
    /// For drivers of NVMe in user space.
    "xnvme_dev_nsid" => int(Engine, 0, NO_MAX).for_engines(&["xnvme"]).default("0").needs(XNVME),

    /// NQN of the subsystem
    ///
    /// For NVMe over fabrics in user space.
    "xnvme_dev_subnqn" => text(Engine).for_engines(&["xnvme"]).needs(XNVME),

    /// Use vectored commands
    ///
    /// Each I/O has one element.
    "xnvme_iovec" => flag(Engine).for_engines(&["xnvme"]).needs(XNVME),

    /// Driver of libblkio
    ///
    /// io_uring, nvme-io_uring, virtio-blk-vhost-user and others.
    "libblkio_driver" => text(Engine).for_engines(&["libblkio"]).needs(BLKIO),

    /// Path of the device
    ///
    /// Of a file, a device or a socket, by the driver.
    "libblkio_path" => text(Engine).for_engines(&["libblkio"]).needs(BLKIO),

    /// Properties before the connection
    ///
    /// name=value, separated by commas.
    "libblkio_pre_connect_props" => text(Engine).for_engines(&["libblkio"]).needs(BLKIO),

    /// Entries of each queue
    ///
    /// The driver's own number without it.
    "libblkio_num_entries" => int(Engine, 1, NO_MAX).for_engines(&["libblkio"]).needs(BLKIO),

    /// Length of each queue
    ///
    /// The driver's own length without it.
    "libblkio_queue_size" => int(Engine, 1, NO_MAX).for_engines(&["libblkio"]).needs(BLKIO),

    /// Properties before the start
    ///
    /// name=value, separated by commas.
    "libblkio_pre_start_props" => text(Engine).for_engines(&["libblkio"]).needs(BLKIO),

    /// Use vectored requests
    ///
    /// Each I/O has one element.
    "libblkio_vectored" => flag(Engine).for_engines(&["libblkio"]).needs(BLKIO),

    /// Trims write zeroes
    ///
    /// Instead of discarding.
    "libblkio_write_zeroes_on_trim" => flag(Engine).for_engines(&["libblkio"]).needs(BLKIO),

    /// How completions are waited for
    ///
    /// Within the library, at its descriptor, or by polling.
    "libblkio_wait_mode" => choice(Engine, WAITS).for_engines(&["libblkio"]).default("block").needs(BLKIO),

    /// Make the descriptor of completions
    ///
    /// Even if libblkio_wait_mode does not need it.
    "libblkio_force_enable_completion_eventfd" => flag(Engine).for_engines(&["libblkio"]).needs(BLKIO),

    /// Leave completions to the caller's thread
    ///
    /// Has a meaning on Windows only.
    "no_completion_thread" => flag(Engine).for_engines(&["windowsaio"]).needs("Windows"),
};
