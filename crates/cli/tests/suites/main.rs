//! Measurements made of several runs.

#[path = "../common/mod.rs"]
mod common;

mod batteries;
mod compare;
mod gate;
mod knee;
mod repeat;
mod sweep;
mod sweep_machine;
