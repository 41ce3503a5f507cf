//! The command lines that people know from other tools, on fathom's engine.
//!
//! A front end reads a tool's command line, says which jobs it means, and shows their records as the
//! tool would, with what the figures are worth below. It runs nothing, opens nothing and reads no
//! clock: everything here is a function of words and records. Who carries the jobs out is `cli`.

pub mod dd;
pub mod diskspd;
pub mod hdparm;
pub mod iozone;
mod runs;
mod tongue;
mod under;
mod usage;

pub use runs::Runs;
pub use tongue::Tongue;
pub use under::Under;
pub use usage::{Fault, Usage};
