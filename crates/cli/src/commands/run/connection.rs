//! Connections between clients and servers, by TCP or UNIX sockets.

use remote::tls::{ClientTls, Encrypted, ServerTls};
use remote::{Address, Family, FrameError, LIMIT_GREETING};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest time to establish a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Time between two heartbeats.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// A side that sends nothing for this long is considered gone.
pub const SILENCE_MAX: Duration = Duration::from_secs(30);

/// A connection.
pub enum Stream {
    /// Over a network.
    Tcp(TcpStream),
    /// Over a network, with TLS.
    Encrypted(Box<Encrypted>),
    /// On this machine.
    Socket(UnixStream),
}

impl Stream {
    /// Connects to a server.
    ///
    /// # Errors
    /// Why none of its addresses answers.
    pub fn connect(address: &Address) -> io::Result<Stream> {
        let (family, host, port) = match address {
            Address::Socket(path) => return UnixStream::connect(path).map(Stream::Socket),
            Address::Tcp { family, port, .. } => (*family, address.host(), *port),
        };
        let mut last = io::Error::new(io::ErrorKind::NotFound, "it has no such address");
        for address in addresses(family, &host, port)? {
            match TcpStream::connect_timeout(&address, CONNECT_TIMEOUT) {
                Ok(stream) => return Stream::tcp(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn tcp(stream: TcpStream) -> io::Result<Stream> {
        // Frames are whole messages: waiting to fill a packet would only delay them.
        stream.set_nodelay(true)?;
        Ok(Stream::Tcp(stream))
    }

    /// Encrypts a connection to a server. A connection on this machine stays as it is.
    ///
    /// # Errors
    /// When the server does not speak TLS, or its certificate is not trusted.
    pub fn encrypted_to(self, address: &Address, tls: &ClientTls) -> io::Result<Stream> {
        match self {
            Stream::Tcp(stream) => tls.connect(&address.host(), stream).map(Stream::encrypted),
            other => Ok(other),
        }
    }

    /// Encrypts the connection of a client. A connection on this machine stays as it is.
    ///
    /// # Errors
    /// When the client does not speak TLS, or does not trust the certificate.
    pub fn encrypted_by(self, tls: &ServerTls) -> io::Result<Stream> {
        match self {
            Stream::Tcp(stream) => tls.accept(stream).map(Stream::encrypted),
            other => Ok(other),
        }
    }

    fn encrypted(stream: Encrypted) -> Stream {
        Stream::Encrypted(Box::new(stream))
    }

    /// The TCP connection; `None` for a UNIX socket.
    fn tcp_stream(&self) -> Option<&TcpStream> {
        match self {
            Stream::Tcp(stream) => Some(stream),
            Stream::Encrypted(stream) => Some(stream.socket()),
            Stream::Socket(_) => None,
        }
    }

    /// Limits the time of each read and write.
    pub fn set_timeout(&self, time: Duration) -> io::Result<()> {
        let time = Some(time);
        match (self, self.tcp_stream()) {
            (_, Some(tcp)) => tcp.set_read_timeout(time).and(tcp.set_write_timeout(time)),
            (Stream::Socket(s), _) => s.set_read_timeout(time).and(s.set_write_timeout(time)),
            _ => Ok(()),
        }
    }

    /// Ends the connection after the other side has received everything. A connection that is
    /// closed while the other side still sends is reset, and data that the other side has not read
    /// yet is lost.
    pub fn finish(&self) {
        // It may be closed already.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Encrypted(stream) => {
                stream.end_writing().and(stream.socket().shutdown(Shutdown::Write))
            }
            Stream::Socket(stream) => stream.shutdown(Shutdown::Write),
        };
        if self.set_timeout(2 * HEARTBEAT).is_ok() {
            // Errors and timeouts end this as well.
            let _ = io::copy(&mut self.take(u64::from(LIMIT_GREETING)), &mut io::sink());
        }
        self.close();
    }

    /// Closes the connection for both sides.
    pub fn close(&self) {
        // It may be closed already.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Encrypted(stream) => stream.socket().shutdown(Shutdown::Both),
            Stream::Socket(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// The local IP address; `None` for a UNIX socket.
    pub fn local(&self) -> Option<IpAddr> {
        self.tcp_stream()?.local_addr().ok().map(|address| address.ip())
    }

    /// The address of the other side, for messages.
    pub fn peer(&self) -> String {
        let Some(stream) = self.tcp_stream() else { return "a local client".into() };
        stream.peer_addr().map_or_else(|_| "a client".into(), |address| address.to_string())
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(buffer),
            Stream::Encrypted(stream) => (&mut &**stream).read(buffer),
            Stream::Socket(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(bytes),
            Stream::Encrypted(stream) => (&mut &**stream).write(bytes),
            Stream::Socket(stream) => (&mut &*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn addresses(family: Family, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    let fits = |address: &SocketAddr| match family {
        Family::Any => true,
        Family::V4 => address.is_ipv4(),
        Family::V6 => address.is_ipv6(),
    };
    Ok((host, port).to_socket_addrs()?.filter(fits).collect())
}

/// A listening socket.
pub enum Listener {
    /// On a network.
    Tcp(TcpListener),
    /// At a path.
    Socket(UnixListener),
}

impl Listener {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the address is in use, or not one of this machine.
    pub fn bind(address: &Address) -> io::Result<Listener> {
        match address {
            Address::Tcp { family, port, .. } => {
                let addresses = addresses(*family, &address.host(), *port)?;
                TcpListener::bind(&addresses[..]).map(Listener::Tcp)
            }
            Address::Socket(path) => {
                remove_stale(path)?;
                UnixListener::bind(path).map(Listener::Socket)
            }
        }
    }

    /// Waits for the next client.
    ///
    /// # Errors
    /// When no connection can be accepted, such as without free file descriptors.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => Stream::tcp(listener.accept()?.0),
            Listener::Socket(listener) => Ok(Stream::Socket(listener.accept()?.0)),
        }
    }

    /// Whether other hosts may be able to connect.
    pub fn is_open(&self) -> bool {
        match self {
            Listener::Tcp(listener) => {
                listener.local_addr().map_or(true, |address| !address.ip().is_loopback())
            }
            Listener::Socket(_) => false,
        }
    }
}

/// Removes the socket of a server that has ended. Leaves everything else at the path.
fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|at| at.file_type().is_socket());
    let refused =
        || UnixStream::connect(path).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused);
    if is_socket && refused() { std::fs::remove_file(path) } else { Ok(()) }
}

/// Sends messages to the other side, and heartbeats until it is dropped.
pub struct MessageWriter {
    stream: Arc<Stream>,
    lock: Arc<Mutex<()>>,
    _heartbeat: Sender<()>,
}

impl MessageWriter {
    /// Sends messages to a stream, and `heartbeat` at regular intervals.
    pub fn new<T: Serialize + Send + 'static>(stream: &Arc<Stream>, heartbeat: T) -> MessageWriter {
        let lock = Arc::new(Mutex::new(()));
        let (sender, dropped) = channel::<()>();
        let (their_stream, their_lock) = (Arc::clone(stream), Arc::clone(&lock));
        std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = dropped.recv_timeout(HEARTBEAT) {
                if write(&their_stream, &their_lock, &heartbeat).is_err() {
                    break;
                }
            }
        });
        MessageWriter { stream: Arc::clone(stream), lock, _heartbeat: sender }
    }

    /// Sends a message.
    pub fn send(&self, message: &impl Serialize) -> io::Result<()> {
        write(&self.stream, &self.lock, message)
    }

    /// Closes the connection.
    pub fn close(&self) {
        self.stream.close();
    }
}

fn write(stream: &Stream, lock: &Mutex<()>, message: &impl Serialize) -> io::Result<()> {
    let _guard = lock.lock().unwrap_or_else(PoisonError::into_inner);
    remote::write(stream, message)
}

/// Reads the messages of the other side in a thread of its own. `handle` gets each message, and an
/// error at the end. It returns whether to go on.
pub fn read_messages<T: DeserializeOwned>(
    stream: Arc<Stream>,
    limit: u32,
    mut handle: impl FnMut(Result<T, FrameError>) -> bool + Send + 'static,
) {
    std::thread::spawn(move || {
        loop {
            let message = remote::read(&*stream, limit);
            let failed = message.is_err();
            if !handle(message) || failed {
                break;
            }
        }
    });
}

/// An error of a connection, for a message.
pub fn describe_error(error: &FrameError) -> String {
    match error {
        FrameError::Io(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            format!("no message for {} s", SILENCE_MAX.as_secs())
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More bytes than the socket buffers hold if the peer does not read.
    const BYTES: usize = 8 << 20;

    #[test]
    fn a_side_that_still_sends_gets_everything_before_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let server = Stream::Tcp(listener.accept().unwrap().0);
        let serving = std::thread::spawn(move || {
            (&server).write_all(&vec![1; BYTES]).unwrap();
            server.finish();
        });
        let mut received = vec![0; BYTES - (1 << 20)];
        client.read_exact(&mut received).unwrap();
        for _ in 0..100 {
            // The server does not read these heartbeats.
            client.write_all(b"alive").unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(client.read_to_end(&mut received).unwrap(), 1 << 20);
        drop(client);
        serving.join().unwrap();
    }
}
