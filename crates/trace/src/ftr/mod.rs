//! Traces of applications: what a program asked of storage, and what reached the devices.

mod event;

pub use event::{Contents, Entry, Event, File, FileKind, Flags, Level, Operation, Thread};
