//! Triggers: a file that appears or a time that passes ends the run, then a command runs.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// A run whose I/O does not come back is not waited for: power is to be cut now, not once the disk
/// answers.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A trigger that is set, or none.
#[derive(Default)]
pub struct Trigger {
    file: Option<PathBuf>,
    deadline: Option<Instant>,
    /// The option that gave the command, and the command.
    command: RefCell<Option<(&'static str, String)>>,
    pulled: Cell<Option<Instant>>,
    done: Cell<bool>,
    failure: RefCell<Option<String>>,
}

impl Trigger {
    /// Sets it; time counts from now.
    pub fn set(asked: &job::Trigger) -> Trigger {
        let deadline =
            asked.timeout.and_then(|t| Instant::now().checked_add(Duration::from_nanos(t.0)));
        let command = asked.command.clone().map(|command| ("trigger", command));
        Trigger {
            file: asked.file.clone(),
            deadline,
            command: RefCell::new(command),
            ..Trigger::default()
        }
    }

    /// Whether it is pulled just now; once only. Its file is removed, so that it can be pulled
    /// again.
    pub fn goes_off(&self) -> bool {
        if self.was_pulled() {
            return false;
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let appeared = || {
            self.file
                .as_ref()
                .is_some_and(|file| file.exists() && std::fs::remove_file(file).is_ok())
        };
        if late || appeared() {
            self.pulled.set(Some(Instant::now()));
        }
        self.was_pulled()
    }

    /// Somebody else has pulled it, for this command to run here.
    pub fn pull(&self, command: Option<String>) {
        if !self.was_pulled() {
            self.pulled.set(Some(Instant::now()));
            *self.command.borrow_mut() = command.map(|command| ("trigger-remote", command));
        }
    }

    /// Whether it was pulled.
    pub fn was_pulled(&self) -> bool {
        self.pulled.get().is_some()
    }

    /// Whether it was pulled and its command is to run now: states of the run are kept, or were
    /// waited for in vain.
    pub fn is_ripe(&self, kept: bool) -> bool {
        let late = |pulled: Instant| pulled.elapsed() >= PATIENCE;
        !self.done.get() && self.pulled.get().is_some_and(|pulled| kept || late(pulled))
    }

    /// Runs the command once it is ripe; once only.
    pub fn settle(&self, kept: bool) {
        if self.is_ripe(kept) {
            self.done.set(true);
            let command = self.command.borrow();
            let ran = command.as_ref().map_or(Ok(()), |(option, text)| execute(option, text));
            *self.failure.borrow_mut() = ran.err();
        }
    }

    /// How the command failed, if it did.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }
}

/// Runs a command of the shell, which may say what it likes.
///
/// # Errors
/// How it failed.
fn execute(option: &str, command: &str) -> Result<(), String> {
    let failed = |how: String| Err(format!("--{option}='{command}': {how}"));
    match Command::new("/bin/sh").arg("-c").arg(command).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => failed(ending(status)),
        Err(error) => failed(format!("cannot be started: {error}")),
    }
}

fn ending(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("the command ended with exit code {code}"),
        (None, Some(signal)) => format!("the command was ended by signal {signal}"),
        (None, None) => "the command failed".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::Nanos;

    #[test]
    fn a_file_pulls_it_once_and_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("go");
        let asked = job::Trigger { file: Some(file.clone()), ..job::Trigger::default() };
        let trigger = Trigger::set(&asked);
        assert!(!trigger.goes_off() && !trigger.was_pulled());
        std::fs::write(&file, "").unwrap();
        assert!(trigger.goes_off() && trigger.was_pulled());
        assert!(!file.exists() && !trigger.goes_off());
    }

    #[test]
    fn time_pulls_it() {
        let after =
            |time| Trigger::set(&job::Trigger { timeout: Some(time), ..job::Trigger::default() });
        assert!(after(Nanos(0)).goes_off());
        assert!(!after(Nanos::from_millis(3_600_000)).goes_off());
    }

    #[test]
    fn its_command_runs_once_and_not_before_states_are_kept() {
        let directory = tempfile::tempdir().unwrap();
        let told = directory.path().join("told");
        let trigger = Trigger::default();
        trigger.settle(true);
        trigger.pull(Some(format!("echo x >> '{}'; exit 3", told.display())));
        trigger.settle(false);
        assert!(!told.exists() && trigger.failure().is_none());
        trigger.settle(true);
        trigger.settle(true);
        assert_eq!(std::fs::read_to_string(told).unwrap(), "x\n");
        assert!(trigger.failure().unwrap().starts_with("--trigger-remote='echo x"));
    }

    #[test]
    fn a_command_that_fails_is_named_with_its_option() {
        assert_eq!(execute("trigger", "true"), Ok(()));
        let text = execute("trigger", "exit 3").unwrap_err();
        assert_eq!(text, "--trigger='exit 3': the command ended with exit code 3");
    }
}
