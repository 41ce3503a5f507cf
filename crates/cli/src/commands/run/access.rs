//! How servers and clients prove to each other who they are: a token that both know, and TLS.

use super::connection::{Stream, describe_error};
use crate::commands::serve::token_in;
use crate::output::describe;
use job::{Access, Invocation};
use remote::tls::{ClientTls, ServerTls};
use remote::token::{Nonces, Side, is_proof, nonce, proof};
use remote::{FromClient, FromServer, LIMIT_GREETING};
use runner::Refusal;

/// What a server asks of its clients.
pub struct ServerAccess {
    /// The token that clients must know.
    pub token: Option<String>,
    /// The certificate and its key.
    pub tls: Option<ServerTls>,
}

/// What a client asks of its servers.
pub struct ClientAccess {
    token: Option<String>,
    /// The authorities that it trusts; `None`: connections are not encrypted.
    pub tls: Option<ClientTls>,
}

impl ServerAccess {
    /// Reads the token and the certificate.
    ///
    /// # Errors
    /// The option, and what is wrong with its file.
    pub fn new(invocation: &Invocation) -> anyhow::Result<ServerAccess> {
        let access = &invocation.access;
        if access.tls_ca.is_some() {
            return Err(Refusal::usage("--tls-ca: is for --client; a server has --tls-cert"));
        }
        let tls = match (&access.tls_cert, &access.tls_key) {
            (Some(certificate), Some(key)) => Some(
                ServerTls::of_files(certificate, key)
                    .map_err(|why| Refusal::usage(format!("--tls-cert, --tls-key: {why}")))?,
            ),
            (None, None) => None,
            _ => return Err(Refusal::usage("--tls-cert and --tls-key: give both or neither")),
        };
        Ok(ServerAccess { token: token(access)?, tls })
    }

    /// What a server lacks that other hosts can reach at `address`; `None`: nothing.
    pub fn warning(&self, address: &str) -> Option<String> {
        let reachable = format!("warning: listening on {address}, which other hosts may reach: ");
        match (&self.token, &self.tls) {
            (Some(_), Some(_)) => None,
            (Some(_), None) => Some(
                reachable
                    + "connections are not encrypted, so others on the network can read and change \
                       what is sent; give --tls-cert and --tls-key",
            ),
            (None, _) => Some(
                reachable
                    + "anyone who reaches it can read, write and run commands here as this user, without \
                       a password; give --token-file, or use 127.0.0.1 or sock:PATH, and a tunnel",
            ),
        }
    }

    /// Exchanges proofs of the token, after the greeting of a client.
    ///
    /// # Errors
    /// Why the client is refused.
    pub fn check_client(&self, stream: &Stream) -> Result<(), String> {
        let Some(token) = &self.token else { return Ok(()) };
        let server = nonce().map_err(|error| error.to_string())?;
        let send = |message: &FromServer| {
            remote::write(stream, message).map_err(|error| error.to_string())
        };
        send(&FromServer::Challenge(server))?;
        let (client, given) = match remote::read(stream, LIMIT_GREETING) {
            Ok(FromClient::Proof { nonce, proof }) => (nonce, proof),
            Ok(_) => return Err("the client did not prove that it knows the token".into()),
            Err(error) => return Err(describe_error(&error)),
        };
        let nonces = Nonces { server, client };
        if !is_proof(Some(&given), token, &nonces, Side::Client) {
            return Err("the token of the client is another one; give both sides the same".into());
        }
        send(&FromServer::Proof(proof(token, &nonces, Side::Server)))
    }
}

impl ClientAccess {
    /// Reads the token and the trusted authorities.
    ///
    /// # Errors
    /// The option, and what is wrong with its file.
    pub fn new(invocation: &Invocation) -> Result<ClientAccess, String> {
        let access = &invocation.access;
        if access.tls_cert.is_some() || access.tls_key.is_some() {
            return Err("--tls-cert and --tls-key are for --server; a client has --tls-ca".into());
        }
        let trusted = access.tls_ca.as_deref().map(ClientTls::of_file).transpose();
        let tls = trusted.map_err(|why| format!("--tls-ca: {why}"))?;
        Ok(ClientAccess { token: token(access).map_err(|error| describe(&error))?, tls })
    }

    /// Reads the answer of a server to the greeting, after the proofs of the token.
    ///
    /// # Errors
    /// Why the server is not the one that was meant, or does not answer.
    pub fn answer_of(&self, stream: &Stream) -> Result<FromServer, AnswerError> {
        let wrong = |text: &str| Err(AnswerError::Refused(text.into()));
        let read = || remote::read(stream, LIMIT_GREETING).map_err(AnswerError::Frame);
        match (read()?, &self.token) {
            (FromServer::Challenge(_), None) => {
                wrong("the server wants a token; give --token-file")
            }
            (FromServer::Hello(..), Some(_)) => wrong(
                "the server has no token, so it may not be yours; start it with the same token",
            ),
            (FromServer::Challenge(server), Some(token)) => {
                let client = nonce().map_err(|error| AnswerError::Refused(error.to_string()))?;
                let nonces = Nonces { server, client };
                let own = proof(token, &nonces, Side::Client);
                remote::write(stream, &FromClient::Proof { nonce: client, proof: own })
                    .map_err(|error| AnswerError::Refused(error.to_string()))?;
                match read()? {
                    FromServer::Proof(given)
                        if is_proof(Some(&given), token, &nonces, Side::Server) =>
                    {
                        read()
                    }
                    FromServer::Refused(refusal) => Err(AnswerError::Refused(refusal.text)),
                    _ => wrong("the server does not know the token"),
                }
            }
            (answer, _) => Ok(answer),
        }
    }
}

/// Why a server did not answer a greeting.
pub enum AnswerError {
    /// For this reason.
    Refused(String),
    /// The connection failed.
    Frame(remote::FrameError),
}

fn token(access: &Access) -> anyhow::Result<Option<String>> {
    match (&access.token, &access.token_file) {
        (Some(_), Some(_)) => Err(Refusal::usage("--token and --token-file: give one of them")),
        (Some(token), None) => match web::guard::token_from(token) {
            Ok(token) => Ok(Some(token)),
            Err(why) => Err(Refusal::usage(format!("--token: {why}"))),
        },
        (None, file) => file.as_deref().map(token_in).transpose(),
    }
}
