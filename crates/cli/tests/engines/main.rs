//! What the engines issue, where, and from which process. When they issue it is in `timing`.

#[path = "../common/mod.rs"]
mod common;

mod coverage;
mod custom;
mod devices;
mod local;
mod nbd;
mod net;
mod placement;
mod placement_spread;
mod priorities;
mod process;
mod shared_cursor;
mod stores;
mod write_flags;
