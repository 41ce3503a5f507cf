//! The four system calls of Linux native AIO.

use super::io::{last_errno, retry};
use super::memory::errno;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// An I/O as io_submit(2) takes it (`struct iocb`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ControlBlock {
    /// Returned in the event.
    pub data: u64,
    #[cfg(target_endian = "little")]
    key: u32,
    /// RWF_ flags.
    pub rw_flags: u32,
    #[cfg(target_endian = "big")]
    key: u32,
    /// One of the constants below.
    pub opcode: u16,
    /// I/O priority, when `flags` has [`FLAG_PRIORITY`].
    pub priority: u16,
    /// Descriptor.
    pub fd: u32,
    /// Address of the buffer, or of the vectors.
    pub buffer: u64,
    /// Length of the buffer, or number of vectors.
    pub length: u64,
    /// Offset in the file.
    pub offset: i64,
    reserved: u64,
    /// Flags of the block.
    pub flags: u32,
    result_fd: u32,
}

impl ControlBlock {
    /// A block with this opcode and everything else 0.
    pub fn new(opcode: u16) -> ControlBlock {
        ControlBlock { opcode, ..ControlBlock::default() }
    }
}

/// IOCB_CMD_PREAD.
pub const READ: u16 = 0;
/// IOCB_CMD_PWRITE.
pub const WRITE: u16 = 1;
/// IOCB_CMD_FSYNC.
pub const FSYNC: u16 = 2;
/// IOCB_CMD_FDSYNC.
pub const FDATASYNC: u16 = 3;
/// IOCB_CMD_PREADV.
pub const READ_VECTORED: u16 = 7;
/// IOCB_CMD_PWRITEV.
pub const WRITE_VECTORED: u16 = 8;
/// IOCB_FLAG_IOPRIO.
pub const FLAG_PRIORITY: u32 = 2;

/// An I/O that ended (`struct io_event`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Event {
    /// `data` of its block.
    pub data: u64,
    block: u64,
    /// Bytes, or a negative errno.
    pub result: i64,
    result2: i64,
}

/// Header of the memory that the kernel shares at the address of the context id (`struct aio_ring`).
#[repr(C)]
struct SharedRing {
    id: u32,
    entries: u32,
    head: AtomicU32,
    tail: AtomicU32,
    magic: u32,
    compatible: u32,
    incompatible: u32,
    header_length: u32,
}

const MAGIC: u32 = 0xa10a_10a1;

/// An AIO context. Dropping it waits for I/O in flight.
#[derive(Debug)]
pub struct Context {
    id: libc::c_ulong,
}

impl Context {
    /// A context for `depth` I/Os in flight.
    ///
    /// # Errors
    /// EAGAIN if all contexts together would exceed fs.aio-max-nr; ENOSYS without AIO.
    pub fn new(depth: u32) -> io::Result<Context> {
        let mut id: libc::c_ulong = 0;
        // SAFETY: io_setup writes the context's number at the address, and `id` is that.
        let answer = retry(|| unsafe {
            libc::syscall(libc::SYS_io_setup, depth.max(1), &raw mut id) as isize
        });
        match -answer {
            0 => Ok(Context { id }),
            error => Err(errno(error as i32)),
        }
    }

    /// Submits `blocks`. Returns how many the kernel took, from the first one on, or a negative errno for
    /// the first one.
    ///
    /// # Safety
    /// The blocks must be live. Their buffers and vectors must be valid and used by nothing else until
    /// their events were taken.
    #[inline]
    pub unsafe fn submit(&self, blocks: &[*mut ControlBlock]) -> i64 {
        // SAFETY: see this function's contract.
        retry(|| unsafe {
            libc::syscall(libc::SYS_io_submit, self.id, blocks.len(), blocks.as_ptr()) as isize
        })
    }

    /// Waits for at least `min` events, at most for `timeout`. Returns how many it wrote to `events`, or a
    /// negative errno (EINTR after a signal).
    #[inline]
    pub fn wait(&self, min: usize, events: &mut [Event], timeout: Option<Duration>) -> i64 {
        let limit = timeout.map(timespec);
        let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
        let (room, out) = (events.len(), events.as_mut_ptr());
        // SAFETY: the kernel writes at most `room` events at `out`, which is their number; the
        // limit is null or a live timespec.
        let answer = unsafe {
            libc::syscall(libc::SYS_io_getevents, self.id, min.min(room), room, out, limit)
        };
        if answer < 0 { last_errno() } else { answer as i64 }
    }

    /// Takes events from the shared memory without a system call; `None` if its layout is unknown.
    pub fn take(&self, events: &mut [Event]) -> Option<usize> {
        let ring = self.id as *const SharedRing;
        // SAFETY: the context's number is the address of a live mapping of at least a page, which
        // begins with the ring's head. It exists from io_setup to io_destroy, and `self` calls the latter.
        let header = unsafe { &*ring };
        if header.magic != MAGIC || header.incompatible != 0 {
            return None;
        }
        let mut head = header.head.load(Ordering::Relaxed);
        let tail = header.tail.load(Ordering::Acquire);
        if head >= header.entries || tail >= header.entries {
            return None;
        }
        // SAFETY: the events follow the header, which contains its own length.
        let first = unsafe { ring.byte_add(header.header_length as usize).cast::<Event>() };
        let mut count = 0;
        while count < events.len() && head != tail {
            // SAFETY: `head` is below the number of entries, and the kernel finished writing this
            // one before it moved the tail, which was loaded with acquire order.
            events[count] = unsafe { first.add(head as usize).read() };
            head = if head + 1 == header.entries { 0 } else { head + 1 };
            count += 1;
        }
        header.head.store(head, Ordering::Release);
        Some(count)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: the context is live, and nothing uses it after this.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.id) };
    }
}

/// A duration as a timespec.
pub fn timespec(duration: Duration) -> libc::timespec {
    // SAFETY: all-zero is a value of this struct of integers.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    time.tv_sec = duration.as_secs().try_into().unwrap_or(libc::time_t::MAX);
    time.tv_nsec = duration.subsec_nanos() as _;
    time
}
