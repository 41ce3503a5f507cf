//! Work of real life, as `fathom app` times it: what is done in each phase, the trees and projects
//! it is done on, and the databases it is done with.
//!
//! [`work::Wish`] says what is to be done. Each phase of it is a [`Task`], which a process of its own
//! carries out ([`perform`]) and tells of in a [`record::Work`]. Servers live as long as a
//! [`Server`] does.

pub mod cache;
mod client;
mod command;
mod databases;
pub mod programs;
mod project;
mod random;
mod rows;
mod server;
mod session;
mod sqlite;
mod task;
mod tree;
pub mod work;

pub use client::{Dsn, DsnError};
pub use databases::Database;
pub use server::Server;
pub use session::{Connection, drop_table};
pub use task::{Action, Caches, Task, Timed, perform};

/// Why work could not be done, in words for the user.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Failure {
    /// What was tried on a path, and what the system says.
    pub(crate) fn of(doing: &str, path: &std::path::Path, error: &std::io::Error) -> Failure {
        Failure(format!("cannot {doing} {}: {error}", path.display()))
    }
}
