//! IO500: the phases of ior and mdtest, and a search for files, with one score.
//!
//! Written from the published rules and from what the benchmark prints. Each phase is one or more runs of the
//! front ends [`crate::ior`] and [`crate::mdtest`], with the options that the rules give them. The search is
//! no run: it is carried out between them.

mod arguments;
mod command;
mod config;
mod invalid;
mod remarks;
mod results;
mod runs;
mod text;

pub use arguments::{Arguments, Request, help, parse_arguments};
pub use command::{Io500Command, Phase, STONEWALL_MIN};
pub use config::{ConfigError, defaults, parse};
pub use invalid::reasons;
pub use remarks::footer;
pub use results::{Found, Outcome, Row, Score, rows, score};
pub use runs::{Io500, Part, part_of};
pub use text::{Banner, head, result_file, result_line, score_line};

use record::Term::Absent;
use record::Terminology;

/// The benchmark whose rules and output these are.
const VERSION: &str = "io500-sc25";

/// Settings that IO500 has no words for.
pub const TERMINOLOGY: Terminology = Terminology {
    terms: &[&[Absent("invalidate"), Absent("randrepeat")], crate::ONE_AT_A_TIME],
    elsewhere: Some(crate::ELSEWHERE),
};
