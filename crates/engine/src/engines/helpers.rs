//! CPU time of threads that a ring starts for itself.

use crate::mutex::lock;
use crate::sys::thread;
use record::CpuUse;
use std::sync::Mutex;

/// CPU use of each helper thread of a ring. It counts as CPU use of the worker.
pub struct HelperThreads(Mutex<Vec<CpuUse>>);

impl HelperThreads {
    /// For `count` threads.
    pub fn new(count: u32) -> HelperThreads {
        HelperThreads(Mutex::new(vec![CpuUse::default(); count as usize]))
    }

    /// The sum over all threads.
    pub fn usage(&self) -> CpuUse {
        lock(&self.0).iter().fold(CpuUse::default(), |sum, one| sum.and(one))
    }

    /// Publishes the CPU use of the calling thread, which is number `thread`.
    pub fn publish(&self, thread: u32) {
        lock(&self.0)[thread as usize] = thread::usage();
    }
}
