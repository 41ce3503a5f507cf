//! When I/O is issued, and what it costs in time. These tests need the machine to themselves.

#[path = "../common/mod.rs"]
mod common;

mod capture;
mod layers;
mod load;
mod offload;
mod open_loop;
mod pacing;
mod steady;
