//! What passes between the source of I/O, the loop and a ring.

use crate::meter::Stamps;
use crate::steps::Policy;
use record::Direction;

/// What an I/O does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Data from the target.
    Read,
    /// Data to the target.
    Write,
    /// The target forgets a range.
    Trim,
    /// The zone at `offset` is made empty: the trim of a zoned device.
    ResetZone,
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2), with its flags, over `offset` and `length` of the operation.
    SyncFileRange(u32),
    /// An object's attributes are asked for, among I/O that moves data.
    Stat,
}

impl OpKind {
    /// Which way data moves; `None` for synchronisations and stats, which count alike.
    #[inline(always)]
    pub const fn direction(self) -> Option<Direction> {
        // A load costs less than the jump through a table that a match on the directions becomes.
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

/// Tag of I/O that no rate and no pause holds back: reads that check what was written.
pub const UNPACED: u32 = u32::MAX;

/// One I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// Index of the file in the worker's list.
    pub file: u32,
    /// Where, in bytes from the file's beginning.
    pub offset: u64,
    /// How much, in bytes.
    pub length: u64,
    /// What its source knows it by; 0 where the source needs to know nothing.
    pub tag: u32,
}

/// What a source wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Issue this.
    Io(Op),
    /// Open this file, then ask again.
    Open(u32),
    /// Close this file once nothing is in flight on it, then ask again.
    Close(u32),
    /// The page cache drops what it has of a range of this file, then ask again.
    Forget {
        /// Which file.
        file: u32,
        /// Where the range begins, in bytes.
        offset: u64,
        /// How long it is, in bytes.
        length: u64,
    },
    /// Wait until nothing is in flight, then ask again: a barrier, or the end of a loop.
    Drain,
    /// Nothing can be issued before something else has ended: take what has, or let a moment pass
    /// when nothing is in flight, then ask again.
    Busy,
    /// A loop has ended (nothing is in flight any more); what `unlink_each_loop` and the like ask
    /// for is done now. Ask again.
    LoopEnd,
    /// What was written goes to the target and leaves the page cache, for it is read back now
    /// (nothing is in flight any more). Ask again.
    Settle,
    /// There is nothing more to do.
    End,
}

/// Where the loop gets its I/O from. Called once an I/O, so implementations neither allocate nor
/// lock nor call the system.
pub trait Source {
    /// The next I/O, where nothing has to be looked at to know it; `None`: ask [`Source::next`],
    /// which gives the same.
    #[inline(always)]
    fn at_hand(&mut self) -> Option<Op> {
        None
    }

    /// The next step.
    fn next(&mut self) -> Next;

    /// The next I/O is to go this way, whatever the mix would have drawn: the rates of the
    /// directions decide. Only for mixes of reads and writes.
    fn steer(&mut self, direction: Direction) {
        let _ = direction;
    }

    /// Tells that an I/O ended and how many bytes it moved: fewer than asked when the loop still has
    /// the rest to do, none after an error. A failed I/O counts as done, as with fio: a job whose
    /// I/O always fails would never end otherwise.
    fn completed(&mut self, op: &Op, moved: u64);

    /// Whether the methods below are called. Those are for what only some workers need; the loops of
    /// all others are compiled without them.
    const EXTENDED: bool = false;

    /// Gives a write its content; false leaves that to the payload.
    #[inline(always)]
    fn fill(&mut self, op: &Op, buffer: &mut [u8]) -> bool {
        let _ = (op, buffer);
        false
    }

    /// When the I/O that `next` gave was to be issued, in nanoseconds from the run's origin; `None`
    /// where the source knows of no such moment.
    #[inline(always)]
    fn intended(&self, op: &Op) -> Option<u64> {
        let _ = op;
        None
    }

    /// An I/O is handed to the ring.
    #[inline(always)]
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        let _ = (op, stamps);
    }

    /// An I/O ended well and as a whole, or a synchronisation did; for a read `buffer` holds what it
    /// brought.
    ///
    /// # Errors
    /// What is wrong with it: it counts as an error of this I/O.
    #[inline(always)]
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

    /// The worker begins: nothing was issued yet.
    fn begins(&mut self, now: u64) {
        let _ = now;
    }

    /// An I/O moved only a part, or nothing; what is left is tried again or given up.
    fn fell_short(&mut self, op: &Op, moved: u64) {
        let _ = (op, moved);
    }

    /// A part of an I/O was done, its rest is tried again: `op` has the length of the part.
    ///
    /// # Errors
    /// What is wrong with it.
    fn part(&mut self, op: &Op, buffer: &mut [u8]) -> Result<(), Fault> {
        let _ = (op, buffer);
        Ok(())
    }

    /// An I/O moved nothing, for the file ends before its place. What this means, where it is more
    /// than that.
    fn beyond_end(&mut self, op: &Op) -> Option<Fault> {
        let _ = op;
        None
    }

    /// The ramp is over: what was seen before does not count.
    fn window_begins(&mut self, now: u64) {
        let _ = now;
    }

    /// The moment it asked for has come, or another one. May change how the queue is kept full.
    /// Returns when it wants to be called again, from the run's origin.
    ///
    /// # Errors
    /// Why the worker is to end.
    fn tick(&mut self, policy: &mut Policy, now: u64) -> Result<u64, Fault> {
        let _ = (policy, now);
        Ok(u64::MAX)
    }

    /// Time is up, or there was nothing more to do. Whether there is still work that time does not
    /// end, such as reading back what was written: the loop is entered once more for it.
    fn goes_on(&mut self) -> bool {
        false
    }
}

/// What a source found wrong with an I/O that the kernel called good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The number it counts as: EILSEQ for content that is not what was written, ETIMEDOUT for an
    /// I/O that took too long.
    pub errno: i32,
    /// What was being done, as error counts name it ("verify", "latency").
    pub operation: &'static str,
    /// What was expected and what was found, as a sentence for the user.
    pub text: String,
    /// Whether the worker ends with it, rather than only having it counted against it.
    pub ends: bool,
}
