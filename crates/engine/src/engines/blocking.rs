//! Rings whose calls block until the I/O has ended.

use super::{Queued, Ring, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use crate::sys::io as calls;
use crate::sys::zones;
use std::io;
use std::os::fd::RawFd;

/// How a blocking ring moves data.
pub trait Transfer: Sized {
    /// Creates it from the parameters of its ring.
    fn open(setup: &RingSetup<'_>) -> io::Result<Self>;

    /// A file was opened or is about to be closed (-1).
    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        let _ = (file, fd);
        Ok(())
    }

    /// Reads or writes; bytes moved, or a negative errno.
    ///
    /// # Safety
    /// `buffer` must be valid for `op.length` bytes and used by nothing else meanwhile.
    unsafe fn transfer(&mut self, fd: RawFd, buffer: *mut u8, op: &Op) -> i64;

    /// Performs an operation that is neither a read nor a write.
    fn maintain(&mut self, fd: RawFd, op: Op) -> i64 {
        maintain(fd, op)
    }
}

/// Trims, resets or synchronises with a blocking call. Returns bytes trimmed or 0, or a negative errno.
pub fn maintain(fd: RawFd, op: Op) -> i64 {
    match op.kind {
        OpKind::Trim => calls::discard(fd, op.offset, op.length),
        OpKind::ResetZone => match zones::reset(fd, op.offset, op.length) {
            // The target has no zones of its own: those that are invented hold nothing to reset.
            error if error == -i64::from(libc::ENOTTY) => op.length as i64,
            result => result,
        },
        OpKind::Fsync => calls::fsync(fd),
        OpKind::Fdatasync => calls::fdatasync(fd),
        OpKind::SyncFileRange(flags) => calls::sync_file_range(fd, op.offset, op.length, flags),
        OpKind::Read | OpKind::Write | OpKind::Stat => -i64::from(libc::EINVAL),
    }
}

/// A ring that moves data with `T`.
pub struct Blocking<T> {
    slots: Slots,
    files: Vec<RawFd>,
    transfer: T,
}

impl<T: Transfer> Ring for Blocking<T> {
    const SYNCHRONOUS: bool = true;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        Ok(Blocking { slots: setup.buffers.slots(), files: setup.fds(), transfer: T::open(setup)? })
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.files[file as usize] = fd;
        self.transfer.file_changed(file, fd)
    }

    #[inline]
    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let fd = self.files[op.file as usize];
        Queued::Done(match op.kind {
            // SAFETY: the slot's buffer is as long as the largest block, lives as long as the
            // ring, and belongs to this I/O until it is done (contract of `Ring`).
            OpKind::Read | OpKind::Write => unsafe {
                self.transfer.transfer(fd, self.slots.slot(slot), op)
            },
            _ => self.transfer.maintain(fd, *op),
        })
    }
}
