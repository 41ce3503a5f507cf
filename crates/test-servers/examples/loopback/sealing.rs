//! Encryption for the store, and its minimum cost for a client.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use std::error::Error;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// Size of a TLS record in bytes.
const RECORD: usize = 16 << 10;

/// The preferred cipher of TLS 1.3 on CPUs with AES instructions.
pub struct Seal(LessSafeKey);

impl Seal {
    /// A cipher with an arbitrary key.
    pub fn new() -> Result<Seal, Box<dyn Error>> {
        let key =
            UnboundKey::new(&AES_256_GCM, &[7; 32]).map_err(|_| "the cipher has no such key")?;
        Ok(Seal(LessSafeKey::new(key)))
    }

    /// Encrypts bytes in place, record by record.
    pub fn pass(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        for record in bytes.chunks_mut(RECORD) {
            let nonce = Nonce::assume_unique_for_key([0; NONCE_LEN]);
            let tag = self.0.seal_in_place_separate_tag(nonce, Aad::empty(), record);
            std::hint::black_box(tag.map_err(|_| ErrorKind::InvalidInput)?.as_ref());
        }
        Ok(())
    }
}

/// The configuration of a server with a self-signed certificate.
pub fn server() -> Result<Arc<ServerConfig>, Box<dyn Error>> {
    let own = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()])?;
    let key = PrivateKeyDer::try_from(own.signing_key.serialize_der())?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)?;
    Ok(Arc::new(config))
}

/// The store's side of a connection, encrypted or not.
pub struct Line {
    stream: TcpStream,
    tls: Option<Box<ServerConnection>>,
}

impl Line {
    /// A line over a non-blocking socket.
    pub fn new(stream: TcpStream, tls: Option<&Arc<ServerConfig>>) -> Result<Line, Box<dyn Error>> {
        let tls = match tls {
            Some(config) => Some(Box::new(ServerConnection::new(Arc::clone(config))?)),
            None => None,
        };
        Ok(Line { stream, tls })
    }

    /// Sends as many bytes of the parts as fit. Returns their number.
    pub fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.flush()?;
        match &mut self.tls {
            None => self.stream.write_vectored(parts),
            Some(tls) => tls.writer().write_vectored(parts),
        }
    }

    /// Sends bytes that are already encrypted.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut self.stream)?;
            }
        }
        Ok(())
    }

    /// Receives available bytes. Returns their number; 0 at the end.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(tls) = &mut self.tls else { return self.stream.read(into) };
            match tls.reader().read(into) {
                Err(why) if why.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
            if tls.read_tls(&mut self.stream)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(io::Error::other)?;
            // The handshake may need an answer.
            self.flush()?;
        }
    }
}
