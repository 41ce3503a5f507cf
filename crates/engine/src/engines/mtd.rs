//! Raw flash: reads and writes of an MTD character device; trims erase.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::{io as calls, mtd};
use std::os::fd::RawFd;

/// The `mtd` engine.
pub struct Mtd {
    skips_bad: bool,
}

impl Mtd {
    /// As the job asks for.
    pub fn new(setup: &RingSetup<'_>) -> Mtd {
        Mtd { skips_bad: setup.options.skip_bad }
    }
}

impl SyncEngine for Mtd {
    fn execute(&mut self, fd: RawFd, buffer: &mut [u8], op: &Op) -> Queued {
        if self.skips_bad {
            match mtd::is_bad(fd, op.offset) {
                Ok(true) => return Queued::Done(op.length as i64),
                Ok(false) => {}
                Err(error) => return Queued::Done(super::negative_errno(&error)),
            }
        }
        Queued::Done(match op.kind {
            // SAFETY: the buffer is borrowed for the call, and as long as the I/O.
            OpKind::Read => unsafe { calls::pread(fd, buffer.as_mut_ptr(), op.length, op.offset) },
            // SAFETY: as above.
            OpKind::Write => unsafe { calls::pwrite(fd, buffer.as_ptr(), op.length, op.offset) },
            _ => mtd::erase(fd, op.offset, op.length),
        })
    }

    fn synchronise(&mut self, _: RawFd, op: &Op) -> i64 {
        // Flash has no cache; a write has ended when it is programmed.
        match op.kind {
            OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_) => 0,
            _ => -i64::from(libc::EINVAL),
        }
    }
}
