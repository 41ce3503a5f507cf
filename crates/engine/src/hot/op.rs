//! Operations, and the trait of the sources that issue them.

use crate::meter::Stamps;
use record::Direction;

/// Kind of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Data from the target.
    Read,
    /// Data to the target.
    Write,
    /// Discards a range.
    Trim,
    /// Empties the zone at `offset`: the trim of a zoned device.
    ResetZone,
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2), with its flags, over `offset` and `length` of the operation.
    SyncFileRange(u32),
    /// Reads an object's attributes, in a mix with operations that move data.
    Stat,
}

impl OpKind {
    /// Direction of the data; `None` for synchronisations and stats, which are counted alike.
    #[inline(always)]
    pub const fn direction(self) -> Option<Direction> {
        // A load is cheaper than the jump table that a match compiles to.
        const DIRECTIONS: [Option<Direction>; 8] = [
            Some(Direction::Read),
            Some(Direction::Write),
            Some(Direction::Trim),
            Some(Direction::Trim),
            None,
            None,
            None,
            None,
        ];
        DIRECTIONS[self.index()]
    }

    #[inline(always)]
    const fn index(self) -> usize {
        match self {
            OpKind::Read => 0,
            OpKind::Write => 1,
            OpKind::Trim => 2,
            OpKind::ResetZone => 3,
            OpKind::Fsync => 4,
            OpKind::Fdatasync => 5,
            OpKind::SyncFileRange(_) => 6,
            OpKind::Stat => 7,
        }
    }
}

/// Tag of I/O that no rate limit and no thinktime delays: reads that verify.
pub const UNPACED: u32 = u32::MAX;

/// One I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    pub kind: OpKind,
    /// Index of the file in the worker's list.
    pub file: u32,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// An identifier that the source chooses; 0 if it needs none.
    pub tag: u32,
}

/// The next step of a source. After every step but `Io` and `End` the source is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this I/O.
    Io(Op),
    /// Open this file.
    Open(u32),
    /// Close this file once nothing is in flight on it.
    Close(u32),
    /// Drop a range of this file from the page cache.
    Forget {
        /// Index of the file.
        file: u32,
        /// Start of the range, in bytes.
        offset: u64,
        /// Length of the range, in bytes.
        length: u64,
    },
    /// Wait until nothing is in flight: a barrier, or the end of a loop.
    Drain,
    /// No I/O can be issued before another one has ended. If nothing is in flight, a moment passes.
    Busy,
    /// A loop has ended and nothing is in flight: do what `unlink_each_loop` and the like ask for.
    LoopEnd,
    /// Nothing is in flight: write everything back and drop it from the page cache, for it is read
    /// back next.
    Settle,
    /// There is no more work.
    End,
}

/// How the queue is kept full; see `plan::Queue`.
#[derive(Clone, Copy, Debug)]
pub struct QueuePolicy {
    /// Maximum I/Os in flight.
    pub depth: u32,
    /// I/Os per submission.
    pub batch: u32,
    /// Minimum completions to wait for when the queue is full.
    pub complete_min: u32,
    /// Maximum completions per reap.
    pub complete_max: u32,
    /// A full queue is refilled when no more than this are in flight.
    pub low: u32,
    /// Request of the source, applied after its tick.
    pub request: LoopRequest,
}

#[cfg(test)]
impl QueuePolicy {
    /// Keeps so many I/Os in flight, and submits and reaps as many at a time.
    pub fn all_at_once(depth: u32) -> QueuePolicy {
        QueuePolicy {
            depth,
            batch: depth,
            complete_min: 1,
            complete_max: depth,
            low: depth,
            request: LoopRequest::None,
        }
    }
}

/// A request of a source to the loop, besides I/O.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LoopRequest {
    #[default]
    None,
    /// Restart the measured window: earlier results do not count.
    Restart,
    /// End the worker, without an error.
    End,
}

/// Issues the I/O of a worker. Methods called once per I/O must not allocate, lock or call the system.
///
/// Only the first four methods are called for every source; the loop calls the others only if
/// [`LoopSource::EXTENDED`] is set.
pub trait Source {
    /// The next I/O if it is known without further work. After `None`, call [`Source::next`].
    #[inline(always)]
    fn next_ready(&mut self) -> Option<Op> {
        None
    }

    /// The next step.
    fn next(&mut self) -> Next;

    /// Sets the direction of the next I/O of a mix, which the rates of the directions decide.
    fn steer(&mut self, direction: Direction) {
        let _ = direction;
    }

    /// An I/O ended and moved `moved` bytes: fewer than its length if the loop still issues the rest,
    /// 0 after an error. As in fio, a failed I/O counts as done; else a job whose I/O always fails
    /// would never end.
    fn completed(&mut self, op: &Op, moved: u64) {
        let _ = (op, moved);
    }

    /// Fills the buffer of a write. Returns false to leave that to the payload.
    fn fill(&mut self, op: &Op, buffer: &mut [u8]) -> bool {
        let _ = (op, buffer);
        false
    }

    /// When the I/O that `next` returned is due, in nanoseconds from the run's origin; `None` if the
    /// source keeps no times.
    fn due(&self, op: &Op) -> Option<u64> {
        let _ = op;
        None
    }

    /// The ring has accepted an I/O.
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        let _ = (op, stamps);
    }

    /// An I/O or synchronisation ended well and in full. The buffer of a read holds its data. A fault
    /// counts as an error of this I/O.
    fn ended(
        &mut self,
        op: &Op,
        buffer: &mut [u8],
        stamps: &Stamps,
        now: u64,
    ) -> Result<(), Fault> {
        let _ = (op, buffer, stamps, now);
        Ok(())
    }

    /// The worker starts; nothing was issued yet.
    fn started(&mut self, now: u64) {
        let _ = now;
    }

    /// An I/O moved only a part, or nothing. The rest is tried again or given up.
    fn short(&mut self, op: &Op, moved: u64) {
        let _ = (op, moved);
    }

    /// A part of an I/O ended well; `op` has the length of the part.
    fn part_ended(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        let _ = (op, buffer);
        Ok(())
    }

    /// An I/O moved nothing because it lies beyond the end of the file. Returns a fault if this is
    /// more than a short I/O.
    fn read_past_end(&mut self, op: &Op) -> Option<Fault> {
        let _ = op;
        None
    }

    /// The ramp is over: earlier results do not count.
    fn window_started(&mut self, now: u64) {
        let _ = now;
    }

    /// Called at the requested time or earlier, first before the first I/O. May change the queue
    /// policy. Returns the next requested time, from the run's origin. A fault ends the worker.
    fn tick(&mut self, policy: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        let _ = (policy, now);
        Ok(u64::MAX)
    }

    /// The loop has ended. Returns true if there is work that the end of the runtime does not cancel,
    /// such as reading back: the loop is then entered again.
    fn resumes_after_end(&mut self) -> bool {
        false
    }
}

/// A source that a loop is compiled for.
pub trait LoopSource: Source {
    /// Whether the loop calls the methods that only some workers need.
    const EXTENDED: bool = false;
}

/// A fault that a source or observer found in an I/O that the kernel reported as successful.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The errno it counts as: EILSEQ for wrong content, ETIMEDOUT for an I/O that took too long.
    pub errno: i32,
    /// Operation of the error count: "verify", "latency".
    pub operation: &'static str,
    /// Message for the user: what was expected and what was found.
    pub text: String,
    /// Whether it ends the worker.
    pub ends: bool,
}
