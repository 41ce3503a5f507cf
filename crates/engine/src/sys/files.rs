//! Calls about a whole file or device: allocation, advice, cache, size, extents.

use super::io::retry;
use super::memory::{check, errno};
use plan::WriteHint;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

fn answer(result: i64) -> io::Result<u64> {
    u64::try_from(result).map_err(|_| errno(-result as i32))
}

fn signed(value: u64) -> io::Result<i64> {
    i64::try_from(value).map_err(|_| errno(libc::EFBIG))
}

/// fallocate(2) from the beginning; with `keep_size` the file's size does not change.
pub fn allocate(file: impl AsFd, length: u64, keep_size: bool) -> io::Result<()> {
    let mode = if keep_size { libc::FALLOC_FL_KEEP_SIZE } else { 0 };
    let (fd, length) = (file.as_fd(), signed(length)?);
    // SAFETY: no memory is involved.
    answer(retry(|| unsafe { libc::fallocate64(fd.as_raw_fd(), mode, 0, length) as isize }))?;
    Ok(())
}

/// posix_fallocate(3) from the beginning: where the filesystem cannot allocate, it writes.
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

/// Advice for posix_fadvise(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Little read-ahead.
    Random,
    /// More read-ahead.
    Sequential,
    /// Read once.
    NoReuse,
    /// Clean pages leave the cache.
    DontNeed,
}

/// How long data written to `file` is expected to stay (fcntl(2), F_SET_RW_HINT). With `direct`
/// the descriptor's own hint is set where the kernel still has one (before 5.17), as only direct
/// I/O used it.
///
/// # Errors
/// EINVAL where the kernel or the kind of file knows no hints.
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

/// posix_fadvise(2); a length of 0 is up to the end.
pub fn advise(file: impl AsFd, offset: u64, length: u64, advice: Advice) -> io::Result<()> {
    let advice = match advice {
        Advice::Random => libc::POSIX_FADV_RANDOM,
        Advice::Sequential => libc::POSIX_FADV_SEQUENTIAL,
        Advice::NoReuse => libc::POSIX_FADV_NOREUSE,
        Advice::DontNeed => libc::POSIX_FADV_DONTNEED,
    };
    let (fd, offset, length) = (file.as_fd(), signed(offset)?, signed(length)?);
    // SAFETY: no memory is involved.
    match unsafe { libc::posix_fadvise64(fd.as_raw_fd(), offset, length, advice) } {
        0 => Ok(()),
        number => Err(errno(number)),
    }
}

/// _IO(0x12, 97).
const BLKFLSBUF: u32 = 0x1261;
/// _IOR(0x12, 114, size_t).
const BLKGETSIZE64: u32 = 0x8008_1272;

/// Writes back and drops what the kernel caches of a block device. Needs CAP_SYS_ADMIN.
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

/// Size of a file or block device, in bytes; 0 for what has none.
pub fn size_of(file: impl AsFd) -> io::Result<u64> {
    let fd = file.as_fd();
    // SAFETY: all-zero is a value of this struct of integers.
    let mut stat: libc::stat64 = unsafe { std::mem::zeroed() };
    // SAFETY: the address is a stat64 of ours.
    check(unsafe { libc::fstat64(fd.as_raw_fd(), &raw mut stat) })?;
    match stat.st_mode & libc::S_IFMT {
        libc::S_IFBLK => device_size(fd),
        _ => Ok(u64::try_from(stat.st_size).unwrap_or(0)),
    }
}

/// ftruncate(2).
pub fn resize(file: impl AsFd, size: u64) -> io::Result<()> {
    let (fd, size) = (file.as_fd(), signed(size)?);
    // SAFETY: no memory is involved.
    answer(retry(|| unsafe { libc::ftruncate64(fd.as_raw_fd(), size) as isize }))?;
    Ok(())
}

/// syncfs(2): everything of the filesystem `file` is on.
pub fn sync_filesystem(file: impl AsFd) -> io::Result<()> {
    let fd = file.as_fd();
    // SAFETY: no memory is involved.
    answer(retry(|| unsafe { libc::syncfs(fd.as_raw_fd()) as isize }))?;
    Ok(())
}

/// Whether what was written of the file's pages reached its storage, as far as it was tried.
///
/// # Errors
/// The first error of writing pages back that this open file was not told of yet. Files whose
/// pages are not written back have none.
pub fn written_back(file: impl AsFd) -> io::Result<()> {
    // Waits for the pages of a range, then tells of errors of the whole file: no file reaches so
    // far, so that nothing is waited for.
    const BEYOND_ALL: i64 = 1 << 62;
    let fd = file.as_fd();
    let only_wait = libc::SYNC_FILE_RANGE_WAIT_BEFORE;
    // SAFETY: no memory is involved.
    let told = answer(retry(|| unsafe {
        libc::sync_file_range(fd.as_raw_fd(), BEYOND_ALL, 1, only_wait) as isize
    }));
    match told {
        Err(error)
            if matches!(error.raw_os_error(), Some(libc::EIO | libc::ENOSPC | libc::EDQUOT)) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Bytes a caller without privilege may still write on the filesystem of `file`.
pub fn free_bytes(file: impl AsFd) -> io::Result<u64> {
    // SAFETY: all-zero is a value of this struct of integers.
    let mut stat: libc::statvfs64 = unsafe { std::mem::zeroed() };
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the address is a statvfs64 of ours.
    check(unsafe { libc::fstatvfs64(fd, &raw mut stat) })?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// A range of a file, in bytes.
pub type Span = std::ops::Range<u64>;

/// The parts of the first `length` bytes that hold data written to the disk or on its way there:
/// neither holes nor allocated and never written. In order, not overlapping.
///
/// Asks the filesystem's extent map where there is one; else only holes are told apart.
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
/// Writes back first, so that data on its way to allocated blocks is not taken for unwritten.
const FIEMAP_FLAG_SYNC: u32 = 0x1;
const FIEMAP_EXTENT_LAST: u32 = 0x1;
const FIEMAP_EXTENT_UNWRITTEN: u32 = 0x800;

fn mapped_spans(file: BorrowedFd<'_>, length: u64) -> io::Result<Vec<Span>> {
    let mut spans = Vec::new();
    each_extent(file, length, FIEMAP_FLAG_SYNC, |extent| {
        if extent.flags & FIEMAP_EXTENT_UNWRITTEN == 0 {
            push(&mut spans, extent.logical, extent.logical + extent.length, length);
        }
        true
    })?;
    Ok(spans)
}

/// Extents of one file that are looked at for [`extents`]: about 10 ms.
const EXTENTS_MAX: u32 = 100_000;

/// How much of the first `length` bytes lies in holes, and in extents that were never written. The
/// file is left as it is: what is only in the page cache counts as unwritten or as a hole.
///
/// # Errors
/// EOPNOTSUPP or ENOTTY where the filesystem does not tell; E2BIG for a file in too many pieces.
pub fn extents(file: BorrowedFd<'_>, length: u64) -> io::Result<record::Extents> {
    let (mut mapped, mut unwritten, mut left) = (0, 0, EXTENTS_MAX);
    each_extent(file, length, 0, |extent| {
        let inside = (extent.logical + extent.length).min(length) - extent.logical.min(length);
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
    let holes = record::Bytes(length.saturating_sub(mapped));
    Ok(record::Extents { holes, unwritten: record::Bytes(unwritten) })
}

/// Shows `look` the extents of the first `length` bytes, in order, until it has seen enough.
fn each_extent(
    file: BorrowedFd<'_>,
    length: u64,
    flags: u32,
    mut look: impl FnMut(&Extent) -> bool,
) -> io::Result<()> {
    let mut start = 0;
    while start < length {
        let mut query = ExtentQuery {
            start,
            length: length - start,
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
    let seek = |offset: u64, whence: i32| {
        // SAFETY: no memory is involved.
        retry(|| unsafe { libc::lseek64(file.as_raw_fd(), offset as i64, whence) as isize })
    };
    let mut spans = Vec::new();
    let mut start = 0;
    while start < length {
        let data = match seek(start, libc::SEEK_DATA) {
            end if end == -i64::from(libc::ENXIO) => break,
            data => answer(data)?,
        };
        let hole = answer(seek(data, libc::SEEK_HOLE))?;
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
    fn holes_and_unwritten_ranges_are_told_from_data() {
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
