//! Settings of the machine that a sweep varies: set, looked at whether they hold, and put back.
//!
//! A [`Session`] makes the machine what a cell asks for. Before each change it notes in a journal
//! on disk what is to be put back, so that even after SIGKILL [`restore`] finds it. What a sweep
//! can vary is a [`Setting`].

mod error;
mod filesystem;
mod journal;
mod leftovers;
mod mkfs_target;
mod programs;
mod queue;
mod remount;
mod restore;
mod session;
mod setting;
mod state;

pub use error::{Error, Kind};
pub use leftovers::restore_leftovers;
pub use mkfs_target::MkfsTarget;
pub use restore::RestoreReport;
pub use session::{CellSetup, Session};
pub use setting::Setting;
pub use state::{STATE_VARIABLE, state_directory};
