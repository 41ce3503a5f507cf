//! Options about how a run is followed while it goes on.

use super::{not_empty, time};
use crate::command_line::{Eta, Invocation};
use record::Nanos;

pub(super) fn eta(invocation: &mut Invocation, when: &str) -> Result<(), String> {
    invocation.eta = match when {
        "auto" => Eta::Auto,
        "always" => Eta::Always,
        "never" => Eta::Never,
        other => return Err(format!("'{other}' is none of auto, always and never")),
    };
    Ok(())
}

pub(super) fn eta_newline(invocation: &mut Invocation, text: &str) -> Result<(), String> {
    invocation.eta_newline = Some(time(text)?);
    Ok(())
}

pub(super) fn eta_interval(invocation: &mut Invocation, text: &str) -> Result<(), String> {
    let interval = time(text)?;
    if interval < Nanos::from_millis(250) {
        return Err(format!("'{text}' is less than 250ms"));
    }
    invocation.eta_interval = Some(interval);
    Ok(())
}

/// Workers lay out what they have measured; more often than this would disturb them.
const SHORTEST_STATUS: Nanos = Nanos::from_millis(100);

pub(super) fn status_interval(invocation: &mut Invocation, text: &str) -> Result<(), String> {
    let interval = time(text)?;
    if interval < SHORTEST_STATUS {
        return Err(format!("'{text}' is less than 100ms"));
    }
    invocation.status_interval = Some(interval);
    Ok(())
}

pub(super) fn live(invocation: &mut Invocation, _: &str) -> Result<(), String> {
    invocation.live = Some(true);
    Ok(())
}

pub(super) fn no_live(invocation: &mut Invocation, _: &str) -> Result<(), String> {
    invocation.live = Some(false);
    Ok(())
}

pub(super) fn metrics(invocation: &mut Invocation, address: &str) -> Result<(), String> {
    let address = not_empty(address, "an address such as 127.0.0.1:9750, or a port")?;
    invocation.metrics = Some(address.into());
    Ok(())
}
