//! What was observed at the start and end of a run, for the checks.

use crate::{Bytes, Extents, Health, Layers, Nanos, NetworkUse};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was observed before the first I/O and after the last one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Files and devices of the workers, by path; at most the first [`Evidence::FILES_MAX`].
    pub files: BTreeMap<String, FileEvidence>,
    /// The other processes that moved the most data during the run, the busiest first; empty if the
    /// figures of other processes cannot be read.
    pub neighbours: Vec<Neighbour>,
    /// Other ranks of the same measurement on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks_beside: Option<RanksBeside>,
    /// Processes of this machine that served what the run asked for, with their CPU time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerProcess>,
    /// What the network did, if data of the run is on other machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<NetworkUse>,
    /// The code that used the CPUs, if the run sampled it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_profile: Option<CpuProfile>,
    /// The path of the I/Os through the kernel, if the run looked at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers: Option<Layers>,
    /// Why they were not timed, where nobody asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layers_not_timed: Option<String>,
    /// How long it took to make the filesystem, if one was made for the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mkfs_time: Option<Nanos>,
    /// Health of the disks after the run, by kernel name. The facts have their health before the
    /// run.
    pub health_after: BTreeMap<String, Health>,
}

impl Evidence {
    /// Maximum number of observed files; each costs some system calls at the start and end of a
    /// run.
    pub const FILES_MAX: usize = 64;
}

/// One file or device of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEvidence {
    /// After layout, before the first I/O; `None` if it did not exist yet.
    pub before: Option<FileLook>,
    /// After the last I/O, before the file is removed; `None` if it does not exist any more.
    pub after: Option<FileLook>,
    /// A sample of its content, for devices that may answer without their medium (discarded,
    /// compressed, thin).
    pub content: Option<Content>,
}

/// A file at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileLook {
    /// Its size.
    pub size: Bytes,
    /// Bytes of it in the page cache (cachestat, or mincore on older kernels).
    pub cached: Option<Bytes>,
    /// Bytes of it that are dirty in the page cache.
    pub dirty: Option<Bytes>,
    /// Holes and unwritten blocks from the first to the last byte that jobs may access; `None` for
    /// devices, and if the filesystem does not report them.
    pub extents: Option<Extents>,
}

/// The content of randomly chosen blocks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// Number of blocks of 4 KiB that were read.
    pub blocks: u32,
    /// Number of blocks of only zeros.
    pub zero: u32,
    /// Number of blocks that equal another one and are not zero.
    pub repeated: u32,
    /// Compressed size over size, over all of them (LZ4), 0 to about 1.
    pub compressed: f64,
}

/// Another process, and its storage traffic during the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Neighbour {
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Bytes that it read from storage.
    pub read: Bytes,
    /// Bytes that it wrote to storage.
    pub written: Bytes,
    /// Whether it has a file open on a filesystem or device of the run.
    pub same_storage: bool,
}

/// Other ranks on this machine, and their storage traffic during the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RanksBeside {
    /// Their number.
    pub ranks: u32,
    /// Bytes that they read from storage.
    pub read: Bytes,
    /// Bytes that they wrote to storage.
    pub written: Bytes,
}

/// Samples of the code that CPUs executed during the run, taken by the kernel's CPU clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuProfile {
    /// Samples of each CPU a second.
    pub hz: u32,
    /// Samples that no memory was left for.
    pub lost: u64,
    /// Samples of processes other than this program and the servers it asks.
    pub others: u64,
    /// Whether the kernel's code was sampled too; otherwise nor were other processes.
    pub with_kernel: bool,
    /// By process, the most frequent first.
    pub code: Vec<CodeUse>,
}

/// Code that a process executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CodeUse {
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub process: String,
    /// The file of the code, without directories, or "kernel".
    pub library: String,
    /// The function; `None` without a symbol, and for rare functions of a library together.
    pub function: Option<String>,
    /// Number of samples.
    pub samples: u64,
}

/// A process of this machine that listens where a run sends its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerProcess {
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// CPU time that it used, all its threads together.
    pub cpu: Nanos,
    /// In this time: that of the run with what surrounds it.
    pub window: Nanos,
}
