//! Sockets between clients and servers: TCP and UNIX alike.

use remote::{Address, Family, FrameError};
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

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(10);

/// How often a side that has nothing to say says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(2);

/// A side that is silent for this long is taken for gone.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A connection.
pub enum Stream {
    /// Over a network.
    Tcp(TcpStream),
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
            match TcpStream::connect_timeout(&address, CONNECT) {
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

    /// Bounds how long a read or a write may take.
    ///
    /// # Errors
    /// Those of the system.
    pub fn bound(&self, time: Duration) -> io::Result<()> {
        match self {
            Stream::Tcp(s) => s.set_read_timeout(Some(time)).and(s.set_write_timeout(Some(time))),
            Stream::Socket(s) => {
                s.set_read_timeout(Some(time)).and(s.set_write_timeout(Some(time)))
            }
        }
    }

    /// Ends it for both sides.
    pub fn close(&self) {
        // One that is closed already is as it shall be.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Socket(stream) => stream.shutdown(Shutdown::Both),
        };
    }

    /// Our side's address, where there is a network.
    pub fn local(&self) -> Option<IpAddr> {
        match self {
            Stream::Tcp(stream) => stream.local_addr().ok().map(|address| address.ip()),
            Stream::Socket(_) => None,
        }
    }

    /// The other side, for people.
    pub fn peer(&self) -> String {
        match self {
            Stream::Tcp(stream) => {
                stream.peer_addr().map_or_else(|_| "a client".into(), |address| address.to_string())
            }
            Stream::Socket(_) => "a local client".into(),
        }
    }
}

impl Read for &Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).read(buffer),
            Stream::Socket(stream) => (&mut &*stream).read(buffer),
        }
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => (&mut &*stream).write(bytes),
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

/// Where a server waits.
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
    /// The address is not ours, or in use.
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
    /// Those of the system.
    pub fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => Stream::tcp(listener.accept()?.0),
            Listener::Socket(listener) => Ok(Stream::Socket(listener.accept()?.0)),
        }
    }

    /// Whether hosts other than this one may reach it.
    pub fn is_open(&self) -> bool {
        match self {
            Listener::Tcp(listener) => {
                listener.local_addr().map_or(true, |address| !address.ip().is_loopback())
            }
            Listener::Socket(_) => false,
        }
    }
}

/// Removes a socket that a server left which no longer is there. Anything else at the path stays,
/// and is in the way.
fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = std::fs::symlink_metadata(path).is_ok_and(|at| at.file_type().is_socket());
    let refused =
        || UnixStream::connect(path).is_err_and(|e| e.kind() == io::ErrorKind::ConnectionRefused);
    if is_socket && refused() { std::fs::remove_file(path) } else { Ok(()) }
}

/// What is said to the other side, with heartbeats in between; they end with the value.
pub struct Mouth {
    stream: Arc<Stream>,
    turn: Arc<Mutex<()>>,
    _heart: Sender<()>,
}

impl Mouth {
    /// Speaks, and says `alive` when nothing else was said for a while.
    pub fn new<T: Serialize + Send + 'static>(stream: &Arc<Stream>, alive: T) -> Mouth {
        let turn = Arc::new(Mutex::new(()));
        let (heart, beats) = channel::<()>();
        let (theirs, in_turn) = (Arc::clone(stream), Arc::clone(&turn));
        std::thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = beats.recv_timeout(HEARTBEAT) {
                if say(&theirs, &in_turn, &alive).is_err() {
                    break;
                }
            }
        });
        Mouth { stream: Arc::clone(stream), turn, _heart: heart }
    }

    /// Says something.
    ///
    /// # Errors
    /// The other side is gone.
    pub fn say(&self, message: &impl Serialize) -> io::Result<()> {
        say(&self.stream, &self.turn, message)
    }

    /// Ends the connection.
    pub fn close(&self) {
        self.stream.close();
    }
}

fn say(stream: &Stream, turn: &Mutex<()>, message: &impl Serialize) -> io::Result<()> {
    let _turn = turn.lock().unwrap_or_else(PoisonError::into_inner);
    remote::write(stream, message)
}

/// Hears what the other side says, in a thread of its own; `heard` gets each message and at last an
/// error, and says whether to go on.
pub fn hear<T: DeserializeOwned>(
    stream: Arc<Stream>,
    limit: u32,
    mut heard: impl FnMut(Result<T, FrameError>) -> bool + Send + 'static,
) {
    std::thread::spawn(move || {
        loop {
            let message = remote::read(&*stream, limit);
            let failed = message.is_err();
            if !heard(message) || failed {
                break;
            }
        }
    });
}

/// An error of a connection in a few words.
pub fn words(error: &FrameError) -> String {
    match error {
        FrameError::Io(error)
            if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) =>
        {
            format!("nothing was heard of it for {} s", PATIENCE.as_secs())
        }
        other => other.to_string(),
    }
}
