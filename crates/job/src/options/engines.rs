//! Options of single engines. An option that several engines share has one row.

use super::Group::Engine;
use super::field::field;
use super::row::{
    NO_MAX, PASSTHROUGH, boolean, choice, flag, int, ints, rows, same, text, unbuilt, value,
};
use super::{Choice, OptionDef, set};
use crate::model::ProtectionChecks;

const URINGS: &[&str] = &["io_uring", "io_uring_cmd"];
const POLLED: &[&str] = &["pvsync2", "io_uring", "io_uring_cmd", "sg", "xnvme", "libblkio"];
const SUBMITTERS: &[&str] = &["io_uring", "io_uring_cmd", "xnvme"];
const PRIO: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NETS: &[&str] = &["net", "netsplice"];
const PORTS: &[&str] = &[
    "net",
    "netsplice",
    "rdma",
    "libhdfs",
    "librpma_apm_client",
    "librpma_apm_server",
    "librpma_gpspm_client",
    "librpma_gpspm_server",
];
const GLUSTER: &[&str] = &["gfapi", "gfapi_async"];
const ENCRYPTION: &str = "librbd's encryption, which fathom does not use";
const CEPH: &[&str] = &["rados", "rbd"];

const WRITE_MODES: &[Choice] = &[
    value("write", "plain writes"),
    value("uncor", "mark blocks uncorrectable"),
    value("zeroes", "write zeroes"),
    value("verify", "write, then verify"),
];

const READ_MODES: &[Choice] =
    &[value("read", "plain reads"), value("verify", "verify"), value("compare", "compare")];

const VERIFY_MODES: &[Choice] =
    &[value("read", "plain reads"), value("compare", "compares, which move no data to the host")];

const SG_MODES: &[Choice] = &[
    value("write", "WRITE"),
    value("write_and_verify", "WRITE AND VERIFY"),
    same("verify", "write_and_verify"),
    value("write_same", "WRITE SAME"),
    same("same", "write_same"),
    value("write_same_ndob", "WRITE SAME(16) without data"),
    value("verify_bytchk_00", "VERIFY, BYTCHK 00"),
    value("verify_bytchk_01", "VERIFY, BYTCHK 01"),
    value("verify_bytchk_11", "VERIFY, BYTCHK 11"),
    value("write_stream", "WRITE STREAM(16)"),
];

const COMMANDS: &[Choice] =
    &[value("nvme", "an NVMe command"), unbuilt("scsi", "a SCSI command", PASSTHROUGH)];

const LOADS: &[Choice] = &[value("noop", "empty instructions"), value("qsort", "sorting")];

const STATS: &[Choice] = &[value("stat", "stat"), value("lstat", "lstat"), value("statx", "statx")];

const PROTOCOLS: &[Choice] = &[
    value("tcp", "TCP"),
    value("tcpv6", "TCP over IPv6"),
    value("udp", "UDP"),
    value("udpv6", "UDP over IPv6"),
    value("unix", "a UNIX socket"),
    value("vsock", "a socket between host and guest"),
];

const VERBS: &[Choice] = &[
    value("write", "write remote memory"),
    value("read", "read remote memory"),
    value("send", "send"),
    value("recv", "receive"),
];

/// Engines that do their I/O on this machine.
pub(super) const LOCAL: &[OptionDef] = rows! {
    /// Poll for completions
    ///
    /// Polls for completions instead of using interrupts: lower latency at the cost of one CPU.
    /// Needs direct=1 and a device with poll queues (for NVMe the module parameter poll_queues).
    "hipri" => flag(Engine)
        .for_engines(POLLED)
        .sets(field!(queue.options.hipri))
        .recorded(),

    /// Percentage of I/O that is polled
    ///
    /// Only used with hipri.
    "hipri_percentage" => int(Engine, 0, 100)
        .for_engines(&["pvsync2"])
        .default("100")
        .sets(field!(queue.options.hipri_percentage)),

    /// Drop pages from the cache once the I/O is done (RWF_DONTCACHE)
    ///
    /// Buffered I/O only; needs Linux 6.14.
    "uncached" => boolean(Engine)
        .for_engines(&["pvsync2", "io_uring", "io_uring_cmd"])
        .sets(field!(queue.options.uncached)),

    /// Fail with EAGAIN instead of blocking (RWF_NOWAIT)
    ///
    /// Use it with ignore_error=EAGAIN; EAGAIN is counted as an error.
    "nowait" => boolean(Engine)
        .for_engines(&["pvsync2", "libaio", "io_uring", "io_uring_cmd"])
        .sets(field!(queue.options.nowait)),

    /// Register buffers with the kernel
    ///
    /// Avoids mapping pages for each direct I/O.
    "fixedbufs" => flag(Engine).for_engines(URINGS).sets(field!(queue.options.fixedbufs)).recorded(),

    /// Register files with the kernel
    ///
    /// Avoids reference counting for each I/O.
    "registerfiles" => flag(Engine).for_engines(URINGS).sets(field!(queue.options.registerfiles)).recorded(),

    /// A kernel thread submits
    ///
    /// Submission then needs no system call. The thread uses one more CPU, which the CPU figures of
    /// the worker do not include.
    "sqthread_poll" => flag(Engine).for_engines(SUBMITTERS).sets(field!(queue.options.sqthread_poll)).recorded(),

    /// CPU of the submitting kernel thread
    ///
    /// Only used with sqthread_poll. By default the kernel chooses.
    "sqthread_poll_cpu" => int(Engine, 0, NO_MAX)
        .for_engines(URINGS)
        .sets(field!(queue.options.sqthread_poll_cpu)),

    /// Use commands without a vector
    ///
    /// -1 uses them if the kernel supports them.
    "nonvectored" => int(Engine, -1, 1).for_engines(URINGS).default("-1").sets_with(|job, v| {
        job.queue.options.nonvectored = (v.int() >= 0).then(|| v.int() > 0);
        Ok(())
    }),

    /// Every Nth I/O goes through the kernel's worker threads
    ///
    /// Shows the cost of I/O that cannot be issued inline. 0 leaves the choice to the kernel.
    "force_async" => int(Engine, 0, NO_MAX)
        .for_engines(URINGS)
        .default("0")
        .sets(field!(queue.options.force_async or none)),

    /// Read completions from the ring without a system call
    ///
    /// Only used when polling for completions (iodepth_batch_complete_min=0).
    "userspace_reap" => flag(Engine).for_engines(&["libaio"]).sets(field!(queue.options.userspace_reap)),

    /// Use commands with a vector
    ///
    /// Newer than fio 3.33.
    "libaio_vectored" => boolean(Engine)
        .for_engines(&["libaio"])
        .sets(field!(queue.options.libaio_vectored)),

    /// Percentage of I/O with the priority cmdprio
    ///
    /// Up to two values: reads, writes. Needs a device that supports priorities, direct=1 and the
    /// privilege to set them. The report shows the latency of each priority.
    "cmdprio_percentage" => ints(Engine, 0, 100)
        .for_engines(PRIO)
        .sets(field!(queue.options.cmdprio_percentage)),

    /// Priority class of that I/O
    ///
    /// See prioclass; up to two values: reads, writes.
    "cmdprio_class" => ints(Engine, 1, 3).for_engines(PRIO).sets(field!(queue.options.cmdprio_class)),

    /// Priority hint of that I/O
    ///
    /// See priohint; up to two values: reads, writes. Newer than fio 3.33.
    "cmdprio_hint" => ints(Engine, 0, 1023).for_engines(PRIO).sets(field!(queue.options.cmdprio_hint)),

    /// Priority of that I/O
    ///
    /// See prio; up to two values: reads, writes.
    "cmdprio" => ints(Engine, 0, 7).for_engines(PRIO).sets(field!(queue.options.cmdprio)),

    /// Priorities by block size
    ///
    /// Entries size/percent or size/percent/class/level separated by colons; a comma separates
    /// reads from writes. Several entries may have the same size. Not with cmdprio_percentage.
    "cmdprio_bssplit" => text(Engine).for_engines(PRIO).sets_with(set::priorities::by_size),

    /// Ask for transparent huge pages
    ///
    /// madvise(MADV_HUGEPAGE) on the mapping.
    "thp" => boolean(Engine).for_engines(&["mmap"]).sets(field!(queue.options.thp)),

    /// Set FUA on reads
    ///
    /// Reads then bypass the device's cache. It has no effect with io_uring: the kernel passes FUA with
    /// commands only.
    "readfua" => boolean(Engine)
        .for_engines(&["sg", "io_uring", "io_uring_cmd"])
        .sets(field!(queue.options.readfua)),

    /// Set FUA on writes
    ///
    /// Writes are durable when they complete: RWF_DSYNC on each write, which the kernel implements
    /// with FUA, or with a flush if the device has no FUA. With sg and io_uring_cmd the bit of the
    /// command; only plain writes have it.
    "writefua" => boolean(Engine)
        .for_engines(&["sg", "io_uring", "io_uring_cmd"])
        .sets(field!(queue.options.writefua)),

    /// NVMe command that a write becomes
    ///
    /// io_uring_cmd only: a plain write, one that lets zeros or uncorrectable marks stand for data,
    /// or a verify.
    "write_mode" => choice(Engine, WRITE_MODES)
        .for_engines(URINGS)
        .default("write")
        .sets(field!(queue.options.nvme.write_mode))
        .recorded(),

    /// NVMe command that a verifying read becomes
    ///
    /// io_uring_cmd only: data is read back, or the device compares it with what it is sent. A compare
    /// needs verify=pattern, for the content must be known before the I/O.
    "verify_mode" => choice(Engine, VERIFY_MODES)
        .for_engines(URINGS)
        .default("read")
        .sets(field!(queue.options.nvme.verify_mode))
        .recorded(),

    /// Write by Zone Append commands
    ///
    /// io_uring_cmd with zonemode=zbd on a zoned namespace: the device chooses the place within a zone
    /// and tells it. Each zone has one append in flight. One that ends at another place than the
    /// write pointer says is an error: another program writes to the zone. Not an option of fio's.
    "zone_append" => boolean(Engine)
        .for_engines(&["io_uring_cmd"])
        .sets(field!(queue.options.nvme.zone_append))
        .recorded(),

    /// Kind of command passed through
    ///
    /// io_uring_cmd only: the command set of the device behind the character device named.
    "cmd_type" => choice(Engine, COMMANDS)
        .for_engines(URINGS)
        .default("nvme")
        .accepted("NVMe commands are the only kind that the kernel passes through"),

    /// Length of a SCSI command passed through
    ///
    /// For io_uring_cmd; 0 chooses by the size of the device.
    "cdb_len" => text(Engine).for_engines(URINGS).default("0").needs(PASSTHROUGH),

    /// BYTCHK of a SCSI VERIFY passed through
    ///
    /// io_uring_cmd to SCSI only: whether the device compares data with what it is sent (SBC,
    /// VERIFY).
    "verify_bytchk" => text(Engine).for_engines(URINGS).default("0").needs(PASSTHROUGH),

    /// Command that a read becomes
    ///
    /// io_uring_cmd to SCSI only: a plain read, or a verify that moves no data.
    "read_mode" => choice(Engine, READ_MODES).for_engines(URINGS).default("read").needs(PASSTHROUGH),

    /// Bytes of separate metadata for each I/O
    ///
    /// For namespaces that keep metadata apart; for io_uring_cmd. Needed unless the device makes and
    /// checks all of it (pi_act=1).
    "md_per_io_size" => int(Engine, 0, 1 << 30)
        .for_engines(SUBMITTERS)
        .default("0")
        .sets(field!(queue.options.nvme.metadata_bytes)),

    /// The device makes and checks protection information
    ///
    /// With 0 the host makes and checks it; for io_uring_cmd.
    "pi_act" => boolean(Engine)
        .for_engines(SUBMITTERS)
        .default("1")
        .sets(field!(queue.options.nvme.pi_act))
        .recorded(),

    /// Which protection information is checked
    ///
    /// A list of GUARD, REFTAG and APPTAG; for io_uring_cmd.
    "pi_chk" => text(Engine).for_engines(SUBMITTERS).sets_with(|job, v| {
        job.queue.options.nvme.checks = ProtectionChecks::parse(v.text())?;
        Ok(())
    }),

    /// Application tag
    ///
    /// Used with pi_chk=APPTAG.
    "apptag" => int(Engine, 0, 0xffff)
        .for_engines(SUBMITTERS)
        .default("0x1234")
        .sets(field!(queue.options.nvme.tag)),

    /// Mask of the application tag
    ///
    /// Used with pi_chk=APPTAG.
    "apptag_mask" => int(Engine, 0, 0xffff)
        .for_engines(SUBMITTERS)
        .default("0xffff")
        .sets(field!(queue.options.nvme.tag_mask)),

    /// Deallocate blocks that are written as zeroes
    ///
    /// Has a meaning with write_mode=zeroes.
    "deac" => boolean(Engine).for_engines(URINGS).sets(field!(queue.options.nvme.deallocates)),

    /// SCSI command that a write becomes
    ///
    /// Some of them read or compare and write nothing.
    "sg_write_mode" => choice(Engine, SG_MODES)
        .for_engines(&["sg"])
        .default("write")
        .sets(field!(queue.options.sg_write_mode))
        .recorded(),

    /// Stream of WRITE STREAM(16)
    ///
    /// Only used with sg_write_mode=write_stream. 0 opens a stream on each device and closes it at the
    /// end.
    "stream_id" => int(Engine, 0, 0xffff)
        .for_engines(&["sg"])
        .default("0")
        .sets(field!(queue.options.stream)),

    /// Share of a CPU to use, per cent
    ///
    /// Required. At most one CPU; use numjobs for more. Each cycle of work and sleep counts as an
    /// I/O without bytes.
    "cpuload" => int(Engine, 0, 100).for_engines(&["cpuio"]).sets(field!(queue.options.cpu.percent)),

    /// Length of a burst of work, in microseconds
    ///
    /// The worker sleeps after each burst to reach cpuload. Short bursts spread the load evenly.
    "cpuchunks" => int(Engine, 0, NO_MAX)
        .for_engines(&["cpuio"])
        .default("50000")
        .sets(field!(queue.options.cpu.chunk_us)),

    /// What the CPU does
    ///
    /// qsort draws more power.
    "cpumode" => choice(Engine, LOADS)
        .for_engines(&["cpuio"])
        .default("noop")
        .sets(field!(queue.options.cpu.sorts = "qsort")),

    /// End when the jobs that do I/O have ended
    ///
    /// By default the job runs until its runtime is over or, without runtime, until the last job
    /// with I/O has ended.
    "exit_on_io_done" => boolean(Engine)
        .for_engines(&["cpuio"])
        .sets(field!(queue.options.cpu.ends_with_io)),

    /// System call that is timed
    ///
    /// lstat does not follow links; statx requests only the fields needed.
    "stat_type" => choice(Engine, STATS)
        .for_engines(&["filestat", "dirstat"])
        .default("stat")
        .sets(field!(queue.options.stat)),

    /// Program to run
    ///
    /// Required. The program runs once and counts as one I/O without bytes; its run time is the
    /// latency. The job ends with the program, or with time_based at runtime.
    "program" => text(Engine).for_engines(&["exec"]).sets(field!(queue.options.program.path)),

    /// Arguments of the program
    ///
    /// Split at spaces; quotes have no meaning. %r stands for the runtime in seconds, %n for the
    /// name of the job.
    "arguments" => text(Engine).for_engines(&["exec"]).sets(field!(queue.options.program.arguments)),

    /// Seconds between SIGTERM and SIGKILL
    ///
    /// At the end of the job the program gets SIGTERM, and SIGKILL after this time.
    "grace_time" => int(Engine, 0, NO_MAX)
        .for_engines(&["exec"])
        .default("1")
        .sets(field!(queue.options.program.grace_seconds)),

    /// Redirect the program's output to files
    ///
    /// Output goes to JOB.stdout and JOB.stderr in the working directory; clones after the first
    /// add their number before the dot. With 0 it goes to standard error.
    "std_redirect" => boolean(Engine)
        .for_engines(&["exec"])
        .default("1")
        .sets(field!(queue.options.program.redirect)),

    /// File that gives its blocks
    ///
    /// Required. Its blocks are exchanged with those of the file that is defragmented. It must be on
    /// the same filesystem, and is made if it is missing.
    "donorname" => text(Engine).for_engines(&["e4defrag"]).sets(field!(queue.options.donor)),

    /// When the donor gets its blocks
    ///
    /// 0 allocates them beforehand, 1 within each I/O, which frees them again.
    "inplace" => int(Engine, 0, 1).for_engines(&["e4defrag"]).sets(field!(queue.options.donor_in_place)),

    /// Skip bad blocks
    ///
    /// I/O on them counts as done. Otherwise it is an error.
    "skip_bad" => boolean(Engine).for_engines(&["mtd"]).sets(field!(queue.options.skip_bad)),
};

/// Engines that do their I/O over a network.
pub(super) const REMOTE: &[OptionDef] = rows! {
    /// Host to connect to
    ///
    /// A name or an address; for vsock the context id of the other side. Not given on the side that
    /// listens or reads by UDP, unless it is a multicast group.
    "hostname" => text(Engine)
        .for_engines(&["net", "netsplice", "rdma"])
        .sets(field!(queue.options.net.hostname)),

    /// Port to listen on or connect to
    ///
    /// Each clone uses the next port.
    "port" => int(Engine, 1, 65_535)
        .for_engines(PORTS)
        .sets(field!(queue.options.net.port)),

    /// Protocol
    ///
    /// Datagrams lost with udp are counted and reported. With unix, filename is the path and the
    /// reader listens.
    "protocol" => choice(Engine, PROTOCOLS)
        .alias(&["proto"])
        .for_engines(NETS)
        .default("tcp")
        .sets(field!(queue.options.net.protocol)),

    /// Set TCP_NODELAY
    ///
    /// Sends small messages at once.
    "nodelay" => boolean(Engine).for_engines(NETS).sets(field!(queue.options.net.nodelay)),

    /// Wait for the other side to connect
    ///
    /// One side listens, the other connects; either may write. All listening jobs are ready before
    /// the first job connects.
    "listen" => flag(Engine).for_engines(NETS).sets(field!(queue.options.net.listens)),

    /// Answer each message
    ///
    /// Measures round trips: each block is sent back before the next is sent. Both sides must set
    /// it.
    "pingpong" => flag(Engine).for_engines(NETS).sets(field!(queue.options.net.pingpong)),

    /// Interface of UDP multicast
    ///
    /// IP address of the local interface for the multicast group.
    "interface" => text(Engine).for_engines(NETS).sets(field!(queue.options.net.interface)),

    /// Time to live of UDP multicast
    ///
    /// 1 stays in the local network.
    "ttl" => int(Engine, 0, NO_MAX).for_engines(NETS).default("1").sets(field!(queue.options.net.ttl)),

    /// Size of the socket buffers
    ///
    /// Bytes of the send and receive buffers; 0 means the system default.
    "window_size" => int(Engine, 0, NO_MAX).for_engines(NETS).sets(field!(queue.options.net.window)),

    /// Maximum segment size of TCP
    ///
    /// In bytes; 0 means the system default.
    "mss" => int(Engine, 0, NO_MAX).for_engines(NETS).sets(field!(queue.options.net.mss)),

    /// Address to bind to
    ///
    /// Name or address of the local RDMA device: the side that listens listens there only, the other
    /// connects from there. Any device without it.
    "bindname" => text(Engine).for_engines(&["rdma"]).sets(field!(queue.options.net.bind)),

    /// RDMA verb
    ///
    /// Of the side that connects; the side that listens goes by it. write and read move data between the
    /// buffers of both sides without the CPU of the other; send and recv are messages.
    "verb" => choice(Engine, VERBS)
        .alias(&["proto"])
        .for_engines(&["rdma"])
        .default("write")
        .sets(field!(queue.options.net.verb))
        .recorded(),

    /// URL of the server and its options
    ///
    /// As libnfs has it: nfs://server/export, perhaps with ?version=4&nfsport=2049. Files are names
    /// below the export; a job that writes makes them, and no job lays them out.
    "nfs_url" => text(Engine).for_engines(&["nfs"]).sets(field!(queue.options.nfs_url)),

    /// URI of the device
    ///
    /// Required. nbd://HOST:PORT/EXPORT over TCP, or nbd+unix:///EXPORT?socket=PATH. The export is the
    /// one target of the job; its size is the default of size. TLS (nbds) is not supported.
    "uri" => text(Engine).for_engines(&["nbd"]).sets(field!(queue.options.nbd_uri)),

    /// Name of the cluster
    ///
    /// Which cluster's configuration file is read; ceph without it.
    "clustername" => text(Engine).for_engines(CEPH).sets(field!(queue.options.ceph.cluster)),

    /// Pool to work in
    ///
    /// Objects or images are taken from this pool, which must exist.
    "pool" => text(Engine)
        .for_engines(&["rados", "rbd", "dfs"])
        .sets(field!(queue.options.ceph.pool)),

    /// Client name to connect with
    ///
    /// Without the prefix client. if clustername is given.
    "clientname" => text(Engine).for_engines(CEPH).sets(field!(queue.options.ceph.client)),

    /// Poll for completions
    ///
    /// Lower latency at the cost of one CPU.
    "busy_poll" => boolean(Engine).for_engines(CEPH).sets(field!(queue.options.ceph.busy_poll)),

    /// Configuration file
    ///
    /// As Ceph's own tools read it: without this option the file that the variable CEPH_CONF names,
    /// else /etc/ceph/ceph.conf.
    "conf" => text(Engine).for_engines(CEPH).sets(field!(queue.options.ceph.conf)),

    /// Make objects at the start
    ///
    /// Without it, reads of objects that do not exist fail.
    "touch_objects" => boolean(Engine)
        .for_engines(&["rados"])
        .default("1")
        .sets(field!(!queue.options.ceph.leaves_objects)),

    /// Name of the block device
    ///
    /// Image for I/O; it must exist and is not enlarged.
    "rbdname" => text(Engine).for_engines(&["rbd"]).sets(field!(queue.options.ceph.image)),

    /// Encryption of the image
    ///
    /// luks1 or luks2; for images that librbd encrypts.
    "rbd_encryption_format" => text(Engine).for_engines(&["rbd"]).needs(ENCRYPTION),

    /// Passphrase of the image
    ///
    /// Used with rbd_encryption_format.
    "rbd_encryption_passphrase" => text(Engine).for_engines(&["rbd"]).secret().needs(ENCRYPTION),

    /// Program that is the engine
    ///
    /// It does the job's I/O, which it gets over rings in shared memory. The page "Engines of your
    /// own" of the guide describes the protocol. Files are names that the program gives a meaning.
    "custom_program" => text(Engine)
        .for_engines(&["custom"])
        .sets(field!(queue.options.custom.program)),

    /// Arguments of the program
    ///
    /// Split at spaces; quotes have no meaning.
    "custom_arguments" => text(Engine)
        .for_engines(&["custom"])
        .sets(field!(queue.options.custom.arguments)),

    /// Name of the volume
    ///
    /// As gluster volume list names it.
    "volume" => text(Engine).for_engines(GLUSTER).needs("the gfapi engines (GlusterFS)"),

    /// Brick to connect to
    ///
    /// A host that serves the volume.
    "brick" => text(Engine).for_engines(GLUSTER).needs("the gfapi engines (GlusterFS)"),

    /// One instance for all jobs
    ///
    /// Clones then share one connection.
    "single-instance" => boolean(Engine).for_engines(GLUSTER).needs("the gfapi engines (GlusterFS)"),
};
