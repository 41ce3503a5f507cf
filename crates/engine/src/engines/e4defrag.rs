//! Moves blocks of a donor file into ext4 files, as e4defrag(8) does.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, negative_errno};
use crate::hot::op::Op;
use crate::sys::space::exchange_extents;
use rustix::fs::{FallocateFlags, fallocate, ftruncate};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};

/// The `e4defrag` engine.
pub struct Defragment {
    donor: File,
    /// The donor gets its blocks within each I/O, and loses them after it.
    in_place: bool,
}

impl Defragment {
    /// Opens the donor, and allocates it if it is to have its blocks beforehand.
    pub fn new(setup: &RingSetup<'_>) -> io::Result<Defragment> {
        let path = setup.options.donor.as_deref().unwrap_or_default();
        let donor =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let in_place = setup.options.donor_in_place > 0;
        let largest = setup.files.iter().map(|file| file.start + file.length).max();
        if let Some(size) = largest.filter(|_| !in_place) {
            fallocate(&donor, FallocateFlags::empty(), 0, size)?;
        }
        Ok(Defragment { donor, in_place })
    }

    fn exchange(&self, fd: RawFd, op: &Op) -> io::Result<u64> {
        if self.in_place {
            fallocate(&self.donor, FallocateFlags::empty(), op.offset, op.length)?;
        }
        let moved = exchange_extents(fd, self.donor.as_fd().as_raw_fd(), op.offset, op.length);
        if self.in_place {
            ftruncate(&self.donor, 0)?;
        }
        moved
    }
}

impl SyncEngine for Defragment {
    fn execute(&mut self, fd: RawFd, _: &mut [u8], op: &Op) -> Queued {
        Queued::Done(match self.exchange(fd, op) {
            Ok(moved) => moved as i64,
            Err(error) => negative_errno(&error),
        })
    }
}
