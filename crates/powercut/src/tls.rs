//! TLS between the tester and the server. The server has a certificate; the tester trusts the authority
//! that issued it, or the certificate itself if that is its own authority.

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;

/// A connection, encrypted or not.
pub trait Wire: Read + Write + Send {}

impl<T: Read + Write + Send> Wire for T {}

/// The certificate of a server.
#[derive(Clone)]
pub struct ServerTls(Arc<ServerConfig>);

/// What a tester trusts.
#[derive(Clone)]
pub struct ClientTls(Arc<ClientConfig>);

impl ServerTls {
    /// Reads a certificate, with those that lead to its authority, and its key, both as PEM.
    ///
    /// # Errors
    /// The file and what is wrong with it.
    pub fn of_files(certificate: &Path, key: &Path) -> Result<ServerTls, String> {
        let chain = certificates(certificate)?;
        let private = PrivateKeyDer::from_pem_file(key).map_err(|error| {
            format!("{}: {error}; expected a private key as PEM", key.display())
        })?;
        let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(chain, private)
            .map_err(|error| {
                format!("{} with {}: {error}", certificate.display(), key.display())
            })?;
        Ok(ServerTls(Arc::new(config)))
    }

    /// Encrypts a connection.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn accept(&self, stream: TcpStream) -> io::Result<Box<dyn Wire>> {
        let session = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(session, stream)))
    }
}

impl ClientTls {
    /// Trusts the certificates of a file, as PEM.
    ///
    /// # Errors
    /// The file and what is wrong with it.
    pub fn of_file(authority: &Path) -> Result<ClientTls, String> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(authority)? {
            roots.add(certificate).map_err(|error| format!("{}: {error}", authority.display()))?;
        }
        let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(ClientTls(Arc::new(config)))
    }

    /// Encrypts a connection to `HOST:PORT`, whose certificate has to name the host.
    ///
    /// # Errors
    /// When the host is no name for a certificate.
    pub fn connect(&self, address: &str, stream: TcpStream) -> io::Result<Box<dyn Wire>> {
        let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let name = ServerName::try_from(host).map_err(io::Error::other)?;
        let session = ClientConnection::new(Arc::clone(&self.0), name).map_err(io::Error::other)?;
        Ok(Box::new(StreamOwned::new(session, stream)))
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |what: String| format!("{}: {what}", path.display());
    let all = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
    let all: Result<Vec<_>, _> = all.collect();
    let all = all.map_err(|error| wrong(error.to_string()))?;
    match all.is_empty() {
        true => Err(wrong("holds no certificate; expected PEM".into())),
        false => Ok(all),
    }
}
