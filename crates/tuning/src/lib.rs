//! Settings of the machine that a sweep varies: set, verified and restored.
//!
//! A [`Session`] sets up the machine for a cell. Before each change it records the old state in a
//! journal on disk, so that [`restore_leftovers`] can restore it even after SIGKILL. A [`Setting`]
//! is something a sweep can vary.

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
