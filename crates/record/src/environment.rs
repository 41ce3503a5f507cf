//! The rest of the system that a result depends on: limits, mitigations, kernel settings,
//! interrupts.

use crate::Bytes;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The system around the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Environment {
    /// Name and version of the distribution (PRETTY_NAME of os-release).
    pub os: String,
    /// Kernel command line.
    pub command_line: String,
    /// CPU vulnerability → the kernel's mitigation.
    pub mitigations: BTreeMap<String, String>,
    /// Settings under /proc/sys and /sys that matter to I/O, by their usual names ("vm.dirty_ratio",
    /// "transparent_hugepage", "clocksource").
    pub tunables: BTreeMap<String, String>,
    /// Limits of this process's control group.
    pub cgroup: CgroupFacts,
    /// Swap in use.
    pub swap_used: Bytes,
    /// Load averages of 1, 5 and 15 minutes.
    pub load: [f64; 3],
    /// Whether this process runs as root. Other users cannot read all facts.
    pub is_root: bool,
}

/// Limits of a control group, the tightest along its path (v1 and v2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CgroupFacts {
    /// Its path; of the unified hierarchy where there is one.
    pub path: String,
    /// CPUs it may use, by quota; `None`: no quota.
    pub cpu_quota: Option<f64>,
    /// Memory it may use, page cache included; `None`: no limit.
    pub memory_max: Option<Bytes>,
    /// Limits by device ("8:0"): name as in io.max ("rbps", "wbps", "riops", "wiops") → value per
    /// second.
    pub io_max: BTreeMap<String, BTreeMap<String, u64>>,
    /// The hierarchy that accounts for I/O; `None` if no hierarchy does.
    pub place: Option<CgroupPlace>,
}

/// A hierarchy of control groups that accounts for I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CgroupPlace {
    /// 1 (its controller blkio) or 2.
    pub version: u8,
    /// Where it is mounted.
    pub mount: String,
    /// Directory of the group this process is in.
    pub own: String,
}

/// One interrupt of a device.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct InterruptFacts {
    /// Its number, as in /proc/interrupts.
    pub number: u32,
    /// Its action ("nvme0q1", "virtio1-req.0").
    pub name: String,
    /// CPUs that may serve it.
    pub cpus: Vec<u32>,
}
