//! `fathom app-step` (hidden): carries out one phase of `fathom app`, as the program of an exec job.

use super::app::channel;
use crate::exit;
use crate::output::write_stderr;
use anyhow::{Context, Result};
use apps::Task;
use clap::Args;
use host::Host;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};

/// Arguments of `fathom app-step`.
#[derive(Args)]
pub struct Arguments {
    /// File with the task; it is replaced by the result.
    channel: PathBuf,
}

/// Carries out the task. 0: done; 1: failed, and the result says why; 2: no task.
pub fn main(arguments: &Arguments) -> Result<u8> {
    match step(&arguments.channel) {
        Ok(true) => Ok(0),
        Ok(false) => Ok(exit::ERRORS),
        Err(error) => {
            write_stderr(&format!(
                "fathom: error: {error:#}; this command is part of 'fathom app'\n"
            ));
            Ok(exit::USAGE)
        }
    }
}

fn step(path: &Path) -> Result<bool> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .with_context(|| path.display().to_string())?;
    let task: Task = serde_json::from_slice(&channel::read(&mut file)?).context("no task")?;
    let work = apps::perform(&task, &Host::at("/"));
    channel::write(&mut file, &serde_json::to_vec(&work)?)?;
    Ok(work.failure.is_none())
}
