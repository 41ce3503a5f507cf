//! The connections: how many there may be, and how long one may say nothing.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

/// Connections at a time; others wait to be accepted.
const CONNECTIONS_MAX: usize = 256;
/// Time for the head of a request, and between two requests of a connection.
const HEAD: Duration = Duration::from_secs(5);
/// A connection on which no byte moves for so long is dropped: who reads a page has read it.
const SILENCE: Duration = Duration::from_secs(40);
/// Bytes of the head of a request.
const HEAD_BYTES: usize = 32 << 10;
/// Lines of the head of a request.
const HEAD_LINES: usize = 100;
/// How long answers under way are waited for at the end.
const GRACE: Duration = Duration::from_secs(2);
/// How long nothing is accepted after that failed (no free file descriptors).
const BREATH: Duration = Duration::from_millis(100);

/// Answers who connects, until `stop` is done; then ends what is under way. Those who follow
/// something are told by `closing`, which becomes true.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    closing: watch::Sender<bool>,
    stop: impl Future<Output = ()>,
) {
    let slots = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        let next = async {
            let slot = Arc::clone(&slots).acquire_owned().await.ok();
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            () = &mut stop => break,
            next = next => next,
        };
        while connections.try_join_next().is_some() {}
        match accepted {
            Ok((stream, _)) => {
                let (app, closing) = (app.clone(), closing.subscribe());
                connections.spawn(async move {
                    answer(stream, app, closing).await;
                    drop(slot);
                });
            }
            Err(_) => sleep(BREATH).await,
        }
    }
    drop(listener);
    closing.send_replace(true);
    // Whoever is not done then is cut off when the set is dropped.
    let _ = timeout(GRACE, async { while connections.join_next().await.is_some() {} }).await;
}

/// One connection, from its first byte to its last.
async fn answer(stream: TcpStream, app: Router, mut closing: watch::Receiver<bool>) {
    // A page is written whole: waiting for more would only delay it.
    let _ = stream.set_nodelay(true);
    let begun = Instant::now();
    let moved = Arc::new(AtomicU64::new(0));
    let stream = Watched { stream, begun, moved: Arc::clone(&moved) };
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let mut connection = pin!(connection);
    let mut is_closing = false;
    loop {
        let last = begun + Duration::from_millis(moved.load(Ordering::Relaxed));
        tokio::select! {
            // What a client does wrong has been answered, or the client is gone.
            _ = connection.as_mut() => return,
            _ = closing.wait_for(|closing| *closing), if !is_closing => {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            }
            () = sleep_until(last + SILENCE) => {
                if begun + Duration::from_millis(moved.load(Ordering::Relaxed)) == last {
                    return;
                }
            }
        }
    }
}

/// A stream that tells when a byte last moved.
struct Watched {
    stream: TcpStream,
    begun: Instant,
    /// Milliseconds after `begun`.
    moved: Arc<AtomicU64>,
}

impl Watched {
    fn moved(&self) {
        let now = self.begun.elapsed().as_millis();
        self.moved.store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn wrote(&self, written: &Poll<io::Result<usize>>) {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.moved();
        }
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.moved();
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(&written);
        written
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(&written);
        written
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
