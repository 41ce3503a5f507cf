//! pread, pwrite.

use super::RingSetup;
use super::blocking::{Blocking, Transfer};
use crate::hot::op::{Op, OpKind};
use crate::sys::io as calls;
use std::io;
use std::os::fd::RawFd;

/// The `psync` engine.
pub type Psync = Blocking<Positioned>;

/// Calls that take an offset.
pub struct Positioned;

impl Transfer for Positioned {
    fn open(_setup: &RingSetup<'_>) -> io::Result<Self> {
        Ok(Positioned)
    }

    #[inline(always)]
    unsafe fn transfer(&mut self, fd: RawFd, buffer: *mut u8, op: &Op) -> i64 {
        // SAFETY: see the trait's contract.
        unsafe {
            match op.kind {
                OpKind::Read => calls::pread(fd, buffer, op.length, op.offset),
                _ => calls::pwrite(fd, buffer, op.length, op.offset),
            }
        }
    }
}
