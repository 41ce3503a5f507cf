//! fathom's I/O engine: THE loop, engines, sources and observers of I/O, pacing, payload.
//!
//! The engine does not print, computes no statistics beyond counting, and does not know jobs: it
//! runs a [`plan::Plan`] and returns [`record::JobRecord`]s.

mod checksum;
mod clock;
mod clock_test;
mod engines;
mod files;
mod hot;
mod interim;
mod job_record;
pub mod kernel;
mod live;
mod logbook;
mod meter;
mod mutex;
mod observers;
mod offsets;
mod pacing;
mod payload;
mod random;
mod run;
mod run_shared;
mod sources;
mod steady_state;
mod sys;
#[cfg(test)]
mod tests;
mod trace;
mod worker;
mod zones;

pub use checksum::checksum;
pub use clock::prepare_clock;
pub use clock_test::{ClockTest, CpuClock, clock_test};
pub use engines::http::object_store;
pub use engines::io_uring_cmd::nvme_size;
pub use engines::nbd::nbd_export;
pub use engines::store::store_sizes;
pub use interim::INTERIM_CHECK;
pub use logbook::Logbook;
pub use run::{Outcome, Run, Watcher};
pub use run_shared::{Event, HostHooks, PhaseStarts, PrepareMachine, RunDelay};
pub use sys::mpi::{Family as MpiFamily, Mpi};
