//! readv, writev: adjacent I/Os that are queued together become one call.

use super::blocking::maintain;
use super::{Completion, Queued, Ring, RingSetup};
use crate::hot::op::{Op, OpKind};
use crate::sys::buffers::Slots;
use crate::sys::io as calls;
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// The `vsync` engine.
///
/// I/Os form a batch while each begins where the one before ends, in the same file and direction.
/// Any other I/O waits until the batch has ended. The `reap` after a `submit` does the transfer and
/// returns all its completions, so the timestamps after `submit` and after `reap` enclose only the
/// transfer.
pub struct Vsync {
    slots: Slots,
    files: Vec<RawFd>,
    room: usize,
    /// The range of the queued I/Os.
    batch: Option<Batch>,
    queued: Vec<(u32, u64)>,
    /// How many of `queued` were submitted (all or none).
    submitted: usize,
    vectors: Vec<libc::iovec>,
    done: Vec<Completion>,
    /// How many of `done` were returned by `reap`.
    taken: usize,
    /// First completion of the last `reap`.
    window: usize,
}

#[derive(Clone, Copy)]
struct Batch {
    file: u32,
    kind: OpKind,
    start: u64,
    end: u64,
}

/// UIO_MAXIOV: vectors per call.
const VECTORS_MAX: usize = 1024;

// SAFETY: the vectors are rebuilt from the slots at every submission; nothing points into a thread.
unsafe impl Send for Vsync {}

impl Ring for Vsync {
    const SYNCHRONOUS: bool = false;

    fn open(setup: &RingSetup<'_>) -> io::Result<Self> {
        let room = (setup.depth as usize).clamp(1, VECTORS_MAX);
        Ok(Vsync {
            slots: setup.buffers.slots(),
            files: setup.fds(),
            room,
            batch: None,
            queued: Vec::with_capacity(room),
            submitted: 0,
            vectors: Vec::with_capacity(room),
            done: Vec::with_capacity(setup.depth as usize),
            taken: 0,
            window: 0,
        })
    }

    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        self.files[file as usize] = fd;
        Ok(())
    }

    fn queue(&mut self, slot: u32, op: &Op) -> Queued {
        if !matches!(op.kind, OpKind::Read | OpKind::Write) {
            return match self.batch {
                Some(_) => Queued::Full,
                None => Queued::Done(maintain(self.files[op.file as usize], *op)),
            };
        }
        let end = op.offset + op.length;
        match &mut self.batch {
            None => {
                self.batch = Some(Batch { file: op.file, kind: op.kind, start: op.offset, end });
            }
            Some(batch) => {
                let adjacent =
                    batch.file == op.file && batch.kind == op.kind && batch.end == op.offset;
                if !adjacent || self.queued.len() == self.room || self.submitted > 0 {
                    return Queued::Full;
                }
                batch.end = end;
            }
        }
        self.queued.push((slot, op.length));
        Queued::Pending
    }

    fn submit(&mut self) -> io::Result<u32> {
        let count = self.queued.len() - self.submitted;
        self.submitted = self.queued.len();
        Ok(count as u32)
    }

    fn reap(&mut self, _min: u32, max: u32, _timeout: Option<Duration>) -> io::Result<u32> {
        if self.taken == self.done.len() {
            self.done.clear();
            self.taken = 0;
            if self.submitted > 0 {
                self.transfer();
            }
        }
        let count = (self.done.len() - self.taken).min(max as usize);
        self.window = self.taken;
        self.taken += count;
        Ok(count as u32)
    }

    fn completion(&self, index: u32) -> Completion {
        self.done[self.window + index as usize]
    }
}

impl Vsync {
    /// Transfers everything that was submitted.
    fn transfer(&mut self) {
        let Some(batch) = self.batch.take() else { return };
        self.submitted = 0;
        self.vectors.clear();
        self.vectors.extend(self.queued.iter().map(|&(slot, length)| libc::iovec {
            iov_base: self.slots.slot(slot).cast(),
            iov_len: length as usize,
        }));
        let fd = self.files[batch.file as usize];
        // SAFETY: every vector is a slot's buffer, as long as the I/O at least, which belongs to
        // that I/O until it is done (contract of `Ring`).
        let (moved, error) = unsafe { transfer_all(fd, &batch, &mut self.vectors) };
        let mut rest = moved;
        for (slot, length) in self.queued.drain(..) {
            let own = rest.min(length);
            rest -= own;
            let result = if own < length && error < 0 { error } else { own as i64 };
            self.done.push(Completion { slot, result });
        }
    }
}

/// Transfers until the end of the batch, the end of the file or an error. Returns bytes moved and the
/// error.
///
/// # Safety
/// As [`calls::preadv`].
unsafe fn transfer_all(fd: RawFd, batch: &Batch, vectors: &mut [libc::iovec]) -> (u64, i64) {
    let total = batch.end - batch.start;
    let at = calls::seek(fd, batch.start);
    if at < 0 {
        return (0, at);
    }
    let mut moved = 0;
    let mut rest = vectors;
    loop {
        // SAFETY: see this function's contract.
        let answer = unsafe {
            match batch.kind {
                OpKind::Read => calls::readv(fd, rest),
                _ => calls::writev(fd, rest),
            }
        };
        if answer < 0 {
            return (moved, answer);
        }
        moved += answer as u64;
        if answer == 0 || moved >= total {
            return (moved, 0);
        }
        rest = skip(rest, answer as usize);
    }
}

/// `vectors` without their first `count` bytes.
fn skip(vectors: &mut [libc::iovec], mut count: usize) -> &mut [libc::iovec] {
    let mut whole = 0;
    while whole < vectors.len() && count >= vectors[whole].iov_len {
        count -= vectors[whole].iov_len;
        whole += 1;
    }
    let rest = &mut vectors[whole..];
    if let Some(first) = rest.first_mut() {
        first.iov_base = first.iov_base.cast::<u8>().wrapping_add(count).cast();
        first.iov_len -= count;
    }
    rest
}
