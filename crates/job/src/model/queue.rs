//! Engine, depth, and when data is made durable.

use super::engine::{Ceph, CpuLoad, CustomEngine, Program, SgWriteMode, StatCall};
use super::named::named;
use super::net::Net;
use super::numbered::ObjectSet;
use super::nvme::NvmeOptions;
use super::objects::Http;
use super::priority::PriorityShare;
use record::Engine;

/// Engine, depth and batches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// `ioengine`.
    pub engine: Engine,
    /// Options of the engine.
    pub options: EngineOptions,
    /// `io_submit_mode=offload`.
    pub offload: bool,
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
    /// `cmdprio_hint`.
    pub cmdprio_hint: Option<(u16, u16)>,
    /// `cmdprio_bssplit`, of reads and of writes.
    pub cmdprio_split: [Vec<PriorityShare>; 2],
    /// `readfua`: FUA on reads.
    pub readfua: bool,
    /// `writefua`: FUA on writes; RWF_DSYNC with io_uring.
    pub writefua: bool,
    /// `sg_write_mode`.
    pub sg_write_mode: SgWriteMode,
    /// `stream_id` of WRITE STREAM; 0: one that is opened for the run.
    pub stream: u16,
    /// Commands of io_uring_cmd.
    pub nvme: NvmeOptions,
    /// `donorname` of e4defrag.
    pub donor: Option<String>,
    /// `inplace` of e4defrag: the donor gets its blocks within each I/O.
    pub donor_in_place: u8,
    /// `skip_bad` of mtd.
    pub skip_bad: bool,
    /// `uri` of nbd.
    pub nbd_uri: Option<String>,
    /// `thp`: transparent huge pages for mmap.
    pub thp: bool,
    /// `stat_type`: the call that filestat and dirstat time.
    pub stat: StatCall,
    /// What cpuio computes.
    pub cpu: CpuLoad,
    /// What exec runs.
    pub program: Program,
    /// What custom runs.
    pub custom: CustomEngine,
    /// `nfs_url`: what nfs mounts.
    pub nfs_url: Option<String>,
    /// What rados and rbd connect to.
    pub ceph: Ceph,
    /// What net and netsplice connect to.
    pub net: Net,
    /// The object store of http.
    pub http: Http,
    /// Numbered objects that http works on.
    pub numbered: ObjectSet,
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

named!(SyncMode: None "none", Sync "sync", Dsync "dsync");
