//! A server of the metrics of one process for Prometheus, without an archive.

use crate::server;
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use live::metrics;
use std::future::pending;
use std::sync::Arc;
use std::{io, net};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::watch;

/// Returns the current metrics.
pub type Source = Arc<dyn Fn() -> String + Send + Sync>;

/// Answers `GET /metrics` from `source` until the process ends, and nothing else.
///
/// # Errors
/// When the socket cannot be used or the thread cannot be started.
pub fn serve(listener: net::TcpListener, source: Source) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener)?
    };
    let app = Router::new().route("/metrics", get(figures)).with_state(source);
    let serve =
        move || runtime.block_on(server::serve(listener, app, watch::channel(false).0, pending()));
    std::thread::Builder::new().name("metrics".into()).spawn(serve).map(drop)
}

async fn figures(State(source): State<Source>) -> impl IntoResponse {
    ([(CONTENT_TYPE, metrics::CONTENT_TYPE)], source())
}
