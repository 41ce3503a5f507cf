//! The command lines of other tools, results imported from them, application benchmarks, the examples, and the
//! Python module.

#[path = "../common/mod.rs"]
mod common;

mod app;
mod app_servers;
mod dd;
mod diskspd;
mod examples;
mod hdparm;
mod import;
mod iozone;
mod python;
