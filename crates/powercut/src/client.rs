//! The tester's side of the connection.

use crate::protocol::{Answer, Challenge, PROTOCOL, Reply, Request};
use crate::wire::Wire;
use remote::FrameError;
use remote::tls::ClientTls;
use remote::token::{Nonces, Side, is_proof, nonce, proof};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// How long a connection, or a reply, may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The pause between two attempts to reach the server again.
const PAUSE: Duration = Duration::from_millis(200);

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server cannot be reached, or does not reply.
    #[error("the server {address} cannot be reached: {why}")]
    Unreachable {
        /// As it was typed.
        address: String,
        /// Why.
        why: String,
    },
    /// The server refuses.
    #[error("the server {address} refuses: {why}")]
    Refused {
        /// As it was typed.
        address: String,
        /// Why.
        why: String,
    },
}

/// A connection to a server, made again when it breaks.
pub struct Client {
    address: String,
    access: Access,
    /// How long to try to reach the server again.
    patience: Duration,
    stream: Option<Box<dyn Wire>>,
}

/// What a server asks of its testers, and they of it.
#[derive(Clone, Default)]
pub struct Access {
    /// The token that both sides know.
    pub token: Option<String>,
    /// What is trusted, if the connection is encrypted.
    pub tls: Option<ClientTls>,
}

impl Client {
    /// Connects to `HOST:PORT`. A broken connection is made again for `patience`.
    pub fn connect(
        address: &str,
        access: Access,
        patience: Duration,
    ) -> Result<Client, ClientError> {
        let mut client = Client { address: address.to_owned(), access, patience, stream: None };
        client.stream = Some(client.greet()?);
        Ok(client)
    }

    /// Another connection to the same server.
    pub fn another(&self) -> Result<Client, ClientError> {
        Client::connect(&self.address, self.access.clone(), self.patience)
    }

    /// Sends a request and waits for its reply. Requests can be sent twice: the server knows a promise
    /// that it has kept.
    pub fn request(&mut self, request: &Request) -> Result<Reply, ClientError> {
        let begun = Instant::now();
        loop {
            let failed = match self.attempt(request) {
                Ok(Reply::Refused(why)) => return Err(self.refused(why)),
                Ok(reply) => return Ok(reply),
                Err(refused @ ClientError::Refused { .. }) => return Err(refused),
                Err(error) => error,
            };
            self.stream = None;
            if begun.elapsed() >= self.patience {
                return Err(failed);
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn attempt(&mut self, request: &Request) -> Result<Reply, ClientError> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.greet()?,
        };
        remote::write(&mut stream, request).map_err(|error| self.unreachable(&error))?;
        let reply = read(&mut stream).map_err(|error| self.unreachable(&error))?;
        self.stream = Some(stream);
        Ok(reply)
    }

    fn greet(&self) -> Result<Box<dyn Wire>, ClientError> {
        let mut stream = self.open().map_err(|error| self.unreachable(&error))?;
        let challenge: Challenge = read(&mut stream).map_err(|error| self.no_greeting(&error))?;
        let token = match (&self.access.token, challenge.has_token) {
            (None, true) => {
                return Err(self.refused("it wants a token; give --token-file".into()));
            }
            (Some(_), false) => {
                return Err(self.refused(
                    "it has no token, so it is not the server that was meant; start it with the same \
                     --token-file"
                        .into(),
                ));
            }
            (token, _) => token.as_deref(),
        };
        let own = nonce().map_err(|error| self.unreachable(&error))?;
        let nonces = Nonces { server: challenge.nonce, client: own };
        let proven = token.map(|token| proof(token, &nonces, Side::Client));
        remote::write(&mut stream, &Answer { protocol: PROTOCOL, nonce: own, proof: proven })
            .map_err(|error| self.unreachable(&error))?;
        match read(&mut stream).map_err(|error| self.unreachable(&error))? {
            Reply::Refused(why) => Err(self.refused(why)),
            Reply::Welcome(given)
                if token
                    .is_none_or(|token| is_proof(given.as_ref(), token, &nonces, Side::Server)) =>
            {
                Ok(stream)
            }
            _ => Err(self.refused("it does not know the token".into())),
        }
    }

    /// The error of a server that says nothing that is understood.
    fn no_greeting(&self, error: &FrameError) -> ClientError {
        let is_silent = matches!(error, FrameError::Io(error) if is_timeout(error));
        let is_plain = is_silent && self.access.tls.is_none();
        match is_plain {
            true => self.unreachable(
                &"it does not greet; if it was started with --tls-cert, give --tls-ca",
            ),
            false => self.unreachable(error),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Wire>> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(TIMEOUT))?;
                    stream.set_write_timeout(Some(TIMEOUT))?;
                    return match &self.access.tls {
                        Some(tls) => Ok(Box::new(tls.connect(self.host(), stream)?)),
                        None => Ok(Box::new(stream)),
                    };
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// The host of the address, without the brackets of an IPv6 address.
    fn host(&self) -> &str {
        let host = self.address.rsplit_once(':').map_or(&*self.address, |(host, _)| host);
        host.trim_start_matches('[').trim_end_matches(']')
    }

    fn unreachable(&self, why: &dyn std::fmt::Display) -> ClientError {
        ClientError::Unreachable { address: self.address.clone(), why: why.to_string() }
    }

    fn refused(&self, why: String) -> ClientError {
        ClientError::Refused { address: self.address.clone(), why }
    }
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

fn read<T: serde::de::DeserializeOwned>(stream: &mut dyn Wire) -> Result<T, FrameError> {
    remote::read(stream, remote::LIMIT_RECORD)
}
