//! Application benchmarks (`fathom app`): their phases, the trees and projects they work on, and the
//! databases they use.
//!
//! A [`work::AppRequest`] describes the benchmarks. Each phase is a [`Task`]: a separate process executes
//! it with [`perform`] and reports a [`record::Work`]. A database server runs until its [`Server`] is
//! dropped.

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
pub mod search;
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
