//! A client of object stores over HTTP/1.1: requests to S3, WebDAV and Swift, their signatures, and
//! the connections of one thread.
//!
//! This crate does not measure or count. An [`Outcome`] holds the times of events in the client's
//! clock, and the caller interprets them.

pub mod answer;
mod client;
pub mod credentials;
pub mod endpoints;
mod outcome;
mod request;
pub mod sign;
mod store;
mod wire;

pub use client::{Client, Contents, NoContents};
pub use outcome::{Answer, Attempt, Failure, Outcome, Stamps};
pub use request::{Action, Request, Verb};
pub use store::{Access, Addressing, CustomerKey, Endpoint, Hashing, Protocol, Security, Store};
pub use wire::read_answer;
