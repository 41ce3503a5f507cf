//! POSIX AIO: the thread pool of the C library behind aio_read(3) and aio_write(3).

use super::aio::timespec;
use super::io::last_errno;
use std::cell::UnsafeCell;
use std::os::fd::RawFd;
use std::time::Duration;

/// What to do with a control block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// aio_read.
    Read,
    /// aio_write.
    Write,
    /// aio_fsync with O_SYNC.
    Fsync,
    /// aio_fsync with O_DSYNC.
    Fdatasync,
}

/// Control blocks, one per slot. Dropping them waits for the requests in flight.
pub struct Blocks {
    blocks: Box<[UnsafeCell<libc::aiocb>]>,
    in_flight: Vec<u32>,
    waiting: Vec<*const libc::aiocb>,
}

// SAFETY: the blocks do not belong to a thread. They stay in their box, so the C library's threads can
// reach them wherever the owner is.
unsafe impl Send for Blocks {}

impl Blocks {
    /// `count` blocks, none in flight.
    pub fn new(count: u32) -> Blocks {
        let blocks = (0..count)
            // SAFETY: all-zero is a value of this struct of integers and null pointers.
            .map(|_| UnsafeCell::new(unsafe { std::mem::zeroed() }))
            .collect();
        let room = count as usize;
        Blocks { blocks, in_flight: Vec::with_capacity(room), waiting: Vec::with_capacity(room) }
    }

    /// Starts a request with the block of `slot`. Returns 0 or a negative errno (EAGAIN: no resources now).
    ///
    /// # Safety
    /// The block must not be in flight, and `length` bytes at `buffer` must be valid and used by
    /// nothing else until [`Blocks::take`] returned the slot.
    pub unsafe fn start(
        &mut self,
        slot: u32,
        request: Request,
        fd: RawFd,
        buffer: *mut u8,
        length: u64,
        offset: u64,
    ) -> i64 {
        let block = self.blocks[slot as usize].get();
        // SAFETY: the block is ours and not in flight, as the caller promises, so nobody else uses
        // it; the calls get a block that stays where it is until it is done.
        let answer = unsafe {
            *block = std::mem::zeroed();
            (*block).aio_fildes = fd;
            (*block).aio_buf = buffer.cast();
            (*block).aio_nbytes = length as usize;
            (*block).aio_offset = offset as libc::off_t;
            (*block).aio_sigevent.sigev_notify = libc::SIGEV_NONE;
            match request {
                Request::Read => libc::aio_read(block),
                Request::Write => libc::aio_write(block),
                Request::Fsync => libc::aio_fsync(libc::O_SYNC, block),
                Request::Fdatasync => libc::aio_fsync(libc::O_DSYNC, block),
            }
        };
        if answer != 0 {
            return last_errno();
        }
        self.in_flight.push(slot);
        0
    }

    /// Number of requests in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight.len()
    }

    /// Calls `done` for up to `max` ended requests, in the order of their start, with the slot and the
    /// bytes moved or a negative errno.
    pub fn take(&mut self, max: usize, mut done: impl FnMut(u32, i64)) -> usize {
        let mut count = 0;
        let blocks = &self.blocks;
        self.in_flight.retain(|&slot| {
            if count == max {
                return true;
            }
            let block = blocks[slot as usize].get();
            // SAFETY: the block was started and aio_return not yet called for it.
            let error = unsafe { libc::aio_error(block) };
            if error == libc::EINPROGRESS {
                return true;
            }
            // SAFETY: the request ended; this is the one call of aio_return for it.
            let result = unsafe { libc::aio_return(block) };
            done(slot, if error == 0 { result as i64 } else { -i64::from(error) });
            count += 1;
            false
        });
        count
    }

    /// Waits until a request ends, a signal arrives or `timeout` is over. Returns whether there may be
    /// more to take.
    pub fn suspend(&mut self, timeout: Option<Duration>) -> bool {
        if self.in_flight.is_empty() {
            return false;
        }
        self.waiting.clear();
        self.waiting.extend(
            self.in_flight.iter().map(|&slot| self.blocks[slot as usize].get().cast_const()),
        );
        let limit = timeout.map(timespec);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        // SAFETY: a list of live blocks and its length; the limit is null or a live timespec.
        let answer =
            unsafe { libc::aio_suspend(self.waiting.as_ptr(), self.waiting.len() as i32, limit) };
        answer == 0
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        while self.in_flight() > 0 {
            if self.take(usize::MAX, |_, _| ()) == 0 {
                self.suspend(None);
            }
        }
    }
}
