//! What must not happen: destroyed data, panics, lost results.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod failures;
mod powercut;
mod scripts;
mod seeds;
mod signals;
mod targets;
mod trim;
