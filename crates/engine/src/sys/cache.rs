//! How much of a file is in the page cache.

use super::memory::{check, page_size};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// How much of a file is in the page cache, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCache {
    /// In the cache.
    pub cached: u64,
    /// Dirty or under write-back; `None` if only mincore is available.
    pub dirty: Option<u64>,
}

/// cachestat(2), since Linux 6.5; the number is the same on every architecture.
const SYS_CACHESTAT: libc::c_long = 451;

#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

#[repr(C)]
#[derive(Default)]
struct Stat {
    cache: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// How much of the first `length` bytes of a file or block device is in the page cache. Fails without
/// write permission or ownership, and for files without a page cache.
pub fn page_cache(file: BorrowedFd<'_>, length: u64) -> io::Result<PageCache> {
    if length == 0 {
        return Ok(PageCache { cached: 0, dirty: Some(0) });
    }
    match cachestat(file, length) {
        Err(e) if e.raw_os_error() == Some(libc::ENOSYS) => mincore(file, length),
        result => result,
    }
}

fn cachestat(file: BorrowedFd<'_>, length: u64) -> io::Result<PageCache> {
    let range = Range { offset: 0, length };
    let mut stat = Stat::default();
    // SAFETY: the kernel reads one range and writes one stat, both of the layout of linux/mman.h.
    let done = unsafe {
        libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut stat, 0_u32)
    };
    check(done as i32)?;
    let page = page_size() as u64;
    let dirty = Some((stat.dirty + stat.writeback) * page);
    Ok(PageCache { cached: stat.cache * page, dirty })
}

/// Bytes mapped at a time; mincore returns one byte per page.
const CHUNK: u64 = 1 << 30;

fn mincore(file: BorrowedFd<'_>, length: u64) -> io::Result<PageCache> {
    let page = page_size() as u64;
    let mut cached = 0;
    let mut at = 0;
    while at < length {
        let size = CHUNK.min(length - at);
        cached += resident_pages(file, at, size, page)? * page;
        at += size;
    }
    Ok(PageCache { cached: cached.min(length), dirty: None })
}

fn resident_pages(file: BorrowedFd<'_>, offset: u64, size: u64, page: u64) -> io::Result<u64> {
    let mut pages = vec![0_u8; size.div_ceil(page) as usize];
    let size = size as usize;
    // SAFETY: a new mapping at an address the kernel chooses; nothing is read through it.
    let address = unsafe {
        let flags = libc::MAP_SHARED;
        libc::mmap64(
            std::ptr::null_mut(),
            size,
            libc::PROT_READ,
            flags,
            file.as_raw_fd(),
            offset as i64,
        )
    };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the mapping is `size` long and `pages` has a byte for each page of it.
    let answered = unsafe { libc::mincore(address, size, pages.as_mut_ptr()) };
    let result = check(answered);
    // SAFETY: it is the mapping made above, and nothing points into it.
    unsafe { libc::munmap(address, size) };
    result?;
    Ok(pages.iter().map(|flags| u64::from(flags & 1)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    const SIZE: u64 = 1 << 20;

    #[test]
    fn both_calls_report_what_was_read_and_what_was_dropped() {
        let directory = testbed::scratch();
        let path = directory.path().join("file");
        let mut file = std::fs::File::create_new(path).unwrap();
        file.write_all(&vec![7; SIZE as usize]).unwrap();
        assert!(cachestat(file.as_fd(), SIZE).unwrap().dirty > Some(0), "not written back yet");
        file.sync_all().unwrap();
        assert_eq!(cachestat(file.as_fd(), SIZE).unwrap().dirty, Some(0));
        let advice = super::super::files::Advice::DontNeed;
        super::super::files::advise(&file, 0, SIZE, advice).unwrap();
        for ask in [cachestat, mincore] {
            assert_eq!(ask(file.as_fd(), SIZE).unwrap().cached, 0);
        }
        file.rewind().unwrap();
        file.read_to_end(&mut Vec::new()).unwrap();
        for ask in [cachestat, mincore] {
            assert_eq!(ask(file.as_fd(), SIZE).unwrap().cached, SIZE);
        }
    }
}
