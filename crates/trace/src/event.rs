//! What a log says was done.

use record::Direction;

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Data from the file.
    Read,
    /// Data to the file.
    Write,
    /// The file forgets a range.
    Trim,
    /// fsync(2).
    Sync,
    /// fdatasync(2).
    Datasync,
    /// The file is opened.
    Open,
    /// The file is closed.
    Close,
    /// The page cache drops what it has of a range (posix_fadvise(2), POSIX_FADV_DONTNEED). No log
    /// lists it; only recordings made in memory have it.
    Forget,
}

impl Kind {
    /// Which way data moves; `None` for what moves none.
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Kind::Read => Some(Direction::Read),
            Kind::Write => Some(Direction::Write),
            Kind::Trim => Some(Direction::Trim),
            Kind::Sync | Kind::Datasync | Kind::Open | Kind::Close | Kind::Forget => None,
        }
    }
}

/// One thing that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in nanoseconds from the log's beginning.
    pub at: u64,
    /// Where, in bytes from the file's beginning.
    pub offset: u64,
    /// How much, in bytes.
    pub length: u64,
    /// Which file, by its place among those named before.
    pub file: u32,
    /// What.
    pub kind: Kind,
}

/// What a log calls a file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// A path.
    Path(String),
    /// The number of a block device.
    Device {
        /// Its driver.
        major: u32,
        /// Which of the driver's.
        minor: u32,
    },
}
