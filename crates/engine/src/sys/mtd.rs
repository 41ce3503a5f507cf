//! Erasing flash, with the ioctls of mtd/mtd-abi.h.

use super::io::retry;
use super::memory::errno;
use std::io;
use std::os::fd::RawFd;

/// _IOW('M', 20, struct erase_info_user64).
const MEMERASE64: u32 = 0x4010_4d14;
/// _IOW('M', 11, __kernel_loff_t).
const MEMGETBADBLOCK: u32 = 0x4008_4d0b;

/// Erases whole erase blocks. Returns `length` or a negative errno.
pub fn erase(device: RawFd, start: u64, length: u64) -> i64 {
    let range = [start, length];
    // SAFETY: the request takes the address of two 64-bit numbers, and `range` is that.
    let done = retry(|| unsafe { libc::ioctl(device, MEMERASE64 as _, range.as_ptr()) as isize });
    if done < 0 { done } else { length as i64 }
}

/// Whether the erase block at `offset` is bad. Devices without bad blocks say no.
pub fn is_bad(device: RawFd, offset: u64) -> io::Result<bool> {
    let at = &raw const offset;
    // SAFETY: the request takes the address of a 64-bit number, which lives during the call.
    match retry(|| unsafe { libc::ioctl(device, MEMGETBADBLOCK as _, at) as isize }) {
        bad if bad >= 0 => Ok(bad > 0),
        error if error == -i64::from(libc::EOPNOTSUPP) => Ok(false),
        error => Err(errno(-error as i32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[test]
    fn a_file_that_is_no_flash_gives_an_error() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(erase(file.as_raw_fd(), 0, 4096), -i64::from(libc::ENOTTY));
        assert!(is_bad(file.as_raw_fd(), 0).is_err());
    }
}
