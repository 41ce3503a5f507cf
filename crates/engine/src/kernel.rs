//! Kernel queries that need unsafe code, or that several crates make.

pub use crate::sys::cache::{PageCache, page_cache};
pub use crate::sys::cpu_samples::{CodeSample, CpuSampler};
pub use crate::sys::device::{nvme_admin, scsi};
pub use crate::sys::files::extents;
pub use crate::sys::space::{free_space, trim_free_space};

use rustix::time::{ClockId, clock_gettime};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Waits until a range of a file is written to its device, by sync_file_range(2). It flushes no cache of
/// the device and writes no metadata.
pub fn sync_file_range(fd: BorrowedFd, offset: u64, length: u64) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    match crate::sys::io::sync_file_range(fd.as_raw_fd(), offset, length, flags) {
        0.. => Ok(()),
        error => Err(io::Error::from_raw_os_error(-error as i32)),
    }
}

/// CPU time that this thread has used.
pub fn thread_cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
