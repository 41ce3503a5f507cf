//! splice and vmsplice: data goes through a pipe, page by page, and is not copied where the kernel
//! can help it.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, borrow};
use crate::hot::op::{Op, OpKind};
use rustix::io::{Errno, Result, retry_on_intr};
use rustix::pipe::{IoSliceRaw, PipeFlags, SpliceFlags};
use std::io;
use std::os::fd::{AsFd, OwnedFd, RawFd};

/// A pipe between memory and a descriptor.
pub struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    /// One that holds a block of `length` bytes, where the system's limit allows it.
    ///
    /// # Errors
    /// No descriptors are left.
    pub fn new(length: u64) -> io::Result<Pipe> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        // A smaller one only takes more calls.
        let _ = rustix::pipe::fcntl_setpipe_size(&write, length as usize);
        Ok(Pipe { read, write })
    }

    /// Moves up to a buffer's length from `fd`, at `offset` where it has one, into `buffer`; how
    /// much there was.
    pub fn fill(
        &self,
        fd: impl AsFd,
        offset: Option<&mut u64>,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let flags = SpliceFlags::MORE;
        let mut offset = offset;
        let inside = retry_on_intr(|| {
            let offset = offset.as_deref_mut();
            rustix::pipe::splice(&fd, offset, &self.write, None, buffer.len(), flags)
        })?;
        let mut taken = 0;
        while taken < inside {
            taken += retry_on_intr(|| rustix::io::read(&self.read, &mut buffer[taken..inside]))?;
        }
        Ok(inside)
    }

    /// Moves as much of `buffer` as the pipe takes to `fd`, at `offset` where it has one; how much
    /// that was. The pages themselves are handed over: they must not change before the other side
    /// has them.
    pub fn drain(
        &self,
        fd: impl AsFd,
        offset: Option<&mut u64>,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let slice = [IoSliceRaw::from_slice_mut(buffer)];
        // SAFETY: the buffer outlives the call; what the pipe still refers to of it afterwards is
        // taken out below, or belongs to a worker that ends with the error.
        let inside = retry_on_intr(|| unsafe {
            rustix::pipe::vmsplice(&self.write, &slice, SpliceFlags::empty())
        })?;
        let mut offset = offset;
        let mut moved = 0;
        while moved < inside {
            let step = retry_on_intr(|| {
                let offset = offset.as_deref_mut();
                let left = inside - moved;
                rustix::pipe::splice(&self.read, None, &fd, offset, left, SpliceFlags::empty())
            });
            match step {
                Ok(0) => break,
                Ok(step) => moved += step,
                Err(error) => {
                    self.empty(inside - moved)?;
                    return if moved > 0 { Ok(moved) } else { Err(error) };
                }
            }
        }
        Ok(moved)
    }

    /// Takes out what an error left behind.
    fn empty(&self, mut left: usize) -> Result<()> {
        let mut waste = [0; 4096];
        while left > 0 {
            let step = left.min(waste.len());
            left -= retry_on_intr(|| rustix::io::read(&self.read, &mut waste[..step]))?;
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
    ///
    /// # Errors
    /// See [`Pipe::new`].
    pub fn new(setup: &RingSetup<'_>) -> io::Result<Splice> {
        Ok(Splice { pipe: Pipe::new(setup.worker.max_block())? })
    }

    fn read(&self, fd: RawFd, buffer: &mut [u8], mut offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.pipe.fill(borrow(fd), Some(&mut offset), &mut buffer[done..]) {
                Ok(0) => break,
                Ok(step) => done += step,
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write(&self, fd: RawFd, buffer: &mut [u8], mut offset: u64) -> Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.pipe.drain(borrow(fd), Some(&mut offset), &mut buffer[done..]) {
                Ok(0) => break,
                Ok(step) => done += step,
                Err(_) if done > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

impl SyncEngine for Splice {
    fn execute(&mut self, fd: RawFd, buffer: &mut [u8], op: &Op) -> Queued {
        Queued::Done(match op.kind {
            OpKind::Trim => super::blocking::maintain(fd, *op),
            OpKind::Read => answer(self.read(fd, buffer, op.offset)),
            _ => answer(self.write(fd, buffer, op.offset)),
        })
    }
}

/// Bytes, or a negative errno.
pub(super) fn answer(moved: std::result::Result<usize, Errno>) -> i64 {
    moved.map_or_else(|error| -i64::from(error.raw_os_error()), |moved| moved as i64)
}
