//! The connections: how many there may be, and how long one may be idle.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::io::{InspectReader, InspectWriter};

/// Most connections at a time; others wait to be accepted.
const CONNECTIONS_MAX: usize = 256;
/// Time for the head of a request, and between two requests of a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection on which no byte moves for this long is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(40);
/// Most bytes of the head of a request.
const HEAD_BYTES: usize = 32 << 10;
/// Most lines of the head of a request.
const HEAD_LINES: usize = 100;
/// Time for answers under way to finish when the server stops.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// Pause after a failed accept (no free file descriptors).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves connections until `stop` completes, then closes them. `closing` becomes true for handlers
/// that would not end by themselves.
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
            Err(_) => sleep(ACCEPT_PAUSE).await,
        }
    }
    drop(listener);
    closing.send_replace(true);
    // Dropping the set closes the connections that are still open.
    let _ =
        timeout(SHUTDOWN_TIMEOUT, async { while connections.join_next().await.is_some() {} }).await;
}

/// Serves one connection.
async fn answer(stream: TcpStream, app: Router, mut closing: watch::Receiver<bool>) {
    // A page is written in one piece: Nagle's algorithm would only delay it.
    let _ = stream.set_nodelay(true);
    let begun = Instant::now();
    // When a byte last moved, in milliseconds after `begun`.
    let moved = Arc::new(AtomicU64::new(0));
    let note = |moved: Arc<AtomicU64>| {
        move |bytes: &[u8]| {
            if !bytes.is_empty() {
                moved.store(begun.elapsed().as_millis() as u64, Ordering::Relaxed);
            }
        }
    };
    let stream = InspectReader::new(stream, note(Arc::clone(&moved)));
    let stream = InspectWriter::new(stream, note(Arc::clone(&moved)));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(HEAD_BYTES)
        .max_headers(HEAD_LINES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
    let mut connection = pin!(connection);
    let mut is_closing = false;
    loop {
        let last = begun + Duration::from_millis(moved.load(Ordering::Relaxed));
        tokio::select! {
            // Errors have been answered, or the client is gone.
            _ = connection.as_mut() => return,
            _ = closing.wait_for(|closing| *closing), if !is_closing => {
                is_closing = true;
                connection.as_mut().graceful_shutdown();
            }
            () = sleep_until(last + IDLE_TIMEOUT) => {
                if begun + Duration::from_millis(moved.load(Ordering::Relaxed)) == last {
                    return;
                }
            }
        }
    }
}
