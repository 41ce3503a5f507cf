//! A connection to an NBD server.

use super::protocol::{self, Export};
use super::uri::{Server, Uri};
use std::io::{self, IoSlice, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long a server may take to answer before it serves I/O.
const PATIENCE: Duration = Duration::from_secs(10);

/// A stream to a server.
pub enum Stream {
    /// Over TCP.
    Tcp(TcpStream),
    /// Through a UNIX socket.
    Unix(UnixStream),
}

impl Stream {
    fn connect(server: &Server) -> io::Result<Stream> {
        match server {
            Server::Unix(path) => UnixStream::connect(path).map(Stream::Unix),
            Server::Tcp(host, port) => {
                let mut last = io::Error::other("the host has no address");
                for address in (host.as_str(), *port).to_socket_addrs()? {
                    match TcpStream::connect_timeout(&address, PATIENCE) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            return Ok(Stream::Tcp(stream));
                        }
                        Err(error) => last = error,
                    }
                }
                Err(last)
            }
        }
    }

    fn set_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(timeout).and(stream.set_write_timeout(timeout))
            }
            Stream::Unix(stream) => {
                stream.set_read_timeout(timeout).and(stream.set_write_timeout(timeout))
            }
        }
    }

    /// From now on calls do not wait.
    pub fn set_nonblocking(&self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.set_nonblocking(true),
            Stream::Unix(stream) => stream.set_nonblocking(true),
        }
    }

    /// Its descriptor.
    pub fn fd(&self) -> RawFd {
        match self {
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Unix(stream) => stream.as_raw_fd(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
        }
    }

    fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write_vectored(parts),
            Stream::Unix(stream) => stream.write_vectored(parts),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Connects to the server of a URI and agrees with it on the export.
pub fn connect(uri: &str) -> io::Result<(Stream, Export)> {
    let uri = Uri::parse(uri).map_err(io::Error::other)?;
    let mut stream = Stream::connect(&uri.server)?;
    stream.set_timeout(Some(PATIENCE))?;
    let export =
        protocol::handshake(&mut stream, &uri.export).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                io::Error::other("the server does not answer")
            }
            io::ErrorKind::UnexpectedEof => io::Error::other("the server closed the connection"),
            _ => error,
        })?;
    stream.set_timeout(None)?;
    Ok((stream, export))
}

/// Asks a server for an export: its size in bytes, and whether it takes writes.
pub fn nbd_export(uri: &str) -> io::Result<(u64, bool)> {
    let (mut stream, export) = connect(uri)?;
    stream.write_all(&protocol::request(protocol::Request::Disconnect, 0, 0, 0))?;
    Ok((export.size, !export.is_read_only()))
}
