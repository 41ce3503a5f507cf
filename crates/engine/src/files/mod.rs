//! A worker's files: laying out, opening, locking, reading ahead, closing, removing.

mod error;
mod fill;
mod layout;
mod lock;
mod open;
mod preread;

#[cfg(test)]
mod tests;

pub use error::{Action, FileError, system_text};
pub use layout::{LayoutError, LayoutReport, survey};
pub use lock::FileLocks;
pub use open::{OpenFiles, OpenFlags, pattern_advice};
pub use preread::pre_read;
