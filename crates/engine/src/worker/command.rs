//! Commands of the user before and after a worker's I/O (`exec_prerun`, `exec_postrun`).

use super::Failure;
use crate::live::LiveWorker;
use plan::Worker;
use record::Message;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often it is looked whether the command has ended, or the run is to.
const LOOK: Duration = Duration::from_millis(5);

/// Gives `command` to the shell and waits for its end. All it says goes to `file`. With `live` it is
/// killed, with all that it started, when the worker is asked to end.
///
/// # Errors
/// The file cannot be made or the shell not started, or the command was killed.
fn run(command: &str, file: &str, live: Option<&LiveWorker>) -> io::Result<ExitStatus> {
    let words = File::create(file)
        .map_err(|e| io::Error::new(e.kind(), format!("its output, {file}: {e}")))?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(words.try_clone()?).stderr(words);
    if live.is_some() {
        shell.process_group(0);
    }
    let mut child = shell.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if live.is_some_and(LiveWorker::asked_to_stop) {
            kill_process_group(Pid::from_child(&child), Signal::KILL)?;
            child.wait()?;
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the run was ended"));
        }
        std::thread::sleep(LOOK);
    }
}

/// An error for a command that did not do well.
fn succeeded(status: ExitStatus) -> io::Result<()> {
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("the command ended with {status}"))),
    }
}

/// `exec_prerun`: what it is to make ready is not, when it fails.
pub(super) fn before(worker: &Worker, live: &LiveWorker) -> Result<(), Failure> {
    let Some(command) = &worker.surroundings.prerun else { return Ok(()) };
    let file = format!("{}.prerun.txt", worker.name);
    let done = run(command, &file, Some(live)).and_then(succeeded);
    done.map_err(|error| Failure::Setup("run exec_prerun", error))
}

/// `exec_postrun`: what was measured stands whatever it does. Returns what the user should know.
pub(super) fn after(worker: &Worker) -> Option<Message> {
    let command = worker.surroundings.postrun.as_ref()?;
    let file = format!("{}.postrun.txt", worker.name);
    let error = run(command, &file, None).and_then(succeeded).err()?;
    Some(Message::warning(Some(&worker.name), format!("exec_postrun failed: {error}")))
}
