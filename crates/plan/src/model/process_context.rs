//! What a worker changes around itself.

/// What a worker changes around itself before its first I/O.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessContext {
    /// User to become.
    pub uid: Option<u32>,
    /// Group to become.
    pub gid: Option<u32>,
    /// Control group to join.
    pub cgroup: Option<Cgroup>,
    /// (disk, I/O scheduler to switch it to).
    pub schedulers: Vec<(String, String)>,
    /// Command before its first I/O.
    pub prerun: Option<String>,
    /// Command after its last.
    pub postrun: Option<String>,
}

/// A control group to join.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cgroup {
    /// Its directory.
    pub directory: String,
    /// Version of the hierarchy, 1 or 2.
    pub version: u8,
    /// Where this process is in it.
    pub own: String,
    /// Its weight, if it is to have one.
    pub weight: Option<u64>,
    /// It stays after the run.
    pub stays: bool,
}
