//! QEMU's monitor.

use anyhow::{Context, Result};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

const PROMPT: &str = "(qemu) ";

/// A connection to the monitor.
pub struct Monitor(UnixStream);

impl Monitor {
    /// Connects, and waits until the monitor asks for a command.
    pub fn connect(socket: &Path) -> Result<Monitor> {
        let stream = UnixStream::connect(socket).context("QEMU's monitor")?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let mut monitor = Monitor(stream);
        monitor.answer()?;
        Ok(monitor)
    }

    /// Gives a command, and returns the answer once the monitor asks for the next.
    pub fn command(&mut self, line: &str) -> Result<String> {
        // A monitor whose user has gone forgets what it was told: it is left when it asks for more.
        self.0.write_all(format!("{line}\n").as_bytes()).context("QEMU's monitor")?;
        self.answer()
    }

    fn answer(&mut self) -> Result<String> {
        let mut said = Vec::new();
        let mut byte = [0];
        while !said.ends_with(PROMPT.as_bytes()) {
            self.0.read_exact(&mut byte).context("QEMU's monitor says no more")?;
            said.push(byte[0]);
        }
        Ok(String::from_utf8_lossy(&said).into_owned())
    }
}
