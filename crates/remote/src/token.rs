//! A token that a client and a server both know. It is never sent: each side proves that it knows the token
//! by a keyed hash (HMAC-SHA-256) of random bytes that both sides drew for this connection.

use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::fs::File;
use std::io::{self, Read};

/// Random bytes of one side, drawn for one connection.
pub type Nonce = [u8; 32];

/// The side that sends a proof.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// The server.
    Server,
    /// The client.
    Client,
}

/// The random bytes of both sides of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nonces {
    /// Those of the server.
    pub server: Nonce,
    /// Those of the client.
    pub client: Nonce,
}

/// Draws random bytes.
///
/// # Errors
/// When /dev/urandom cannot be read.
pub fn nonce() -> io::Result<Nonce> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// The proof that `side` knows the token, for one connection.
pub fn proof(token: &str, nonces: &Nonces, side: Side) -> [u8; 32] {
    keyed(token, nonces, side).finalize().into_bytes().into()
}

/// Whether `given` is the proof of `side`. Takes the same time for every wrong proof.
pub fn is_proof(given: Option<&[u8; 32]>, token: &str, nonces: &Nonces, side: Side) -> bool {
    given.is_some_and(|given| keyed(token, nonces, side).verify_slice(given).is_ok())
}

fn keyed(token: &str, nonces: &Nonces, side: Side) -> Hmac<Sha256> {
    let mut mac: Hmac<Sha256> =
        Mac::new_from_slice(token.as_bytes()).expect("a key of any length is accepted");
    mac.update(&nonces.server);
    mac.update(&nonces.client);
    mac.update(match side {
        Side::Server => b"server",
        Side::Client => b"client",
    });
    mac
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_valid_for_its_token_its_connection_and_its_side() {
        let nonces = Nonces { server: [1; 32], client: [2; 32] };
        let given = proof("a token", &nonces, Side::Client);
        assert!(is_proof(Some(&given), "a token", &nonces, Side::Client));
        assert!(!is_proof(Some(&given), "another", &nonces, Side::Client));
        for others in [
            Nonces { server: [3; 32], ..nonces },
            Nonces { client: [3; 32], ..nonces },
            Nonces { server: nonces.client, client: nonces.server },
        ] {
            assert!(!is_proof(Some(&given), "a token", &others, Side::Client));
        }
        assert!(!is_proof(Some(&given), "a token", &nonces, Side::Server));
        assert!(!is_proof(None, "a token", &nonces, Side::Client));
    }
}
