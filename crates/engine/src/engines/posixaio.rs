//! POSIX AIO. The C library runs requests on the same descriptor one after the other.

use super::blocking::maintain;
use super::{Completion, Queued, Ring, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use crate::sys::posix_aio::{Blocks, Request};
use std::io;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// The `posixaio` engine.
pub struct Posixaio {
    blocks: Blocks,
    slots: Slots,
    files: Vec<RawFd>,
    /// Requests started since the last `submit`.
    started: u32,
    done: Vec<Completion>,
}

impl Ring for Posixaio {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        Ok(Posixaio {
            blocks: Blocks::new(setup.depth.max(1)),
            slots: setup.buffers.slots(),
            files: setup.fds(),
            started: 0,
            done: Vec::with_capacity(setup.depth as usize),
        })
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.files[file as usize] = fd;
        Ok(())
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let fd = self.files[op.file as usize];
        let (request, length) = match op.kind {
            OpKind::Read => (Request::Read, op.length),
            OpKind::Write => (Request::Write, op.length),
            OpKind::Fsync => (Request::Fsync, 0),
            OpKind::Fdatasync => (Request::Fdatasync, 0),
            OpKind::Trim | OpKind::ResetZone | OpKind::SyncFileRange(_) | OpKind::Stat => {
                return Queued::Done(maintain(fd, *op));
            }
        };
        // SAFETY: the slot is free and its buffer belongs to this I/O until its completion was
        // taken (contract of `Ring`).
        let answer = unsafe {
            self.blocks.start(slot, request, fd, self.slots.slot(slot), length, op.offset)
        };
        if answer == 0 {
            self.started += 1;
            Queued::Pending
        } else if answer == -i64::from(libc::EAGAIN) && self.blocks.in_flight() > 0 {
            Queued::Full
        } else {
            Queued::Done(answer)
        }
    }

    fn submit(&mut self) -> io::Result<u32> {
        Ok(std::mem::take(&mut self.started))
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.done.clear();
        let deadline = timeout.map(|t| Instant::now() + t);
        let max = max as usize;
        let min = (min as usize).min(max).min(self.blocks.in_flight());
        loop {
            let done = &mut self.done;
            self.blocks
                .take(max - done.len(), |slot, result| done.push(Completion { slot, result }));
            if self.done.len() >= min {
                break;
            }
            let rest = deadline.map(|d| d.saturating_duration_since(Instant::now()));
            if !self.blocks.suspend(rest) {
                break;
            }
        }
        Ok(self.done.len() as u32)
    }

    #[inline]
    fn completion(&self, index: u32) -> Completion {
        self.done[index as usize]
    }
}
