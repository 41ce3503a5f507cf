//! The free space of a filesystem: its ranges, and discarding it.

use super::memory::check;
use record::{Bytes, FreeSpace};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// struct fstrim_range of linux/fs.h.
#[repr(C)]
struct TrimRange {
    start: u64,
    length: u64,
    minimum: u64,
}

/// _IOWR('X', 121, struct fstrim_range), which is 24 bytes.
const FITRIM: u32 = 0xC018_5879;

/// Discards the free space of the filesystem of `file`, from `offset` on and at most `length` bytes, in
/// pieces of at least `minimum` bytes. Returns the bytes discarded.
///
/// # Errors
/// EPERM without CAP_SYS_ADMIN; EOPNOTSUPP if the device has no discards; ENOTTY if the filesystem has
/// no trim; EINVAL for a range outside of it; EROFS, EIO.
pub fn trim_free_space(
    file: BorrowedFd<'_>,
    offset: u64,
    length: u64,
    minimum: u64,
) -> io::Result<u64> {
    let mut range = TrimRange { start: offset, length, minimum };
    // SAFETY: the kernel reads and writes one range of ours.
    check(unsafe { libc::ioctl(file.as_raw_fd(), FITRIM as _, &raw mut range) })?;
    Ok(range.length)
}

/// struct fsmap of linux/fsmap.h.
#[repr(C)]
#[derive(Clone, Copy)]
struct Mapping {
    device: u32,
    flags: u32,
    physical: u64,
    owner: u64,
    offset: u64,
    length: u64,
    reserved: [u64; 3],
}

impl Mapping {
    const LOWEST: Mapping = Mapping {
        device: 0,
        flags: 0,
        physical: 0,
        owner: 0,
        offset: 0,
        length: 0,
        reserved: [0; 3],
    };
    const HIGHEST: Mapping = Mapping {
        device: u32::MAX,
        flags: u32::MAX,
        physical: u64::MAX,
        owner: u64::MAX,
        offset: u64::MAX,
        ..Mapping::LOWEST
    };

    fn is_free(&self) -> bool {
        self.flags & FMR_OF_SPECIAL_OWNER != 0 && self.owner == FMR_OWN_FREE
    }
}

/// Mappings per call.
const MAPPINGS: usize = 256;

/// struct fsmap_head, with room for [`MAPPINGS`] mappings.
#[repr(C)]
struct MappingQuery {
    flags: u32,
    flags_out: u32,
    room: u32,
    entries: u32,
    reserved: [u64; 6],
    keys: [Mapping; 2],
    mappings: [Mapping; MAPPINGS],
}

/// _IOWR('X', 59, struct fsmap_head), which is 192 bytes without its answers.
const FS_IOC_GETFSMAP: u32 = 0xC0C0_583B;
const FMR_OF_SPECIAL_OWNER: u32 = 0x10;
const FMR_OF_LAST: u32 = 0x20;
/// FMR_OWNER(0, 1).
const FMR_OWN_FREE: u64 = 1;

/// The number and size of the free ranges of the filesystem of `file` between `offset` and `end`, and
/// of those with at least `minimum` bytes.
///
/// # Errors
/// ENOTTY or EOPNOTSUPP if the filesystem has no such map; EPERM.
pub fn free_space(
    file: BorrowedFd<'_>,
    offset: u64,
    end: u64,
    minimum: u64,
) -> io::Result<FreeSpace> {
    let mut found = FreeSpace::default();
    let mut low = Mapping::LOWEST;
    loop {
        let mut query = MappingQuery {
            flags: 0,
            flags_out: 0,
            room: MAPPINGS as u32,
            entries: 0,
            reserved: [0; 6],
            keys: [low, Mapping::HIGHEST],
            mappings: [Mapping::LOWEST; MAPPINGS],
        };
        // SAFETY: the kernel reads the head and writes it and at most `room` mappings after it, which
        // is how many there are.
        check(unsafe { libc::ioctl(file.as_raw_fd(), FS_IOC_GETFSMAP as _, &raw mut query) })?;
        let mappings = &query.mappings[..(query.entries as usize).min(MAPPINGS)];
        for mapping in mappings.iter().filter(|mapping| mapping.is_free()) {
            let from = mapping.physical.max(offset);
            let to = mapping.physical.saturating_add(mapping.length).min(end);
            count(&mut found, to.saturating_sub(from), minimum);
        }
        match mappings.last() {
            // The next call continues after the mapping in the low key.
            Some(last) if last.flags & FMR_OF_LAST == 0 => low = *last,
            _ => return Ok(found),
        }
    }
}

fn count(found: &mut FreeSpace, length: u64, minimum: u64) {
    if length == 0 {
        return;
    }
    found.ranges += 1;
    found.bytes = Bytes(found.bytes.0 + length);
    found.largest = Bytes(found.largest.0.max(length));
    if length >= minimum {
        found.ranges_enough += 1;
        found.bytes_enough = Bytes(found.bytes_enough.0 + length);
    }
}

/// struct move_extent of ext4's ioctls.
#[repr(C)]
struct MoveExtent {
    reserved: u32,
    donor: u32,
    start: u64,
    donor_start: u64,
    length: u64,
    moved: u64,
}

/// _IOWR('f', 15, struct move_extent), which is 40 bytes.
const EXT4_IOC_MOVE_EXT: u32 = 0xC028_660F;

/// Exchanges the blocks of a range of two ext4 files; their content stays. Returns the bytes whose blocks
/// were moved.
pub fn exchange_extents(file: RawFd, donor: RawFd, offset: u64, length: u64) -> io::Result<u64> {
    // SAFETY: the descriptor is one that the engine has open.
    let block = rustix::fs::fstat(unsafe { BorrowedFd::borrow_raw(file) })?.st_blksize as u64;
    let block = block.max(512);
    let mut range = MoveExtent {
        reserved: 0,
        donor: donor as u32,
        start: offset / block,
        donor_start: offset / block,
        length: length / block,
        moved: 0,
    };
    // SAFETY: the kernel reads and writes one range of ours.
    check(unsafe { libc::ioctl(file, EXT4_IOC_MOVE_EXT as _, &raw mut range) })?;
    Ok(range.moved * block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn the_kernels_structures_have_the_kernels_sizes() {
        assert_eq!(size_of::<TrimRange>(), 24);
        assert_eq!(size_of::<Mapping>(), 64);
        assert_eq!(std::mem::offset_of!(MappingQuery, mappings), 192);
    }

    #[test]
    fn an_unsupported_call_is_an_error() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        let trimmed = trim_free_space(file.as_fd(), 0, 4096, 0).unwrap_err();
        assert_eq!(trimmed.raw_os_error(), Some(libc::ENOTTY));
        let free = free_space(file.as_fd(), 0, u64::MAX, 0).unwrap_err();
        assert_eq!(free.raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn ranges_of_the_minimum_length_are_counted_separately() {
        let mut found = FreeSpace::default();
        for length in [0, 4096, 65_536] {
            count(&mut found, length, 8192);
        }
        let expected = FreeSpace {
            ranges: 2,
            bytes: Bytes(69_632),
            largest: Bytes(65_536),
            ranges_enough: 1,
            bytes_enough: Bytes(65_536),
        };
        assert_eq!(found, expected);
    }
}
