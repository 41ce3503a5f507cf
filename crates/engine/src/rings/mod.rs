//! One file an I/O interface. A ring takes I/O and gives completions; it neither stamps nor counts,
//! but for what only it knows of: moments and requests below the I/O.

pub mod blocking;
pub mod chance;
pub mod cpuio;
pub mod exec;
pub mod http;
pub mod io_uring;
pub mod libaio;
pub mod mmap;
pub mod names;
pub mod net;
pub mod null;
pub mod offload;
pub mod overlap;
pub mod page_fault;
pub mod plain;
pub mod posixaio;
pub mod psync;
pub mod pvsync;
pub mod pvsync2;
pub mod space;
pub mod splice;
pub mod sync;
pub mod vsync;

#[cfg(test)]
mod tests;

use crate::clock::RunClock;
use crate::files::FileError;
use crate::ops::Op;
use crate::sys::buffers::BufferArea;
use crate::sys::files::Advice;
use offload::Helpers;
use overlap::Overlaps;
use plan::{EngineOptions, Worker};
use record::Exchange;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What became of an I/O given to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// It ended within the call: bytes moved, or a negative errno.
    Done(i64),
    /// It waits to be handed over by `submit`, or was handed over already.
    Pending,
    /// The ring has no room now: submit and reap, then give it again.
    Full,
}

/// An I/O that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The slot it was given with.
    pub slot: u32,
    /// Bytes moved, or a negative errno.
    pub result: i64,
}

/// When an I/O was issued and when it ended, in nanoseconds from the run's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// It went to the kernel.
    pub issued: u64,
    /// It was over.
    pub ended: u64,
}

/// What a ring is made from.
pub struct Setup<'a> {
    /// Whose ring it is to be.
    pub worker: &'a Worker,
    /// Most I/Os in flight.
    pub depth: u32,
    /// Slot `i`'s buffer is `buffers.slot(i)`; it stays where it is as long as the ring lives.
    pub buffers: &'a BufferArea,
    /// The engine's own options.
    pub options: &'a EngineOptions,
    /// The worker's files: path, open descriptor (-1 while closed), region end.
    pub files: &'a [RingFile],
    /// I/O priority as ioprio_set(2) takes it, 0 for none.
    pub io_priority: u16,
    /// O_DIRECT is on.
    pub direct: bool,
    /// The job writes.
    pub writes: bool,
    /// RWF_ flags of every write (RWF_ATOMIC); only for engines that pass them on.
    pub write_flags: u32,
    /// What the kernel is told of the pattern; `None`: nothing.
    pub advice: Option<Advice>,
    /// The clock of the run, for rings whose I/O has moments of its own.
    pub clock: RunClock,
    /// What the I/O of other workers may not overlap with; `None`: it may.
    pub overlaps: Option<&'a Arc<Overlaps>>,
}

/// A file as a ring sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingFile {
    /// Path, for messages.
    pub path: String,
    /// Descriptor; -1 while closed.
    pub fd: RawFd,
    /// Where the worker's region begins.
    pub start: u64,
    /// Length of the worker's region.
    pub length: u64,
}

/// When those give up that wait, outside of the loop or within an I/O, for something that may never
/// come.
#[derive(Clone, Debug, Default)]
pub struct Until {
    stop: Arc<AtomicBool>,
    called_off: Arc<AtomicBool>,
    patience: Option<Duration>,
    deadline: Option<Instant>,
}

impl Until {
    /// When `stop` is set, or at the latest once `patience` has passed from now on.
    pub fn new(stop: Arc<AtomicBool>, patience: Option<Duration>) -> Until {
        let deadline = patience.and_then(|p| Instant::now().checked_add(p));
        Until { stop, called_off: Arc::default(), patience, deadline }
    }

    /// The same for a run whose user ends it by setting `called_off`.
    pub fn or_called_off(self, called_off: Arc<AtomicBool>) -> Until {
        Until { called_off, ..self }
    }

    /// The same with its time beginning now.
    pub fn again(&self) -> Until {
        let again = Until::new(Arc::clone(&self.stop), self.patience);
        again.or_called_off(Arc::clone(&self.called_off))
    }

    /// Whether the run's user has ended it, by a signal for one: what is in flight is of no great
    /// interest any more.
    pub fn is_called_off(&self) -> bool {
        self.called_off.load(Ordering::Relaxed)
    }

    /// Whether that moment has come.
    pub fn over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.late()
    }

    /// Whether the time is up, asked to stop or not.
    pub fn late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// How long to sleep before looking again: what is left of the time, and `most` at most.
    pub fn step(&self, most: Duration) -> Duration {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        left.map_or(most, |left| left.min(most))
    }
}

/// An I/O interface.
///
/// # Contract
/// A slot is given to `queue` again only after its completion was taken. Completions taken by
/// `reap` are read with `completion(0..n)` until the next call of `queue`, `submit` or `reap`.
pub trait Ring: Sized {
    /// `queue` always answers `Done`: there is nothing to submit or to reap, and no submission
    /// latency.
    const SYNCHRONOUS: bool;

    /// Makes the ring.
    fn open(setup: &Setup<'_>) -> io::Result<Self>;

    /// What can fail before the workers of its batch start, and what others of them wait for: a
    /// socket that listens.
    ///
    /// # Errors
    /// The worker does not start.
    fn prepare(&mut self) -> Result<(), FileError> {
        Ok(())
    }

    /// The worker starts: what needs the others, and is not part of any I/O, is done now. Whoever
    /// waits, here or within an I/O, waits `until` then; an I/O given up so is answered `Full`.
    ///
    /// # Errors
    /// The worker ends before its first I/O.
    fn begin(&mut self, until: &Until) -> Result<(), FileError> {
        let _ = until;
        Ok(())
    }

    /// The loop has ended. What the user should know of what the ring alone saw.
    fn end(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The measured window begins: what the ring has counted so far does not count.
    fn window_begins(&mut self, now: u64) {
        let _ = now;
    }

    /// The loop has ended. What was asked of an object store within the window; `None`: the ring
    /// knows none.
    fn exchange(&mut self) -> Option<Exchange> {
        None
    }

    /// The same as of now, of the I/Os whose completions were read.
    fn exchange_so_far(&mut self) -> Option<Exchange> {
        None
    }

    /// Threads of the ring's own, whose cost is the worker's.
    fn helpers(&self) -> Option<Arc<Helpers>> {
        None
    }

    /// A file was opened (`fd >= 0`) or is about to be closed (-1).
    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()>;

    /// Takes one I/O on the buffer of `slot`. Interrupted system calls are retried inside.
    fn queue(&mut self, slot: u32, op: &Op) -> Queued;

    /// Hands over what is queued; how many I/Os the kernel took: fewer than are queued, or none,
    /// when it is out of resources until something completes. Nothing else hands over, so that
    /// every I/O is counted here once. Synchronous rings have nothing queued, and the three methods
    /// from here on are never called on them.
    fn submit(&mut self) -> io::Result<u32> {
        Ok(0)
    }

    /// Takes up to `max` completions, waiting for at least `min` of them, but no longer than
    /// `timeout` (`None`: as long as it takes). Returns how many there are; may be fewer than
    /// `min` after the timeout or a signal.
    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        let _ = (min, max, timeout);
        Ok(0)
    }

    /// Completion `index` of the last `reap`.
    fn completion(&self, index: u32) -> Completion {
        let _ = index;
        Completion::default()
    }

    /// The moments of completion `index` of the last `reap`; `None` where they are those of
    /// `submit` and `reap`.
    #[inline(always)]
    fn moments(&self, index: u32) -> Option<Moments> {
        let _ = index;
        None
    }
}

pub(crate) fn borrow<'a>(fd: RawFd) -> BorrowedFd<'a> {
    // SAFETY: the loop tells the ring before it closes a file (`file_changed`), so a descriptor
    // the ring has is open; the borrow does not outlive the call it is made for.
    unsafe { BorrowedFd::borrow_raw(fd) }
}
