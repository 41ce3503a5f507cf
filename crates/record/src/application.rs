//! What an application has in flight, seen from outside.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What an application has done and had in flight since it is watched. All but [`Self::processes`],
/// [`Self::threads`] and [`Self::unseen`] only grows, so any two samples give a difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApplicationSample {
    /// Its processes now.
    pub processes: u32,
    /// Their threads now.
    pub threads: u32,
    /// How often the threads and rings were looked at.
    pub looks: u64,
    /// I/Os in flight → looks that found so many: threads that wait for storage, and I/Os that rings of
    /// io_uring hold.
    pub in_flight: BTreeMap<u32, u64>,
    /// Of these, the sum over all looks that rings held.
    pub in_rings: u64,
    /// Threads that looks found waiting for storage, by what they wait for.
    pub waits: Vec<WaitCount>,
    /// Calls and bytes of all processes (/proc/PID/io).
    pub io: ApplicationIo,
    /// I/Os of its control group by device, where there is one (`io.stat`).
    pub group: BTreeMap<String, GroupIo>,
    /// What cannot be seen, and why.
    pub unseen: Vec<String>,
}

/// Threads that were found in one kind of wait, summed over looks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitCount {
    /// For what.
    pub what: Wait,
    /// Bytes that the call asks for; `None` where its arguments do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Threads.
    pub found: u64,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wait {
    /// A read call.
    Read,
    /// A write call.
    Write,
    /// A synchronisation.
    Sync,
    /// A page fault, a call on names or attributes, or a call that may not be seen.
    #[default]
    Other,
}

/// Calls and bytes of processes (proc_pid_io(5)). Calls are those on pipes and sockets as well.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ApplicationIo {
    /// Fetched from storage, in bytes.
    pub read_bytes: u64,
    /// Sent to storage or made dirty in the page cache, in bytes.
    pub write_bytes: u64,
    /// Read calls.
    pub read_calls: u64,
    /// Write calls.
    pub write_calls: u64,
}

/// I/Os of a control group on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupIo {
    /// Reads.
    pub read_ios: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes.
    pub write_ios: u64,
    /// Bytes written.
    pub write_bytes: u64,
}
