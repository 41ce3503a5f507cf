//! Stands between a client and a server, and spoils what it is told to.

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

/// What happens to one request. Numbers are bytes of the answer's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    Pass,
    /// The same, later.
    Delay(Duration),
    /// It is never answered, and the connection stays.
    Stall,
    /// So much of the answer comes, and the connection stays.
    StallAfter(usize),
    /// The connection ends without an answer.
    Close,
    /// The connection ends with so much of the answer's body missing.
    Truncate(usize),
    /// The connection breaks without an answer.
    Reset,
    /// The connection breaks with so much of the answer's body missing.
    ResetWithin(usize),
    /// The answer says it is longer by so much, and then the connection ends.
    Longer(u64),
    /// The answer is whole, and its content shorter by so much.
    Shorter(usize),
    /// The server is not asked; this is the answer, and then the connection ends.
    Instead(Vec<u8>),
    /// The server is not asked: 503 and S3's SlowDown; the connection stays.
    SlowDown,
}

/// Chooses what happens to a request.
type Decide = Box<dyn FnMut(&Asked) -> Fault + Send>;

/// A proxy on loopback, gone with the value. It speaks plain HTTP to its server.
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
    /// In front of a server; with `tls` clients have to encrypt.
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
                // Either side may go away at any moment: that is what it is for.
                let _ = shared.carry(stream, tls.as_ref()).await;
            })
        });
        Proxy { server: Server::start(anywhere(), serve), shared }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    /// Host and port, as options want them.
    pub fn host(&self) -> String {
        self.address().to_string()
    }

    /// Requests that it has met whole, in the order in which their fate was over; the status is 0
    /// where not all of an answer was given.
    pub fn asked(&self) -> Vec<Asked> {
        self.shared.log.all()
    }

    /// Requests that were answered whole, with a status.
    pub fn count(&self, status: u16) -> u64 {
        self.asked().iter().filter(|asked| asked.status == status).count() as u64
    }

    /// Connections that clients have made.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Relaxed)
    }
}

/// So many requests in a hundred meet a fault, the same ones in each run by their order.
pub fn now_and_then(seed: u64, percent: u64, fault: Fault) -> impl FnMut(&Asked) -> Fault + Send {
    let mut seeded = Seeded::new(seed);
    move |_| if seeded.percent(percent) { fault.clone() } else { Fault::Pass }
}

/// Requests of one method meet a fault, the others pass.
pub fn each(method: &'static str, fault: Fault) -> impl FnMut(&Asked) -> Fault + Send {
    move |asked| if asked.method == method { fault.clone() } else { Fault::Pass }
}

/// The first request and every second one after it meet a fault, whatever they are repeats of.
pub fn every_second(fault: Fault) -> impl FnMut(&Asked) -> Fault + Send {
    let mut meets = false;
    move |_| {
        meets = !meets;
        if meets { fault.clone() } else { Fault::Pass }
    }
}

const SLOW_DOWN: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>SlowDown</Code>\
    <Message>Please reduce your request rate.</Message></Error>";

/// What a client was given.
struct Given {
    /// The status of an answer that it got whole; 0: it did not.
    status: u16,
    /// Whether its connection stays.
    stays: bool,
}

impl Given {
    const NOT_WHOLE: Given = Given { status: 0, stays: false };
}

impl Shared {
    async fn carry(&self, stream: TcpStream, tls: Option<&TlsAcceptor>) -> io::Result<()> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        // The same socket once more, to break its connection below all encryption.
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

    /// The server's answer, by a connection that is made where there is none.
    async fn ask(&self, request: &Message, server: &mut Option<Reader>) -> io::Result<Message> {
        if let Some(reader) = server.as_mut() {
            // It may have been closed meanwhile.
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
