//! Recorded I/O: reads, writes and merges fio's iologs (text, versions 2 and 3) and the kernel's
//! block traces (binary, both byte orders). Nothing is opened here; bytes come from any reader.
//!
//! A [`Reader`] returns one [`Event`] after the other, and reports the line or byte of an error. A
//! [`Recording`] sums up a whole log.

mod adjust;
mod blktrace;
mod copying;
mod drawn;
mod drawn_recording;
mod error;
mod event;
pub mod ftr;
mod iolog;
mod lines;
mod merge;
mod reader;
mod recording;

pub use adjust::{Adjust, Skip};
pub use copying::{Copied, CopyEnd, Copying, Opened};
pub use drawn::{
    Drawing, Drawn, DrawnFiles, DrawnOperation, DrawnStep, DrawnThreads, MODEL_HEADER,
};
pub use error::TraceError;
pub use event::{Event, Kind, Name};
pub use iolog::{HEADER, write_action, write_file_action};
pub use merge::{Source, merge};
pub use reader::{Format, Reader};
pub use recording::{FileUse, Held, Locate, Recording, Stream};
