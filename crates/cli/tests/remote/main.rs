//! Jobs sent to servers, and fleets of them.

#[path = "../common/mod.rs"]
mod common;

mod follow;
mod servers;
