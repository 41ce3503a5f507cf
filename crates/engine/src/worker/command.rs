//! The user's commands before and after a worker's I/O (`exec_prerun`, `exec_postrun`).

use super::failure::{Failure, step};
use crate::live::LiveWorker;
use plan::Worker;
use record::Message;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

/// How often to check whether the command has ended or the worker was asked to stop.
const POLL: Duration = Duration::from_millis(5);

/// Runs `command` in a shell and waits for its end. Its output goes to `file`. With `live`, the command
/// and its children are killed when the worker is asked to stop, which is an error.
fn run(command: &str, file: &str, live: Option<&LiveWorker>) -> io::Result<ExitStatus> {
    let output = File::create(file)
        .map_err(|e| io::Error::new(e.kind(), format!("its output, {file}: {e}")))?;
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
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
        std::thread::sleep(POLL);
    }
}

fn succeeded(status: ExitStatus) -> io::Result<()> {
    match status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("the command ended with {status}"))),
    }
}

/// Runs `exec_prerun`. The worker cannot run if it fails.
pub(super) fn before(worker: &Worker, live: &LiveWorker) -> Result<(), Failure> {
    let Some(command) = &worker.context.prerun else { return Ok(()) };
    let file = format!("{}.prerun.txt", worker.name);
    let done = run(command, &file, Some(live)).and_then(succeeded);
    done.map_err(step("run exec_prerun"))
}

/// Runs `exec_postrun`. Returns a warning if it fails; the results stay.
pub(super) fn after(worker: &Worker) -> Option<Message> {
    let command = worker.context.postrun.as_ref()?;
    let file = format!("{}.postrun.txt", worker.name);
    let error = run(command, &file, None).and_then(succeeded).err()?;
    Some(Message::warning(Some(&worker.name), format!("exec_postrun failed: {error}")))
}
