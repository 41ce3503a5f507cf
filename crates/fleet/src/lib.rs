//! A fleet: processes that an MPI launcher started ("ranks"), which make one measurement.
//!
//! Rank 0 leads. It announces runs; a command may make several, each with some or all ranks. All ranks plan, lay their files out, and wait for each other; they start at one instant,
//! which rank 0 names on the clock of each. When all have ended, their records are added in a tree.
//!
//! | from | message | when |
//! |---|---|---|
//! | member | `Hello` | it is there |
//! | lead | `Task` | a run begins, for the ranks that take part in it |
//! | member | `Enrolled` | its run is planned, or refused |
//! | lead | `Ping`, answered by `Pong` | clocks are compared, before and after the run |
//! | lead | `Begin` | the member may lay its files out |
//! | member | `Reached` | its files are laid out; its workers of a phase are set up |
//! | lead | `Release` | all have reached the same; with the instant at which to start |
//! | member | `Progress` | at regular intervals, from its start on |
//! | member | `Ended` | its run has ended; with the times of its groups of jobs |
//! | lead | `Gather` | all have ended; with the common windows |
//! | member | `Part` | to its parent in the tree: the sum of its records and those below it |
//! | lead | `Resend` | a part did not arrive; the member sends its own to rank 0 |
//! | lead | `Stop`, `Alive`, `Bye` | to end early; at regular intervals; at the end |
//!
//! No wait is without a limit ([`Settings::timeout`]): a rank that is not heard of for so long is lost,
//! and so is one whose I/O does not move for so long while others have ended.
//!
//! This crate prints nothing. All messages pass an [`Exchange`], which is MPI or, in tests, threads.

mod clocks;
#[cfg(test)]
mod crowd;
mod exchange;
mod gather;
mod lead;
mod liveness;
mod member;
mod message;
mod part;
mod session;
mod state;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod tree;
mod windows;
mod work;

pub use exchange::{Exchange, MpiExchange};
pub use message::{Assignment, Enrolment, Task};
pub use part::OwnResult;
pub use session::{DEFAULT_TIMEOUT, Fleet};
pub use state::{Orders, Settings, Sum};

/// Version of the messages. Raise it when one changes its meaning.
pub(crate) const PROTOCOL: u32 = 2;
