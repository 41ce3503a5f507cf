//! Object stores over HTTP/1.1: what is asked of S3, WebDAV and Swift, how it is signed, and the
//! connections of one thread that carry it.
//!
//! Nothing here measures or counts: an [`Outcome`] says when what happened, in the clock it is
//! given, and its reader decides what that means.

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
