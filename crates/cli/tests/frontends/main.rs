//! The command lines of other tools, results imported from them, application benchmarks, the examples, the
//! commands of the guide, the Python module, and what is made of the program for containers and pipelines.

#[path = "../common/mod.rs"]
mod common;

mod app;
mod app_servers;
mod dd;
mod diskspd;
mod documents;
mod examples;
mod hdparm;
mod import;
mod io500;
mod ior;
mod iozone;
mod mdtest;
mod packaging;
mod python;
