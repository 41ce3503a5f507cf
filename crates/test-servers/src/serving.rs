//! A server in its own thread that stops when its value is dropped, and the log of its requests.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;

/// A request received by a server or a proxy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// "GET", "PUT", …
    pub method: String,
    /// Path and query as received.
    pub target: String,
    /// Headers, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The status of the answer; 0: none.
    pub status: u16,
}

impl Asked {
    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The requests, in the order of their answers.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Asked>>>);

impl Log {
    pub(crate) fn add(&self, asked: Asked) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
    }

    pub(crate) fn all(&self) -> Vec<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A connection, encrypted or not.
pub(crate) trait Line: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Line for T {}

/// Encrypts a connection if `tls` is given.
pub(crate) async fn secure(
    stream: TcpStream,
    tls: Option<&TlsAcceptor>,
) -> io::Result<Box<dyn Line>> {
    stream.set_nodelay(true)?;
    Ok(match tls {
        Some(tls) => Box::new(tls.accept(stream).await?),
        None => Box::new(stream),
    })
}

/// The function that serves a connection.
pub(crate) type Serve =
    Arc<dyn Fn(TcpStream) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// A server that can be stopped, with all its connections, and started again on its port.
pub(crate) struct Server {
    address: SocketAddr,
    serve: Serve,
    running: Option<(oneshot::Sender<()>, JoinHandle<()>)>,
}

impl Server {
    /// Starts a server at an address on loopback; port 0 for any port.
    #[track_caller]
    pub(crate) fn start(at: SocketAddr, serve: Serve) -> Server {
        let mut server = Server { address: at, serve, running: None };
        server.start_again();
        server
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the port and every connection.
    pub(crate) fn stop(&mut self) {
        if let Some((stop, thread)) = self.running.take() {
            // The thread may have ended already.
            let _ = stop.send(());
            let _ = thread.join();
        }
    }

    /// Serves on its port.
    #[track_caller]
    pub(crate) fn start_again(&mut self) {
        self.stop();
        let listener = listen(self.address);
        self.address = listener.local_addr().expect("a socket has an address");
        let serve = Arc::clone(&self.serve);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::spawn(move || run(listener, &serve, stopped));
        self.running = Some((stop, thread));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Any port on loopback.
pub(crate) fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Listens at an address. An outgoing connection may use the port for a moment, so this tries
/// several times.
#[track_caller]
fn listen(at: SocketAddr) -> TcpListener {
    let patience = Instant::now() + Duration::from_secs(10);
    loop {
        let domain = socket2::Domain::for_address(at);
        let socket = socket2::Socket::new(domain, socket2::Type::STREAM, None).expect("a socket");
        socket.set_reuse_address(true).expect("a socket of one's own");
        socket.set_nonblocking(true).expect("a socket of one's own");
        // A thousand clients may connect at once.
        match socket.bind(&at.into()).and_then(|()| socket.listen(4096)) {
            Ok(()) => return socket.into(),
            Err(why) => assert!(Instant::now() < patience, "{at}: {why}"),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn run(listener: TcpListener, serve: &Serve, stopped: oneshot::Receiver<()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    // Dropping the runtime drops its tasks, which closes every connection.
    runtime.expect("a runtime").block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listening socket");
        let accept = async {
            loop {
                // A connection may be closed before it is accepted.
                if let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(serve(stream));
                }
            }
        };
        tokio::select! {
            () = accept => {}
            _ = stopped => {}
        }
    });
}
