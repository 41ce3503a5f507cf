//! TLS between a client and a server. The server has a certificate; the client trusts the authority that
//! issued it, or the certificate itself if that is its own authority.

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes that are read from a socket at a time: a TLS record has at most 16 KiB and its header.
const READ_BYTES: usize = 18 << 10;

/// Bytes that are encrypted at a time.
const WRITE_BYTES: usize = 16 << 10;

/// The certificate of a server.
#[derive(Clone)]
pub struct ServerTls(Arc<ServerConfig>);

/// The certificates that a client trusts.
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

    /// Encrypts a connection. The timeouts of the socket limit the handshake.
    ///
    /// # Errors
    /// When the client does not speak TLS, or does not trust the certificate.
    pub fn accept(&self, stream: TcpStream) -> io::Result<Encrypted> {
        let session = ServerConnection::new(Arc::clone(&self.0)).map_err(io::Error::other)?;
        Encrypted::new(session.into(), stream)
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

    /// Encrypts a connection to a host, which its certificate must name. The timeouts of the socket
    /// limit the handshake.
    ///
    /// # Errors
    /// When the host is no name for a certificate, the server does not speak TLS, or its certificate
    /// is not trusted.
    pub fn connect(&self, host: &str, stream: TcpStream) -> io::Result<Encrypted> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let session = ClientConnection::new(Arc::clone(&self.0), name).map_err(io::Error::other)?;
        Encrypted::new(session.into(), stream)
    }
}

/// An encrypted connection. One thread may read while others write.
pub struct Encrypted {
    socket: TcpStream,
    /// Held while bytes are encrypted and sent, so that records are sent in their order. Locked before
    /// the session.
    sending: Mutex<()>,
    /// Never held while the socket blocks.
    session: Mutex<Connection>,
    /// Bytes from the socket that the session has not taken yet.
    received: Mutex<Vec<u8>>,
}

impl Encrypted {
    fn new(mut session: Connection, mut socket: TcpStream) -> io::Result<Encrypted> {
        while session.is_handshaking() {
            session.complete_io(&mut socket)?;
        }
        let (sending, session) = (Mutex::default(), Mutex::new(session));
        Ok(Encrypted { socket, sending, session, received: Mutex::default() })
    }

    /// The connection below, for its timeouts and addresses. Only this type may read or write it.
    pub fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Tells the other side that nothing more is sent.
    pub fn end_writing(&self) -> io::Result<()> {
        self.send(|session| {
            session.send_close_notify();
            Ok(())
        })
    }

    /// Changes the session, and sends what it has to send then.
    fn send<T>(&self, change: impl FnOnce(&mut Connection) -> io::Result<T>) -> io::Result<T> {
        let _sending = lock(&self.sending);
        let mut records = Vec::new();
        let result = {
            let mut session = lock(&self.session);
            let result = change(&mut session);
            while session.wants_write() {
                session.write_tls(&mut records)?;
            }
            result
        };
        (&self.socket).write_all(&records)?;
        result
    }

    /// Decrypts received bytes. Returns what fits into `buffer`; `None`: more bytes are needed.
    fn decrypt(&self, received: &mut Vec<u8>, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let mut session = lock(&self.session);
        loop {
            match session.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => return read.map(Some),
            }
            if received.is_empty() {
                return Ok(None);
            }
            let taken = session.read_tls(&mut &received[..])?;
            received.drain(..taken);
            session.process_new_packets().map_err(io::Error::other)?;
        }
    }
}

impl Read for &Encrypted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut received = lock(&self.received);
        loop {
            let decrypted = self.decrypt(&mut received, buffer);
            // An alert, or the answer to a change of keys.
            if lock(&self.session).wants_write() {
                self.send(|_| Ok(()))?;
            }
            if let Some(count) = decrypted? {
                return Ok(count);
            }
            received.resize(READ_BYTES, 0);
            let read = (&self.socket).read(&mut received);
            received.truncate(*read.as_ref().unwrap_or(&0));
            if read? == 0 {
                // The other side closed the connection, possibly in the middle of a message, which the
                // reader of frames detects.
                return Ok(0);
            }
        }
    }
}

impl Write for &Encrypted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(WRITE_BYTES)];
        self.send(|session| session.writer().write(part))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Encrypted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for Encrypted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use test_servers::Authority;

    /// More bytes than the buffers of sockets hold.
    const BYTES: usize = 8 << 20;

    /// Both sides of an encrypted connection.
    fn connected() -> (Encrypted, Encrypted) {
        let (authority, directory) = (Authority::new(), testbed::scratch());
        let (certificate, key) = authority.identity(&["127.0.0.1"]).files(directory.path());
        let server = ServerTls::of_files(&certificate, &key).unwrap();
        let client = ClientTls::of_file(&authority.file()).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let serving = std::thread::spawn(move || server.accept(listener.accept().unwrap().0));
        let stream = TcpStream::connect(address).unwrap();
        let client = client.connect("127.0.0.1", stream).unwrap();
        (client, serving.join().unwrap().unwrap())
    }

    #[test]
    fn both_sides_send_at_once_more_than_sockets_hold() {
        let (client, server) = connected();
        let sent = |byte: u8| -> Vec<u8> { (0..BYTES).map(|at| byte ^ (at % 251) as u8).collect() };
        std::thread::scope(|scope| {
            for (side, own, theirs) in [(&client, 1, 2), (&server, 2, 1)] {
                scope.spawn(move || {
                    let mut side = side;
                    side.write_all(&sent(own)).unwrap();
                });
                scope.spawn(move || {
                    let mut received = vec![0; BYTES];
                    let mut side = side;
                    side.read_exact(&mut received).unwrap();
                    assert_eq!(received, sent(theirs));
                });
            }
        });
        client.end_writing().unwrap();
        assert_eq!((&server).read(&mut [0; 10]).unwrap(), 0, "nothing more is sent");
    }

    #[test]
    fn bytes_on_the_wire_are_not_those_of_the_message() {
        let (client, server) = connected();
        let mut raw = server.socket().try_clone().unwrap();
        (&client).write_all(b"a message").unwrap();
        let mut seen = [0; 64];
        let count = raw.read(&mut seen).unwrap();
        assert!(count > 9 && !seen.windows(9).any(|part| part == b"a message"), "{seen:?}");
    }

    #[test]
    fn bytes_that_are_no_tls_are_an_error() {
        let (client, server) = connected();
        let mut raw = client.socket().try_clone().unwrap();
        raw.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        (&server).read(&mut [0; 10]).unwrap_err();
    }
}
