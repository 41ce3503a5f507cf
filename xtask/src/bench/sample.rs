//! What one run gave.

/// What one run gave. What is counted by I/O is 0 where a run did none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// I/Os, of a run that time ended.
    pub ios: f64,
    /// I/Os a second.
    pub iops: f64,
    /// User time of the jobs, by the program's own account, ns an I/O.
    pub user_ns: f64,
    /// System time of the jobs, by the program's own account, ns an I/O.
    pub system_ns: f64,
    /// User and system time of the process and its children from start to exit, by the kernel's
    /// account, ns an I/O. It shows what a program does outside of its jobs.
    pub process_ns: f64,
    /// Median of clat, ns.
    pub p50_ns: f64,
    /// 99th percentile of clat, ns.
    pub p99_ns: f64,
    /// From start to exit, ns.
    pub elapsed_ns: f64,
    /// The most memory the process had, by the kernel's account, bytes. It is never less than what
    /// the process that started it had.
    pub memory_bytes: f64,
}
