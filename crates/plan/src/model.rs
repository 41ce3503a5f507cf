//! The plan: everything resolved, nothing left to look up. One [`Worker`] a thread.

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
pub use socket::Socket;
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

/// A run, resolved.
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
    /// How often workers lay out what they have measured so far, counted from the run's origin;
    /// `None`: never.
    pub status_interval: Option<Nanos>,
    /// The clock asked for ("cpu", "clock_gettime", "gettimeofday"); `None`: the best.
    pub clocksource: Option<String>,
    /// Where files that a run leaves beside its output go (`--aux-path`); empty: the working
    /// directory.
    pub aux_path: String,
}

/// A device to watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiskWatch {
    /// Kernel name.
    pub name: String,
    /// Disks it is made of; empty for a plain disk.
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
    /// What the record says of its options, but for those that only files or a machine resolve.
    pub settings: BTreeMap<String, String>,
    /// When it starts.
    pub start: Start,
    /// What ends it.
    pub stop: Stop,
    /// Its files or devices, in order.
    pub files: Vec<File>,
    /// In which order and how many of them at a time.
    pub selection: FileSelection,
    /// Its end of a connection, where its engine has one.
    pub socket: Option<Socket>,
    /// The store its objects are in, where its engine has one.
    pub objects: Option<Objects>,
    /// The numbered objects it works on; `None`: it works on blocks of files.
    pub numbered: Option<ObjectSet>,
    /// Which I/O at which offsets.
    pub pattern: Pattern,
    /// Where it goes beyond plain orders.
    pub placing: Placing,
    /// What of it is traced.
    pub trace: crate::trace::Trace,
    /// How it keeps to the rules of zones; `None`: there are none.
    pub zbd: Option<Zbd>,
    /// Engine, depth, batches.
    pub queue: Queue,
    /// Buffers and their content.
    pub buffers: Buffers,
    /// With whom it shares its working set of duplicates (`dedupe_global`), itself included: number
    /// and seed of each worker. Empty: with none.
    pub duplicates: Vec<(u32, u64)>,
    /// When data is made durable.
    pub syncing: Syncing,
    /// How files are made, opened, invalidated.
    pub layout: Layout,
    /// How fast it may go.
    pub pacing: Pacing,
    /// What ends it by its figures, or steers it.
    pub limits: Limits,
    /// CPUs and priorities.
    pub placement: Placement,
    /// What it changes around itself.
    pub context: ProcessContext,
    /// What is recorded.
    pub measuring: Measuring,
    /// What an error does.
    pub errors: ErrorPolicy,
    /// What is checked of the data; `None`: nothing.
    pub verify: Option<Verify>,
    /// What its report shows.
    pub show: Show,
    /// Percentiles its report shows.
    pub percentiles: Vec<f64>,
    /// The log whose I/O it does; `None`: its pattern's.
    pub replay: Option<Replay>,
    /// `write_iolog`: file that its I/O is listed in.
    pub write_log: Option<String>,
    /// Size of the blocks whose trims are counted, in bytes; `None`: they are not.
    pub counted_blocks: Option<u64>,
    /// The logs it writes; `None`: none.
    pub logs: Option<Logs>,
    /// Number of the error it ends with before it opens anything, as the plan's messages tell;
    /// `None`: it runs.
    pub unready: Option<i32>,
}

/// When a worker starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Workers of a phase start when all of earlier phases have ended.
    pub phase: u32,
    /// Pause after the start of its phase.
    pub delay: Nanos,
    /// Indexes of the jobs all of whose workers must have ended first.
    pub after_jobs: Vec<u32>,
    /// Set when every file is to be laid out before the next worker's (create_serialize).
    pub serialize_layout: bool,
}

/// What ends a worker. Whatever comes first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stop {
    /// Bytes of one loop, where they are not those of the files' regions. All loops together end
    /// once `bytes * loops` were issued. `None`: as many as the regions have.
    pub bytes: Option<u64>,
    /// Passes are added to the loops while fewer than `bytes` were issued and a largest block is
    /// missing (`io_size`).
    pub wraps: bool,
    /// Times the loop is repeated; at least 1.
    pub loops: u64,
    /// I/Os issued in all, loops included. Each pass still ends where it would without.
    pub ios: Option<u64>,
    /// Time, ramp not included.
    pub runtime: Option<Nanos>,
    /// Start over when the bytes are done, until `runtime`.
    pub time_based: bool,
    /// Time before figures count.
    pub ramp: Nanos,
    /// Bytes before figures count, moved by all workers of its report together.
    pub ramp_bytes: u64,
    /// Its end ends other workers.
    pub exitall: bool,
    /// Which, and which end with it when it fails and `exitall_on_error` is given.
    pub exit_what: ExitScope,
    /// ENOSPC is a regular end (`fill_device`); without a size, the only one.
    pub fill_device: bool,
}

/// The log whose I/O a worker does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replay {
    /// What it holds. Its files are the worker's, in the same order.
    pub recording: Arc<Recording>,
    /// I/O waits for its time in the log.
    pub stalls: bool,
}

/// One file or device of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Path as it is opened.
    pub path: String,
    /// What it is, or will be once made.
    pub kind: TargetKind,
    /// Where this worker's region begins.
    pub start: u64,
    /// Length of the region.
    pub length: u64,
    /// Size of the whole file or device once all is prepared.
    pub whole: u64,
    /// What has to be done before the run.
    pub prepare: Prepare,
}

/// What has to be done to a file before the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prepare {
    /// Nothing: a device, or an engine without files.
    #[default]
    Nothing,
    /// Make or extend it to `size`, real data in every byte: it is read or overwritten.
    Fill {
        /// Bytes from the file's beginning that must hold data.
        size: u64,
    },
    /// Make or extend it to `size` without data (`fallocate` says how): it is only written.
    Extend {
        /// Size of the file.
        size: u64,
    },
    /// Make it as an empty directory.
    Directory,
    /// Left to the open (`create_on_open`).
    OnOpen {
        /// Size it will have.
        size: u64,
    },
}

/// In which order files get their I/O.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FileSelection {
    /// The order.
    pub order: FileOrder,
    /// I/Os before switching; at least 1.
    pub ios: u64,
    /// Files open at once; 0: all.
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

/// File orders that work.
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

/// Which I/O at which offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pattern {
    /// Directions and order.
    pub rw: ReadWrite,
    /// Bytes added to each sequential offset.
    pub skip: i64,
    /// Order of the blocks of sequential patterns.
    pub order: SequentialOrder,
    /// Random patterns: I/Os before a new random offset; at least 1.
    pub run_length: u64,
    /// What happens between two random offsets.
    pub sequencer: Sequencer,
    /// Share of reads in a mix, per cent of I/Os.
    pub mix_read: u8,
    /// All clones of the job share one position in their files.
    pub shared_cursor: bool,
    /// Offsets may repeat within a pass.
    pub norandommap: bool,
    /// Sizes, per direction.
    pub blocks: PerDirection<BlockPlan>,
    /// Offsets are multiples of this, per direction.
    pub align: PerDirection<u64>,
    /// Seed of offsets, sizes, mix and file choice. Equal seeds issue the same I/O.
    pub seed: u64,
    /// What the seeds of all workers of the job were drawn from, when it is not the one that every
    /// run has: `randseed` with this number repeats them.
    pub randseed: Option<u64>,
}

/// Engine, depth, batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// The engine.
    pub engine: Engine,
    /// Its options.
    pub options: EngineOptions,
    /// Where the program works that is run (`directory`): it opens its files itself.
    pub program_at: Option<String>,
    /// Threads of its own submit each I/O (`io_submit_mode=offload`), one for each in flight.
    pub offload: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// Writes are not torn (RWF_ATOMIC).
    pub atomic: bool,
    /// I/Os kept in flight; 1 for synchronous engines, unless they are offloaded.
    pub depth: u32,
    /// `iodepth` as asked, before a synchronous engine made it 1.
    pub depth_requested: u32,
    /// I/Os handed over at a time; `None`: the engine's own policy.
    pub batch_submit: Option<u32>,
    /// Completions waited for at least, once the queue is full; 0: polls.
    pub complete_min: u32,
    /// Completions taken at most at a time; `None`: the engine's own policy.
    pub complete_max: Option<u32>,
    /// Refill starts when this many are left in flight.
    pub low: u32,
}

/// How fast a worker may go.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pacing {
    /// Limits, per direction; all `None`: as fast as it can.
    pub limit: PerDirection<Option<RateLimit>>,
    /// How arrivals are spaced.
    pub process: RateProcess,
    /// Least rate, in bytes a second; the job fails below it.
    pub min_bytes: PerDirection<Option<u64>>,
    /// Least rate, in I/Os a second; the job fails below it.
    pub min_iops: PerDirection<Option<u64>>,
    /// Window over which the least rates are checked.
    pub cycle: Nanos,
    /// Pauses.
    pub think: ThinkTime,
    /// Time spent thinking does not count against the rate.
    pub ignore_thinktime: bool,
}

/// A rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateLimit {
    /// Bytes a second.
    Bytes(u64),
    /// I/Os a second.
    Iops(u64),
}

/// Where a worker runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Placement {
    /// CPUs it may use; empty: all.
    pub cpus: Vec<u32>,
    /// Memory policy.
    pub memory: Option<NumaMemory>,
    /// Nice value.
    pub nice: Option<i32>,
    /// I/O priority: class, level, hint.
    pub io_priority: Option<(u8, u8, u16)>,
    /// Thread name; `None`: the job's.
    pub comm: Option<String>,
}

/// What is recorded.
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
    /// Clock of its start in reports, as clock_gettime numbers them (`job_start_clock_id`).
    pub start_clock: i32,
}

impl Worker {
    /// Bytes of the region of all its files.
    pub fn region(&self) -> u64 {
        self.distinct().fold(0, |sum, file| sum.saturating_add(file.length))
    }

    /// Its files, those that are opened a second time once.
    pub fn distinct(&self) -> impl Iterator<Item = &File> {
        let log = self.replay.as_ref().map(|replay| &replay.recording.files);
        let again =
            move |place: usize| log.and_then(|files| files.get(place)).is_some_and(|f| f.again);
        let files = self.files.iter().enumerate();
        files.filter(move |(place, _)| !again(*place)).map(|(_, file)| file)
    }

    /// The direction whose I/O alone passes the page cache by, while that of others does not.
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

    /// Largest block of any direction it has.
    pub fn max_block(&self) -> u64 {
        self.directions_blocks().map(BlockPlan::max).max().unwrap_or(0)
    }

    /// Whether its log says when files are opened and closed; else they are open all the time.
    pub fn opens_by_log(&self) -> bool {
        let log = self.replay.as_ref().map(|replay| &replay.recording);
        log.is_some_and(|log| log.files.iter().any(|file| file.opens))
    }

    /// Bytes the largest I/O moves in memory: a trim moves none, and numbered objects that are
    /// fetched are only counted.
    pub fn max_buffer(&self) -> u64 {
        let unseen = self.buffers.read_use == ReadUse::Nothing && !self.pattern.rw.writes();
        if self.numbered.is_some() && unseen {
            return 0;
        }
        let trims_only = |d| d == record::Direction::Trim && self.replay.is_some();
        let moved = self.pattern.blocks.iter().filter(|(d, _)| self.has(*d) && !trims_only(*d));
        moved.map(|(_, b)| b.max()).max().unwrap_or(0)
    }

    /// Smallest block of any direction it has.
    pub fn min_block(&self) -> u64 {
        self.directions_blocks().map(BlockPlan::min).min().unwrap_or(0)
    }

    /// Whether its I/O has intended starts.
    pub fn is_scheduled(&self) -> bool {
        let replayed = self.replay.as_ref().is_some_and(|replay| replay.stalls);
        let drawn = self.numbered.as_ref().is_some_and(|objects| objects.rate.is_some());
        replayed || drawn || self.pacing.limit.iter().any(|(_, limit)| limit.is_some())
    }

    /// Whether it goes in this direction.
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
