//! The surroundings of a job: user, control group, I/O scheduler, commands before and after.

/// The surroundings of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessContext {
    /// `uid`.
    pub uid: Option<u32>,
    /// `gid`.
    pub gid: Option<u32>,
    /// `cgroup`: its path below the mount point of the hierarchy.
    pub cgroup: Option<String>,
    /// `cgroup_weight`.
    pub cgroup_weight: Option<u64>,
    /// `cgroup_nodelete`.
    pub cgroup_nodelete: bool,
    /// `ioscheduler`.
    pub ioscheduler: Option<String>,
    /// `exec_prerun`: a command for the shell.
    pub exec_prerun: Option<String>,
    /// `exec_postrun`: a command for the shell.
    pub exec_postrun: Option<String>,
}
