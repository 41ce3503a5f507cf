//! Memory pages: their size, mappings, locked memory.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

/// Size of a page of memory, in bytes.
pub fn page_size() -> usize {
    rustix::param::page_size()
}

/// Makes the allocator keep up to 64 MiB of freed memory. Otherwise the C library returns it to the
/// kernel, and each page costs a fault when it is allocated again: with content encrypted in bursts
/// that was a quarter of a run's CPU time.
pub fn keep_freed() {
    // Setting one of them makes both static, so set both.
    #[cfg(target_env = "gnu")]
    for (option, bytes) in [(libc::M_TRIM_THRESHOLD, 64 << 20), (libc::M_MMAP_THRESHOLD, 4 << 20)] {
        // SAFETY: it takes two numbers, and locks what it changes.
        unsafe { libc::mallopt(option, bytes) };
    }
}

/// The access rights of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Loads.
    pub read: bool,
    /// Stores.
    pub write: bool,
}

/// Loads and stores.
pub const READ_WRITE: Access = Access { read: true, write: true };

/// A mapping, unmapped when dropped.
#[derive(Debug)]
pub struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: a mapping belongs to the process, not to a thread; whoever owns the value owns the pages.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `length` (not 0) zeroed bytes with `flags` added to MAP_ANONYMOUS; they must hold
    /// MAP_PRIVATE or MAP_SHARED.
    pub fn anonymous(length: usize, flags: i32) -> io::Result<Mapping> {
        Mapping::map(length, READ_WRITE, libc::MAP_ANONYMOUS | flags, -1, 0)
    }

    /// Maps `length` (not 0) bytes of `file` from `offset` (a multiple of the page).
    pub fn of_file(
        file: BorrowedFd<'_>,
        offset: u64,
        length: usize,
        access: Access,
        flags: i32,
    ) -> io::Result<Mapping> {
        Mapping::map(length, access, flags, file.as_raw_fd(), offset)
    }

    fn map(length: usize, access: Access, flags: i32, fd: i32, offset: u64) -> io::Result<Self> {
        let offset = libc::off_t::try_from(offset).map_err(|_| errno(libc::EOVERFLOW))?;
        let mut protection = libc::PROT_NONE;
        if access.read {
            protection |= libc::PROT_READ;
        }
        if access.write {
            protection |= libc::PROT_WRITE;
        }
        // SAFETY: no address is asked for and MAP_FIXED is never among the flags, so the kernel
        // chooses a free place and nothing that exists is replaced.
        let base =
            unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, fd, offset) };
        if base == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast()).ok_or_else(|| errno(libc::ENOMEM))?;
        Ok(Mapping { base, length })
    }

    /// Address of the first byte.
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// Length in bytes.
    pub fn length(&self) -> usize {
        self.length
    }

    /// madvise(2) for the whole mapping.
    pub fn advise(&self, advice: i32) -> io::Result<()> {
        // SAFETY: the range is this mapping; advice that changes content (MADV_DONTNEED and
        // MADV_REMOVE on private pages) is never given to memory that is borrowed.
        check(unsafe { libc::madvise(self.base.as_ptr().cast(), self.length, advice) })
    }

    /// msync(2) with MS_SYNC of `length` bytes from `offset` (a multiple of the page size).
    pub fn sync(&self, offset: usize, length: usize) -> io::Result<()> {
        if offset > self.length || length > self.length - offset {
            return Err(errno(libc::EINVAL));
        }
        // SAFETY: the range was just checked to lie in this mapping.
        check(unsafe { libc::msync(self.base.as_ptr().add(offset).cast(), length, libc::MS_SYNC) })
    }
}

impl Mapping {
    /// Writes the caches of the CPU back to persistent memory, `length` bytes from `offset`.
    pub fn persist(&self, offset: usize, length: usize) -> io::Result<()> {
        if offset > self.length || length > self.length - offset {
            return Err(errno(libc::EINVAL));
        }
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_mm_clflush, _mm_sfence};
            const LINE: usize = 64;
            let base = self.base.as_ptr();
            for line in (offset / LINE * LINE..offset + length).step_by(LINE) {
                // SAFETY: the line lies in this mapping, which begins at a page.
                unsafe { _mm_clflush(base.wrapping_add(line)) };
            }
            // SAFETY: it orders stores and touches no memory.
            unsafe { _mm_sfence() };
            Ok(())
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let slack = offset % page_size();
            self.sync(offset - slack, length + slack)
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: base and length are what mmap gave, and nothing uses them after this.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// Locks `bytes` of memory in RAM while the value lives, which leaves less for the page cache. `None` for
/// 0 bytes. ENOMEM or EPERM if RLIMIT_MEMLOCK or the memory is too small.
pub fn lock_memory(bytes: u64) -> io::Result<Option<Mapping>> {
    if bytes == 0 {
        return Ok(None);
    }
    let length = usize::try_from(bytes).map_err(|_| errno(libc::ENOMEM))?;
    let mapping = Mapping::anonymous(length, libc::MAP_PRIVATE)?;
    // SAFETY: the range is the mapping just made.
    check(unsafe { libc::mlock(mapping.base.as_ptr().cast(), length) })?;
    Ok(Some(mapping))
}

/// The error of this number.
pub fn errno(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}

/// Converts the result of a call that returns -1 and sets errno.
pub fn check(answer: i32) -> io::Result<()> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked_kib() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|l| l.starts_with("VmLck:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    #[test]
    fn locked_memory_is_given_back() {
        assert!(lock_memory(0).unwrap().is_none());
        let lock = lock_memory(1 << 20).unwrap();
        assert!(locked_kib() >= 1024);
        drop(lock);
        assert!(locked_kib() < 1024);
    }

    #[test]
    fn an_impossible_mapping_is_an_error() {
        assert!(Mapping::anonymous(usize::MAX / 2, libc::MAP_PRIVATE).is_err());
        assert!(Mapping::anonymous(0, libc::MAP_PRIVATE).is_err());
    }

    #[test]
    fn syncing_outside_is_refused() {
        let mapping = Mapping::anonymous(4096, libc::MAP_SHARED).unwrap();
        assert!(mapping.sync(0, 4096).is_ok());
        assert!(mapping.sync(4096, 4096).is_err());
    }
}
