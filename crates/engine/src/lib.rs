//! fathom's I/O engine: THE loop, the rings, offsets, arrivals, payload.
//!
//! The engine does not print, computes no statistics beyond counting, and does not know jobs: it
//! runs a [`plan::Plan`] and gives [`record::JobRecord`]s.

mod arrivals;
mod checksums;
mod clock;
mod clock_test;
mod extended;
mod files;
mod gate;
mod hot;
pub mod kernel;
mod live;
mod logbook;
mod meter;
mod mutex;
mod offsets;
mod ops;
mod payload;
mod random;
mod rare;
mod rings;
mod run;
#[cfg(test)]
mod simulated;
mod source;
mod steady;
mod steps;
mod sys;
mod trace;
mod turns;
mod worker;
mod zones;

pub use checksums::checksum;
pub use clock::look_at_clock;
pub use clock_test::{ClockTest, CpuClock, clock_test};
pub use logbook::Logbook;
pub use rings::http::object_store;
pub use run::{Enter, Event, Outcome, Outside, Run, RunDelay, Watcher};
pub use worker::LOOK_AT_LEAST;
