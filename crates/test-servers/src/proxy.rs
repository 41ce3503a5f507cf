//! A proxy between a client and a server that injects faults.

use crate::lines::{Message, Reader};
use crate::serving::{Asked, Log, Serve, Server, anywhere, secure};
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use testbed::Seeded;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;

/// The fault of one request. Numbers are bytes of the answer's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    Pass,
    /// The answer is delayed.
    Delay(Duration),
    /// No answer is sent, and the connection stays open.
    Stall,
    /// Only this much of the answer is sent, and the connection stays open.
    StallAfter(usize),
    /// The connection is closed without an answer.
    Close,
    /// The connection is closed with this much of the answer's body missing.
    Truncate(usize),
    /// The connection is reset without an answer.
    Reset,
    /// The connection is reset with this much of the answer's body missing.
    ResetWithin(usize),
    /// The announced length is too large by this much, and then the connection is closed.
    Longer(u64),
    /// The answer is complete, but its content is shorter by this much.
    Shorter(usize),
    /// The server is not asked. This is the answer, and then the connection is closed.
    Instead(Vec<u8>),
    /// The server is not asked. The answer is 503 with S3's SlowDown, and the connection stays
    /// open.
    SlowDown,
}

/// Chooses the fault of a request.
type Decide = Box<dyn FnMut(&Asked) -> Fault + Send>;

/// A proxy on loopback, which uses plain HTTP to its server. It stops when the value is dropped.
pub struct Proxy {
    server: Server,
    shared: Arc<Shared>,
}

struct Shared {
    upstream: SocketAddr,
    decide: Mutex<Decide>,
    log: Log,
    connections: AtomicU64,
}

impl Proxy {
    /// Starts a proxy in front of a server. With `tls`, clients must use TLS.
    #[track_caller]
    pub fn start(
        upstream: SocketAddr,
        tls: Option<Arc<rustls::ServerConfig>>,
        decide: impl FnMut(&Asked) -> Fault + Send + 'static,
    ) -> Proxy {
        let decide: Mutex<Decide> = Mutex::new(Box::new(decide));
        let (log, connections) = (Log::default(), AtomicU64::new(0));
        let shared = Arc::new(Shared { upstream, decide, log, connections });
        let tls = tls.map(TlsAcceptor::from);
        let each = Arc::clone(&shared);
        let serve: Serve = Arc::new(move |stream| {
            let (tls, shared) = (tls.clone(), Arc::clone(&each));
            Box::pin(async move {
                // Either side may close the connection at any time.
                let _ = shared.carry(stream, tls.as_ref()).await;
            })
        });
        Proxy { server: Server::start(anywhere(), serve), shared }
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Host and port in the syntax of options.
    pub fn host(&self) -> String {
        self.address().to_string()
    }

    /// The completely received requests, in the order in which they ended; the status is 0 if the
    /// answer was not complete.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.log.all()
    }

    /// Number of requests that were answered completely with a status.
    pub fn count(&self, status: u16) -> u64 {
        self.asked().iter().filter(|asked| asked.status == status).count() as u64
    }

    /// Number of connections from clients.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

/// `percent` of all requests have a fault. Which ones depends on their order and the seed.
pub fn now_and_then(seed: u64, percent: u64, fault: Fault) -> impl FnMut(&Asked) -> Fault + Send {
    let mut seeded = Seeded::new(seed);
    move |_| if seeded.percent(percent) { fault.clone() } else { Fault::Pass }
}

/// All requests of a method have a fault.
pub fn each(method: &'static str, fault: Fault) -> impl FnMut(&Asked) -> Fault + Send {
    move |asked| if asked.method == method { fault.clone() } else { Fault::Pass }
}

/// The first request and every second one after it have a fault, whether they are retries or not.
pub fn every_second(fault: Fault) -> impl FnMut(&Asked) -> Fault + Send {
    let mut meets = false;
    move |_| {
        meets = !meets;
        if meets { fault.clone() } else { Fault::Pass }
    }
}

const SLOW_DOWN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code>\
    <Message>Please reduce your request rate.</Message></Error>";

/// The result of a request for the client.
struct Given {
    /// The status of a complete answer; else 0.
    status: u16,
    /// Whether its connection stays open.
    stays: bool,
}

impl Given {
    const NOT_WHOLE: Given = Given { status: 0, stays: false };
}

impl Shared {
    async fn carry(&self, stream: TcpStream, tls: Option<&TlsAcceptor>) -> io::Result<()> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        // A second handle of the socket, to reset the connection below TLS.
        let socket = socket2::Socket::from(stream.as_fd().try_clone_to_owned()?);
        let mut client = Reader::new(secure(stream, tls).await?);
        let mut server = None;
        while let Some(request) = client.request().await? {
            let mut asked = request.asked();
            let fault = {
                let mut decide = self.decide.lock().unwrap_or_else(PoisonError::into_inner);
                decide(&asked)
            };
            let broken = matches!(fault, Fault::Reset | Fault::ResetWithin(_));
            let given = self.give(&request, fault, &mut client, &mut server).await;
            asked.status = given.as_ref().map_or(0, |given| given.status);
            self.log.add(asked);
            if broken {
                socket.set_linger(Some(Duration::ZERO))?;
            }
            if !given?.stays {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn give(
        &self,
        request: &Message,
        fault: Fault,
        client: &mut Reader,
        server: &mut Option<Reader>,
    ) -> io::Result<Given> {
        match &fault {
            Fault::Close | Fault::Reset => return Ok(Given::NOT_WHOLE),
            Fault::Stall => return client.gone().await.map(|()| Given::NOT_WHOLE),
            Fault::Delay(time) => tokio::time::sleep(*time).await,
            Fault::Instead(bytes) => {
                return client.write(bytes).await.map(|()| Given::NOT_WHOLE);
            }
            Fault::SlowDown => {
                let length = SLOW_DOWN.len();
                let head = format!("HTTP/1.1 503 Slow Down\r\nContent-Length: {length}\r\n\r\n");
                let body = if request.method() == "HEAD" { "" } else { SLOW_DOWN };
                client.write((head + body).as_bytes()).await?;
                return Ok(Given { status: 503, stays: true });
            }
            _ => {}
        }
        let answer = self.ask(request, server).await?;
        let all = answer.body.len();
        let whole = Given { status: answer.status(), stays: answer.stays };
        let (head, body, given) = match fault {
            Fault::Truncate(missing) | Fault::ResetWithin(missing) => {
                (answer.head.clone(), all.saturating_sub(missing), Given::NOT_WHOLE)
            }
            Fault::StallAfter(length) => (answer.head.clone(), length.min(all), Given::NOT_WHOLE),
            Fault::Longer(more) => (answer.head_of(all as u64 + more), all, Given::NOT_WHOLE),
            Fault::Shorter(less) => {
                let length = all.saturating_sub(less);
                (answer.head_of(length as u64), length, whole)
            }
            _ => (answer.head.clone(), all, whole),
        };
        client.write(&head).await?;
        client.write(&answer.body[..body]).await?;
        if matches!(fault, Fault::StallAfter(_)) {
            client.gone().await?;
        }
        Ok(given)
    }

    /// The server's answer, over a connection that is opened if there is none.
    async fn ask(&self, request: &Message, server: &mut Option<Reader>) -> io::Result<Message> {
        if let Some(reader) = server.as_mut() {
            // The server may have closed it meanwhile.
            if let Ok(answer) = reader.exchange(request).await {
                return Ok(answer);
            }
        }
        let stream = TcpStream::connect(self.upstream).await?;
        stream.set_nodelay(true)?;
        let mut reader = Reader::new(Box::new(stream));
        let answer = reader.exchange(request).await?;
        *server = answer.stays.then_some(reader);
        Ok(answer)
    }
}
