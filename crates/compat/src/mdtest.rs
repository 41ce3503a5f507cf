//! mdtest: tasks that create, stat, read and remove files and directories in a tree.
//!
//! Written from what is documented of it and from what it prints. All tasks are workers of this
//! machine. Each phase of each iteration is a run with a job for each task.

mod command;
mod flags;
mod parse;
mod remarks;
mod results;
mod runs;
mod terminology;
mod text;
mod tree;

pub use command::{MdtestCommand, Phase};
pub use flags::help;
pub use parse::{Request, parse};
pub use remarks::footer;
pub use results::{Outcome, PhaseResult};
pub use runs::{Mdtest, phase_of};
pub use terminology::TERMINOLOGY;
pub use text::{Banner, Table};

/// The version of mdtest whose options and table these are.
const VERSION: &str = "4.1.0";
