//! What applications ask of storage, and what reaches the devices: BPF programs send each call and each
//! request, and [`Capture`] writes them as entries of a trace.
//!
//! The programs are in `bpf/capture.bpf.c`. `cargo xtask bpf` compiles them; the result is kept beside
//! them, so that a build needs no C compiler.

mod calls;
mod command;
mod output;
mod programs;
mod records;
mod samples;
mod session;
mod summary;
mod translate;

pub use command::Command;
pub use output::Output;
pub use programs::{Disk, Settings, Unseen, Who, parse_number};
pub use session::{Capture, Totals};
pub use summary::{Counts, FileCounts, Step, Summary, ThreadCounts};
pub use translate::{MountPoint, Naming};
