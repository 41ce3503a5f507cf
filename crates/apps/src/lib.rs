//! Work of real life, as `fathom app` times it: what is done in each phase, the trees and projects
//! it is done on, and the databases it is done with.
//!
//! [`work::AppRequest`] says what is to be done. Each phase of it is a [`Task`], which a process of its own
//! carries out ([`perform`]) and tells of in a [`record::Work`]. Servers live as long as a
//! [`Server`] does.

pub mod cache;
mod client;
mod command;
mod connection;
mod databases;
mod dsn;
mod failure;
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

pub use connection::{Connection, drop_table};
pub use databases::Database;
pub use dsn::{Dsn, DsnError};
pub use failure::Failure;
pub use server::Server;
pub use task::{Action, Caches, Task, Timed, perform};
