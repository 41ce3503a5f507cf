//! Encryption: the store's, and what it costs any client at least.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};
use std::error::Error;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

/// What TLS encrypts at a time, in bytes.
const RECORD: usize = 16 << 10;

/// The cipher that TLS 1.3 agrees on first where CPUs have AES.
pub struct Seal(LessSafeKey);

impl Seal {
    /// With a key of no importance.
    pub fn new() -> Result<Seal, Box<dyn Error>> {
        let key =
            UnboundKey::new(&AES_256_GCM, &[7; 32]).map_err(|_| "the cipher has no such key")?;
        Ok(Seal(LessSafeKey::new(key)))
    }

    /// Encrypts bytes where they are, record by record.
    pub fn pass(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        for record in bytes.chunks_mut(RECORD) {
            let nonce = Nonce::assume_unique_for_key([0; NONCE_LEN]);
            let tag = self.0.seal_in_place_separate_tag(nonce, Aad::empty(), record);
            std::hint::black_box(tag.map_err(|_| ErrorKind::InvalidInput)?.as_ref());
        }
        Ok(())
    }
}

/// A certificate that nobody vouches for, with its key.
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

/// The store's end of a connection, encrypted or not.
pub struct Line {
    stream: TcpStream,
    tls: Option<Box<ServerConnection>>,
}

impl Line {
    /// Over a socket that does not wait.
    pub fn new(stream: TcpStream, tls: Option<&Arc<ServerConfig>>) -> Result<Line, Box<dyn Error>> {
        let tls = match tls {
            Some(config) => Some(Box::new(ServerConnection::new(Arc::clone(config))?)),
            None => None,
        };
        Ok(Line { stream, tls })
    }

    /// Takes what fits of the parts: how many bytes.
    pub fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.flush()?;
        match &mut self.tls {
            None => self.stream.write_vectored(parts),
            Some(tls) => tls.writer().write_vectored(parts),
        }
    }

    /// Sends what is encrypted already.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut self.stream)?;
            }
        }
        Ok(())
    }

    /// Receives what there is: how many bytes; 0: it has ended.
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
            // Keys are agreed on in turns.
            self.flush()?;
        }
    }
}
