//! The messages between a tester and the machine that keeps its promises, in frames of
//! [`remote::read`] and [`remote::write`]. The token is never sent: each side of a connection proves it
//! by a keyed hash of what the server drew for this connection.

use crate::check::Checked;
use crate::promises::Promises;
use crate::session::Session;
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

/// The version of these messages.
pub const PROTOCOL: u32 = 1;

/// Longest message that a server accepts, in bytes: a session of many threads.
pub const REQUEST_MAX: u32 = 4 << 20;

/// Who sends a proof.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// The server.
    Server,
    /// The tester.
    Tester,
}

/// From the server, first of all.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Challenge {
    /// Its [`PROTOCOL`].
    pub protocol: u32,
    /// Drawn for this connection.
    pub nonce: [u8; 32],
    /// Whether it has a token.
    pub has_token: bool,
}

/// The tester's answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Its [`PROTOCOL`].
    pub protocol: u32,
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

/// The proof that `side` knows the token, for this connection.
pub fn proof(token: &str, nonce: &[u8; 32], side: Side) -> [u8; 32] {
    keyed(token, nonce, side).finalize().into_bytes().into()
}

/// Whether it is that proof; takes the same time for every wrong one.
pub fn is_proof(given: Option<&[u8; 32]>, token: &str, nonce: &[u8; 32], side: Side) -> bool {
    given.is_some_and(|given| keyed(token, nonce, side).verify_slice(given).is_ok())
}

fn keyed(token: &str, nonce: &[u8; 32], side: Side) -> Hmac<Sha256> {
    let mut mac: Hmac<Sha256> =
        Mac::new_from_slice(token.as_bytes()).expect("a key of any length is accepted");
    mac.update(nonce);
    mac.update(match side {
        Side::Server => b"server",
        Side::Tester => b"tester",
    });
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_holds_for_its_token_its_connection_and_its_side() {
        let given = proof("a token", &[1; 32], Side::Tester);
        assert!(is_proof(Some(&given), "a token", &[1; 32], Side::Tester));
        assert!(!is_proof(Some(&given), "another", &[1; 32], Side::Tester));
        assert!(!is_proof(Some(&given), "a token", &[2; 32], Side::Tester));
        assert!(!is_proof(Some(&given), "a token", &[1; 32], Side::Server));
        assert!(!is_proof(None, "a token", &[1; 32], Side::Tester));
    }
}
