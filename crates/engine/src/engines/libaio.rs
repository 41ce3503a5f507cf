//! Linux native AIO.

use super::blocking::maintain;
use super::priority::IoPriorities;
use super::{Completion, Queued, Ring, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::aio::{self, Context, ControlBlock, Event};
use crate::sys::buffers::Slots;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// The `libaio` engine.
pub struct Libaio {
    /// The first field, so it is dropped first and waits for the I/O in flight, which uses the blocks.
    context: Context,
    slots: Slots,
    files: Vec<RawFd>,
    blocks: Box<[ControlBlock]>,
    vectors: Box<[libc::iovec]>,
    /// Blocks to submit, from `next` on.
    queued: Vec<*mut ControlBlock>,
    next: usize,
    in_flight: usize,
    /// I/Os that the kernel refused.
    refused: Vec<Completion>,
    /// How many of `refused` the last `reap` returned.
    returned: usize,
    events: Box<[Event]>,
    read_opcode: u16,
    write_opcode: u16,
    rw_flags: u32,
    write_flags: u32,
    priorities: Option<IoPriorities>,
    userspace_reap: bool,
}

// SAFETY: the pointers point into `blocks` and the slots, whose memory does not move with the ring.
unsafe impl Send for Libaio {}

/// Maximum retries of io_submit, 1 ms apart, if the kernel has no resources and no I/O is in flight that
/// could free some.
const SUBMIT_ATTEMPTS_MAX: u32 = 1000;

impl Ring for Libaio {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let depth = setup.depth.max(1) as usize;
        let options = setup.options;
        let priorities = IoPriorities::new(options, setup.io.io_priority);
        let vector = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let vectored = options.libaio_vectored;
        Ok(Libaio {
            context: Context::new(setup.depth).map_err(explain_limit)?,
            slots: setup.buffers.slots(),
            files: setup.fds(),
            blocks: vec![ControlBlock::default(); depth].into(),
            vectors: vec![vector; if vectored { depth } else { 0 }].into(),
            queued: Vec::with_capacity(depth),
            next: 0,
            in_flight: 0,
            refused: Vec::with_capacity(depth),
            returned: 0,
            events: vec![Event::default(); depth].into(),
            read_opcode: if vectored { aio::READ_VECTORED } else { aio::READ },
            write_opcode: if vectored { aio::WRITE_VECTORED } else { aio::WRITE },
            rw_flags: if options.nowait { libc::RWF_NOWAIT as u32 } else { 0 },
            write_flags: setup.io.write_flags,
            priorities: (!priorities.is_none()).then_some(priorities),
            userspace_reap: options.userspace_reap,
        })
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.files[file as usize] = fd;
        Ok(())
    }

    #[inline]
    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        let fd = self.files[op.file as usize];
        let mut block = match op.kind {
            OpKind::Read => self.transfer(self.read_opcode, slot, op),
            OpKind::Write => self.transfer(self.write_opcode, slot, op),
            OpKind::Fsync => ControlBlock::new(aio::FSYNC),
            OpKind::Fdatasync => ControlBlock::new(aio::FDATASYNC),
            OpKind::Trim | OpKind::ResetZone | OpKind::SyncFileRange(_) | OpKind::Stat => {
                return Queued::Done(maintain(fd, *op));
            }
        };
        let target = &mut self.blocks[slot as usize];
        block.data = u64::from(slot);
        block.fd = fd as u32;
        *target = block;
        self.queued.push(target);
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        self.drop_returned();
        let mut submitted = 0;
        let mut attempts = 0;
        while self.next < self.queued.len() {
            // SAFETY: the blocks are elements of `self.blocks`, which outlives the context's use
            // of them; buffers and vectors belong to their I/O until it is done (contract of
            // `Ring`).
            let answer = unsafe { self.context.submit(&self.queued[self.next..]) };
            if answer > 0 {
                self.next += answer as usize;
                self.in_flight += answer as usize;
                submitted += answer as u32;
            } else if answer == 0 || answer == -i64::from(libc::EAGAIN) {
                if self.in_flight + self.refused.len() > 0 {
                    return Ok(submitted);
                }
                attempts += 1;
                if attempts > SUBMIT_ATTEMPTS_MAX {
                    return Err(io::Error::from_raw_os_error(libc::EAGAIN));
                }
                std::thread::sleep(Duration::from_millis(1));
            } else {
                self.refuse(answer);
                submitted += 1;
            }
        }
        self.queued.clear();
        self.next = 0;
        Ok(submitted)
    }

    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.drop_returned();
        let max = max as usize;
        self.returned = self.refused.len().min(max);
        let room = (max - self.returned).min(self.in_flight);
        let min = (min as usize).saturating_sub(self.returned).min(room);
        let count = if room == 0 { 0 } else { self.collect(min, room, timeout)? };
        self.in_flight -= count;
        Ok((self.returned + count) as u32)
    }

    #[inline]
    fn completion(&self, index: u32) -> Completion {
        let index = index as usize;
        match index.checked_sub(self.returned) {
            None => self.refused[index],
            Some(event) => {
                let event = &self.events[event];
                Completion { slot: event.data as u32, result: event.result }
            }
        }
    }
}

impl Libaio {
    #[inline(always)]
    fn transfer(&mut self, opcode: u16, slot: u32, op: &Op) -> ControlBlock {
        let buffer = self.slots.slot(slot);
        let mut block = ControlBlock::new(opcode);
        block.rw_flags = match op.kind {
            OpKind::Write => self.rw_flags | self.write_flags,
            _ => self.rw_flags,
        };
        block.buffer = buffer as u64;
        block.length = op.length;
        block.offset = op.offset as i64;
        if let Some(vector) = self.vectors.get_mut(slot as usize) {
            *vector = libc::iovec { iov_base: buffer.cast(), iov_len: op.length as usize };
            block.buffer = std::ptr::from_mut(vector) as u64;
            block.length = 1;
        }
        if let Some(priorities) = &mut self.priorities {
            block.priority = priorities.next(op.kind, op.length);
            block.flags = if block.priority == 0 { 0 } else { aio::FLAG_PRIORITY };
        }
        block
    }

    fn drop_returned(&mut self) {
        self.refused.drain(..self.returned);
        self.returned = 0;
    }

    /// The kernel refused the next block. An unsupported synchronisation is done by the blocking call;
    /// any other I/O ends with the error.
    fn refuse(&mut self, error: i64) {
        // SAFETY: a pointer into `self.blocks`; the kernel does not use a block it refused.
        let block = unsafe { *self.queued[self.next] };
        self.next += 1;
        let kind = match block.opcode {
            aio::FSYNC => Some(OpKind::Fsync),
            aio::FDATASYNC => Some(OpKind::Fdatasync),
            _ => None,
        };
        let result = match kind {
            Some(kind) if error == -i64::from(libc::EINVAL) => {
                maintain(block.fd as RawFd, Op { kind, file: 0, offset: 0, length: 0, tag: 0 })
            }
            _ => error,
        };
        self.refused.push(Completion { slot: block.data as u32, result });
    }

    fn collect(&mut self, min: usize, room: usize, timeout: Option<Duration>) -> io::Result<usize> {
        let events = &mut self.events[..room];
        if self.userspace_reap
            && min == 0
            && let Some(count) = self.context.take(events)
        {
            return Ok(count);
        }
        let answer = self.context.wait(min, events, timeout);
        if answer == -i64::from(libc::EINTR) {
            return Ok(0);
        }
        usize::try_from(answer).map_err(|_| io::Error::from_raw_os_error(-answer as i32))
    }
}

fn explain_limit(error: io::Error) -> io::Error {
    if error.raw_os_error() != Some(libc::EAGAIN) {
        return error;
    }
    io::Error::new(
        io::ErrorKind::WouldBlock,
        "the machine's limit on asynchronous I/O is reached: raise fs.aio-max-nr (sysctl), or lower \
         iodepth or numjobs",
    )
}
