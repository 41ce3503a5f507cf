//! The archive: the record of every run, its searchable properties in columns, and the sets of runs that
//! were made together, in an SQLite file or on a server of PostgreSQL. docs/ARCHIVE.md describes it.
//!
//! [`Archive::open`] opens or creates it at a [`Location`], [`Archive::add`] keeps a record and returns
//! its id, [`Archive::save_summary`] keeps the verdict on it.

mod add;
mod archive;
mod copy;
mod database;
mod error;
mod filter;
mod grant;
mod id;
mod labels;
mod list;
mod load;
mod location;
mod names;
mod open;
mod open_server;
mod quarantine;
mod search_terms;
mod summary;
mod trends;
mod waiting;

pub use add::{Lineage, SetInfo};
pub use archive::Archive;
pub use copy::Copied;
pub use error::ArchiveError;
pub use filter::{Filter, FilterError, Now, Sort};
pub use grant::Role;
pub use id::{RunId, SetId};
pub use labels::check_tag;
pub use list::{FindingCounts, Row};
pub use load::read_record;
pub use location::{Choice, Location};
pub use names::RunOrSet;
pub use summary::Summary;
pub use trends::Trends;

#[cfg(test)]
mod server_tests;
#[cfg(test)]
pub(crate) mod testing;
