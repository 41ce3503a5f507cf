//! The messages between a tester and the machine that keeps its promises, in frames of
//! [`remote::read`] and [`remote::write`]. Each side proves that it knows the token ([`remote::token`]).

use crate::check::Checked;
use crate::promises::Promises;
use crate::session::Session;
use remote::token::Nonce;
use serde::{Deserialize, Serialize};

/// The version of these messages.
pub const PROTOCOL: u32 = 2;

/// Longest message that a server accepts, in bytes: a session of many threads.
pub const REQUEST_MAX: u32 = 4 << 20;

/// From the server, first of all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Challenge {
    /// Its [`PROTOCOL`].
    pub protocol: u32,
    /// Its random bytes.
    pub nonce: Nonce,
    /// Whether it has a token.
    pub has_token: bool,
}

/// The tester's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Its [`PROTOCOL`].
    pub protocol: u32,
    /// Its random bytes.
    pub nonce: Nonce,
    /// The proof of the token, if the server has one.
    pub proof: Option<[u8; 32]>,
}

/// What a tester asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Request {
    /// Keep the promises of this session.
    Start(Session),
    /// The kernel acknowledged the first `batches` batches.
    Durable {
        /// The session's number.
        run: u64,
        /// The stream.
        stream: u16,
        /// How many.
        batches: u64,
    },
    /// The storage failed after its power was cut, and the tester goes on.
    Cut(u64),
    /// The tester ends before a cut.
    Ended {
        /// The session's number.
        run: u64,
        /// Why.
        why: String,
    },
    /// The sessions that are kept.
    List,
    /// The promises of a session.
    Fetch(u64),
    /// Keep what a check found.
    Checked(Checked),
}

/// What the server says to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The proof of the token, where there is one, after the answer to the challenge.
    Welcome(Option<[u8; 32]>),
    /// It is kept: written, and known here whatever happens there.
    Kept,
    /// The sessions, the latest last.
    Sessions(Vec<Kept>),
    /// The promises of a session.
    Promises(Box<Promises>),
    /// No.
    Refused(String),
}

/// A session that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// Its number.
    pub run: u64,
    /// The machine that wrote.
    pub host: String,
    /// The target.
    pub path: String,
    /// The last check of it.
    pub checked: Option<Checked>,
}
