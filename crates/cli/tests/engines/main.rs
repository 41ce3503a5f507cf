//! What the engines issue, where, and from which process. When they issue it is in `timing`.

#[path = "../common/mod.rs"]
mod common;

mod coverage;
mod devices;
mod local;
mod nbd;
mod net;
mod placement;
mod placement_spread;
mod priorities;
mod process;
mod shared_cursor;
mod write_flags;
