//! The server of a tester or checker.

use crate::commands::serve::token_in;
use anyhow::Result;
use clap::Args;
use powercut::client::{Access, Client, ClientError};
use remote::tls::ClientTls;
use runner::Refusal;
use std::path::PathBuf;
use std::time::Duration;

/// How a server is reached.
#[derive(Args)]
pub struct ServerArguments {
    /// File with the server's token in its first line, readable only by its owner.
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Encrypt the connection, and trust the certificates of this file (PEM): the server's authority, which
    /// may be its own certificate's.
    #[arg(long, value_name = "FILE")]
    tls_ca: Option<PathBuf>,
}

/// How long a tester and a checker try to reach a server whose connection broke.
const PATIENCE: Duration = Duration::from_secs(30);

impl ServerArguments {
    /// Connects to a server, and tries again for half a minute when the connection breaks.
    ///
    /// # Errors
    /// When the token file is wrong, or the server cannot be reached or refuses.
    pub fn connect(&self, address: &str) -> Result<Client> {
        let token = self.token_file.as_deref().map(token_in).transpose()?;
        let trusted = self.tls_ca.as_deref().map(ClientTls::of_file).transpose();
        let tls = trusted.map_err(|why| Refusal::usage(format!("--tls-ca: {why}")))?;
        Client::connect(address, Access { token, tls }, PATIENCE).map_err(of_client)
    }
}

/// An error of a connection: the server is unsuitable, or the network failed.
pub fn of_client(error: ClientError) -> anyhow::Error {
    match error {
        ClientError::Refused { .. } => Refusal::target(error.to_string()),
        ClientError::Unreachable { .. } => error.into(),
    }
}
