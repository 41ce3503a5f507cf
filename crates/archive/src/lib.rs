//! The archive: an SQLite file with every run's record, what can be searched for in columns, and
//! which runs were made together. docs/ARCHIVE.md describes it.
//!
//! ```no_run
//! # fn example(record: &record::RunRecord) -> Result<(), archive::ArchiveError> {
//! let mut archive = archive::Archive::open(&archive::Place::usual()?)?;
//! let id = archive.add(record, &archive::Lineage::alone("run"))?;
//! archive.judged(&id, &archive::Summary::of(record, &judge::judge(record)))?;
//! # Ok(())
//! # }
//! ```

mod add;
mod archive;
mod error;
mod filter;
mod id;
mod labels;
mod list;
mod load;
mod names;
mod open;
mod place;
mod quarantine;
mod searchable;
mod summary;
mod trends;

pub use add::{Lineage, Together};
pub use archive::Archive;
pub use error::ArchiveError;
pub use filter::{Filter, FilterError, Now, Sort};
pub use id::{RunId, SetId};
pub use list::{Found, Point, Row};
pub use names::Named;
pub use place::{Choice, Place};
pub use summary::Summary;
pub use trends::Trends;

#[cfg(test)]
pub(crate) mod testing;
