//! From recorded I/O to a model of the workload: phases, streams, sizes, locality, arrivals, think
//! times, outstanding I/Os. [`Builder`] takes the entries of a trace in one pass and in bounded memory;
//! [`Model`] is what it found. [`job::text`] and [`draw::drawing`] make jobs that ask the same of a
//! storage, [`score::scores`] tells how close a run of them comes.

mod arrivals;
mod builder;
mod captured;
mod counts;
mod depth;
mod distinct;
pub mod draw;
mod finish;
pub mod fit;
pub mod job;
mod locality;
pub mod merge;
mod model;
mod names;
mod phases;
pub mod replay;
pub mod score;
mod split;
mod steps;
mod streams;
mod threads;
mod windows;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use arrivals::Dispersion;
pub use builder::Builder;
pub use captured::JobEntries;
pub use counts::{Counts, LogHistogram};
pub use model::{
    Arrivals, CpuLimit, Locality, Model, Phase, Share, Stream, StreamShare, Syncs, Think, Totals,
    Window,
};
pub use split::Splitter;
pub use threads::Loop;
