//! Runs a program. That it runs is one I/O; its latency is how long.

use super::sync_engine::SyncEngine;
use super::{Queued, RingSetup, WaitLimit, negative_errno};
use crate::files::{Action, FileError};
use crate::hot::op::Op;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use rustix::time::Timespec;
use std::fs::File;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A waiter looks this often whether the time is up.
const LOOK: Duration = Duration::from_millis(50);

/// The `exec` engine.
pub struct Exec {
    path: String,
    arguments: Vec<String>,
    /// Beginning of the names of the files that take its output.
    output: Option<String>,
    grace: Duration,
    limit: WaitLimit,
    child: Option<Running>,
    /// How it ended; `None` while it runs, or when it was ended by us.
    status: Option<ExitStatus>,
}

/// A program under way, in a process group of its own so that all it started can be ended.
struct Running {
    child: Child,
    group: Option<Pid>,
    /// Readable once it has ended.
    ended: OwnedFd,
}

impl Exec {
    /// Of the program that the worker's options name.
    pub fn new(setup: &RingSetup<'_>) -> Exec {
        let (worker, program) = (setup.worker, &setup.options.program);
        let clone = if worker.clone == 0 { String::new() } else { format!(".{}", worker.clone) };
        let runtime = worker.stop.runtime.map_or(0, |runtime| runtime.0 / 1_000_000_000);
        let arguments = program.arguments.split_whitespace();
        let filled =
            |text: &str| text.replace("%r", &runtime.to_string()).replace("%n", &worker.name);
        Exec {
            path: program.path.clone().unwrap_or_default(),
            arguments: arguments.map(filled).collect(),
            output: program.redirect.then(|| format!("{}{clone}", worker.name)),
            grace: Duration::from_secs(program.grace_seconds),
            limit: WaitLimit::default(),
            child: None,
            status: None,
        }
    }

    fn start(&self) -> io::Result<Running> {
        let mut command = Command::new(&self.path);
        command.args(&self.arguments).stdin(Stdio::null()).process_group(0);
        match &self.output {
            Some(name) => {
                command.stdout(File::create(format!("{name}.stdout"))?);
                command.stderr(File::create(format!("{name}.stderr"))?);
            }
            // Standard output is for the report.
            None => {
                command.stdout(io::stderr());
            }
        }
        let mut child = command.spawn()?;
        let group = Pid::from_raw(child.id().cast_signed());
        let pid = group.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
        match pid.and_then(|pid| Ok(pidfd_open(pid, PidfdFlags::empty())?)) {
            Ok(ended) => Ok(Running { child, group, ended }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }

    /// Waits for the program's end, and ends it when the time is up.
    fn wait(&mut self) -> io::Result<()> {
        let Some(running) = &mut self.child else { return Ok(()) };
        while !running.ends_within(self.limit.next_sleep(LOOK))? {
            if self.limit.is_reached() {
                running.stop(self.grace)?;
                self.child = None;
                return Ok(());
            }
        }
        self.status = Some(running.child.wait()?);
        self.child = None;
        Ok(())
    }
}

impl Running {
    fn ends_within(&self, patience: Duration) -> io::Result<bool> {
        let mut watched = [PollFd::new(&self.ended, PollFlags::IN)];
        let time = Timespec {
            tv_sec: patience.as_secs().cast_signed(),
            tv_nsec: patience.subsec_nanos().into(),
        };
        Ok(match poll(&mut watched, Some(&time)) {
            Err(rustix::io::Errno::INTR) => false,
            answer => answer? > 0,
        })
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // One that is gone needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }

    /// SIGTERM, and SIGKILL when it has not ended after `grace`.
    fn stop(&mut self, grace: Duration) -> io::Result<()> {
        self.signal(Signal::TERM);
        let patience = Instant::now() + grace;
        loop {
            let rest = patience.saturating_duration_since(Instant::now());
            if self.ends_within(rest.min(LOOK))? {
                break;
            }
            if rest.is_zero() {
                self.signal(Signal::KILL);
                break;
            }
        }
        self.child.wait().map(drop)
    }
}

impl SyncEngine for Exec {
    fn begin(&mut self, limit: &WaitLimit) -> Result<(), FileError> {
        self.limit = limit.clone();
        let started = self.start().map_err(|e| FileError::new(Action::Run, &self.path, e))?;
        self.child = Some(started);
        Ok(())
    }

    fn execute(&mut self, _: RawFd, _: &mut [u8], _: &Op) -> Queued {
        if self.child.is_some() {
            return Queued::Done(match self.wait() {
                Ok(()) => 0,
                Err(error) => negative_errno(&error),
            });
        }
        // Time based work lasts as long as it is to, whatever the program did.
        while !self.limit.is_reached() {
            std::thread::sleep(self.limit.next_sleep(LOOK));
        }
        Queued::Full
    }

    fn end(&mut self) -> Vec<String> {
        let failed = self.status.filter(|status| !status.success());
        failed.map(|status| format!("'{}' ended with {status}", self.path)).into_iter().collect()
    }
}

impl Drop for Exec {
    fn drop(&mut self) {
        if let Some(running) = &mut self.child {
            // Nobody is left who could be told of a failure.
            let _ = running.stop(self.grace);
        }
    }
}
