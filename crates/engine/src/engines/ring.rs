//! The contract of a ring. A ring takes I/O and returns completions. It neither takes timestamps nor
//! counts, except where only the ring can see the event.

use super::helpers::HelperThreads;
use super::overlap::OverlapQueue;
use crate::clock::RunClock;
use crate::files::FileError;
use crate::hot::op::Op;
use crate::sys::buffers::BufferArea;
use crate::sys::files::Advice;
use plan::{EngineOptions, Worker};
use record::Exchange;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The answer of [`Ring::queue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queued {
    /// The I/O ended within the call: bytes moved, or a negative errno.
    Done(i64),
    /// The I/O waits for `submit`, or was submitted already.
    Pending,
    /// The ring has no room now: submit and reap, then queue the I/O again.
    Full,
}

/// An I/O that ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The slot it was queued with.
    pub slot: u32,
    /// Bytes moved, or a negative errno.
    pub result: i64,
}

/// When an I/O was issued and when it ended, in nanoseconds from the run's origin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IoTimes {
    /// Handed to the kernel.
    pub issued: u64,
    /// Ended.
    pub ended: u64,
}

/// The parameters of a new ring.
#[derive(Clone, Copy)]
pub struct RingSetup<'a> {
    /// The worker that will use the ring.
    pub worker: &'a Worker,
    /// Maximum number of I/Os in flight.
    pub depth: u32,
    /// Slot `i` uses `buffers.slot(i)`, which does not move while the ring lives.
    pub buffers: &'a BufferArea,
    /// Engine options.
    pub options: &'a EngineOptions,
    /// The worker's files.
    pub files: &'a [RingFile],
    /// How each I/O is done.
    pub io: IoSettings,
    /// Serialises overlapping I/O of several workers; `None`: overlaps are allowed.
    pub overlaps: Option<&'a Arc<OverlapQueue>>,
}

impl RingSetup<'_> {
    /// The descriptors of the worker's files.
    pub fn fds<C: FromIterator<RawFd>>(&self) -> C {
        self.files.iter().map(|file| file.fd).collect()
    }
}

/// How a worker's I/O is done.
#[derive(Clone, Copy)]
pub struct IoSettings {
    /// I/O priority as ioprio_set(2) takes it, 0 for none.
    pub io_priority: u16,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
    /// The job writes.
    pub writes: bool,
    /// RWF_ flags of every write (RWF_ATOMIC); only for engines that pass them on.
    pub write_flags: u32,
    /// Advice to the kernel about the access pattern.
    pub advice: Option<Advice>,
    /// The clock of the run, for rings that take their own timestamps.
    pub clock: RunClock,
}

impl IoSettings {
    /// Direct reads and writes without flags, priority or advice.
    pub fn direct(clock: RunClock) -> IoSettings {
        let (direct, writes) = (true, true);
        IoSettings { io_priority: 0, direct, writes, write_flags: 0, advice: None, clock }
    }
}

/// A file as a ring sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingFile {
    /// Path, for messages.
    pub path: String,
    /// Descriptor; -1 while closed.
    pub fd: RawFd,
    /// Where the worker's region begins, in bytes.
    pub start: u64,
    /// Length of the worker's region, in bytes.
    pub length: u64,
}

/// When to give up waiting for an event that may never come, such as a connection.
#[derive(Clone, Debug, Default)]
pub struct WaitLimit {
    stop: Arc<AtomicBool>,
    interrupted: Arc<AtomicBool>,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
}

impl WaitLimit {
    /// Reached when `stop` is set, or `timeout` from now.
    pub fn new(stop: Arc<AtomicBool>, timeout: Option<Duration>) -> WaitLimit {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        WaitLimit { stop, interrupted: Arc::default(), timeout, deadline }
    }

    /// The same limit with a flag that is set when the user interrupts the run.
    pub fn with_interrupt(self, interrupted: Arc<AtomicBool>) -> WaitLimit {
        WaitLimit { interrupted, ..self }
    }

    /// The same limit with its timeout counted from now.
    pub fn restarted(&self) -> WaitLimit {
        let restarted = WaitLimit::new(Arc::clone(&self.stop), self.timeout);
        restarted.with_interrupt(Arc::clone(&self.interrupted))
    }

    /// Whether the user has interrupted the run: I/O in flight may be abandoned.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Whether to stop waiting.
    pub fn is_reached(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.has_timed_out()
    }

    /// Whether the timeout has passed.
    pub fn has_timed_out(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// How long to wait before the next check: the remaining time, at most `max`.
    pub fn next_wait(&self, max: Duration) -> Duration {
        let left = self.deadline.map(|d| d.saturating_duration_since(Instant::now()));
        left.map_or(max, |left| left.min(max))
    }

    /// Sleeps until `end` (`None`: forever), but not beyond the limit; false if the limit was reached.
    pub fn sleep_until(&self, end: Option<Instant>) -> bool {
        const CHECK_INTERVAL: Duration = Duration::from_millis(50);
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return true;
            }
            if self.is_reached() {
                return false;
            }
            let max = left.map_or(CHECK_INTERVAL, |left| left.min(CHECK_INTERVAL));
            std::thread::sleep(self.next_wait(max));
        }
    }
}

/// An I/O interface.
///
/// # Contract
/// A slot is queued again only after its completion was taken. `completion(0..n)` returns the
/// completions of the last `reap` until the next call of `queue`, `submit` or `reap`.
pub trait Ring: Sized {
    /// `queue` always returns `Done`: there is nothing to submit or to reap, and no submission
    /// latency.
    const SYNCHRONOUS: bool;

    /// Makes the ring.
    fn open(setup: &RingSetup<'_>) -> io::Result<Self>;

    /// Does what can fail, or what other workers wait for (a listening socket), before the workers
    /// of the batch start. After an error the worker does not start.
    fn prepare(&mut self) -> Result<(), FileError> {
        Ok(())
    }

    /// The worker starts: does what needs the other workers and is not part of an I/O, such as
    /// connecting. All waiting, here or within an I/O, ends at `limit`; an I/O abandoned there is
    /// answered with `Full`. After an error the worker ends before its first I/O.
    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        let _ = limit;
        Ok(())
    }

    /// The loop has ended. Returns messages about what only the ring saw.
    fn end(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// The measured window begins: the ring resets its own counters.
    fn window_begins(&mut self, now: u64) {
        let _ = now;
    }

    /// The loop has ended. Requests to an object store within the window; `None` for other rings.
    fn exchange(&mut self) -> Option<Exchange> {
        None
    }

    /// [`Ring::exchange`] so far, for the I/Os whose completions were read.
    fn exchange_so_far(&mut self) -> Option<Exchange> {
        None
    }

    /// Threads that the ring started.
    fn helpers(&self) -> Option<Arc<HelperThreads>> {
        None
    }

    /// A file was opened (`fd >= 0`) or is about to be closed (-1).
    fn file_changed(&mut self, file: u32, fd: RawFd) -> io::Result<()> {
        let _ = (file, fd);
        Ok(())
    }

    /// Takes one I/O on the buffer of `slot`. Retries interrupted system calls.
    fn queue(&mut self, slot: u32, op: &Op) -> Queued;

    /// Submits what is queued. Returns how many I/Os the kernel took: fewer than queued, or 0, if
    /// it is out of resources until something completes. Only `submit` submits, so that every I/O
    /// is counted here once. This method and the next three are never called on synchronous rings.
    fn submit(&mut self) -> io::Result<u32> {
        Ok(0)
    }

    /// Takes up to `max` completions. Waits for at least `min` of them, at most for `timeout`
    /// (`None`: without limit). Returns how many there are, which may be fewer than `min` after
    /// the timeout or a signal.
    fn reap(&mut self, min: u32, max: u32, timeout: Option<Duration>) -> io::Result<u32> {
        let _ = (min, max, timeout);
        Ok(0)
    }

    /// Completion `index` of the last `reap`.
    fn completion(&self, index: u32) -> Completion {
        let _ = index;
        Completion::default()
    }

    /// The times of completion `index` of the last `reap`; `None` if they are the times of `submit`
    /// and `reap`.
    #[inline(always)]
    fn io_times(&self, index: u32) -> Option<IoTimes> {
        let _ = index;
        None
    }
}

pub(crate) fn borrow<'a>(fd: RawFd) -> BorrowedFd<'a> {
    // SAFETY: the loop calls `file_changed` before it closes a file, so a descriptor the ring has
    // is open; the borrow does not outlive the call it is made for.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// The negative errno of an error, as completions carry it.
pub(crate) fn negative_errno(error: &io::Error) -> i64 {
    -i64::from(error.raw_os_error().unwrap_or(libc::EIO))
}

/// Bytes moved, or the negative errno.
pub(crate) fn result(moved: rustix::io::Result<u64>) -> i64 {
    moved.map_or_else(|error| -i64::from(error.raw_os_error()), |moved| moved as i64)
}
