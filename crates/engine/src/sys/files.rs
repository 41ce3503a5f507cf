//! Calls on a whole file or device: allocation, advice, cache, size, extents.

use super::io::sync_file_range;
use super::memory::{check, errno};
use plan::WriteHint;
pub use rustix::fs::Advice;
use rustix::fs::{FallocateFlags, FileType, SeekFrom};
use rustix::io::retry_on_intr;
use std::io;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

fn signed(value: u64) -> io::Result<i64> {
    i64::try_from(value).map_err(|_| errno(libc::EFBIG))
}

/// fallocate(2) from offset 0; with `keep_size` the file's size does not change.
pub fn allocate(file: impl AsFd, length: u64, keep_size: bool) -> io::Result<()> {
    let mode = if keep_size { FallocateFlags::KEEP_SIZE } else { FallocateFlags::empty() };
    signed(length)?;
    Ok(retry_on_intr(|| rustix::fs::fallocate(&file, mode, 0, length))?)
}

/// posix_fallocate(3) from offset 0, which writes if the filesystem cannot allocate.
pub fn allocate_posix(file: impl AsFd, length: u64) -> io::Result<()> {
    let (fd, length) = (file.as_fd(), signed(length)?);
    loop {
        // SAFETY: no memory is involved.
        match unsafe { libc::posix_fallocate64(fd.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EINTR => {}
            number => return Err(errno(number)),
        }
    }
}

/// Sets the expected lifetime of data written to `file` (fcntl(2), F_SET_RW_HINT). With `direct`, sets
/// the descriptor's hint if the kernel has one (before 5.17), which only direct I/O used. EINVAL if
/// the kernel or the kind of file has no hints.
pub fn set_write_hint(file: impl AsFd, hint: WriteHint, direct: bool) -> io::Result<()> {
    const F_SET_RW_HINT: i32 = 1036;
    const F_SET_FILE_RW_HINT: i32 = 1038;
    let value: u64 = match hint {
        WriteHint::None => 1,
        WriteHint::Short => 2,
        WriteHint::Medium => 3,
        WriteHint::Long => 4,
        WriteHint::Extreme => 5,
    };
    let fd = file.as_fd().as_raw_fd();
    let set = |command: i32| {
        // SAFETY: both commands read one 64-bit number at the address, and `value` is that.
        check(unsafe { libc::fcntl(fd, command, &raw const value) })
    };
    if direct && set(F_SET_FILE_RW_HINT).is_ok() {
        return Ok(());
    }
    set(F_SET_RW_HINT)
}

/// posix_fadvise(2); a length of 0 means up to the end.
pub fn advise(file: impl AsFd, offset: u64, length: u64, advice: Advice) -> io::Result<()> {
    Ok(rustix::fs::fadvise(file, offset, NonZeroU64::new(length), advice)?)
}

/// _IO(0x12, 97).
const BLKFLSBUF: u32 = 0x1261;
/// _IOR(0x12, 114, size_t).
const BLKGETSIZE64: u32 = 0x8008_1272;

/// Writes back and drops the page cache of a block device. Needs CAP_SYS_ADMIN.
pub fn flush_device_cache(device: impl AsFd) -> io::Result<()> {
    // SAFETY: BLKFLSBUF takes no argument.
    check(unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKFLSBUF as _, 0) })
}

/// Size of a block device, in bytes.
pub fn device_size(device: impl AsFd) -> io::Result<u64> {
    let mut size = 0u64;
    // SAFETY: BLKGETSIZE64 writes one 64-bit number at the address, and `size` is that.
    check(unsafe { libc::ioctl(device.as_fd().as_raw_fd(), BLKGETSIZE64 as _, &raw mut size) })?;
    Ok(size)
}

/// Size of a file or block device, in bytes; 0 for other kinds.
pub fn size_of(file: impl AsFd) -> io::Result<u64> {
    let stat = rustix::fs::fstat(&file)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => device_size(file),
        _ => Ok(u64::try_from(stat.st_size).unwrap_or(0)),
    }
}

/// ftruncate(2).
pub fn resize(file: impl AsFd, size: u64) -> io::Result<()> {
    signed(size)?;
    Ok(retry_on_intr(|| rustix::fs::ftruncate(&file, size))?)
}

/// syncfs(2) for the filesystem of `file`.
pub fn sync_filesystem(file: impl AsFd) -> io::Result<()> {
    Ok(retry_on_intr(|| rustix::fs::syncfs(&file))?)
}

/// Returns the first write-back error of the file that was not yet reported to this descriptor. Files
/// without write-back have none.
pub fn written_back(file: impl AsFd) -> io::Result<()> {
    // Waits for the pages of a range and returns errors of the whole file. The range is beyond the end
    // of any file, so there is nothing to wait for.
    const BEYOND_ALL: u64 = 1 << 62;
    let fd = file.as_fd().as_raw_fd();
    match -sync_file_range(fd, BEYOND_ALL, 1, libc::SYNC_FILE_RANGE_WAIT_BEFORE) as i32 {
        error @ (libc::EIO | libc::ENOSPC | libc::EDQUOT) => Err(errno(error)),
        _ => Ok(()),
    }
}

/// Bytes that an unprivileged user may still write to the filesystem of `file`.
pub fn free_bytes(file: impl AsFd) -> io::Result<u64> {
    let stat = rustix::fs::fstatvfs(file)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// A range of a file, in bytes.
pub type Span = std::ops::Range<u64>;

/// The parts of the first `length` bytes that contain data: neither holes nor unwritten extents. Sorted,
/// not overlapping. Without an extent map, only holes are recognised.
pub fn data_spans(file: BorrowedFd<'_>, length: u64) -> io::Result<Vec<Span>> {
    match mapped_spans(file, length) {
        Err(e) if matches!(e.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOTTY)) => {
            seek_spans(file, length)
        }
        result => result,
    }
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

#[repr(C)]
struct ExtentQuery {
    start: u64,
    length: u64,
    flags: u32,
    mapped: u32,
    room: u32,
    reserved: u32,
    extents: [Extent; EXTENTS],
}

const EXTENTS: usize = 128;
/// _IOWR('f', 11, struct fiemap), whose fixed part is 32 bytes.
const FS_IOC_FIEMAP: u32 = 0xC020_660B;
/// Writes back first, so that data in the page cache does not count as unwritten.
const FIEMAP_FLAG_SYNC: u32 = 0x1;
const FIEMAP_EXTENT_LAST: u32 = 0x1;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;

fn mapped_spans(file: BorrowedFd<'_>, length: u64) -> io::Result<Vec<Span>> {
    let mut spans = Vec::new();
    each_extent(file, 0..length, FIEMAP_FLAG_SYNC, |extent| {
        if extent.flags & FIEMAP_EXTENT_UNWRITTEN == 0 {
            push(&mut spans, extent.logical, extent.logical + extent.length, length);
        }
        true
    })?;
    Ok(spans)
}

/// Maximum number of extents that [`extents`] reads, which takes about 10 ms.
const EXTENTS_MAX: u32 = 100_000;

/// How much of `range`, in bytes, lies in holes and in unwritten extents. Does not write back, so data
/// that is only in the page cache counts as unwritten or as a hole.
///
/// # Errors
/// EOPNOTSUPP or ENOTTY if the filesystem has no extent map; E2BIG for too many extents.
pub fn extents(file: BorrowedFd<'_>, range: Span) -> io::Result<record::Extents> {
    let (mut mapped, mut unwritten, mut left) = (0, 0, EXTENTS_MAX);
    let within = |at: u64| at.clamp(range.start, range.end);
    each_extent(file, range.clone(), 0, |extent| {
        let inside = within(extent.logical + extent.length) - within(extent.logical);
        mapped += inside;
        if extent.flags & FIEMAP_EXTENT_UNWRITTEN != 0 {
            unwritten += inside;
        }
        left -= 1;
        left > 0
    })?;
    if left == 0 {
        return Err(errno(libc::E2BIG));
    }
    let length = range.end - range.start;
    Ok(record::Extents {
        length: record::Bytes(length),
        holes: record::Bytes(length.saturating_sub(mapped)),
        unwritten: record::Bytes(unwritten),
    })
}

/// Calls `look` with the extents that overlap `range`, in order, until it returns false.
fn each_extent(
    file: BorrowedFd<'_>,
    range: Span,
    flags: u32,
    mut look: impl FnMut(&Extent) -> bool,
) -> io::Result<()> {
    let mut start = range.start;
    while start < range.end {
        let mut query = ExtentQuery {
            start,
            length: range.end - start,
            flags,
            mapped: 0,
            room: EXTENTS as u32,
            reserved: 0,
            extents: [Extent::default(); EXTENTS],
        };
        // SAFETY: the kernel reads the fixed part and writes at most `room` extents after it,
        // which is how many there are.
        check(unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_FIEMAP as _, &raw mut query) })?;
        let extents = &query.extents[..(query.mapped as usize).min(EXTENTS)];
        if !extents.iter().all(&mut look) {
            return Ok(());
        }
        match extents.last() {
            Some(last) if last.flags & FIEMAP_EXTENT_LAST == 0 => {
                start = (last.logical + last.length).max(start + 1);
            }
            _ => break,
        }
    }
    Ok(())
}

fn seek_spans(file: BorrowedFd<'_>, length: u64) -> io::Result<Vec<Span>> {
    let mut spans = Vec::new();
    let mut start = 0;
    while start < length {
        let data = match rustix::fs::seek(file, SeekFrom::Data(start)) {
            Err(rustix::io::Errno::NXIO) => break,
            data => data?,
        };
        let hole = rustix::fs::seek(file, SeekFrom::Hole(data))?;
        push(&mut spans, data, hole, length);
        start = hole.max(start + 1);
    }
    Ok(spans)
}

fn push(spans: &mut Vec<Span>, from: u64, to: u64, length: u64) {
    let to = to.min(length);
    if from >= to {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.end >= from => last.end = last.end.max(to),
        _ => spans.push(from..to),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_hint_stays_with_the_file() {
        const F_GET_RW_HINT: i32 = 1035;
        let directory = testbed::scratch();
        let file = std::fs::File::create(directory.path().join("f")).unwrap();
        for (hint, direct) in [(WriteHint::Long, false), (WriteHint::Short, true)] {
            set_write_hint(&file, hint, direct).unwrap();
            let mut value = 0_u64;
            // SAFETY: F_GET_RW_HINT writes one 64-bit number at the address, and `value` is that.
            check(unsafe { libc::fcntl(file.as_raw_fd(), F_GET_RW_HINT, &raw mut value) }).unwrap();
            assert_eq!(value, if direct { 2 } else { 4 });
        }
    }
    use std::fs::File;
    use std::os::unix::fs::FileExt;
    use std::slice;

    fn scratch() -> File {
        tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn holes_and_unwritten_ranges_are_distinguished_from_data() {
        const M: u64 = 1 << 20;
        let file = scratch();
        allocate(&file, 4 * M, false).unwrap();
        file.set_len(8 * M).unwrap();
        file.write_all_at(&vec![7; M as usize], M).unwrap();
        file.write_all_at(&vec![7; M as usize], 6 * M).unwrap();
        file.sync_all().unwrap();
        let fd = file.as_fd();
        assert_eq!(seek_spans(fd, 8 * M).unwrap(), data_spans(fd, 8 * M).unwrap());
        assert_eq!(data_spans(fd, 8 * M).unwrap(), [M..2 * M, 6 * M..7 * M]);
        assert_eq!(data_spans(fd, M + 4096).unwrap(), slice::from_ref(&(M..M + 4096)));
        assert_eq!(data_spans(fd, 0).unwrap(), []);
    }

    #[test]
    fn many_extents_are_all_seen() {
        let file = scratch();
        for i in 0..300u64 {
            file.write_all_at(&[1; 4096], i * 16384).unwrap();
        }
        file.sync_all().unwrap();
        let spans = data_spans(file.as_fd(), 300 * 16384).unwrap();
        assert_eq!(spans.len(), 300);
        assert!(spans.iter().all(|s| s.end - s.start == 4096));
    }

    #[test]
    fn filesystems_without_an_extent_map_are_asked_for_holes() {
        let file = tempfile::tempfile_in("/dev/shm").unwrap();
        file.set_len(1 << 20).unwrap();
        file.write_all_at(&[1; 4096], 65536).unwrap();
        let spans = data_spans(file.as_fd(), 1 << 20).unwrap();
        assert_eq!(spans, slice::from_ref(&(65536..69632)));
    }

    #[test]
    fn calls_on_the_wrong_thing_are_errors() {
        let file = scratch();
        assert!(flush_device_cache(&file).is_err());
        assert!(device_size(&file).is_err());
        assert!(allocate(&file, u64::MAX, false).is_err());
        assert!(allocate_posix(&file, 0).is_err());
        assert!(free_bytes(&file).unwrap() > 0);
        sync_filesystem(&file).unwrap();
    }
}
