//! Engines that finish each I/O within one call and cost far more than a call through a table.

use super::blocking::maintain;
use super::{Queued, WaitLimit};
use crate::files::FileError;
use crate::hot::op::Op;
use std::io;
use std::os::fd::RawFd;

/// A synchronous engine behind dynamic dispatch. [`SyncRing`](super::SyncRing) makes it a ring.
pub trait SyncEngine: Send {
    /// See [`Ring::prepare`](super::Ring::prepare).
    fn prepare(&mut self) -> Result<(), FileError> {
        Ok(())
    }

    /// See [`Ring::begin`](super::Ring::begin).
    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        let _ = limit;
        Ok(())
    }

    /// A file was opened or is about to be closed (-1). For engines that open no files: a loop has
    /// ended.
    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        let _ = (file, fd);
        Ok(())
    }

    /// Does one I/O. Returns [`Queued::Done`], or [`Queued::Full`] if the wait limit was reached
    /// first.
    fn execute(&mut self, fd: RawFd, buffer: &mut [u8], op: &Op) -> Queued;

    /// Does what is neither a read, a write nor a trim; 0, or a negative errno.
    fn synchronise(&mut self, fd: RawFd, op: &Op) -> i64 {
        maintain(fd, *op)
    }

    /// See [`Ring::end`](super::Ring::end).
    fn end(&mut self) -> Vec<String> {
        Vec::new()
    }
}
