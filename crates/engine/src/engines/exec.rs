//! Runs a program. The whole run is one I/O, and its duration is the latency.

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

/// Interval at which a waiting thread checks the wait limit.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// The `exec` engine.
pub struct Exec {
    path: String,
    arguments: Vec<String>,
    /// Prefix of the names of the files that receive its output.
    output: Option<String>,
    grace: Duration,
    limit: WaitLimit,
    child: Option<Running>,
    /// `None` while the program runs, or if fathom ended it.
    status: Option<ExitStatus>,
}

/// A running program, in its own process group so that its children can be ended with it.
struct Running {
    child: Child,
    group: Option<Pid>,
    /// Becomes readable when the program ends.
    pidfd: OwnedFd,
}

impl Exec {
    /// For the program that the worker's options name.
    pub fn new(setup: &RingSetup<'_>) -> Exec {
        let (worker, program) = (setup.worker, &setup.options.program);
        let clone = if worker.clone == 0 { String::new() } else { format!(".{}", worker.clone) };
        let runtime = worker.stop.runtime.map_or(0, |runtime| runtime.0 / 1_000_000_000);
        let arguments = program.arguments.split_whitespace();
        let expand =
            |text: &str| text.replace("%r", &runtime.to_string()).replace("%n", &worker.name);
        Exec {
            path: program.path.clone().unwrap_or_default(),
            arguments: arguments.map(expand).collect(),
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
            // The report goes to stdout, so the program gets stderr.
            None => {
                command.stdout(io::stderr());
            }
        }
        let mut child = command.spawn()?;
        let group = Pid::from_raw(child.id().cast_signed());
        let pid = group.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound));
        match pid.and_then(|pid| Ok(pidfd_open(pid, PidfdFlags::empty())?)) {
            Ok(pidfd) => Ok(Running { child, group, pidfd }),
            Err(error) => {
                child.kill()?;
                child.wait()?;
                Err(error)
            }
        }
    }

    /// Waits for the program's end, and ends it at the wait limit.
    fn wait(&mut self) -> io::Result<()> {
        let Some(running) = &mut self.child else { return Ok(()) };
        while !running.ends_within(self.limit.next_wait(CHECK_INTERVAL))? {
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
    fn ends_within(&self, timeout: Duration) -> io::Result<bool> {
        let mut watched = [PollFd::new(&self.pidfd, PollFlags::IN)];
        let time = Timespec {
            tv_sec: timeout.as_secs().cast_signed(),
            tv_nsec: timeout.subsec_nanos().into(),
        };
        Ok(match poll(&mut watched, Some(&time)) {
            Err(rustix::io::Errno::INTR) => false,
            answer => answer? > 0,
        })
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The group may have ended already.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Sends SIGTERM, and SIGKILL if the program has not ended after `grace`.
    fn stop(&mut self, grace: Duration) -> io::Result<()> {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + grace;
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            if self.ends_within(rest.min(CHECK_INTERVAL))? {
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
        // A time-based job lasts until its limit even if the program ends earlier.
        self.limit.sleep_until(None);
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
            // There is no one left to report an error to.
            let _ = running.stop(self.grace);
        }
    }
}
