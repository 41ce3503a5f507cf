//! fathom's I/O engine: THE loop, the rings, offsets, arrivals, payload.
//!
//! The engine does not print, computes no statistics beyond counting, and does not know jobs: it
//! runs a [`plan::Plan`] and gives [`record::JobRecord`]s.

mod files;
mod ops;
mod rings;
mod sys;

pub use ops::{Next, Op, OpKind, Source};
