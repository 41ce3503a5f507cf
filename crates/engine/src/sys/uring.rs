//! io_uring's system calls and shared rings. Layout and constants from the kernel's
//! include/uapi/linux/io_uring.h and io_uring(7).

use std::io;
use std::mem::size_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Flags of io_uring_setup(2).
pub mod setup {
    /// Busy-poll for completions.
    pub const IOPOLL: u32 = 1 << 0;
    /// A kernel thread takes submissions.
    pub const SQPOLL: u32 = 1 << 1;
    /// That thread is bound to a CPU.
    pub const SQ_AFF: u32 = 1 << 2;
    /// The completion ring's size is given.
    pub const CQSIZE: u32 = 1 << 3;
    /// Sizes above the limit are cut to it.
    pub const CLAMP: u32 = 1 << 4;
    /// Completions do not interrupt a running task.
    pub const COOP_TASKRUN: u32 = 1 << 8;
    /// The ring shows when completions wait for the task.
    pub const TASKRUN_FLAG: u32 = 1 << 9;
    /// Only one task submits.
    pub const SINGLE_ISSUER: u32 = 1 << 12;
    /// Completions are processed only on request.
    pub const DEFER_TASKRUN: u32 = 1 << 13;
    /// Submission entries have 128 bytes.
    pub const SQE128: u32 = 1 << 10;
    /// Completion entries have 32 bytes.
    pub const CQE32: u32 = 1 << 11;
    /// No indirection between submission ring and entries.
    pub const NO_SQARRAY: u32 = 1 << 16;
}

const FEAT_SINGLE_MMAP: u32 = 1 << 0;
const FEAT_EXT_ARG: u32 = 1 << 8;
const ENTER_GETEVENTS: u32 = 1 << 0;
const ENTER_SQ_WAKEUP: u32 = 1 << 1;
const ENTER_EXT_ARG: u32 = 1 << 3;
const ENTER_REGISTERED_RING: u32 = 1 << 4;
const SQ_NEED_WAKEUP: u32 = 1 << 0;
const SQ_TASKRUN: u32 = 1 << 2;
const OFFSET_SQ_RING: i64 = 0;
const OFFSET_SQES: i64 = 0x1000_0000;
const REGISTER_BUFFERS: u32 = 0;
const REGISTER_FILES: u32 = 2;
const REGISTER_FILES_UPDATE: u32 = 6;
const REGISTER_RING_FDS: u32 = 20;
const UNREGISTER_RING_FDS: u32 = 21;
/// The kernel chooses the index.
const ANY_INDEX: u32 = u32::MAX;

/// Opcodes and flags of a submission entry.
pub mod sqe {
    /// Vectored read.
    pub const READV: u8 = 1;
    /// Vectored write.
    pub const WRITEV: u8 = 2;
    /// fsync(2).
    pub const FSYNC: u8 = 3;
    /// Read into a registered buffer.
    pub const READ_FIXED: u8 = 4;
    /// Write from a registered buffer.
    pub const WRITE_FIXED: u8 = 5;
    /// sync_file_range(2).
    pub const SYNC_FILE_RANGE: u8 = 8;
    /// Read.
    pub const READ: u8 = 22;
    /// Write.
    pub const WRITE: u8 = 23;
    /// A command of the file's driver.
    pub const URING_CMD: u8 = 46;
    /// The buffer of a command is a registered one.
    pub const URING_CMD_FIXED: u32 = 1;
    /// `fd` is an index into the registered files.
    pub const FIXED_FILE: u8 = 1 << 0;
    /// Always by a kernel worker.
    pub const ASYNC: u8 = 1 << 4;
    /// fdatasync(2) instead of fsync(2).
    pub const FSYNC_DATASYNC: u32 = 1;
}

/// A submission entry.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Sqe {
    /// Opcode.
    pub opcode: u8,
    /// Flags of the entry.
    pub flags: u8,
    /// I/O priority.
    pub ioprio: u16,
    /// Descriptor, or index of a registered file.
    pub fd: i32,
    /// File offset.
    pub offset: u64,
    /// Buffer, or array of vectors.
    pub address: u64,
    /// Length in bytes, or number of vectors.
    pub length: u32,
    /// Flags of the operation.
    pub op_flags: u32,
    /// Returned with the completion.
    pub user_data: u64,
    /// Registered buffer.
    pub buffer_index: u16,
    /// Unused here.
    pub personality: u16,
    /// Unused here.
    pub splice_fd: i32,
    /// The first bytes of a command.
    pub rest: [u64; 2],
}

/// The other half of a wide submission entry: bytes of a command after the first 16.
pub type SecondHalf = [u64; 8];

/// A completion entry.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Cqe {
    /// From the submission.
    pub user_data: u64,
    /// Bytes moved, or a negative errno.
    pub result: i32,
    /// Unused here.
    pub flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct SqOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    flags: u32,
    dropped: u32,
    array: u32,
    reserved: u32,
    user_addr: u64,
}

#[repr(C)]
#[derive(Default)]
struct CqOffsets {
    head: u32,
    tail: u32,
    ring_mask: u32,
    ring_entries: u32,
    overflow: u32,
    cqes: u32,
    flags: u32,
    reserved: u32,
    user_addr: u64,
}

#[repr(C)]
#[derive(Default)]
struct Params {
    sq_entries: u32,
    cq_entries: u32,
    flags: u32,
    sq_thread_cpu: u32,
    sq_thread_idle: u32,
    features: u32,
    wq_fd: u32,
    reserved: [u32; 3],
    sq_off: SqOffsets,
    cq_off: CqOffsets,
}

/// io_uring_files_update and io_uring_rsrc_update.
#[repr(C)]
struct Update {
    offset: u32,
    reserved: u32,
    /// A descriptor, or the address of some.
    data: u64,
}

#[repr(C)]
struct GetEventsArg {
    sigmask: u64,
    sigmask_size: u32,
    min_wait_usec: u32,
    timespec: u64,
}

/// Memory shared with the kernel, unmapped on drop.
struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

impl Mapping {
    fn new(fd: RawFd, length: usize, offset: i64) -> io::Result<Mapping> {
        // SAFETY: a new shared mapping of the ring's descriptor at an address the kernel chooses;
        // it aliases no Rust object.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                fd,
                offset,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let base = NonNull::new(address.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Mapping { base, length })
    }

    /// Address of a T at `offset` bytes.
    fn at<T>(&self, offset: u32) -> *mut T {
        debug_assert!(offset as usize + size_of::<T>() <= self.length);
        self.base.as_ptr().wrapping_add(offset as usize).cast()
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: base and length are those mmap gave and took; nobody uses them after the drop.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// A ring, owned by one thread. The entries of a `WIDE` ring have room for commands of drivers.
pub struct Uring<const WIDE: bool = false> {
    sq_head: *const AtomicU32,
    sq_tail: *const AtomicU32,
    sq_flags: *const AtomicU32,
    sq_mask: u32,
    sq_entries: u32,
    sqes: *mut Sqe,
    cq_head: *const AtomicU32,
    cq_tail: *const AtomicU32,
    cq_mask: u32,
    cqes: *const Cqe,
    /// End of the entries written but not yet visible to the kernel.
    tail: u32,
    submitted: u32,
    flags: u32,
    has_timeouts: bool,
    /// The ring as io_uring_enter takes it, and the flag for its kind.
    entered_as: (RawFd, u32),
    // Unmapped before the descriptor closes, because fields drop in this order.
    _rings: Mapping,
    _entries: Mapping,
    fd: OwnedFd,
}

impl<const WIDE: bool> Uring<WIDE> {
    const SIZES: u32 = if WIDE { setup::SQE128 | setup::CQE32 } else { 0 };
    /// Entries of this size per place in the rings.
    const STEP: usize = if WIDE { 2 } else { 1 };

    /// Makes a ring with at least `entries` submission entries. `flags` are [`setup`]'s; `cpu` binds
    /// the polling thread under [`setup::SQ_AFF`].
    pub fn new(entries: u32, flags: u32, cpu: u32) -> io::Result<Self> {
        let mut params = Params {
            flags: flags | setup::CQSIZE | setup::CLAMP | Self::SIZES,
            cq_entries: entries.saturating_mul(2),
            sq_thread_cpu: cpu,
            sq_thread_idle: 1000,
            ..Params::default()
        };
        // SAFETY: params is a live, writable struct of the layout the call expects.
        let fd = unsafe { libc::syscall(libc::SYS_io_uring_setup, entries, &raw mut params) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call succeeded, so this descriptor is new and ours alone.
        let fd = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
        if params.features & FEAT_SINGLE_MMAP == 0 {
            return Err(io::Error::from_raw_os_error(libc::ENOSYS));
        }
        Self::map(fd, &params)
    }

    fn map(fd: OwnedFd, params: &Params) -> io::Result<Self> {
        let (sq, cq) = (&params.sq_off, &params.cq_off);
        let sq_length = sq.array as usize + params.sq_entries as usize * size_of::<u32>();
        let cq_length =
            cq.cqes as usize + params.cq_entries as usize * Self::STEP * size_of::<Cqe>();
        let rings = Mapping::new(fd.as_raw_fd(), sq_length.max(cq_length), OFFSET_SQ_RING)?;
        let entries_length = params.sq_entries as usize * Self::STEP * size_of::<Sqe>();
        let entries = Mapping::new(fd.as_raw_fd(), entries_length, OFFSET_SQES)?;
        if params.flags & setup::NO_SQARRAY == 0 {
            let array: *mut u32 = rings.at(sq.array);
            for index in 0..params.sq_entries {
                // SAFETY: the array has sq_entries elements within the mapping (sq_length).
                unsafe { array.wrapping_add(index as usize).write(index) };
            }
        }
        // SAFETY: the kernel keeps the two masks constant at these offsets of the live mapping.
        let (sq_mask, cq_mask) =
            unsafe { (rings.at::<u32>(sq.ring_mask).read(), rings.at::<u32>(cq.ring_mask).read()) };
        Ok(Uring {
            sq_head: rings.at(sq.head),
            sq_tail: rings.at(sq.tail),
            sq_flags: rings.at(sq.flags),
            sq_mask,
            sq_entries: params.sq_entries,
            sqes: entries.at(0),
            cq_head: rings.at(cq.head),
            cq_tail: rings.at(cq.tail),
            cq_mask,
            cqes: rings.at::<Cqe>(cq.cqes).cast_const(),
            tail: 0,
            submitted: 0,
            flags: params.flags,
            has_timeouts: params.features & FEAT_EXT_ARG != 0,
            entered_as: (fd.as_raw_fd(), 0),
            _rings: rings,
            _entries: entries,
            fd,
        })
    }

    #[inline(always)]
    fn load(counter: *const AtomicU32, order: Ordering) -> u32 {
        // SAFETY: the counter lies in the mapping, which lives as long as self; the kernel writes
        // it atomically.
        unsafe { (*counter).load(order) }
    }

    #[inline(always)]
    fn store(counter: *const AtomicU32, value: u32) {
        // SAFETY: as in `load`; this thread is the only one that writes the counter.
        unsafe { (*counter).store(value, Ordering::Release) };
    }

    /// Whether the kernel may poll the submission ring by itself.
    #[inline(always)]
    pub fn is_polled(&self) -> bool {
        self.flags & setup::SQPOLL != 0
    }

    /// Puts an entry into the submission ring; false if it is full.
    ///
    /// # Safety
    /// The buffer and vectors of the entry must stay valid and be used by nothing else until its
    /// completion was taken.
    #[inline(always)]
    pub unsafe fn push(&mut self, entry: Sqe) -> bool {
        let head = Self::load(self.sq_head, Ordering::Acquire);
        if self.tail.wrapping_sub(head) >= self.sq_entries {
            return false;
        }
        let index = (self.tail & self.sq_mask) as usize * Self::STEP;
        // SAFETY: the masked index is within the array of entries, and the kernel does not read
        // this entry before the tail passes it.
        unsafe { self.sqes.wrapping_add(index).write(entry) };
        self.tail = self.tail.wrapping_add(1);
        true
    }

    /// Submits the pushed entries. Returns how many the kernel took: fewer, or 0, if it is out of resources
    /// until completions are taken.
    pub fn submit(&mut self) -> io::Result<u32> {
        let pushed = self.tail.wrapping_sub(self.submitted);
        Self::store(self.sq_tail, self.tail);
        if self.is_polled() {
            self.submitted = self.tail;
            let wakeup = self.wakeup();
            if wakeup != 0 {
                self.call(pushed, 0, wakeup, None).or_else(unless_transient)?;
            }
            return Ok(pushed);
        }
        // With DEFER_TASKRUN, completions are only processed inside an enter that asks for them.
        let asks = self.flags & (setup::DEFER_TASKRUN | setup::IOPOLL) != 0;
        let flags = if asks { ENTER_GETEVENTS } else { 0 };
        let taken = self.call(pushed, 0, flags, None).or_else(unless_transient)?;
        self.submitted = self.submitted.wrapping_add(taken);
        Ok(taken)
    }

    /// Waits for at least `min` completions, until `timeout` or a signal. Submits nothing, because
    /// [`Uring::submit`] counts submissions.
    pub fn wait(&mut self, min: u32, timeout: Option<Duration>) -> io::Result<()> {
        let wakeup = if self.is_polled() { self.wakeup() } else { 0 };
        self.call(0, min, ENTER_GETEVENTS | wakeup, timeout).or_else(unless_transient)?;
        Ok(())
    }

    /// The flag that wakes the polling thread if it sleeps, otherwise 0.
    fn wakeup(&self) -> u32 {
        // The tail must be visible before the flag is read; otherwise the poller may miss it and sleep.
        std::sync::atomic::fence(Ordering::SeqCst);
        let sleeps = Self::load(self.sq_flags, Ordering::Relaxed) & SQ_NEED_WAKEUP != 0;
        if sleeps { ENTER_SQ_WAKEUP } else { 0 }
    }

    fn call(
        &self,
        to_submit: u32,
        min: u32,
        flags: u32,
        timeout: Option<Duration>,
    ) -> io::Result<u32> {
        let timespec = timeout.map(|t| libc::timespec {
            tv_sec: t.as_secs() as libc::time_t,
            tv_nsec: t.subsec_nanos().into(),
        });
        let argument = timespec.as_ref().filter(|_| self.has_timeouts).map(|t| GetEventsArg {
            sigmask: 0,
            sigmask_size: 0,
            min_wait_usec: 0,
            timespec: std::ptr::from_ref(t) as u64,
        });
        let (pointer, size, extra) = match &argument {
            Some(a) => (std::ptr::from_ref(a), size_of::<GetEventsArg>(), ENTER_EXT_ARG),
            None => (std::ptr::null(), 0, 0),
        };
        let (ring, registered) = self.entered_as;
        // SAFETY: `argument` and the timespec it points to live until the call returns; otherwise the
        // kernel only reads the rings.
        let result = unsafe {
            libc::syscall(
                libc::SYS_io_uring_enter,
                ring,
                to_submit,
                min,
                flags | extra | registered,
                pointer,
                size,
            )
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result as u32) }
    }

    /// Number of completions that can be taken now.
    #[inline(always)]
    pub fn ready(&self) -> u32 {
        Self::load(self.cq_tail, Ordering::Acquire)
            .wrapping_sub(Self::load(self.cq_head, Ordering::Relaxed))
    }

    /// Whether completions may wait for this thread to enter the kernel.
    #[inline(always)]
    pub fn has_deferred_work(&self) -> bool {
        // With IOPOLL, I/O completes only inside an enter that asks for it.
        self.flags & setup::IOPOLL != 0
            || Self::load(self.sq_flags, Ordering::Relaxed) & SQ_TASKRUN != 0
    }

    /// Completion `index` of those ready. An index beyond them reads a stale entry.
    #[inline(always)]
    pub fn peek(&self, index: u32) -> Cqe {
        let head = Self::load(self.cq_head, Ordering::Relaxed);
        let index = (head.wrapping_add(index) & self.cq_mask) as usize * Self::STEP;
        let slot = self.cqes.wrapping_add(index);
        // SAFETY: the masked index is within the array of completions; entries up to the tail read
        // with Acquire in `ready` are written, and the kernel leaves them until the head passes.
        unsafe { slot.read() }
    }

    /// The second half of completion `index` of those ready, which only wide rings have: the 64-bit
    /// result of an NVMe command.
    #[inline(always)]
    pub fn peek_result(&self, index: u32) -> u64 {
        if !WIDE {
            return 0;
        }
        let head = Self::load(self.cq_head, Ordering::Relaxed);
        let index = (head.wrapping_add(index) & self.cq_mask) as usize * Self::STEP + 1;
        let slot = self.cqes.wrapping_add(index).cast::<u64>();
        // SAFETY: as in `peek`; entries of wide rings have 32 bytes, of which these are the third 8.
        unsafe { slot.read() }
    }

    /// Gives `count` completions back to the kernel.
    #[inline(always)]
    pub fn advance(&mut self, count: u32) {
        Self::store(self.cq_head, Self::load(self.cq_head, Ordering::Relaxed).wrapping_add(count));
    }

    fn register(&self, what: u32, argument: *const u8, count: u32) -> io::Result<()> {
        // SAFETY: callers pass an array of `count` live elements of the kind `what` reads or writes;
        // the kernel uses it within the call only.
        let result = unsafe {
            libc::syscall(libc::SYS_io_uring_register, self.fd.as_raw_fd(), what, argument, count)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Registers buffers; their memory is pinned and counts against RLIMIT_MEMLOCK.
    ///
    /// # Safety
    /// The memory must stay mapped as long as the ring lives.
    pub unsafe fn register_buffers(&self, buffers: &[libc::iovec]) -> io::Result<()> {
        self.register(REGISTER_BUFFERS, buffers.as_ptr().cast(), buffers.len() as u32)
    }

    /// Registers the ring with the calling thread, which is then the only one that may enter it
    /// (io_uring_register_ring_fd(3)). This saves a look-up per call. Needs Linux 5.18, and at most 16
    /// rings per thread.
    pub fn register_ring(&mut self) -> io::Result<()> {
        let fd = self.fd.as_raw_fd();
        let mut update = Update { offset: ANY_INDEX, reserved: 0, data: fd as u64 };
        self.register(REGISTER_RING_FDS, (&raw mut update).cast(), 1)?;
        self.entered_as = (update.offset as RawFd, ENTER_REGISTERED_RING);
        Ok(())
    }

    /// Without this, the thread would keep the ring and its pinned memory until it ends.
    fn unregister_ring(&mut self) {
        if let (index, ENTER_REGISTERED_RING) = self.entered_as {
            let update = Update { offset: index as u32, reserved: 0, data: 0 };
            // Fails only if the ring was not registered with this thread.
            let _ = self.register(UNREGISTER_RING_FDS, (&raw const update).cast(), 1);
        }
    }

    /// Registers descriptors; -1 leaves an index empty.
    pub fn register_files(&self, files: &[RawFd]) -> io::Result<()> {
        self.register(REGISTER_FILES, files.as_ptr().cast(), files.len() as u32)
    }

    /// Changes the registered descriptor at `index`.
    pub fn update_file(&self, index: u32, fd: RawFd) -> io::Result<()> {
        let update = Update { offset: index, reserved: 0, data: (&raw const fd) as u64 };
        self.register(REGISTER_FILES_UPDATE, (&raw const update).cast(), 1)
    }
}

impl<const WIDE: bool> Drop for Uring<WIDE> {
    /// Waits for I/O in flight: closing the descriptor alone would let the kernel write into buffers that
    /// are freed next.
    fn drop(&mut self) {
        loop {
            self.advance(self.ready());
            let in_flight =
                self.submitted.wrapping_sub(Self::load(self.cq_head, Ordering::Relaxed));
            // A ring that cannot be waited on has no completions left.
            if in_flight == 0 || self.wait(1, None).is_err() {
                break;
            }
        }
        self.unregister_ring();
    }
}

impl Uring<true> {
    /// [`Uring::push`] for a command of a driver.
    ///
    /// # Safety
    /// As [`Uring::push`], for all memory that the command refers to.
    pub unsafe fn push_command(&mut self, entry: Sqe, second: SecondHalf) -> bool {
        let index = (self.tail & self.sq_mask) as usize * Self::STEP;
        // SAFETY: see the contract of this function.
        if !unsafe { self.push(entry) } {
            return false;
        }
        // SAFETY: a wide entry is as long as two entries, and `push` has found this one free; the
        // kernel does not read it before the tail is published by `submit`.
        unsafe { self.sqes.wrapping_add(index + 1).cast::<SecondHalf>().write(second) };
        true
    }
}

/// 0 for transient errors: a signal, a timeout, a lack of memory or of room for completions.
fn unless_transient(error: io::Error) -> io::Result<u32> {
    match error.raw_os_error() {
        Some(libc::EINTR | libc::ETIME | libc::EAGAIN | libc::EBUSY) => Ok(0),
        _ => Err(error),
    }
}
