//! The byte stream of a connection, plain or encrypted, without blocking.

use super::tls::Tls;
use crate::Failure;
use rustls::ClientConnection;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

/// Maximum encrypted bytes per read from the socket: two records.
const ENCRYPTED_MAX: usize = 34 << 10;

/// A connection to one address.
pub struct Stream {
    socket: Socket,
    tls: Option<Box<Encrypted>>,
    /// Bytes sent and received through the socket.
    pub traffic: u64,
    /// Whether more bytes may be available after the last read.
    pub readable: bool,
    /// Whether the other side has closed, and the end of the stream is not read yet.
    pub ending: bool,
}

struct Encrypted {
    tls: Tls,
    session: ClientConnection,
    /// Bytes received and not yet decrypted.
    received: Vec<u8>,
    from: usize,
    to: usize,
    ended: bool,
}

impl Stream {
    /// Starts a connection. The result is known when the socket becomes writable.
    ///
    /// # Errors
    /// The system refuses the connection at once.
    pub fn connect(address: SocketAddr) -> io::Result<Stream> {
        let kind = Type::STREAM.nonblocking();
        let socket = Socket::new(Domain::for_address(address), kind, Some(Protocol::TCP))?;
        socket.set_tcp_nodelay(true)?;
        match socket.connect(&address.into()) {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            other => other?,
        }
        Ok(Stream { socket, tls: None, traffic: 0, readable: false, ending: false })
    }

    /// The socket, for epoll.
    pub fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// The error that ended the attempt to connect, or the connection.
    pub fn error(&self) -> Option<io::Error> {
        self.socket.take_error().unwrap_or_else(Some)
    }

    /// Starts the TLS handshake.
    ///
    /// # Errors
    /// The host is not valid as a name in TLS.
    pub fn encrypt(&mut self, tls: &Tls, host: &str) -> Result<(), Failure> {
        self.tls = Some(Box::new(Encrypted {
            tls: tls.clone(),
            session: tls.connection(host)?,
            received: vec![0; ENCRYPTED_MAX],
            from: 0,
            to: 0,
            ended: false,
        }));
        Ok(())
    }

    /// Continues the TLS handshake. Returns whether it is complete.
    ///
    /// # Errors
    /// TLS failed, or the connection broke.
    pub fn agree(&mut self) -> Result<bool, Failure> {
        let Some(encrypted) = &mut self.tls else { return Ok(true) };
        loop {
            let sent = encrypted.flush(&self.socket, &mut self.traffic);
            match sent {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(broken(&error)),
                _ if !encrypted.session.is_handshaking() => return Ok(true),
                _ => {}
            }
            if encrypted.ended {
                return Err(Failure::Broken(libc::ECONNRESET));
            }
            match encrypted.receive(&self.socket, &mut self.traffic) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(error) => {
                    // The alert tells the server the reason.
                    let _ = encrypted.flush(&self.socket, &mut self.traffic);
                    return Err(encrypted.failure(&error));
                }
            }
        }
    }

    /// Sends as many bytes of the parts, in order, as the socket accepts. Returns their number.
    ///
    /// # Errors
    /// `WouldBlock` if the socket is full. With any other error the connection is broken.
    pub fn send(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match &mut self.tls {
            None => {
                // A closed connection must be an error of this request, not a SIGPIPE.
                let sent = self.socket.send_vectored_with_flags(parts, libc::MSG_NOSIGNAL)?;
                self.traffic += sent as u64;
                Ok(sent)
            }
            Some(encrypted) => {
                let mut taken = 0;
                for part in parts {
                    let mut rest: &[u8] = part;
                    while !rest.is_empty() {
                        let some = encrypted.session.writer().write(rest)?;
                        taken += some;
                        rest = &rest[some..];
                        match encrypted.flush(&self.socket, &mut self.traffic) {
                            Err(error) if error.kind() == ErrorKind::WouldBlock && taken > 0 => {
                                return Ok(taken);
                            }
                            other => other?,
                        }
                    }
                }
                Ok(taken)
            }
        }
    }

    /// Sends remaining encrypted bytes. Returns whether all are sent.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn flush(&mut self) -> io::Result<bool> {
        let Some(encrypted) = &mut self.tls else { return Ok(true) };
        match encrypted.flush(&self.socket, &mut self.traffic) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Receives into `into`. Returns the number of bytes, 0 at the end of the connection.
    ///
    /// # Errors
    /// `WouldBlock` if no bytes are available. With any other error the connection or TLS has
    /// failed.
    pub fn receive(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let received = match &mut self.tls {
            None => receive_plain(&self.socket, &mut self.traffic, into),
            Some(encrypted) => encrypted.read(&self.socket, &mut self.traffic, into),
        };
        let ending = self.ending || self.tls.as_ref().is_some_and(|tls| tls.ended);
        // A stream socket that returns fewer bytes than requested is empty, see epoll(7).
        self.readable = match &received {
            Ok(bytes) => *bytes == into.len() || *bytes == 0 || ending,
            Err(_) => false,
        };
        received
    }

    /// The failure for an error of [`Stream::send`] or [`Stream::receive`].
    pub fn failure(&self, error: &io::Error) -> Failure {
        match &self.tls {
            Some(encrypted) => encrypted.failure(error),
            None => broken(error),
        }
    }
}

fn receive_plain(mut socket: &Socket, traffic: &mut u64, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(into) {
            Ok(bytes) => {
                *traffic += bytes as u64;
                return Ok(bytes);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Encrypted {
    fn flush(&mut self, socket: &Socket, traffic: &mut u64) -> io::Result<()> {
        while self.session.wants_write() {
            let mut out = Unsignalled(socket);
            match self.session.write_tls(&mut out) {
                Ok(bytes) => *traffic += bytes as u64,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes bytes from the socket, if none are left, and decrypts them.
    fn receive(&mut self, mut socket: &Socket, traffic: &mut u64) -> io::Result<()> {
        if self.from == self.to {
            let bytes = socket.read(&mut self.received)?;
            *traffic += bytes as u64;
            (self.from, self.to) = (0, bytes);
            self.ended = bytes == 0;
        }
        let mut bytes = &self.received[self.from..self.to];
        let before = bytes.len();
        // An empty read tells the session that the connection has ended.
        self.session.read_tls(&mut bytes)?;
        self.from += before - bytes.len();
        match self.session.process_new_packets() {
            Ok(_) => Ok(()),
            Err(error) => Err(io::Error::new(ErrorKind::InvalidData, error)),
        }
    }

    fn read(&mut self, socket: &Socket, traffic: &mut u64, into: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < into.len() {
            match self.session.reader().read(&mut into[filled..]) {
                Ok(0) => {
                    self.ended = true;
                    break;
                }
                Ok(bytes) => {
                    filled += bytes;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Servers often close without an alert. An incomplete answer is detected elsewhere.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            }
            match self.receive(socket, traffic) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock && filled > 0 => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    fn failure(&self, error: &io::Error) -> Failure {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(error) => self.tls.failure(error),
            None => broken(error),
        }
    }
}

/// The failure of a connection that broke.
pub fn broken(error: &io::Error) -> Failure {
    Failure::Broken(error.raw_os_error().unwrap_or(libc::ECONNRESET))
}

/// A socket that raises no SIGPIPE.
struct Unsignalled<'a>(&'a Socket);

impl Write for Unsignalled<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_with_flags(bytes, libc::MSG_NOSIGNAL)
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.send_vectored_with_flags(parts, libc::MSG_NOSIGNAL)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
