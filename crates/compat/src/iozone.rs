//! IOzone: files of several sizes, in records of several sizes, under a dozen kinds of access.
//!
//! Written from its manual and from what it prints. What it measures is a grid: a row for each pair of
//! file size and record size, a column for each operation. Here each of these is a run of one job (or
//! of one job a process, in throughput mode), and its cell says besides whether the page cache
//! answered or storage did.

mod command;
mod conclusion;
mod flags;
mod grid;
mod json;
mod live;
mod operation;
mod parse;
mod runs;
mod source;
mod table;
mod terminology;
mod text;
mod throughput;
mod value;
mod workbook;

pub use command::{Access, IoCalls, IozoneCommand, Mode, Own, Range, Show, Sync, Together, Unit};
pub use conclusion::{Conclusion, Figure, Process, conclude};
pub use flags::help;
pub use json::json;
pub use live::Live;
pub use operation::Operation;
pub use parse::{Request, parse};
pub use runs::{Iozone, RunContext};
pub use source::Source;
pub(crate) use source::source_of;
pub use table::Sheet;
pub use terminology::TERMINOLOGY;
pub use text::{Banner, head, report, sheets};
pub use workbook::workbook;

/// The name in messages.
const TOOL: &str = "iozone";
