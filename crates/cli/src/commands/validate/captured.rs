//! The run of a job, captured as an application is.

use crate::commands::capture::scope::{Scope, Wanted};
use anyhow::{Context, Result};
use capture::{Capture, Command, Output};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitStatus;
use std::time::Duration;
use trace::ftr::Header;

/// Pause between two looks at what the kernel sent.
const PAUSE: Duration = Duration::from_millis(5);

/// How it went.
pub enum Captured {
    /// It ran.
    Ended(ExitStatus),
    /// Nothing ran: a capture is not possible here.
    Refused(String),
}

/// Runs a command, and captures what it asks of the files in a directory, if `application`, and what reaches
/// the disks below them.
pub fn run(words: &[OsString], files: &Path, application: bool, trace: &Path) -> Result<Captured> {
    let scope = Scope::find(&Wanted {
        path: Some(files.as_os_str()),
        pid: None,
        group: None,
        is_command: true,
        application,
        device: true,
        anonymous: false,
    })?;
    let header =
        Header { source: "capture".into(), application, device: true, ..Header::default() };
    let output = Output::create(trace, header, None).context("cannot write the trace")?;
    let mut command = Command::prepare(words).context("cannot run the job")?;
    let mut capture = match Capture::start(scope.settings, scope.naming, false, output) {
        Ok(capture) => capture,
        Err(why) => return Ok(Captured::Refused(why.to_string())),
    };
    if let Err(why) = capture.watch(command.process()) {
        return Ok(Captured::Refused(why.to_string()));
    }
    command.begin().context("cannot run the job")?;
    let status = loop {
        capture.drain().context("cannot write the trace")?;
        if let Some(status) = command.ended().context("cannot wait for the job")? {
            break status;
        }
        std::thread::sleep(PAUSE);
    };
    capture.finish().context("cannot write the trace")?;
    Ok(Captured::Ended(status))
}
