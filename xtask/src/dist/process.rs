//! Calls of other programs.

use anyhow::{Context, Result, ensure};
use std::process::Command;

/// Runs a command.
pub fn call(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

/// Runs a command and returns its output.
pub fn output(command: &mut Command) -> Result<String> {
    let done = command.output().with_context(|| format!("starting {command:?}"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(done.status.success(), "{command:?} failed: {said}");
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}
