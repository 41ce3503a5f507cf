//! What was found at both ends of a run, for the checks.

use crate::{Bytes, Extents, Health, Nanos};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was looked at before the first I/O and after the last one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Evidence {
    /// Files and devices of the workers, by path; of very many only the first
    /// [`Evidence::FILES_MAX`].
    pub files: BTreeMap<String, FileEvidence>,
    /// Other processes that moved most data during the run, the busiest first; empty where other
    /// processes' figures may not be read.
    pub neighbours: Vec<Neighbour>,
    /// Processes of this machine that served what the run asked for, with their CPU time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerProcess>,
    /// How long it took to make the filesystem, if one was made for the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mkfs_time: Option<Nanos>,
    /// Health of the disks after the run, by kernel name; that before it is in the facts.
    pub health_after: BTreeMap<String, Health>,
}

impl Evidence {
    /// Files that are looked at; each costs some system calls at both ends of a run.
    pub const FILES_MAX: usize = 64;
}

/// One file or device of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileEvidence {
    /// Laid out, before the first I/O; `None` when it was not there yet.
    pub before: Option<FileLook>,
    /// After the last I/O, before the file is removed; `None` when it is gone.
    pub after: Option<FileLook>,
    /// What is in it, where that was looked at: on devices that may answer without their medium
    /// (discarded, compressed, thin).
    pub content: Option<Content>,
}

/// A file at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FileLook {
    /// Its size.
    pub size: Bytes,
    /// Of it, in the page cache (cachestat, or mincore where that is not known).
    pub cached: Option<Bytes>,
    /// Of it, in the page cache and newer than on the device.
    pub dirty: Option<Bytes>,
    /// What its blocks are; `None` for devices and where the filesystem does not tell.
    pub extents: Option<Extents>,
}

/// What some blocks drawn at random held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Content {
    /// Blocks of 4 KiB looked at.
    pub blocks: u32,
    /// Of them, all zero.
    pub zero: u32,
    /// Of them, like another one looked at, and not zero.
    pub repeated: u32,
    /// Compressed size over size, over all of them (LZ4), 0 to about 1.
    pub compressed: f64,
}

/// Another process, and the storage traffic it caused while the run went on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Neighbour {
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Bytes it had read from storage.
    pub read: Bytes,
    /// Bytes it had written to storage.
    pub written: Bytes,
    /// It has a file open on a filesystem or device that the run uses.
    pub same_storage: bool,
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
