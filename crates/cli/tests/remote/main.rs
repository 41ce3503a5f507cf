//! Jobs sent to servers, and fleets of them.

#[path = "../common/mod.rs"]
mod common;

mod access;
mod follow;
mod servers;
