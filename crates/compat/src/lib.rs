//! The command lines that people know from other tools, on fathom's engine.
//!
//! A front end reads a tool's command line, says which jobs it means, and shows their records as the
//! tool would, with what the figures are worth below. It runs nothing, opens nothing and reads no
//! clock: everything here is a function of words and records. Who carries the jobs out is `cli`.

pub mod dd;
pub mod diskspd;
mod footer;
pub mod hdparm;
mod hpc;
pub mod io500;
pub mod ior;
pub mod iozone;
pub mod mdtest;
mod runs;
mod usage;

use record::Term::{self, Absent};

/// The command that has the options that a tool lacks.
const ELSEWHERE: &str = "fathom run";

/// Options for a choice that tools do not offer: how the kernel is asked.
const NO_ENGINES: &[Term] = &[Absent("ioengine"), Absent("fixedbufs"), Absent("registerfiles")];

/// The same of tools that have one worker with one I/O at a time.
const ONE_AT_A_TIME: &[Term] = &[
    Absent("ioengine"),
    Absent("fixedbufs"),
    Absent("registerfiles"),
    Absent("cpus_allowed_policy"),
];

pub use footer::ReportFooter;
pub use runs::Runs;
pub use usage::{Fault, Usage};

#[cfg(test)]
mod tests;
