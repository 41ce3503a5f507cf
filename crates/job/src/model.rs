//! A job as typed: one [`Job`] a section, every value parsed, nothing resolved. Sizes may still be
//! percentages, files are still patterns, and nothing was looked up on the machine.
//!
//! `None` means "not given" wherever the default depends on something else.

use record::{Bytes, Nanos, PerDirection};
use std::collections::BTreeMap;

/// One job section (or `--name` on the command line), `[global]` merged in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Job {
    /// Name, description, place in the file.
    pub identity: Identity,
    /// Options as typed, for showcmd and for the record.
    pub options: JobOptions,
    /// What it works on.
    pub target: Target,
    /// How files are made before the run.
    pub layout: Layout,
    /// Which I/O at which offsets.
    pub pattern: Pattern,
    /// How much data an I/O moves.
    pub blocks: BlockSizes,
    /// What buffers hold and where they lie.
    pub buffers: Buffers,
    /// Engine, its own options, depth and batches.
    pub queue: Queue,
    /// When data is made durable.
    pub syncing: Syncing,
    /// When it starts and ends.
    pub timing: Timing,
    /// How fast it may go.
    pub rate: Rate,
    /// CPUs, priorities, identity of the process.
    pub process: Process,
    /// What is measured and how it is shown.
    pub measure: Measure,
    /// What an error does.
    pub errors: ErrorPolicy,
}

/// Name and place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// Section name, or `name=`.
    pub name: String,
    /// `description`.
    pub description: String,
    /// Where it was defined ("quick.fio:7" or "command line").
    pub origin: String,
    /// `numjobs`; default 1.
    pub numjobs: Option<u64>,
    /// `group_reporting`.
    pub group_reporting: bool,
    /// `new_group`.
    pub new_group: bool,
    /// `stonewall`.
    pub stonewall: bool,
    /// `wait_for`: name of the job to wait for.
    pub wait_for: Option<String>,
    /// `exitall`: its end ends the others.
    pub exitall: bool,
}

/// Options as typed: canonical names, values unexpanded where fio keeps them so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JobOptions {
    /// Inherited from `[global]`.
    pub global: Vec<(String, String)>,
    /// Of its own section.
    pub own: Vec<(String, String)>,
}

/// A size as typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Bytes.
    Bytes(Bytes),
    /// Per cent of the file or device.
    Percent(f64),
    /// Zones (suffix `z`); needs a zoned device.
    Zones(u64),
}

/// What a job works on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// `directory`, split at unescaped colons.
    pub directories: Vec<String>,
    /// `filename`, split at unescaped colons.
    pub filenames: Vec<String>,
    /// `filename_format`; `None` is `$jobname.$jobnum.$filenum`.
    pub filename_format: Option<String>,
    /// `opendir`: every file below.
    pub opendir: Option<String>,
    /// `nrfiles`.
    pub nrfiles: Option<u64>,
    /// `openfiles`.
    pub openfiles: Option<u64>,
    /// `file_service_type`.
    pub file_service: FileService,
    /// `lockfile`.
    pub lockfile: LockFile,
    /// `size`.
    pub size: Option<Size>,
    /// `io_size`.
    pub io_size: Option<Size>,
    /// `filesize`.
    pub filesize: Option<FileSizeRange>,
    /// `offset`.
    pub offset: Option<Size>,
    /// `offset_increment`.
    pub offset_increment: Option<Size>,
    /// `offset_align`, bytes; 0: to the block size.
    pub offset_align: Bytes,
    /// `fill_device`.
    pub fill_device: bool,
    /// `file_append`.
    pub file_append: bool,
    /// `unlink`.
    pub unlink: bool,
    /// `unlink_each_loop`.
    pub unlink_each_loop: bool,
    /// `allow_mounted_write`.
    pub allow_mounted_write: bool,
}

/// `filesize=low-high`; one value is both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileSizeRange {
    /// Smallest.
    pub low: Size,
    /// Largest.
    pub high: Size,
}

/// `file_service_type=order:ios`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FileService {
    /// In which order.
    pub order: FileServiceOrder,
    /// I/Os before switching; 1 by default.
    pub ios: Option<u64>,
    /// Parameter of a distribution (theta, power, deviation).
    pub parameter: Option<f64>,
}

/// Order in which files get their I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileServiceOrder {
    /// One I/O each in turn.
    #[default]
    RoundRobin,
    /// One to its end, then the next.
    Sequential,
    /// Uniform at random.
    Random,
    /// Zipf over the files.
    Zipf,
    /// Pareto over the files.
    Pareto,
    /// Normal over the files.
    Normal,
}

/// `lockfile`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockFile {
    /// No locking.
    #[default]
    None,
    /// One worker at a time.
    Exclusive,
    /// Many readers or one writer.
    ReadWrite,
}

/// How files are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// `create_serialize`.
    pub serialize: bool,
    /// `create_fsync`.
    pub fsync: bool,
    /// `create_on_open`.
    pub on_open: bool,
    /// `create_only`: lay out, then stop.
    pub only: bool,
    /// `allow_file_create`.
    pub allow_create: bool,
    /// `overwrite`: write jobs get existing data to overwrite.
    pub overwrite: bool,
    /// `fallocate`: "none", "native", "posix", "keep", "truncate".
    pub fallocate: String,
    /// `pre_read`.
    pub pre_read: bool,
    /// `invalidate`.
    pub invalidate: bool,
    /// `fadvise_hint`: "0", "1", "random", "sequential", "noreuse".
    pub fadvise_hint: String,
}

impl Default for Layout {
    fn default() -> Self {
        Layout {
            serialize: true,
            fsync: true,
            on_open: false,
            only: false,
            allow_create: true,
            overwrite: false,
            fallocate: "native".into(),
            pre_read: false,
            invalidate: true,
            fadvise_hint: "1".into(),
        }
    }
}

/// `rw` without its suffix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ReadWrite {
    /// Sequential reads.
    #[default]
    Read,
    /// Sequential writes.
    Write,
    /// Sequential trims.
    Trim,
    /// Random reads.
    RandRead,
    /// Random writes.
    RandWrite,
    /// Random trims.
    RandTrim,
    /// Sequential reads and writes.
    Rw,
    /// Random reads and writes.
    RandRw,
    /// Each block trimmed, then written, in sequence.
    TrimWrite,
    /// Each block trimmed, then written, at random.
    RandTrimWrite,
}

impl ReadWrite {
    /// fio's name.
    pub const fn name(self) -> &'static str {
        match self {
            ReadWrite::Read => "read",
            ReadWrite::Write => "write",
            ReadWrite::Trim => "trim",
            ReadWrite::RandRead => "randread",
            ReadWrite::RandWrite => "randwrite",
            ReadWrite::RandTrim => "randtrim",
            ReadWrite::Rw => "rw",
            ReadWrite::RandRw => "randrw",
            ReadWrite::TrimWrite => "trimwrite",
            ReadWrite::RandTrimWrite => "randtrimwrite",
        }
    }

    /// Offsets are random.
    pub const fn is_random(self) -> bool {
        matches!(
            self,
            ReadWrite::RandRead
                | ReadWrite::RandWrite
                | ReadWrite::RandTrim
                | ReadWrite::RandRw
                | ReadWrite::RandTrimWrite
        )
    }

    /// Reads occur.
    pub const fn reads(self) -> bool {
        matches!(self, ReadWrite::Read | ReadWrite::RandRead | ReadWrite::Rw | ReadWrite::RandRw)
    }

    /// Writes occur.
    pub const fn writes(self) -> bool {
        matches!(
            self,
            ReadWrite::Write
                | ReadWrite::RandWrite
                | ReadWrite::Rw
                | ReadWrite::RandRw
                | ReadWrite::TrimWrite
                | ReadWrite::RandTrimWrite
        )
    }

    /// Trims occur.
    pub const fn trims(self) -> bool {
        matches!(
            self,
            ReadWrite::Trim | ReadWrite::RandTrim | ReadWrite::TrimWrite | ReadWrite::RandTrimWrite
        )
    }
}

/// Which I/O at which offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// `rw`.
    pub rw: ReadWrite,
    /// `rw=write:4k`: bytes added to each sequential offset (may be negative).
    pub skip: Option<i64>,
    /// `rw=randread:8`: I/Os before a new random offset.
    pub run_length: Option<u64>,
    /// `rw_sequencer`.
    pub sequencer: Sequencer,
    /// `rwmixread`, per cent.
    pub mix_read: Option<u8>,
    /// `percentage_random`, per direction.
    pub percentage_random: PerDirection<u8>,
    /// `norandommap`.
    pub norandommap: bool,
    /// `softrandommap` has no effect here: the map costs no memory.
    pub softrandommap: bool,
    /// `random_generator`: "tausworthe", "tausworthe64", "lfsr".
    pub generator: String,
    /// `random_distribution`, per direction.
    pub distribution: PerDirection<Distribution>,
    /// `randrepeat`.
    pub randrepeat: bool,
    /// `allrandrepeat`.
    pub allrandrepeat: bool,
    /// `randseed`; `None`: fio's default seed or, without randrepeat, a fresh one.
    pub randseed: Option<u64>,
    /// `number_ios`.
    pub number_ios: Option<u64>,
    /// `serialize_overlap`.
    pub serialize_overlap: bool,
    /// `zonemode` ("none", "strided", "zbd").
    pub zonemode: String,
}

impl Default for Pattern {
    fn default() -> Self {
        Pattern {
            rw: ReadWrite::Read,
            skip: None,
            run_length: None,
            sequencer: Sequencer::Sequential,
            mix_read: None,
            percentage_random: PerDirection::all(100),
            norandommap: false,
            softrandommap: false,
            generator: "tausworthe".into(),
            distribution: PerDirection::all(Distribution::Uniform),
            randrepeat: true,
            allrandrepeat: false,
            randseed: None,
            number_ios: None,
            serialize_overlap: false,
            zonemode: "none".into(),
        }
    }
}

/// `rw_sequencer`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sequencer {
    /// Between new offsets, go on in sequence.
    #[default]
    Sequential,
    /// Between new offsets, repeat the same one.
    Identical,
}

/// `random_distribution`. Only uniform works so far; others are refused by the options table.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Distribution {
    /// Every block alike.
    #[default]
    Uniform,
}

/// How much data an I/O moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockSizes {
    /// `bs`, as given per direction; default 4096.
    pub size: PerDirection<Option<Bytes>>,
    /// `bsrange`: (smallest, largest).
    pub range: PerDirection<Option<(Bytes, Bytes)>>,
    /// `bssplit`; empty: none.
    pub split: PerDirection<Vec<SplitEntry>>,
    /// `blockalign`.
    pub align: PerDirection<Option<Bytes>>,
    /// `bs_unaligned`: sizes of a range need not be multiples of its minimum.
    pub unaligned: bool,
    /// `bs_is_seq_rand`: read's size is for sequential, write's for random I/O.
    pub is_seq_rand: bool,
}

/// One entry of `bssplit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitEntry {
    /// Block size.
    pub size: Bytes,
    /// Its share, per cent; `None`: what the others leave, evenly.
    pub percent: Option<u32>,
}

/// What buffers hold and where they lie.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffers {
    /// What writes carry.
    pub content: BufferContent,
    /// `refill_buffers`: new content for each write.
    pub refill: bool,
    /// `scramble_buffers`: cheap change of each buffer before each write.
    pub scramble: bool,
    /// `buffer_compress_percentage`.
    pub compress_percentage: Option<u8>,
    /// `buffer_compress_chunk`, bytes.
    pub compress_chunk: Bytes,
    /// `dedupe_percentage`.
    pub dedupe_percentage: Option<u8>,
    /// `dedupe_mode`.
    pub dedupe_mode: DedupeMode,
    /// `dedupe_working_set_percentage`.
    pub dedupe_working_set_percentage: u8,
    /// `mem` (iomem).
    pub memory: MemoryKind,
    /// `iomem_align` / `mem_align`, bytes.
    pub align: Option<Bytes>,
    /// `hugepage-size`.
    pub hugepage_size: Bytes,
    /// `lockmem`: memory to take from the page cache.
    pub lockmem: Bytes,
}

impl Default for Buffers {
    fn default() -> Self {
        Buffers {
            content: BufferContent::Random,
            refill: false,
            scramble: true,
            compress_percentage: None,
            compress_chunk: Bytes(512),
            dedupe_percentage: None,
            dedupe_mode: DedupeMode::Repeat,
            dedupe_working_set_percentage: 5,
            memory: MemoryKind::Malloc,
            align: None,
            hugepage_size: Bytes(2 << 20),
            lockmem: Bytes(0),
        }
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

/// I/O engines by name. Those that do not work yet are refused by the options table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// lseek, then read or write.
    Sync,
    /// pread, pwrite.
    #[default]
    Psync,
    /// readv, writev with coalescing of adjacent I/O.
    Vsync,
    /// preadv, pwritev.
    Pvsync,
    /// preadv2, pwritev2 with flags.
    Pvsync2,
    /// Linux native AIO.
    Libaio,
    /// POSIX AIO: a pool of threads behind aio_read, aio_write.
    Posixaio,
    /// io_uring.
    IoUring,
    /// memcpy to and from a mapping.
    Mmap,
    /// Moves nothing.
    Null,
}

impl Engine {
    /// fio's name.
    pub const fn name(self) -> &'static str {
        match self {
            Engine::Sync => "sync",
            Engine::Psync => "psync",
            Engine::Vsync => "vsync",
            Engine::Pvsync => "pvsync",
            Engine::Pvsync2 => "pvsync2",
            Engine::Libaio => "libaio",
            Engine::Posixaio => "posixaio",
            Engine::IoUring => "io_uring",
            Engine::Mmap => "mmap",
            Engine::Null => "null",
        }
    }

    /// One I/O at a time, whatever `iodepth` says.
    pub const fn is_synchronous(self) -> bool {
        matches!(
            self,
            Engine::Sync | Engine::Psync | Engine::Pvsync | Engine::Pvsync2 | Engine::Mmap
        )
    }
}

/// Engine, depth and batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// `ioengine`.
    pub engine: Engine,
    /// Options of the engine.
    pub options: EngineOptions,
    /// `direct`.
    pub direct: bool,
    /// `atomic`.
    pub atomic: bool,
    /// `iodepth`.
    pub iodepth: Option<u64>,
    /// `iodepth_batch`; `None` (not given) leaves the choice to the engine.
    pub batch_submit: Option<u64>,
    /// `iodepth_batch_complete_min`.
    pub batch_complete_min: Option<u64>,
    /// `iodepth_batch_complete_max`.
    pub batch_complete_max: Option<u64>,
    /// `iodepth_low`.
    pub low: Option<u64>,
}

/// Engine options, those of all engines in one place: an engine reads its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineOptions {
    /// `hipri`: poll for completions.
    pub hipri: bool,
    /// `hipri_percentage`.
    pub hipri_percentage: Option<u8>,
    /// `uncached`: RWF_DONTCACHE.
    pub uncached: bool,
    /// `nowait`: RWF_NOWAIT.
    pub nowait: bool,
    /// `fixedbufs`: register buffers.
    pub fixedbufs: bool,
    /// `registerfiles`: register files.
    pub registerfiles: bool,
    /// `sqthread_poll`: the kernel polls the submission queue.
    pub sqthread_poll: bool,
    /// `sqthread_poll_cpu`.
    pub sqthread_poll_cpu: Option<u64>,
    /// `nonvectored`; `None`: as the kernel allows.
    pub nonvectored: Option<bool>,
    /// `force_async`: every so many I/Os go through the kernel's workers.
    pub force_async: Option<u64>,
    /// `userspace_reap`: libaio reads its ring without a system call.
    pub userspace_reap: bool,
    /// `libaio_vectored`.
    pub libaio_vectored: bool,
    /// `cmdprio_percentage`, per direction (read, write).
    pub cmdprio_percentage: Option<(u8, u8)>,
    /// `cmdprio_class`.
    pub cmdprio_class: Option<(u8, u8)>,
    /// `cmdprio`.
    pub cmdprio: Option<(u8, u8)>,
    /// `thp`: transparent huge pages for mmap.
    pub thp: bool,
}

/// When data is made durable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Syncing {
    /// `sync`.
    pub mode: SyncMode,
    /// `fsync`: writes between two fsyncs; 0: none.
    pub fsync: u64,
    /// `fdatasync`: writes between two fdatasyncs; 0: none.
    pub fdatasync: u64,
    /// `write_barrier`: writes between two barriers; 0: none.
    pub write_barrier: u64,
    /// `sync_file_range`.
    pub file_range: Option<SyncFileRange>,
    /// `end_fsync`.
    pub end_fsync: bool,
    /// `end_syncfs`.
    pub end_syncfs: bool,
    /// `fsync_on_close`.
    pub fsync_on_close: bool,
}

/// `sync`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncMode {
    /// Neither flag.
    #[default]
    None,
    /// O_SYNC.
    Sync,
    /// O_DSYNC.
    Dsync,
}

/// `sync_file_range=flags:writes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SyncFileRange {
    /// SYNC_FILE_RANGE_WAIT_BEFORE.
    pub wait_before: bool,
    /// SYNC_FILE_RANGE_WRITE.
    pub write: bool,
    /// SYNC_FILE_RANGE_WAIT_AFTER.
    pub wait_after: bool,
    /// Writes between two calls.
    pub writes: u64,
}

/// When it starts and ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// `runtime`.
    pub runtime: Option<Nanos>,
    /// `time_based`.
    pub time_based: bool,
    /// `ramp_time`.
    pub ramp_time: Option<Nanos>,
    /// `startdelay`: fixed, or drawn from a range.
    pub startdelay: Option<DelayRange>,
    /// `loops`.
    pub loops: Option<u64>,
}

/// `startdelay=low-high`; one value is both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DelayRange {
    /// Shortest.
    pub low: Nanos,
    /// Longest.
    pub high: Nanos,
}

/// How fast it may go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rate {
    /// `rate`, bytes a second.
    pub bandwidth: PerDirection<Option<Bytes>>,
    /// `rate_min`, bytes a second.
    pub bandwidth_min: PerDirection<Option<Bytes>>,
    /// `rate_iops`, I/Os a second.
    pub iops: PerDirection<Option<u64>>,
    /// `rate_iops_min`, I/Os a second.
    pub iops_min: PerDirection<Option<u64>>,
    /// `rate_process`.
    pub process: RateProcess,
    /// `rate_cycle`; default 1 s.
    pub cycle: Option<Nanos>,
    /// `rate_ignore_thinktime`.
    pub ignore_thinktime: bool,
    /// `thinktime` and its companions.
    pub think: ThinkTime,
    /// `max_latency`.
    pub max_latency: PerDirection<Option<Nanos>>,
    /// `flow`, `flow_id`, `flow_sleep`.
    pub flow: Flow,
}

/// `rate_process`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RateProcess {
    /// Evenly spaced.
    #[default]
    Linear,
    /// Exponential gaps.
    Poisson,
}

/// `thinktime` and its companions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThinkTime {
    /// `thinktime`.
    pub time: Option<Nanos>,
    /// `thinktime_spin`: how much of it is spent busy.
    pub spin: Nanos,
    /// `thinkcycles`.
    pub cycles: u64,
    /// `thinktime_blocks`; default 1.
    pub blocks: Option<u64>,
    /// `thinktime_blocks_type=issue` (else complete).
    pub count_issued: bool,
    /// `thinktime_iotime`.
    pub iotime: Option<Nanos>,
}

/// `flow` and its companions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// `flow_id`.
    pub id: u64,
    /// `flow`.
    pub weight: u64,
    /// `flow_sleep`.
    pub sleep: Nanos,
}

/// CPUs, priorities, identity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// `cpus_allowed` or `cpumask`: CPU numbers; empty: all.
    pub cpus_allowed: Vec<u32>,
    /// `cpus_allowed_policy`.
    pub cpus_policy: CpuSplit,
    /// `numa_cpu_nodes`; empty: all.
    pub numa_cpu_nodes: Vec<u32>,
    /// `numa_mem_policy`.
    pub numa_memory: Option<NumaMemory>,
    /// `nice`.
    pub nice: Option<i32>,
    /// `prio`.
    pub prio: Option<u8>,
    /// `prioclass`.
    pub prioclass: Option<u8>,
    /// `priohint`.
    pub priohint: Option<u16>,
    /// `thread` (accepted: workers are threads anyway).
    pub thread: bool,
    /// `comm`.
    pub comm: Option<String>,
}

/// `cpus_allowed_policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CpuSplit {
    /// Every clone may use all of the set.
    #[default]
    Shared,
    /// Each clone gets one CPU of the set.
    Split,
}

/// `numa_mem_policy=mode:nodes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumaMemory {
    /// The kernel's default.
    Default,
    /// Prefer one node.
    Prefer(u32),
    /// Only these nodes.
    Bind(Vec<u32>),
    /// Turn by turn over these nodes.
    Interleave(Vec<u32>),
    /// The node that runs the thread.
    Local,
}

/// What is measured and how it is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// `clat_percentiles`.
    pub clat_percentiles: Option<bool>,
    /// `lat_percentiles`.
    pub lat_percentiles: Option<bool>,
    /// `slat_percentiles`.
    pub slat_percentiles: Option<bool>,
    /// `percentile_list`.
    pub percentile_list: Vec<f64>,
    /// `significant_figures`.
    pub significant_figures: u32,
    /// `disk_util`.
    pub disk_util: bool,
    /// `disable_lat`, or `gtod_reduce`.
    pub disable_lat: bool,
    /// `disable_clat`, or `gtod_reduce`.
    pub disable_clat: bool,
    /// `disable_slat`, or `gtod_reduce`.
    pub disable_slat: bool,
    /// `disable_bw`, or `gtod_reduce`.
    pub disable_bw: bool,
    /// `clocksource`: `None` is the best there is.
    pub clocksource: Option<String>,
    /// `kb_base`: 1024 or 1000.
    pub kb_base: u32,
    /// `unit_base`: 0, 8 (bytes) or 1 (bits).
    pub unit_base: u32,
    /// `unified_rw_reporting`: 0 none, 1 mixed, 2 both.
    pub unified: u32,
    /// `stats`.
    pub stats: bool,
    /// `bwavgtime`.
    pub bwavgtime: Nanos,
    /// `iopsavgtime`.
    pub iopsavgtime: Nanos,
    /// Log files.
    pub logs: Logs,
}

impl Default for Measure {
    fn default() -> Self {
        Measure {
            clat_percentiles: None,
            lat_percentiles: None,
            slat_percentiles: None,
            percentile_list: vec![
                1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5,
                99.9, 99.95, 99.99,
            ],
            significant_figures: 4,
            disk_util: true,
            disable_lat: false,
            disable_clat: false,
            disable_slat: false,
            disable_bw: false,
            clocksource: None,
            kb_base: 1024,
            unit_base: 0,
            unified: 0,
            stats: true,
            bwavgtime: Nanos::from_millis(500),
            iopsavgtime: Nanos::from_millis(500),
            logs: Logs::default(),
        }
    }
}

/// Log files asked for (name of option → prefix).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Logs {
    /// `write_bw_log`, `write_lat_log` … → prefix.
    pub files: BTreeMap<String, String>,
}

/// What an error does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorPolicy {
    /// `continue_on_error`: go on after read errors.
    pub read: Retry,
    /// … after write errors.
    pub write: Retry,
    /// … after verification errors.
    pub verify: Retry,
    /// `ignore_error`: errno names or numbers ignored, for reads, writes and verification.
    pub ignored: PerDirection<Vec<i32>>,
    /// `error_dump`: print what is ignored.
    pub dump: bool,
    /// `exitall_on_error`.
    pub exitall: bool,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// End the job.
    #[default]
    Stop,
    /// Count it and go on.
    Continue,
}
