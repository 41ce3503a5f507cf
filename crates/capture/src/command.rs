//! A command that is captured from its first instruction on.

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::ffi::OsString;
use std::io;
use std::process::{Child, ExitStatus};

/// Waits for its first signal, then becomes the command.
const WAITING: &str = "kill -STOP $$; exec \"$@\"";

/// A command that has not begun, or runs.
pub struct Command {
    child: Child,
}

impl Command {
    /// Prepares a command. It begins with [`Command::begin`].
    pub fn prepare(words: &[OsString]) -> io::Result<Command> {
        let mut shell = std::process::Command::new("/bin/sh");
        let child = shell.args(["-c", WAITING, "fathom capture"]).args(words).spawn()?;
        let command = Command { child };
        match waitpid(Some(command.pid()), WaitOptions::UNTRACED)? {
            Some((_, status)) if status.stopped() => Ok(command),
            _ => Err(io::Error::other("it ended before it began")),
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Lets it begin.
    pub fn begin(&self) -> io::Result<()> {
        Ok(kill_process(self.pid(), Signal::CONT)?)
    }

    /// How it ended; `None` while it runs.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Asks it to end.
    pub fn terminate(&self) {
        // It may have ended already.
        let _ = kill_process(self.pid(), Signal::TERM);
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        // A command that never began would wait for ever.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill_process(self.pid(), Signal::TERM);
            let _ = kill_process(self.pid(), Signal::CONT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_waits_until_it_may_begin() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("made");
        let words = ["touch".into(), file.clone().into_os_string()];
        let mut command = Command::prepare(&words).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!file.exists() && command.ended().unwrap().is_none());
        command.begin().unwrap();
        while command.ended().unwrap().is_none() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(command.ended().unwrap().unwrap().success() && file.exists());
    }
}
