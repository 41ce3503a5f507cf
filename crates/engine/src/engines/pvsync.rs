//! preadv, pwritev.

use super::RingSetup;
use super::blocking::{Blocking, Transfer};
use crate::hot::op::{Op, OpKind};
use crate::sys::io as calls;
use std::io;
use std::os::fd::RawFd;

/// The `pvsync` engine.
pub type Pvsync = Blocking<Vectored>;

/// Reads and writes one vector at an offset.
pub struct Vectored;

impl Transfer for Vectored {
    fn open(_setup: &RingSetup<'_>) -> io::Result<Self> {
        Ok(Vectored)
    }

    #[inline(always)]
    unsafe fn transfer(&mut self, fd: RawFd, buffer: *mut u8, op: &Op) -> i64 {
        let vector = [libc::iovec { iov_base: buffer.cast(), iov_len: op.length as usize }];
        // SAFETY: see the trait's contract.
        unsafe {
            match op.kind {
                OpKind::Read => calls::preadv(fd, &vector, op.offset),
                _ => calls::pwritev(fd, &vector, op.offset),
            }
        }
    }
}
