//! fathom's I/O engine: the hot loop, engines, offsets, pacing, payload.
//!
//! The engine does not print, computes no statistics beyond counting, and does not know jobs: it
//! runs a [`plan::Plan`] and gives [`record::JobRecord`]s.

mod checksums;
mod clock;
mod clock_test;
mod engines;
mod extended;
mod files;
mod hot;
pub mod kernel;
mod live;
mod logbook;
mod meter;
mod mutex;
mod offsets;
mod ops;
mod pacing;
mod payload;
mod random;
mod rare;
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
pub use engines::http::object_store;
pub use logbook::Logbook;
pub use run::{Enter, Event, Outcome, Outside, Run, RunDelay, Watcher};
pub use worker::LOOK_AT_LEAST;
