//! The path of each I/O through the kernel's block layer: BPF programs time it and add the times up in
//! the kernel. They send no events to this program; it reads their sums at the end, and for live views.
//!
//! The programs are in `bpf/layers.bpf.c`. `cargo xtask bpf` compiles them; the result is kept beside
//! them, so that a build needs no C compiler.

mod cell;
mod collector;
mod unavailable;

pub use cell::Path;
pub use collector::{
    Collected, Collector, Others, ProgramCost, Scope, Settings, WatchedDevice, measure_cost,
    monotonic_ns,
};
pub use unavailable::Unavailable;
