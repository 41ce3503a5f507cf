//! `--metrics`: serves live figures of the runs of this process to Prometheus.

use anyhow::{Context, Result};
use job::Invocation;
use live::feed::Subscription;
use runner::Runner;
use std::io;
use std::net::{TcpListener, ToSocketAddrs};
use std::sync::Arc;

/// Keeps the live feed active while it lives.
pub struct Metrics {
    _subscription: Option<Subscription>,
}

impl Metrics {
    /// Binds the address of `--metrics`, if it was given.
    ///
    /// # Errors
    /// The address, and why it cannot be used.
    pub fn listen(invocation: &Invocation) -> Result<Option<TcpListener>, String> {
        let Some(address) = &invocation.metrics else { return Ok(None) };
        match bind(address) {
            Ok(listener) => Ok(Some(listener)),
            Err(error) => {
                let why = error.to_string();
                let why = why.split(" (os error ").next().unwrap_or_default();
                Err(format!(
                    "--metrics={address}: {why}; expected an address such as 127.0.0.1:9750, or a \
                     port that is free"
                ))
            }
        }
    }

    /// Serves the figures in a thread of its own.
    pub fn serve(listener: Option<TcpListener>, runner: &Runner) -> Result<Metrics> {
        let Some(listener) = listener else { return Ok(Metrics { _subscription: None }) };
        let hub = runner.hub();
        let theirs = Arc::clone(hub);
        let source = move || match theirs.latest() {
            Some((head, moment)) => live::metrics::text(&[(&head, moment.as_deref())]),
            None => live::metrics::text(&[]),
        };
        web::metrics_server::serve(listener, Arc::new(source)).context("cannot serve --metrics")?;
        Ok(Metrics { _subscription: Some(hub.subscribe()) })
    }
}

/// Listens on an address. A port alone is bound to 127.0.0.1, so that other machines cannot reach it.
fn bind(address: &str) -> io::Result<TcpListener> {
    match address.parse::<u16>() {
        Ok(port) => TcpListener::bind(("127.0.0.1", port)),
        Err(_) => {
            let addresses: Vec<_> = address.to_socket_addrs()?.collect();
            TcpListener::bind(&addresses[..])
        }
    }
}
