//! `--metrics`: what the runs of this process do, for Prometheus, while they go on.

use anyhow::{Context, Result};
use job::Invocation;
use live::feed::Subscription;
use runner::Runner;
use std::io;
use std::net::{TcpListener, ToSocketAddrs};
use std::sync::Arc;

/// Figures are made for whoever asks, for as long as this lives.
pub struct Metrics {
    _wanted: Option<Subscription>,
}

impl Metrics {
    /// Takes the address, if one was given; nothing has been run then.
    ///
    /// # Errors
    /// The address, and why it cannot be had.
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

    /// Answers whoever asks for them.
    ///
    /// # Errors
    /// When there is no thread to be had for it.
    pub fn serve(listener: Option<TcpListener>, runner: &Runner) -> Result<Metrics> {
        let Some(listener) = listener else { return Ok(Metrics { _wanted: None }) };
        let hub = runner.hub();
        let theirs = Arc::clone(hub);
        let source = move || match theirs.latest() {
            Some((head, moment)) => live::metrics::text(&[(&head, moment.as_deref())]),
            None => live::metrics::text(&[]),
        };
        web::metrics_server::serve(listener, Arc::new(source)).context("cannot serve --metrics")?;
        Ok(Metrics { _wanted: Some(hub.subscribe()) })
    }
}

/// A port alone is one of this machine's own: nobody else's business unless it is said.
fn bind(address: &str) -> io::Result<TcpListener> {
    match address.parse::<u16>() {
        Ok(port) => TcpListener::bind(("127.0.0.1", port)),
        Err(_) => {
            let addresses: Vec<_> = address.to_socket_addrs()?.collect();
            TcpListener::bind(&addresses[..])
        }
    }
}
