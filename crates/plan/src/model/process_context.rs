//! Changes of a worker to its environment.

/// Changes of a worker to its environment before its first I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessContext {
    /// User to become.
    pub uid: Option<u32>,
    /// Group to become.
    pub gid: Option<u32>,
    /// Control group to join.
    pub cgroup: Option<Cgroup>,
    /// Disk, and the I/O scheduler to select for it.
    pub schedulers: Vec<(String, String)>,
    /// Command before its first I/O.
    pub prerun: Option<String>,
    /// Command after its last I/O.
    pub postrun: Option<String>,
}

/// A control group to join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cgroup {
    /// Its directory.
    pub directory: String,
    /// Version of the hierarchy, 1 or 2.
    pub version: u8,
    /// Path of this process in the hierarchy.
    pub own: String,
    /// Its weight, if one is set.
    pub weight: Option<u64>,
    /// Whether it stays after the run.
    pub stays: bool,
}
