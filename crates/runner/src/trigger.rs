//! Triggers (`--trigger`): when a file appears or a time has passed, the run ends and a command runs.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// Longest wait for the run to save its states. The command usually cuts the power, which must not wait
/// for a disk that does not answer.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A trigger; by default one that never goes off.
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
    /// Sets a trigger. Its timeout counts from now.
    pub fn set(options: &job::Trigger) -> Trigger {
        let deadline =
            options.timeout.and_then(|t| Instant::now().checked_add(Duration::from_nanos(t.0)));
        let command = options.command.clone().map(|command| ("trigger", command));
        Trigger {
            file: options.file.clone(),
            deadline,
            command: RefCell::new(command),
            ..Trigger::default()
        }
    }

    /// Whether the trigger goes off now; true once. Removes its file, so that another run can use it.
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

    /// Pulls the trigger on behalf of a client, with this command.
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

    /// Whether to run the command now: the trigger was pulled, and the states are saved or
    /// [`PATIENCE`] has passed.
    pub fn is_command_due(&self, kept: bool) -> bool {
        let late = |pulled: Instant| pulled.elapsed() >= PATIENCE;
        !self.done.get() && self.pulled.get().is_some_and(|pulled| kept || late(pulled))
    }

    /// Runs the command if it is due; once.
    pub fn settle(&self, kept: bool) {
        if self.is_command_due(kept) {
            self.done.set(true);
            let command = self.command.borrow();
            let ran = command.as_ref().map_or(Ok(()), |(option, text)| execute(option, text));
            *self.failure.borrow_mut() = ran.err();
        }
    }

    /// Why the command failed, if it did.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }
}

/// Runs a shell command.
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
    fn a_file_pulls_the_trigger_once_and_is_removed() {
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
    fn a_timeout_pulls_the_trigger() {
        let after =
            |time| Trigger::set(&job::Trigger { timeout: Some(time), ..job::Trigger::default() });
        assert!(after(Nanos(0)).goes_off());
        assert!(!after(Nanos::from_millis(3_600_000)).goes_off());
    }

    #[test]
    fn the_command_runs_once_and_not_before_states_are_saved() {
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
