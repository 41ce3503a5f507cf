//! Recorded I/O: fio's iologs (text, versions 2 and 3) and the kernel's block traces (binary, both
//! byte orders), read, written and merged. Pure: bytes come from any reader, nothing is opened here.
//!
//! A [`Reader`] gives one [`Event`] after the other and says in which line or at which byte a log is
//! wrong. [`Recording`] is what a whole log amounts to.

mod adjust;
mod blktrace;
mod copying;
mod error;
mod event;
mod iolog;
mod lines;
mod merge;
mod reader;
mod recording;

pub use adjust::{Adjust, Skip};
pub use copying::{Copied, CopyEnd, Copying, Opened};
pub use error::TraceError;
pub use event::{Event, Kind, Name};
pub use iolog::{HEADER, write_action, write_file_action};
pub use merge::{Source, merge};
pub use reader::{Format, Reader};
pub use recording::{FileUse, Held, Locate, Recording, Stream};
