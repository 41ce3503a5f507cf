//! The plan: jobs with all options resolved. Each [`Worker`] is one thread.

mod blocks;
mod limits;
mod object_set;
mod placing;
mod process_context;
mod socket;
mod store;
mod verify;
mod zbd;

pub use blocks::BlockPlan;
pub use limits::{FlowPart, LatencySearch, Limits, SteadyWatch};
pub use object_set::ObjectSet;
pub use placing::{Placing, Renewal, Strides};
pub use process_context::{Cgroup, ProcessContext};
pub use socket::{RdmaUse, Socket};
pub use store::{Access, Objects};
pub use verify::{Trimming, Verify};
pub use zbd::{Zbd, ZonedFile};

use job::{
    Buffers, Distribution, Engine, EngineOptions, ErrorPolicy, ExitScope, Layout, LockFile,
    NumaMemory, RateProcess, ReadUse, ReadWrite, Sequencer, SequentialOrder, Syncing, ThinkTime,
};
use record::{Direction, GroupKey, Logs, Message, Nanos, PerDirection, Show, TargetKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use trace::Recording;

/// A run with all options resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// One for each thread, in order of their numbers.
    pub workers: Vec<Worker>,
    /// Devices whose counters are watched, stacked ones before their members.
    pub disks: Vec<DiskWatch>,
    /// What the user should know before the run.
    pub messages: Vec<Message>,
    /// Step of the time series; smallest of the jobs' bwavgtime and iopsavgtime, and of their
    /// log_avg_msec where they log bandwidth or IOPS.
    pub interval: Nanos,
    /// Interval of interim results of workers, from the run's origin; `None` for none.
    pub status_interval: Option<Nanos>,
    /// The requested clock ("cpu", "clock_gettime", "gettimeofday"); `None` for the best one.
    pub clocksource: Option<String>,
    /// Directory of auxiliary files of the run (`--aux-path`); empty for the working directory.
    pub aux_path: String,
}

/// A device to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskWatch {
    /// Kernel name.
    pub name: String,
    /// Disks it consists of; empty for a plain disk.
    pub members: Vec<String>,
}

/// One thread of I/O.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worker {
    /// Name of its job.
    pub name: String,
    /// `description`.
    pub description: String,
    /// Index of its job, from 0.
    pub job: u32,
    /// Its number over the run, from 1.
    pub number: u32,
    /// Which clone of its job it is, from 0.
    pub clone: u32,
    /// Where its figures are reported.
    pub group: GroupKey,
    /// Its section's options as typed.
    pub options: Vec<(String, String)>,
    /// Its options in the record, except those that are resolved from files or the machine.
    pub settings: BTreeMap<String, String>,
    /// When it starts.
    pub start: Start,
    /// Its stop conditions.
    pub stop: Stop,
    /// Its files or devices, in order.
    pub files: Vec<File>,
    /// Order of files, and how many are open at a time.
    pub selection: FileSelection,
    /// Its end of a connection, if its engine uses one.
    pub socket: Option<Socket>,
    /// The store of its objects, if its engine uses one.
    pub objects: Option<Objects>,
    /// Its numbered objects; `None` if it works on blocks of files.
    pub numbered: Option<ObjectSet>,
    /// Directions, order and offsets of I/O.
    pub pattern: Pattern,
    /// Placement of I/O other than plain sequential or random.
    pub placing: Placing,
    /// Events to trace.
    pub trace: crate::trace::Trace,
    /// The rules of zones for it; `None` for targets without zones.
    pub zbd: Option<Zbd>,
    /// Engine, depth, batches.
    pub queue: Queue,
    /// Buffers and their content.
    pub buffers: Buffers,
    /// Number and seed of the workers that share its working set of duplicates (`dedupe_global`),
    /// including itself; empty if the working set is not shared.
    pub duplicates: Vec<(u32, u64)>,
    /// When data is made durable.
    pub syncing: Syncing,
    /// How files are made, opened, invalidated.
    pub layout: Layout,
    /// Rate limits and pauses.
    pub pacing: Pacing,
    /// Limits on its results: they end it or control its depth and rate.
    pub limits: Limits,
    /// CPUs and priorities.
    pub placement: Placement,
    /// Changes to its environment: user, group, control group, scheduler, commands.
    pub context: ProcessContext,
    /// Which measurements are taken.
    pub measuring: Measuring,
    /// Which errors it continues after.
    pub errors: ErrorPolicy,
    /// Verification of data; `None` if data is not verified.
    pub verify: Option<Verify>,
    /// Options of its report.
    pub show: Show,
    /// Percentiles in its report.
    pub percentiles: Vec<f64>,
    /// The log it replays; `None` if I/O follows its pattern.
    pub replay: Option<Replay>,
    /// `write_iolog`: file that receives a log of its I/O.
    pub write_log: Option<String>,
    /// Size of the blocks for which trims are counted, in bytes; `None` if trims are not counted.
    pub counted_blocks: Option<u64>,
    /// The logs it writes.
    pub logs: Option<Logs>,
    /// Errno with which it ends before it opens a file; a message of the plan gives the reason.
    /// `None` if it runs.
    pub unready: Option<i32>,
}

/// When a worker starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Workers of a phase start when all of earlier phases have ended.
    pub phase: u32,
    /// Pause after the start of its phase.
    pub delay: Nanos,
    /// Indexes of jobs. It starts after all their workers have ended.
    pub after_jobs: Vec<u32>,
    /// Whether all its files are laid out before those of the next worker (create_serialize).
    pub serialize_layout: bool,
}

/// Stop conditions of a worker. The first that is met ends it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// Bytes of one loop, if other than the size of the files' regions. All loops together end
    /// after `bytes * loops` are issued. `None` for the size of the regions.
    pub bytes: Option<u64>,
    /// Passes are added to the loops until less than a largest block is missing from this number of
    /// issued bytes (`io_size`).
    pub wraps: bool,
    /// Number of loops; at least 1.
    pub loops: u64,
    /// Maximum I/Os of all loops together. It does not change where a pass ends.
    pub ios: Option<u64>,
    /// Maximum time, without the ramp.
    pub runtime: Option<Nanos>,
    /// Whether to start over after all bytes are done, until `runtime`.
    pub time_based: bool,
    /// Time before measurements count.
    pub ramp: Nanos,
    /// Bytes that all workers of its report together move before measurements count.
    pub ramp_bytes: u64,
    /// Whether its end also ends other workers.
    pub exitall: bool,
    /// The workers that end with it, also if it fails and `exitall_on_error` is set.
    pub exit_what: ExitScope,
    /// Whether ENOSPC is a regular end (`fill_device`). Without a size, it is the only end.
    pub fill_device: bool,
}

/// The log that a worker replays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// Its content. Its files are the worker's files, in the same order.
    pub recording: Arc<Recording>,
    /// Whether I/O waits for its time in the log.
    pub stalls: bool,
}

/// One file or device of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Path that is opened.
    pub path: String,
    /// Its type, or its future type if it does not exist.
    pub kind: TargetKind,
    /// Start of this worker's region, in bytes.
    pub start: u64,
    /// Length of the region, in bytes.
    pub length: u64,
    /// Size of the whole file or device after preparation, in bytes.
    pub whole: u64,
    /// Preparation before the run.
    pub prepare: Prepare,
}

/// Preparation of a file before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prepare {
    /// None: it is a device, or the engine uses no files.
    #[default]
    Nothing,
    /// Create or extend it to `size` and fill it with data, because it is read or overwritten.
    Fill {
        /// Bytes from the file's beginning that must hold data.
        size: u64,
    },
    /// Create or extend it to `size` without data (by `fallocate`), because it is only written.
    Extend {
        /// Size of the file.
        size: u64,
    },
    /// Create it as an empty directory.
    Directory,
    /// Created by the open (`create_on_open`).
    OnOpen {
        /// Its future size.
        size: u64,
    },
}

/// The order in which files receive I/O.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileSelection {
    /// The order.
    pub order: FileOrder,
    /// I/Os before switching; at least 1.
    pub ios: u64,
    /// Maximum files open at once; 0 for all.
    pub open_files: u64,
    /// Locking.
    pub lock: LockFile,
    /// Unlink after the run.
    pub unlink: bool,
    /// Unlink after each loop.
    pub unlink_each_loop: bool,
}

impl FileSelection {
    /// How many of `files` files are open at once.
    pub fn open_at_once(&self, files: u32) -> u32 {
        match u32::try_from(self.open_files) {
            Ok(limit @ 1..) => limit.min(files),
            _ => files,
        }
    }
}

/// File orders that the engine supports.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FileOrder {
    /// In turn.
    #[default]
    RoundRobin,
    /// One after the other.
    Sequential,
    /// Uniform at random.
    Random,
    /// Drawn by a distribution over the files, in their order.
    Drawn(Distribution),
}

/// Directions, order and offsets of I/O.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Directions and order.
    pub rw: ReadWrite,
    /// Bytes added to each sequential offset.
    pub skip: i64,
    /// Order of the blocks of sequential patterns.
    pub order: SequentialOrder,
    /// I/Os per random offset in random patterns; at least 1.
    pub run_length: u64,
    /// Order of the I/Os between two random offsets.
    pub sequencer: Sequencer,
    /// Share of reads in a mix, per cent of I/Os.
    pub mix_read: u8,
    /// Whether all clones of the job share one position in their files.
    pub shared_cursor: bool,
    /// Whether offsets may repeat within a pass.
    pub norandommap: bool,
    /// Whether independent offsets are drawn with 32 bits. Of more than 2^32 blocks, some are then
    /// never drawn.
    pub short_draws: bool,
    /// Sizes, per direction.
    pub blocks: PerDirection<BlockPlan>,
    /// Offsets are multiples of this, per direction.
    pub align: PerDirection<u64>,
    /// Seed of offsets, sizes, mix and file choice. Equal seeds issue the same I/O.
    pub seed: u64,
    /// The base of the seeds of all workers of the job, unless it is the fixed default:
    /// `randseed` with this number repeats the run.
    pub randseed: Option<u64>,
}

/// Engine, depth, batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// The engine.
    pub engine: Engine,
    /// Its options.
    pub options: EngineOptions,
    /// Working directory of the program that is run (`directory`). It opens its files itself.
    pub program_at: Option<String>,
    /// Whether separate threads submit I/O (`io_submit_mode=offload`), one for each I/O in flight.
    pub offload: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// Whether writes are atomic (RWF_ATOMIC).
    pub atomic: bool,
    /// I/Os in flight; 1 for synchronous engines without offload.
    pub depth: u32,
    /// `iodepth` as requested. A synchronous engine reduces it to 1.
    pub depth_requested: u32,
    /// I/Os per submission; `None` for the engine's own policy.
    pub batch_submit: Option<u32>,
    /// Minimum completions to wait for when the queue is full; 0 to poll.
    pub complete_min: u32,
    /// Maximum completions taken at a time; `None` for the engine's own policy.
    pub complete_max: Option<u32>,
    /// Submission resumes when this number of I/Os is in flight.
    pub low: u32,
}

/// Rate limits and pauses of a worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pacing {
    /// Limits, per direction; `None` for no limit.
    pub limit: PerDirection<Option<RateLimit>>,
    /// Distribution of arrivals.
    pub process: RateProcess,
    /// Minimum rate, in bytes per second. The job fails below it.
    pub min_bytes: PerDirection<Option<u64>>,
    /// Minimum rate, in I/Os per second. The job fails below it.
    pub min_iops: PerDirection<Option<u64>>,
    /// Window over which the minimum rates are checked.
    pub cycle: Nanos,
    /// Pauses.
    pub think: ThinkTime,
    /// Whether pauses are excluded from the time of the rate.
    pub ignore_thinktime: bool,
}

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// Bytes per second.
    Bytes(u64),
    /// I/Os per second.
    Iops(u64),
}

/// CPUs, memory policy and priorities of a worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// CPUs it may use; empty for all.
    pub cpus: Vec<u32>,
    /// Memory policy.
    pub memory: Option<NumaMemory>,
    /// Nice value.
    pub nice: Option<i32>,
    /// I/O priority: class, level, hint.
    pub io_priority: Option<(u8, u8, u16)>,
    /// Thread name; `None` for the job's name.
    pub comm: Option<String>,
}

/// Which measurements are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measuring {
    /// Submission latency.
    pub slat: bool,
    /// Completion latency.
    pub clat: bool,
    /// Total latency.
    pub lat: bool,
    /// Time series.
    pub series: bool,
    /// Clock id for its start time in reports (`job_start_clock_id`).
    pub start_clock: i32,
    /// Sums of the stamps of its I/Os.
    pub stamp_sums: bool,
}

impl Worker {
    /// Bytes of the regions of all its files.
    pub fn region(&self) -> u64 {
        self.distinct().fold(0, |sum, file| sum.saturating_add(file.length))
    }

    /// Its files, without repetitions.
    pub fn distinct(&self) -> impl Iterator<Item = &File> {
        let log = self.replay.as_ref().map(|replay| &replay.recording.files);
        let again =
            move |place: usize| log.and_then(|files| files.get(place)).is_some_and(|f| f.again);
        let files = self.files.iter().enumerate();
        files.filter(move |(place, _)| !again(*place)).map(|(_, file)| file)
    }

    /// The direction that bypasses the page cache, if the other one does not.
    pub fn direct_only(&self) -> Option<Direction> {
        let log = self.replay.as_ref().filter(|_| self.queue.direct)?;
        let ways = [true, false].map(|buffered| {
            let files = log.recording.files.iter();
            let files = files.filter(|file| file.buffered == buffered && !file.again);
            files.fold((false, false), |(reads, writes), file| {
                (reads || file.ios.read > 0, writes || file.ios.write > 0)
            })
        });
        match ways {
            [(_, true), (true, false)] => Some(Direction::Read),
            [(true, _), (false, true)] => Some(Direction::Write),
            _ => None,
        }
    }

    /// Largest block of its directions.
    pub fn max_block(&self) -> u64 {
        self.directions_blocks().map(BlockPlan::max).max().unwrap_or(0)
    }

    /// Whether its log opens and closes files. Otherwise they are always open.
    pub fn opens_by_log(&self) -> bool {
        let log = self.replay.as_ref().map(|replay| &replay.recording);
        log.is_some_and(|log| log.files.iter().any(|file| file.opens))
    }

    /// Largest buffer of an I/O, in bytes. A trim needs none, and received numbered objects are
    /// only counted.
    pub fn max_buffer(&self) -> u64 {
        let unseen = self.buffers.read_use == ReadUse::Nothing && !self.pattern.rw.writes();
        if self.numbered.is_some() && unseen {
            return 0;
        }
        let trims_only = |d| d == record::Direction::Trim && self.replay.is_some();
        let moved = self.pattern.blocks.iter().filter(|(d, _)| self.has(*d) && !trims_only(*d));
        moved.map(|(_, b)| b.max()).max().unwrap_or(0)
    }

    /// Smallest block of its directions.
    pub fn min_block(&self) -> u64 {
        self.directions_blocks().map(BlockPlan::min).min().unwrap_or(0)
    }

    /// Whether each I/O has an intended start.
    pub fn is_scheduled(&self) -> bool {
        let replayed = self.replay.as_ref().is_some_and(|replay| replay.stalls);
        let drawn = self.numbered.as_ref().is_some_and(|objects| objects.rate.is_some());
        replayed || drawn || self.pacing.limit.iter().any(|(_, limit)| limit.is_some())
    }

    /// Whether it has I/O in this direction.
    pub fn has(&self, direction: record::Direction) -> bool {
        let rw = self.pattern.rw;
        match direction {
            record::Direction::Read => rw.reads(),
            record::Direction::Write => rw.writes(),
            record::Direction::Trim => rw.trims(),
        }
    }

    fn directions_blocks(&self) -> impl Iterator<Item = &BlockPlan> {
        let own = self.pattern.blocks.iter().filter(|(d, _)| self.has(*d)).map(|(_, b)| b);
        own.chain(&self.placing.sequential_blocks)
    }
}
