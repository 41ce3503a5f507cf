//! The messages between clients and servers of fathom.
//!
//! This crate converts between bytes and messages, encrypted or not; the program owns the sockets. The protocol is
//! fathom's own, not fio's. Each side sends a greeting first, so that other protocols are detected
//! by their first bytes.

mod address;
mod frame;
mod message;
pub mod tls;
pub mod token;

pub use address::{Address, AddressError, DEFAULT_PORT, Family};
pub use frame::{FrameError, LIMIT_GREETING, LIMIT_RECORD, LIMIT_SUBMISSION, read, write};
pub use message::{
    Announced, FilePart, FromClient, FromServer, Hello, Host, JobText, PROTOCOL, Refusal,
    Submission,
};
