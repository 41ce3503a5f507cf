//! splice and vmsplice: pages go through a pipe, without a copy where the kernel can avoid it.

use super::blocking::maintain;
use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, borrow, result};
use crate::hot::op::{Op, OpKind};
use rustix::io::{Result, retry_on_intr};
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};

/// A pipe between memory and a descriptor.
pub struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    /// A pipe that holds a block of `length` bytes if the system's limit allows it.
    pub fn new(length: u64) -> io::Result<Pipe> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        // A smaller pipe only needs more calls.
        let _ = rustix::pipe::fcntl_setpipe_size(&write, length as usize);
        Ok(Pipe { read, write })
    }

    /// Reads from `fd` into `buffer`, at `offset` if `fd` has one. Returns bytes moved.
    pub fn fill(
        &self,
        fd: impl AsFd,
        offset: Option<&mut u64>,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let flags = SpliceFlags::MORE;
        let mut offset = offset;
        let in_pipe = retry_on_intr(|| {
            let offset = offset.as_deref_mut();
            rustix::pipe::splice(&fd, offset, &self.write, None, buffer.len(), flags)
        })?;
        let mut taken = 0;
        while taken < in_pipe {
            taken += retry_on_intr(|| rustix::io::read(&self.read, &mut buffer[taken..in_pipe]))?;
        }
        Ok(in_pipe)
    }

    /// Writes as much of `buffer` as the pipe holds to `fd`, at `offset` if `fd` has one. Returns bytes
    /// moved. The pages themselves are handed over and must not change before the receiver has them.
    pub fn drain(
        &self,
        fd: impl AsFd,
        offset: Option<&mut u64>,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let slice = [IoSliceRaw::from_slice_mut(buffer)];
        // SAFETY: the buffer outlives the call; pages that are left in the pipe afterwards are
        // removed below, or belong to a worker that ends with the error.
        let in_pipe = retry_on_intr(|| unsafe {
            rustix::pipe::vmsplice(&self.write, &slice, SpliceFlags::empty())
        })?;
        let mut offset = offset;
        let mut moved = 0;
        while moved < in_pipe {
            let step = retry_on_intr(|| {
                let offset = offset.as_deref_mut();
                let left = in_pipe - moved;
                rustix::pipe::splice(&self.read, None, &fd, offset, left, SpliceFlags::empty())
            });
            match step {
                Ok(0) => break,
                Ok(step) => moved += step,
                Err(error) => {
                    self.empty(in_pipe - moved)?;
                    return if moved > 0 { Ok(moved) } else { Err(error) };
                }
            }
        }
        Ok(moved)
    }

    /// Removes what an error left in the pipe.
    fn empty(&self, mut left: usize) -> Result<()> {
        let mut discarded = [0; 4096];
        while left > 0 {
            let step = left.min(discarded.len());
            left -= retry_on_intr(|| rustix::io::read(&self.read, &mut discarded[..step]))?;
        }
        Ok(())
    }
}

/// The `splice` engine.
pub struct Splice {
    pipe: Pipe,
}

impl Splice {
    /// With a pipe for the largest block.
    pub fn new(setup: &RingSetup<'_>) -> io::Result<Splice> {
        Ok(Splice { pipe: Pipe::new(setup.worker.max_block())? })
    }

    /// Repeats `step` on the rest of the buffer until it is done, the file ends or an error comes.
    fn transfer(
        buffer: &mut [u8],
        mut step: impl FnMut(&mut [u8]) -> Result<usize>,
    ) -> Result<u64> {
        let mut done = 0;
        while done < buffer.len() {
            match step(&mut buffer[done..]) {
                Ok(0) => break,
                Ok(moved) => done += moved,
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done as u64)
    }
}

impl SyncEngine for Splice {
    fn execute(&mut self, fd: RawFd, buffer: &mut [u8], op: &Op) -> Queued {
        let (file, mut offset) = (borrow(fd), op.offset);
        let moved = match op.kind {
            OpKind::Trim | OpKind::ResetZone => return Queued::Done(maintain(fd, *op)),
            OpKind::Read => {
                Splice::transfer(buffer, |rest| self.pipe.fill(file, Some(&mut offset), rest))
            }
            _ => Splice::transfer(buffer, |rest| self.pipe.drain(file, Some(&mut offset), rest)),
        };
        Queued::Done(result(moved))
    }
}
