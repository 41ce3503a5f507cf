//! The tester's side of the connection.

use crate::protocol::{Answer, Challenge, PROTOCOL, Reply, Request, Side, is_proof, proof};
use remote::FrameError;
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
    token: Option<String>,
    /// How long to try to reach the server again.
    patience: Duration,
    stream: Option<TcpStream>,
}

impl Client {
    /// Connects to `HOST:PORT`. A broken connection is made again for `patience`.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn connect(
        address: &str,
        token: Option<&str>,
        patience: Duration,
    ) -> Result<Client, ClientError> {
        let mut client = Client {
            address: address.to_owned(),
            token: token.map(str::to_owned),
            patience,
            stream: None,
        };
        client.stream = Some(client.greet()?);
        Ok(client)
    }

    /// Another connection to the same server.
    ///
    /// # Errors
    /// See [`ClientError`].
    pub fn another(&self) -> Result<Client, ClientError> {
        Client::connect(&self.address, self.token.as_deref(), self.patience)
    }

    /// Sends a request and waits for its reply. Requests can be sent twice: the server knows a promise
    /// that it has kept.
    ///
    /// # Errors
    /// See [`ClientError`].
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
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.greet()?,
        };
        remote::write(&stream, request).map_err(|error| self.unreachable(&error))?;
        let reply = read(&stream).map_err(|error| self.unreachable(&error))?;
        self.stream = Some(stream);
        Ok(reply)
    }

    fn greet(&self) -> Result<TcpStream, ClientError> {
        let stream = self.open().map_err(|error| self.unreachable(&error))?;
        let challenge: Challenge = read(&stream).map_err(|error| self.unreachable(&error))?;
        let token = match (&self.token, challenge.has_token) {
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
        let nonce = &challenge.nonce;
        let own = token.map(|token| proof(token, nonce, Side::Tester));
        remote::write(&stream, &Answer { protocol: PROTOCOL, proof: own })
            .map_err(|error| self.unreachable(&error))?;
        match read(&stream).map_err(|error| self.unreachable(&error))? {
            Reply::Refused(why) => Err(self.refused(why)),
            Reply::Welcome(given)
                if token
                    .is_none_or(|token| is_proof(given.as_ref(), token, nonce, Side::Server)) =>
            {
                Ok(stream)
            }
            _ => Err(self.refused("it does not know the token".into())),
        }
    }

    fn open(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in self.address.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, TIMEOUT) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(TIMEOUT))?;
                    stream.set_write_timeout(Some(TIMEOUT))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn unreachable(&self, why: &dyn std::fmt::Display) -> ClientError {
        ClientError::Unreachable { address: self.address.clone(), why: why.to_string() }
    }

    fn refused(&self, why: String) -> ClientError {
        ClientError::Refused { address: self.address.clone(), why }
    }
}

fn read<T: serde::de::DeserializeOwned>(stream: &TcpStream) -> Result<T, FrameError> {
    remote::read(stream, remote::LIMIT_RECORD)
}
