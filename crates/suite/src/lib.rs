//! Measurements that consist of several runs: which run comes next, and the conclusion from all runs.
//!
//! A suite is a plain state machine: it returns the next step and receives the record of the run. It
//! runs nothing itself and reads only records and facts, so tests use invented ones. Conclusions depend
//! on the records alone, so archived records give the same conclusion again.

pub mod app;
pub mod curve;
pub mod diagnose;
mod estimate;
mod findings;
pub mod grid;
pub mod knee;
mod limits;
pub mod objects;
mod order;
mod outcome;
pub mod precondition;
pub mod saturate;
mod step;
pub mod sweep;
mod target;
pub mod test;
pub mod trim;

#[cfg(test)]
mod testing;

pub use estimate::Estimated;
pub use limits::LimitGroup;
pub use order::Draw;
pub use outcome::{Failure, failure, failures, run_duration};
pub use step::{Expected, Step, Suite};
pub use target::Target;
