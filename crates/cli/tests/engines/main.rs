//! What the engines issue, when, where and from which process.

#[path = "../common/mod.rs"]
mod common;

mod coverage;
mod local;
mod net;
mod offload;
mod open_loop;
mod pacing;
mod placement;
mod placement_spread;
mod priorities;
mod process;
mod shared_cursor;
mod steady;
mod write_flags;
