//! io_uring with a single issuer, deferred task work, and registered files and buffers, as far as
//! the kernel and the limits allow. All choices are made when the ring is opened.

use super::blocking::maintain;
use super::priority::IoPriorities;
use super::{Completion, Queued, Ring, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::uring::{Sqe, Uring, setup, sqe};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// RWF_DSYNC, RWF_NOWAIT and RWF_DONTCACHE of preadv2(2).
const RWF_DSYNC: u32 = 0x2;
const RWF_NOWAIT: u32 = 0x8;
const RWF_DONTCACHE: u32 = 0x80;
/// IORING_MAX_REG_BUFFERS.
const REGISTERED_BUFFERS_MAX: usize = 1 << 14;
/// Maximum bytes per call (MAX_RW_COUNT); a larger I/O ends short, as with read(2).
const TRANSFER_MAX: u64 = 0x7fff_f000;

/// How an entry refers to its buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BufferForm {
    /// As a registered buffer.
    Fixed,
    /// By address.
    Address,
    /// As a vector of one element (`nonvectored=0`).
    Vectored,
}

/// The ring.
pub struct IoUring {
    /// `None` if all I/Os have the same priority.
    priorities: Option<IoPriorities>,
    ring: Uring,
    /// Must not move: vectored entries point into it.
    vectors: Box<[libc::iovec]>,
    fds: Box<[RawFd]>,
    files_registered: bool,
    form: BufferForm,
    op_flags: u32,
    write_flags: u32,
    io_priority: u16,
    /// Each such I/O goes to a kernel worker; 0: none.
    force_async: u64,
    issued: u64,
    taken: u32,
}

/// Kernel features that the ring uses unless the job says otherwise. An older kernel or a limit may
/// refuse each of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Features {
    /// How many of the best flag sets are skipped.
    pub skip_flag_sets: usize,
    /// The ring is registered with its thread.
    pub ring: bool,
    /// Files are registered.
    pub files: bool,
    /// Buffers are registered.
    pub buffers: bool,
}

impl Features {
    /// All features.
    pub const ALL: Features =
        Features { skip_flag_sets: 0, ring: true, files: true, buffers: true };
}

/// Flag sets from the best to the one that every kernel has. The first that the kernel takes is used.
fn flag_sets(base: u32) -> [u32; 4] {
    // IOPOLL reaps inside io_uring_enter, and SQPOLL submits from another task: neither can defer.
    let deferred = match base & (setup::IOPOLL | setup::SQPOLL) {
        0 => setup::SINGLE_ISSUER | setup::DEFER_TASKRUN | setup::TASKRUN_FLAG,
        setup::IOPOLL => setup::SINGLE_ISSUER,
        _ => 0,
    };
    let cooperative = if base & setup::SQPOLL == 0 { setup::COOP_TASKRUN } else { 0 };
    [base | deferred | setup::NO_SQARRAY, base | deferred, base | cooperative, base]
}

pub(super) fn open_ring<const WIDE: bool>(
    setup: &RingSetup<'_>,
    features: Features,
) -> io::Result<Uring<WIDE>> {
    let options = setup.options;
    let mut base = 0;
    if options.hipri {
        base |= setup::IOPOLL;
    }
    if options.sqthread_poll {
        base |= setup::SQPOLL;
        if options.sqthread_poll_cpu.is_some() {
            base |= setup::SQ_AFF;
        }
    }
    let cpu = options.sqthread_poll_cpu.unwrap_or(0) as u32;
    let mut last = io::Error::from_raw_os_error(libc::ENOSYS);
    for flags in flag_sets(base).into_iter().skip(features.skip_flag_sets) {
        match Uring::new(setup.depth, flags, cpu) {
            Ok(mut ring) => {
                // Saves a look-up per call. Without it, the descriptor is used.
                let _ = features.ring.then(|| ring.register_ring());
                return Ok(ring);
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

impl IoUring {
    /// Makes the ring with the features that the kernel allows. Fails if there is no io_uring, or if
    /// the kernel refuses what the job asks for by name.
    pub(super) fn with(setup: &RingSetup<'_>, features: Features) -> io::Result<Self> {
        let ring = open_ring(setup, features)?;
        let options = setup.options;
        let vectors: Box<[libc::iovec]> = setup.buffers.iovecs().into();
        let mut form = if options.nonvectored == Some(false) {
            BufferForm::Vectored
        } else {
            BufferForm::Address
        };
        let registers = features.buffers || options.fixedbufs;
        if form == BufferForm::Address && registers && vectors.len() <= REGISTERED_BUFFERS_MAX {
            // SAFETY: the worker keeps its BufferArea until after it drops the ring.
            match unsafe { ring.register_buffers(&vectors) } {
                Ok(()) => form = BufferForm::Fixed,
                // RLIMIT_MEMLOCK forbids pinning: use addresses, unless the job asks for registered
                // buffers.
                Err(error) if options.fixedbufs => return Err(error),
                Err(_) => {}
            }
        }
        let fds: Box<[RawFd]> = setup.fds();
        let registers = features.files || options.registerfiles;
        let files_registered = registers
            && match ring.register_files(&fds) {
                Ok(()) => true,
                Err(error) if options.registerfiles => return Err(error),
                Err(_) => false,
            };
        let mut op_flags = 0;
        if options.nowait {
            op_flags |= RWF_NOWAIT;
        }
        if options.uncached {
            op_flags |= RWF_DONTCACHE;
        }
        let priorities = IoPriorities::new(options, setup.io.io_priority);
        Ok(IoUring {
            priorities: priorities.differ().then_some(priorities),
            ring,
            vectors,
            fds,
            files_registered,
            form,
            op_flags,
            write_flags: setup.io.write_flags | if options.writefua { RWF_DSYNC } else { 0 },
            io_priority: setup.io.io_priority,
            force_async: options.force_async.unwrap_or(0),
            issued: 0,
            taken: 0,
        })
    }

    #[inline(always)]
    fn entry(&mut self, slot: u32, op: &Op) -> Sqe {
        let (fd, file_flag) = if self.files_registered {
            (op.file as i32, sqe::FIXED_FILE)
        } else {
            (self.fds[op.file as usize], 0)
        };
        let mut entry = Sqe {
            flags: file_flag,
            fd,
            offset: op.offset,
            user_data: u64::from(slot),
            ..Sqe::default()
        };
        match op.kind {
            OpKind::Read => {
                self.data(&mut entry, slot, op, [sqe::READ_FIXED, sqe::READ, sqe::READV])
            }
            OpKind::Write => {
                self.data(&mut entry, slot, op, [sqe::WRITE_FIXED, sqe::WRITE, sqe::WRITEV]);
                entry.op_flags |= self.write_flags;
            }
            OpKind::Fsync => (entry.opcode, entry.offset) = (sqe::FSYNC, 0),
            OpKind::Fdatasync => {
                (entry.opcode, entry.offset) = (sqe::FSYNC, 0);
                entry.op_flags = sqe::FSYNC_DATASYNC;
            }
            OpKind::SyncFileRange(flags) => {
                entry.opcode = sqe::SYNC_FILE_RANGE;
                entry.length = u32::try_from(op.length).unwrap_or(u32::MAX);
                entry.op_flags = flags;
            }
            // Trims end inside `queue`; this engine has no stats.
            OpKind::Trim | OpKind::ResetZone | OpKind::Stat => {}
        }
        if let Some(priorities) = &mut self.priorities
            && matches!(op.kind, OpKind::Read | OpKind::Write)
        {
            entry.ioprio = priorities.next(op.kind, op.length);
        }
        entry
    }

    #[inline(always)]
    fn data(&mut self, entry: &mut Sqe, slot: u32, op: &Op, opcodes: [u8; 3]) {
        let vector = &mut self.vectors[slot as usize];
        entry.ioprio = self.io_priority;
        entry.op_flags = self.op_flags;
        entry.address = vector.iov_base as u64;
        entry.length = op.length.min(TRANSFER_MAX) as u32;
        match self.form {
            BufferForm::Fixed => {
                entry.opcode = opcodes[0];
                entry.buffer_index = slot as u16;
            }
            BufferForm::Address => entry.opcode = opcodes[1],
            BufferForm::Vectored => {
                entry.opcode = opcodes[2];
                vector.iov_len = op.length as usize;
                entry.address = std::ptr::from_ref(vector) as u64;
                entry.length = 1;
            }
        }
        self.issued += 1;
        if self.force_async != 0 && self.issued.is_multiple_of(self.force_async) {
            entry.flags |= sqe::ASYNC;
        }
    }
}

impl Ring for IoUring {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        IoUring::with(setup, Features::ALL)
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.fds[file as usize] = fd;
        if self.files_registered { self.ring.update_file(file, fd) } else { Ok(()) }
    }

    #[inline(always)]
    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        if matches!(op.kind, OpKind::Trim | OpKind::ResetZone) {
            return Queued::Done(maintain(self.fds[op.file as usize], *op));
        }
        let entry = self.entry(slot, op);
        // SAFETY: only this I/O uses the slot's buffer and vector until its completion was taken
        // (contract of `Ring`).
        if unsafe { self.ring.push(entry) } { Queued::Pending } else { Queued::Full }
    }

    #[inline]
    fn submit(&mut self) -> io::Result<u32> {
        self.ring.advance(std::mem::take(&mut self.taken));
        self.ring.submit()
    }

    #[inline]
    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        self.ring.advance(std::mem::take(&mut self.taken));
        let mut ready = self.ring.ready();
        if ready < min.max(1) && (min > 0 || self.ring.has_deferred_work()) {
            self.ring.wait(min, timeout)?;
            ready = self.ring.ready();
        }
        self.taken = ready.min(max);
        Ok(self.taken)
    }

    #[inline(always)]
    fn completion(&self, index: u32) -> Completion {
        let entry = self.ring.peek(index);
        Completion { slot: entry.user_data as u32, result: entry.result.into() }
    }
}
