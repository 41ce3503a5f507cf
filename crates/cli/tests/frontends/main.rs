//! The command lines of other tools, results imported from them, and application benchmarks.

#[path = "../common/mod.rs"]
mod common;

mod app;
mod app_servers;
mod dd;
mod diskspd;
mod hdparm;
mod import;
mod iozone;
