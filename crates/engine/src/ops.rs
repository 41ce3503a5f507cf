//! What passes between the source of I/O, the loop and a ring.

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
    /// fsync(2).
    Fsync,
    /// fdatasync(2).
    Fdatasync,
    /// sync_file_range(2), with its flags, over `offset` and `length` of the operation.
    SyncFileRange(u32),
}

impl OpKind {
    /// Which way data moves; `None` for synchronisations.
    #[inline(always)]
    pub const fn direction(self) -> Option<Direction> {
        match self {
            OpKind::Read => Some(Direction::Read),
            OpKind::Write => Some(Direction::Write),
            OpKind::Trim => Some(Direction::Trim),
            OpKind::Fsync | OpKind::Fdatasync | OpKind::SyncFileRange(_) => None,
        }
    }
}

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
    /// Wait until nothing is in flight, then ask again: a barrier, or the end of a loop.
    Drain,
    /// A loop has ended (nothing is in flight any more); what `unlink_each_loop` and the like ask
    /// for is done now. Ask again.
    LoopEnd,
    /// There is nothing more to do.
    End,
}

/// Where the loop gets its I/O from. Called once an I/O, so implementations neither allocate nor
/// lock nor call the system.
pub trait Source {
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
}
