//! Traces of applications: what a program asked of storage, and what reached the devices.
//!
//! A trace file (`.ftr`) is a header and blocks of entries. Each block is compressed (LZ4), has its
//! length and a checksum (CRC-32C), and can be read without the ones before it, except for the files
//! and threads that they name. The last block states how the trace ended.

mod any;
mod blktrace;
mod codec;
mod event;
mod header;
mod iolog;
mod reader;
mod strace;
#[cfg(test)]
mod tests;
mod varint;
mod writer;

pub use any::AnyTrace;
pub use event::{Contents, Entry, Event, File, FileKind, Flags, Level, Operation, Thread};
pub use header::{End, Header, is_trace};
pub use reader::Reader;
pub use writer::Writer;
