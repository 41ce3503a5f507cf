//! The checks and the verdict, on real runs. All of them need the machine to themselves.

#[path = "../common/mod.rs"]
mod common;

mod cache;
mod clean;
mod cpu;
mod data;
mod depth;
mod durability;
mod errors;
mod machine;
mod mistakes;
mod time;
mod verdict;
