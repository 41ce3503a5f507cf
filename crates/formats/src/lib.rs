//! Runs as files: fathom's own records and the directories of sweeps, results of fio that are read
//! as records, tables for other programs (CSV, Parquet), and logs of single I/Os and rates.
//!
//! This crate judges nothing and renders no report.

pub mod export;
pub mod import;
mod load;
pub mod logs;
mod native;
mod shareable;
pub mod sweep;

pub use load::{load, load_set};
pub use native::{RecordError, save, save_set, write_atomically};
pub use shareable::shareable;

/// Records made up for tests, those that the tests of reports use too.
#[cfg(test)]
#[path = "../../report/src/testing.rs"]
#[allow(dead_code)]
mod testing;
