//! Calls that transfer or synchronise data. They return bytes moved, or a negative errno, as rings do.
//!
//! Transfers use system calls directly: the C library's functions are cancellation points, which cost
//! two locked instructions per call in a program with several threads.

use std::ffi::c_int;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// The negative of the last call's errno.
#[inline(always)]
pub fn last_errno() -> i64 {
    // SAFETY: the address is this thread's own errno.
    -i64::from(unsafe { *libc::__errno_location() })
}

/// Repeats `call` while signals interrupt it. Returns its result, or a negative errno.
#[inline(always)]
pub fn retry(mut call: impl FnMut() -> isize) -> i64 {
    loop {
        let answer = call();
        if answer >= 0 {
            return answer as i64;
        }
        let error = last_errno();
        if error != -i64::from(libc::EINTR) {
            return error;
        }
    }
}

/// Waits for events of a descriptor, as poll(2) has them, at most for `wait`. Returns those that
/// happened; none after a signal.
pub fn poll_descriptor(fd: RawFd, events: i16, wait: Duration) -> io::Result<i16> {
    let mut watched = libc::pollfd { fd, events, revents: 0 };
    let wait = libc::timespec {
        tv_sec: wait.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(wait.subsec_nanos() as i32),
    };
    // SAFETY: the structures live through the call.
    let answer = unsafe { libc::ppoll(&mut watched, 1, &wait, std::ptr::null()) };
    match answer {
        0.. => Ok(watched.revents),
        _ => match io::Error::last_os_error() {
            why if why.kind() == io::ErrorKind::Interrupted => Ok(0),
            why => Err(why),
        },
    }
}

/// Whether system calls take an offset in one word. Others split it in different ways.
const WIDE: bool = cfg!(target_pointer_width = "64");

/// pread(2).
///
/// # Safety
/// `buffer` must be valid for writes of `length` bytes, and nothing else may use them meanwhile.
#[inline(always)]
pub unsafe fn pread(fd: RawFd, buffer: *mut u8, length: u64, offset: u64) -> i64 {
    // SAFETY: see this function's contract.
    retry(|| unsafe {
        if WIDE {
            libc::syscall(libc::SYS_pread64, fd, buffer, length, offset) as isize
        } else {
            libc::pread64(fd, buffer.cast(), length as usize, offset as i64)
        }
    })
}

/// pwrite(2).
///
/// # Safety
/// `buffer` must be valid for reads of `length` bytes, and nothing may change them meanwhile.
#[inline(always)]
pub unsafe fn pwrite(fd: RawFd, buffer: *const u8, length: u64, offset: u64) -> i64 {
    // SAFETY: see this function's contract.
    retry(|| unsafe {
        if WIDE {
            libc::syscall(libc::SYS_pwrite64, fd, buffer, length, offset) as isize
        } else {
            libc::pwrite64(fd, buffer.cast(), length as usize, offset as i64)
        }
    })
}

/// read(2) at the file position.
///
/// # Safety
/// As [`pread`].
#[inline(always)]
pub unsafe fn read(fd: RawFd, buffer: *mut u8, length: u64) -> i64 {
    // SAFETY: see this function's contract.
    retry(|| unsafe { libc::syscall(libc::SYS_read, fd, buffer, length as usize) as isize })
}

/// write(2) at the file position.
///
/// # Safety
/// As [`pwrite`].
#[inline(always)]
pub unsafe fn write(fd: RawFd, buffer: *const u8, length: u64) -> i64 {
    // SAFETY: see this function's contract.
    retry(|| unsafe { libc::syscall(libc::SYS_write, fd, buffer, length as usize) as isize })
}

/// preadv(2).
///
/// # Safety
/// As [`pread`], for every entry of `vectors`.
#[inline(always)]
pub unsafe fn preadv(fd: RawFd, vectors: &[libc::iovec], offset: u64) -> i64 {
    // SAFETY: see this function's contract.
    unsafe { vectored(libc::SYS_preadv, fd, vectors, offset, 0) }
}

/// pwritev(2).
///
/// # Safety
/// As [`pwrite`], for every entry of `vectors`.
#[inline(always)]
pub unsafe fn pwritev(fd: RawFd, vectors: &[libc::iovec], offset: u64) -> i64 {
    // SAFETY: see this function's contract.
    unsafe { vectored(libc::SYS_pwritev, fd, vectors, offset, 0) }
}

/// preadv2(2). Some C libraries hide the error of a refused flag; the system call does not.
///
/// # Safety
/// As [`preadv`].
#[inline(always)]
pub unsafe fn preadv2(fd: RawFd, vectors: &[libc::iovec], offset: u64, flags: c_int) -> i64 {
    // SAFETY: see this function's contract.
    unsafe { vectored(libc::SYS_preadv2, fd, vectors, offset, flags) }
}

/// pwritev2(2).
///
/// # Safety
/// As [`pwritev`].
#[inline(always)]
pub unsafe fn pwritev2(fd: RawFd, vectors: &[libc::iovec], offset: u64, flags: c_int) -> i64 {
    // SAFETY: see this function's contract.
    unsafe { vectored(libc::SYS_pwritev2, fd, vectors, offset, flags) }
}

/// One of the four calls above; those without flags ignore the last argument.
///
/// # Safety
/// As that call.
#[inline(always)]
unsafe fn vectored(
    call: libc::c_long,
    fd: RawFd,
    vectors: &[libc::iovec],
    offset: u64,
    flags: c_int,
) -> i64 {
    let (low, high) = halves(offset);
    let (start, count) = (vectors.as_ptr(), vectors.len());
    // SAFETY: see this function's contract.
    retry(|| unsafe { libc::syscall(call, fd, start, count, low, high, flags) as isize })
}

/// An offset in two words, as the kernel takes it; 64-bit kernels ignore the second one.
#[inline(always)]
fn halves(offset: u64) -> (libc::c_ulong, libc::c_ulong) {
    (offset as libc::c_ulong, (offset >> 32) as libc::c_ulong)
}

/// readv(2) at the file position.
///
/// # Safety
/// As [`preadv`].
pub unsafe fn readv(fd: RawFd, vectors: &[libc::iovec]) -> i64 {
    // SAFETY: see this function's contract.
    retry(|| unsafe {
        libc::syscall(libc::SYS_readv, fd, vectors.as_ptr(), vectors.len()) as isize
    })
}

/// writev(2) at the file position.
///
/// # Safety
/// As [`pwritev`].
pub unsafe fn writev(fd: RawFd, vectors: &[libc::iovec]) -> i64 {
    // SAFETY: see this function's contract.
    retry(|| unsafe {
        libc::syscall(libc::SYS_writev, fd, vectors.as_ptr(), vectors.len()) as isize
    })
}

/// lseek(2) with SEEK_SET.
#[inline(always)]
pub fn seek(fd: RawFd, offset: u64) -> i64 {
    // SAFETY: no memory is involved.
    retry(|| unsafe { libc::lseek64(fd, offset as i64, libc::SEEK_SET) as isize })
}

/// fsync(2).
pub fn fsync(fd: RawFd) -> i64 {
    // SAFETY: no memory is involved.
    retry(|| unsafe { libc::fsync(fd) as isize })
}

/// fdatasync(2).
pub fn fdatasync(fd: RawFd) -> i64 {
    // SAFETY: no memory is involved.
    retry(|| unsafe { libc::fdatasync(fd) as isize })
}

/// sync_file_range(2).
pub fn sync_file_range(fd: RawFd, offset: u64, length: u64, flags: u32) -> i64 {
    // SAFETY: no memory is involved.
    retry(|| unsafe { libc::sync_file_range(fd, offset as i64, length as i64, flags) as isize })
}

/// Discards a range of a block device. Returns `length`; -ENOTTY if it is no block device.
pub fn discard(fd: RawFd, offset: u64, length: u64) -> i64 {
    let range = [offset, length];
    // SAFETY: BLKDISCARD reads two 64-bit numbers at the address, and `range` is that.
    let answer = retry(|| unsafe { libc::ioctl(fd, BLKDISCARD as _, range.as_ptr()) as isize });
    if answer < 0 { answer } else { length as i64 }
}

/// _IO(0x12, 119).
const BLKDISCARD: u32 = 0x1277;
