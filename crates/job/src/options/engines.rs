//! Options of single engines. An option that several engines share has one row.

use super::Group::Engine;
use super::field::field;
use super::row::{
    NO_MAX, PASSTHROUGH, SCSI_GENERIC, boolean, choice, flag, int, ints, same, text, value,
};
use super::{Choice, OptionDef, set};

const URINGS: &[&str] = &["io_uring", "io_uring_cmd"];
const PRIO: &[&str] = &["io_uring", "io_uring_cmd", "libaio"];
const NETS: &[&str] = &["net", "netsplice"];
const GLUSTER: &[&str] = &["gfapi", "gfapi_async"];
const CEPH: &[&str] = &["rados", "rbd"];

const NO_FUA_READ: &str =
    "the kernel passes no FUA with reads of io_uring, only with commands of sg and io_uring_cmd";

const WRITE_MODES: &[Choice] = &[
    value("write", "plain writes"),
    value("uncor", "mark blocks uncorrectable"),
    value("zeroes", "write zeroes"),
    value("verify", "write, then verify"),
];

const READ_MODES: &[Choice] =
    &[value("read", "plain reads"), value("verify", "verify"), value("compare", "compare")];

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

const NVME: &[Choice] = &[value("nvme", "an NVMe command")];

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
pub(super) const LOCAL: &[OptionDef] = &[
    flag(Engine, "hipri", "Poll for completions")
        .of(&["pvsync2", "io_uring", "io_uring_cmd", "sg"])
        .long(
            "Polls for completions instead of using interrupts: lower latency at the cost of one \
             CPU. Needs direct=1 and a device with poll queues (for NVMe the module parameter \
             poll_queues).",
        )
        .sets(field!(queue.options.hipri))
        .recorded(),
    int(Engine, "hipri_percentage", 0, 100, "Percentage of I/O that is polled")
        .long("Only used with hipri.")
        .of(&["pvsync2"])
        .default("100")
        .sets(field!(queue.options.hipri_percentage)),
    boolean(Engine, "uncached", "Drop pages from the cache once the I/O is done (RWF_DONTCACHE)")
        .of(&["pvsync2", "io_uring", "io_uring_cmd"])
        .long("Buffered I/O only; needs Linux 6.14.")
        .sets(field!(queue.options.uncached)),
    boolean(Engine, "nowait", "Fail with EAGAIN instead of blocking (RWF_NOWAIT)")
        .of(&["pvsync2", "libaio", "io_uring", "io_uring_cmd"])
        .long("Use it with ignore_error=EAGAIN; EAGAIN is counted as an error.")
        .sets(field!(queue.options.nowait)),
    flag(Engine, "fixedbufs", "Register buffers with the kernel")
        .of(URINGS)
        .long("Avoids mapping pages for each direct I/O.")
        .sets(field!(queue.options.fixedbufs))
        .recorded(),
    flag(Engine, "registerfiles", "Register files with the kernel")
        .of(URINGS)
        .long("Avoids reference counting for each I/O.")
        .sets(field!(queue.options.registerfiles))
        .recorded(),
    flag(Engine, "sqthread_poll", "A kernel thread submits")
        .of(URINGS)
        .long(
            "Submission then needs no system call. The thread uses one more CPU, which the CPU \
             figures of the worker do not include.",
        )
        .sets(field!(queue.options.sqthread_poll))
        .recorded(),
    int(Engine, "sqthread_poll_cpu", 0, NO_MAX, "CPU of the submitting kernel thread")
        .long("Only used with sqthread_poll. By default the kernel chooses.")
        .of(URINGS)
        .sets(field!(queue.options.sqthread_poll_cpu)),
    int(Engine, "nonvectored", -1, 1, "Use commands without a vector")
        .of(URINGS)
        .default("-1")
        .long("-1 uses them if the kernel supports them.")
        .sets_with(|job, v| {
            job.queue.options.nonvectored = (v.int() >= 0).then(|| v.int() > 0);
            Ok(())
        }),
    int(Engine, "force_async", 0, NO_MAX, "Every Nth I/O goes through the kernel's worker threads")
        .long(
            "Shows the cost of I/O that cannot be issued inline. 0 leaves the choice to the \
             kernel.",
        )
        .of(URINGS)
        .default("0")
        .sets(field!(queue.options.force_async or none)),
    flag(Engine, "userspace_reap", "Read completions from the ring without a system call")
        .long("Only used when polling for completions (iodepth_batch_complete_min=0).")
        .of(&["libaio"])
        .sets(field!(queue.options.userspace_reap)),
    boolean(Engine, "libaio_vectored", "Use commands with a vector")
        .of(&["libaio"])
        .long("Newer than fio 3.33.")
        .sets(field!(queue.options.libaio_vectored)),
    ints(Engine, "cmdprio_percentage", 0, 100, "Percentage of I/O with the priority cmdprio")
        .of(PRIO)
        .long(
            "Up to two values: reads, writes. Needs a device that supports priorities, direct=1 \
             and the privilege to set them. The report shows the latency of each priority.",
        )
        .sets(field!(queue.options.cmdprio_percentage)),
    ints(Engine, "cmdprio_class", 1, 3, "Priority class of that I/O")
        .of(PRIO)
        .long("See prioclass; up to two values: reads, writes.")
        .sets(field!(queue.options.cmdprio_class)),
    ints(Engine, "cmdprio_hint", 0, 1023, "Priority hint of that I/O")
        .of(PRIO)
        .long("See priohint; up to two values: reads, writes. Newer than fio 3.33.")
        .sets(field!(queue.options.cmdprio_hint)),
    ints(Engine, "cmdprio", 0, 7, "Priority of that I/O")
        .of(PRIO)
        .long("See prio; up to two values: reads, writes.")
        .sets(field!(queue.options.cmdprio)),
    text(Engine, "cmdprio_bssplit", "Priorities by block size")
        .of(PRIO)
        .long(
            "Entries size/percent or size/percent/class/level separated by colons; a comma \
             separates reads from writes. Several entries may have the same size. Not with \
             cmdprio_percentage.",
        )
        .sets_with(set::priorities::by_size),
    boolean(Engine, "thp", "Ask for transparent huge pages")
        .long("madvise(MADV_HUGEPAGE) on the mapping.")
        .of(&["mmap"])
        .sets(field!(queue.options.thp)),
    boolean(Engine, "readfua", "Set FUA on reads")
        .long("Reads then bypass the device's cache.")
        .of(&["sg", "io_uring", "io_uring_cmd"])
        .warned(NO_FUA_READ),
    boolean(Engine, "writefua", "Set FUA on writes")
        .long(
            "Writes are durable when they complete: RWF_DSYNC on each write, which the kernel \
             implements with FUA, or with a flush if the device has no FUA.",
        )
        .of(&["sg", "io_uring", "io_uring_cmd"])
        .sets(field!(queue.options.writefua)),
    choice(Engine, "write_mode", WRITE_MODES, "NVMe command that a write becomes")
        .long(
            "io_uring_cmd only: a plain write, one that lets zeros or uncorrectable marks \
             stand for data, or a verify.",
        )
        .of(URINGS)
        .default("write")
        .needs(PASSTHROUGH),
    choice(Engine, "verify_mode", READ_MODES, "NVMe command that a verifying read becomes")
        .long(
            "io_uring_cmd only: data is read back, or the device compares it with what it is \
             sent.",
        )
        .of(URINGS)
        .default("read")
        .needs(PASSTHROUGH),
    choice(Engine, "cmd_type", NVME, "Kind of command passed through")
        .long("io_uring_cmd only: the command set of the device behind the character device named.")
        .of(URINGS)
        .default("nvme")
        .needs(PASSTHROUGH),
    text(Engine, "cdb_len", "Length of a SCSI command passed through")
        .long("For io_uring_cmd; 0 chooses by the size of the device.")
        .of(URINGS)
        .default("0")
        .needs(PASSTHROUGH),
    text(Engine, "verify_bytchk", "BYTCHK of a SCSI VERIFY passed through")
        .long(
            "io_uring_cmd to SCSI only: whether the device compares data with what it is sent \
             (SBC, VERIFY).",
        )
        .of(URINGS)
        .default("0")
        .needs(PASSTHROUGH),
    choice(Engine, "read_mode", READ_MODES, "Command that a read becomes")
        .long("io_uring_cmd to SCSI only: a plain read, or a verify that moves no data.")
        .of(URINGS)
        .default("read")
        .needs(PASSTHROUGH),
    int(Engine, "md_per_io_size", 0, NO_MAX, "Bytes of separate metadata for each I/O")
        .long("For namespaces that keep metadata apart; for io_uring_cmd.")
        .of(URINGS)
        .default("0")
        .needs(PASSTHROUGH),
    boolean(Engine, "pi_act", "The device makes and checks protection information")
        .long("With 0 the host makes and checks it; for io_uring_cmd.")
        .of(URINGS)
        .default("1")
        .needs(PASSTHROUGH),
    text(Engine, "pi_chk", "Which protection information is checked")
        .long("A list of GUARD, REFTAG and APPTAG; for io_uring_cmd.")
        .of(URINGS)
        .needs(PASSTHROUGH),
    int(Engine, "apptag", 0, 0xffff, "Application tag")
        .long("Used with pi_chk=APPTAG.")
        .of(URINGS)
        .default("0x1234")
        .needs(PASSTHROUGH),
    int(Engine, "apptag_mask", 0, 0xffff, "Mask of the application tag")
        .long("Used with pi_chk=APPTAG.")
        .of(URINGS)
        .default("0xffff")
        .needs(PASSTHROUGH),
    boolean(Engine, "deac", "Deallocate blocks that are written as zeroes")
        .long("Has a meaning with write_mode=zeroes.")
        .of(URINGS)
        .needs(PASSTHROUGH),
    choice(Engine, "sg_write_mode", SG_MODES, "SCSI command that a write becomes")
        .long("Some of them read or compare and write nothing.")
        .of(&["sg"])
        .default("write")
        .needs(SCSI_GENERIC),
    int(Engine, "stream_id", 0, NO_MAX, "Stream of WRITE STREAM(16)")
        .long("Has a meaning with sg_write_mode=write_stream.")
        .of(&["sg"])
        .default("0")
        .needs(SCSI_GENERIC),
    int(Engine, "cpuload", 0, 100, "Share of a CPU to use, per cent")
        .long(
            "Required. At most one CPU; use numjobs for more. Each cycle of work and sleep \
             counts as an I/O without bytes.",
        )
        .of(&["cpuio"])
        .sets(field!(queue.options.cpu.percent)),
    int(Engine, "cpuchunks", 0, NO_MAX, "Length of a burst of work, in microseconds")
        .long(
            "The worker sleeps after each burst to reach cpuload. Short bursts spread the load \
             evenly.",
        )
        .of(&["cpuio"])
        .default("50000")
        .sets(field!(queue.options.cpu.chunk_us)),
    choice(Engine, "cpumode", LOADS, "What the CPU does")
        .long("qsort draws more power.")
        .of(&["cpuio"])
        .default("noop")
        .sets(field!(queue.options.cpu.sorts = "qsort")),
    boolean(Engine, "exit_on_io_done", "End when the jobs that do I/O have ended")
        .long(
            "By default the job runs until its runtime is over or, without runtime, until the \
             last job with I/O has ended.",
        )
        .of(&["cpuio"])
        .sets(field!(queue.options.cpu.ends_with_io)),
    choice(Engine, "stat_type", STATS, "System call that is timed")
        .long("lstat does not follow links; statx requests only the fields needed.")
        .of(&["filestat", "dirstat"])
        .default("stat")
        .sets(field!(queue.options.stat)),
    text(Engine, "program", "Program to run")
        .long(
            "Required. The program runs once and counts as one I/O without bytes; its run time \
             is the latency. The job ends with the program, or with time_based at runtime.",
        )
        .of(&["exec"])
        .sets(field!(queue.options.program.path)),
    text(Engine, "arguments", "Arguments of the program")
        .long(
            "Split at spaces; quotes have no meaning. %r stands for the runtime in seconds, %n \
             for the name of the job.",
        )
        .of(&["exec"])
        .sets(field!(queue.options.program.arguments)),
    int(Engine, "grace_time", 0, NO_MAX, "Seconds between SIGTERM and SIGKILL")
        .long("At the end of the job the program gets SIGTERM, and SIGKILL after this time.")
        .of(&["exec"])
        .default("1")
        .sets(field!(queue.options.program.grace_seconds)),
    boolean(Engine, "std_redirect", "Redirect the program's output to files")
        .long(
            "Output goes to JOB.stdout and JOB.stderr in the working directory; clones after the \
             first add their number before the dot. With 0 it goes to standard error.",
        )
        .of(&["exec"])
        .default("1")
        .sets(field!(queue.options.program.redirect)),
    text(Engine, "donorname", "File that gives its blocks")
        .long("Its blocks are moved into the file that is defragmented.")
        .of(&["e4defrag"])
        .needs("the e4defrag engine (EXT4_IOC_MOVE_EXT)"),
    int(Engine, "inplace", 0, 1, "When the donor gets its blocks")
        .long("0 allocates it beforehand, 1 within each event.")
        .of(&["e4defrag"])
        .needs("the e4defrag engine (EXT4_IOC_MOVE_EXT)"),
    boolean(Engine, "skip_bad", "Skip bad blocks")
        .long("Otherwise they are errors.")
        .of(&["mtd"])
        .needs("the mtd engine (raw flash)"),
];

/// Engines that do their I/O over a network.
pub(super) const REMOTE: &[OptionDef] = &[
    text(Engine, "hostname", "Host to connect to")
        .long(
            "A name or an address; for vsock the context id of the other side. Not given on the \
             side that listens or reads by UDP, unless it is a multicast group.",
        )
        .of(&["net", "netsplice", "rdma"])
        .sets(field!(queue.options.net.hostname)),
    int(Engine, "port", 1, 65_535, "Port to listen on or connect to")
        .long("Each clone uses the next port.")
        .of(&["net", "netsplice", "rdma"])
        .sets(field!(queue.options.net.port)),
    choice(Engine, "protocol", PROTOCOLS, "Protocol")
        .long(
            "Datagrams lost with udp are counted and reported. With unix, filename is the path \
             and the reader listens.",
        )
        .alias(&["proto"])
        .of(NETS)
        .default("tcp")
        .sets(field!(queue.options.net.protocol)),
    boolean(Engine, "nodelay", "Set TCP_NODELAY")
        .long("Sends small messages at once.")
        .of(NETS)
        .sets(field!(queue.options.net.nodelay)),
    flag(Engine, "listen", "Wait for the other side to connect")
        .long(
            "One side listens, the other connects; either may write. All listening jobs are \
             ready before the first job connects.",
        )
        .of(NETS)
        .sets(field!(queue.options.net.listens)),
    flag(Engine, "pingpong", "Answer each message")
        .long(
            "Measures round trips: each block is sent back before the next is sent. Both sides \
             must set it.",
        )
        .of(NETS)
        .sets(field!(queue.options.net.pingpong)),
    text(Engine, "interface", "Interface of UDP multicast")
        .long("IP address of the local interface for the multicast group.")
        .of(NETS)
        .sets(field!(queue.options.net.interface)),
    int(Engine, "ttl", 0, NO_MAX, "Time to live of UDP multicast")
        .long("1 stays in the local network.")
        .of(NETS)
        .default("1")
        .sets(field!(queue.options.net.ttl)),
    int(Engine, "window_size", 0, NO_MAX, "Size of the socket buffers")
        .long("Bytes of the send and receive buffers; 0 means the system default.")
        .of(NETS)
        .sets(field!(queue.options.net.window)),
    int(Engine, "mss", 0, NO_MAX, "Maximum segment size of TCP")
        .long("In bytes; 0 means the system default.")
        .of(NETS)
        .sets(field!(queue.options.net.mss)),
    text(Engine, "bindname", "Address to bind to")
        .long(
            "Address of the local RDMA device the connection is made from; any device without \
             it.",
        )
        .of(&["rdma"])
        .needs("the rdma engine (an RDMA device and librdmacm)"),
    choice(Engine, "verb", VERBS, "RDMA verb")
        .long("Both sides must match: send on one side needs recv on the other.")
        .alias(&["proto"])
        .of(&["rdma"])
        .default("write")
        .needs("the rdma engine (an RDMA device and librdmacm)"),
    text(Engine, "nfs_url", "URL of the server and its options")
        .long("As libnfs has it: nfs://server/export.")
        .of(&["nfs"])
        .needs("the nfs engine (libnfs)"),
    text(Engine, "uri", "URI of the device")
        .long("As the NBD specification has it: nbd://host:port/name.")
        .of(&["nbd"])
        .needs("the nbd engine (libnbd)"),
    text(Engine, "clustername", "Name of the cluster")
        .long("Which cluster's configuration file is read; ceph without it.")
        .of(CEPH)
        .needs("the rados and rbd engines (Ceph)"),
    text(Engine, "pool", "Pool to work in")
        .long("Objects or images are taken from this pool, which must exist.")
        .of(CEPH)
        .needs("the rados and rbd engines (Ceph)"),
    text(Engine, "clientname", "Client name to connect with")
        .long("Without the prefix client. if clustername is given.")
        .of(CEPH)
        .needs("the rados and rbd engines (Ceph)"),
    boolean(Engine, "busy_poll", "Poll for completions")
        .long("Lower latency at the cost of one CPU.")
        .of(CEPH)
        .needs("the rados and rbd engines (Ceph)"),
    text(Engine, "conf", "Configuration file")
        .long("As Ceph's own tools read it.")
        .of(&["rados"])
        .default("/etc/ceph/ceph.conf")
        .needs("the rados engine (Ceph)"),
    boolean(Engine, "touch_objects", "Make objects at the start")
        .long("Otherwise reads of objects that do not exist fail.")
        .of(&["rados"])
        .default("1")
        .needs("the rados engine (Ceph)"),
    text(Engine, "rbdname", "Name of the block device")
        .long("Image for I/O; it must exist and is not enlarged.")
        .of(&["rbd"])
        .needs("the rbd engine (Ceph)"),
    text(Engine, "volume", "Name of the volume")
        .long("As gluster volume list names it.")
        .of(GLUSTER)
        .needs("the gfapi engines (GlusterFS)"),
    text(Engine, "brick", "Brick to connect to")
        .long("A host that serves the volume.")
        .of(GLUSTER)
        .needs("the gfapi engines (GlusterFS)"),
    boolean(Engine, "single-instance", "One instance for all jobs")
        .long("Clones then share one connection.")
        .of(GLUSTER)
        .needs("the gfapi engines (GlusterFS)"),
];
