//! Zones of a block device, with the ioctls of linux/blkzoned.h. Offsets and lengths are in bytes; the
//! kernel uses sectors of 512 bytes.

use super::io::retry;
use super::memory::errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

const SECTOR: u64 = 512;
/// _IOWR(0x12, 130, struct blk_zone_report).
const BLKREPORTZONE: u32 = 0xc010_1282;
/// _IOW(0x12, 131, struct blk_zone_range).
const BLKRESETZONE: u32 = 0x4010_1283;
/// _IOW(0x12, 136, struct blk_zone_range).
const BLKFINISHZONE: u32 = 0x4010_1288;
/// BLK_ZONE_REP_CAPACITY: the report has the capacity of zones besides their length.
const HAS_CAPACITY: u32 = 1;
/// Zones per report.
const BATCH: usize = 1024;

/// The device's report of one zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    /// Start, in bytes.
    pub start: u64,
    /// Distance to the start of the next zone.
    pub length: u64,
    /// Usable bytes.
    pub capacity: u64,
    /// Write pointer.
    pub pointer: u64,
    /// Kind.
    pub kind: ZoneKind,
    /// Condition.
    pub condition: Condition,
}

/// Where a zone may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ZoneKind {
    /// Anywhere.
    Conventional,
    /// Only at the write pointer.
    Sequential,
}

/// The condition of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Empty, or conventional.
    Empty,
    /// Partly written and open: counts towards the device's limits of open and active zones.
    Open,
    /// Partly written and closed: counts towards the limit of active zones.
    Closed,
    /// Full.
    Full,
    /// Read-only.
    ReadOnly,
    /// Out of service.
    Offline,
}

/// `struct blk_zone`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawZone {
    start: u64,
    length: u64,
    pointer: u64,
    kind: u8,
    condition: u8,
    non_sequential: u8,
    wants_reset: u8,
    reserved: [u8; 4],
    capacity: u64,
    more: [u8; 24],
}

/// `struct blk_zone_report` with room for zones behind it.
#[repr(C)]
struct RawReport {
    sector: u64,
    count: u32,
    flags: u32,
    zones: [RawZone; BATCH],
}

impl RawZone {
    const NONE: RawZone = RawZone {
        start: 0,
        length: 0,
        pointer: 0,
        kind: 0,
        condition: 0,
        non_sequential: 0,
        wants_reset: 0,
        reserved: [0; 4],
        capacity: 0,
        more: [0; 24],
    };

    fn read(&self, has_capacity: bool) -> ZoneReport {
        let start = self.start * SECTOR;
        let capacity = if has_capacity { self.capacity } else { self.length } * SECTOR;
        let kind = if self.kind == 1 { ZoneKind::Conventional } else { ZoneKind::Sequential };
        // BLK_ZONE_COND_*: not a write pointer, empty, implicitly open, explicitly open, closed,
        // then read-only, full, offline.
        let condition = match self.condition {
            0 | 1 => Condition::Empty,
            2 | 3 => Condition::Open,
            4 => Condition::Closed,
            0xd => Condition::ReadOnly,
            0xe => Condition::Full,
            _ => Condition::Offline,
        };
        // The pointer of a full zone is undefined, and that of a conventional one may be all ones.
        let pointer = match condition {
            Condition::Full => start + capacity,
            _ => self.pointer.saturating_mul(SECTOR).clamp(start, start + capacity),
        };
        ZoneReport { start, length: self.length * SECTOR, capacity, pointer, kind, condition }
    }
}

/// The zones from the one at `from` on, at most 1024; none beyond the last one. ENOTTY or EOPNOTSUPP if
/// the device has no zones.
pub fn report(device: impl AsFd, from: u64) -> io::Result<Vec<ZoneReport>> {
    let mut room = Box::new(RawReport {
        sector: from / SECTOR,
        count: BATCH as u32,
        flags: 0,
        zones: [RawZone::NONE; BATCH],
    });
    control(device.as_fd().as_raw_fd(), BLKREPORTZONE, &raw mut *room)?;
    let has_capacity = room.flags & HAS_CAPACITY != 0;
    let count = (room.count as usize).min(BATCH);
    Ok(room.zones[..count].iter().map(|zone| zone.read(has_capacity)).collect())
}

/// Resets whole zones, which erases their data. Returns `length` or a negative errno.
pub fn reset(device: RawFd, start: u64, length: u64) -> i64 {
    on_range(device, BLKRESETZONE, start, length)
}

/// Makes whole zones full.
pub fn finish(device: impl AsFd, start: u64, length: u64) -> io::Result<()> {
    match on_range(device.as_fd().as_raw_fd(), BLKFINISHZONE, start, length) {
        error if error < 0 => Err(errno(-error as i32)),
        _ => Ok(()),
    }
}

fn on_range(device: RawFd, request: u32, start: u64, length: u64) -> i64 {
    let mut range = [start / SECTOR, length / SECTOR];
    match control(device, request, range.as_mut_ptr()) {
        Ok(()) => length as i64,
        Err(error) => -i64::from(error.raw_os_error().unwrap_or(libc::EIO)),
    }
}

fn control<T>(device: RawFd, request: u32, argument: *mut T) -> io::Result<()> {
    // SAFETY: the callers pass the struct of their request: two 64-bit numbers for a range, and a report
    // that contains the number of zones for which it has room.
    match retry(|| unsafe { libc::ioctl(device, request as _, argument) as isize }) {
        error if error < 0 => Err(errno(-error as i32)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!(size_of::<RawZone>(), 64);
        assert_eq!(size_of::<RawReport>(), 16 + 64 * BATCH);
    }

    #[test]
    fn a_file_without_zones_gives_an_error() {
        let file = std::fs::File::open("/dev/null").unwrap();
        let refused = report(&file, 0).unwrap_err().raw_os_error();
        assert_eq!(refused, Some(libc::ENOTTY));
        assert_eq!(reset(file.as_raw_fd(), 0, 4096), -i64::from(libc::ENOTTY));
        assert!(finish(&file, 0, 4096).is_err());
    }

    #[test]
    fn a_full_zone_ends_at_its_capacity_or_at_its_end_on_an_old_kernel() {
        let zone = RawZone { start: 8, length: 8, pointer: 8, kind: 2, ..RawZone::NONE };
        let full = RawZone { condition: 0xe, capacity: 6, ..zone }.read(true);
        assert_eq!((full.pointer, full.capacity), (14 * 512, 6 * 512));
        let open = RawZone { condition: 2, pointer: 10, ..zone }.read(false);
        assert_eq!((open.pointer, open.capacity), (10 * 512, 8 * 512));
        assert_eq!((open.kind, open.condition), (ZoneKind::Sequential, Condition::Open));
        let plain = RawZone { kind: 1, pointer: u64::MAX, ..zone }.read(false);
        assert_eq!((plain.kind, plain.pointer), (ZoneKind::Conventional, 16 * 512));
    }
}
