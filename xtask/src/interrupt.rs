//! SIGINT and SIGTERM as a flag, so that what was set up is taken down again.

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that is set when one of the signals comes.
pub fn catch() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::default();
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))
            .context("catching signals")?;
    }
    Ok(interrupted)
}
