//! IOR: tasks that write and read files together, in blocks, segments and transfers.
//!
//! Written from what is documented of it and from what it prints. All tasks are workers of this
//! machine. Each phase of each repetition is a run with a job for each task, and the text below the
//! tables says what the figures leave out.

mod command;
mod flags;
mod json;
mod layout;
mod parse;
mod remarks;
mod results;
mod runs;
mod summary;
mod terminology;
mod text;

pub use command::{Api, Format, IorCommand, Packet, Phase};
pub use flags::help;
pub use json::json;
pub use parse::{Request, parse};
pub use remarks::footer;
pub use results::{Measured, Outcome, PhaseResult};
pub use runs::{Ior, phase_of};
pub use summary::{Summary, summaries};
pub use terminology::TERMINOLOGY;
pub use text::{Banner, Table, csv};

/// The version of IOR whose options and tables these are.
const VERSION: &str = "4.1.0";
