//! The events of a log.

use record::Direction;

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// A trim.
    Trim,
    /// fsync(2).
    Sync,
    /// fdatasync(2).
    Datasync,
    /// The file is opened.
    Open,
    /// The file is closed.
    Close,
    /// A range is dropped from the page cache (posix_fadvise(2), POSIX_FADV_DONTNEED). Logs cannot
    /// contain it; only recordings made in memory have it.
    Forget,
}

impl Kind {
    /// The direction of data; `None` if no data moves.
    pub const fn direction(self) -> Option<Direction> {
        match self {
            Kind::Read => Some(Direction::Read),
            Kind::Write => Some(Direction::Write),
            Kind::Trim => Some(Direction::Trim),
            Kind::Sync | Kind::Datasync | Kind::Open | Kind::Close | Kind::Forget => None,
        }
    }
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Time in nanoseconds from the start of the log.
    pub at: u64,
    /// Offset in bytes.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
    /// Index of the file among those named so far.
    pub file: u32,
    /// Its kind.
    pub kind: Kind,
}

/// The name of a file in a log.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// A path.
    Path(String),
    /// The number of a block device.
    Device {
        /// Its driver.
        major: u32,
        /// Its number within the driver.
        minor: u32,
    },
}
