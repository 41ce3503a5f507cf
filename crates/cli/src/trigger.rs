//! Triggers: a file that appears or a time that passes ends the run, then a command runs.

use std::cell::Cell;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

/// A trigger that is set, or none.
pub struct Trigger {
    file: Option<PathBuf>,
    deadline: Option<Instant>,
    pulled: Cell<bool>,
}

impl Trigger {
    /// One that is never pulled.
    pub fn none() -> Trigger {
        Trigger { file: None, deadline: None, pulled: Cell::new(false) }
    }

    /// Sets it; time counts from now.
    pub fn set(asked: &job::Trigger) -> Trigger {
        let deadline =
            asked.timeout.and_then(|t| Instant::now().checked_add(Duration::from_nanos(t.0)));
        Trigger { file: asked.file.clone(), deadline, pulled: Cell::new(false) }
    }

    /// Whether it is pulled just now; once only. Its file is removed, so that it can be pulled
    /// again.
    pub fn goes_off(&self) -> bool {
        if self.pulled.get() {
            return false;
        }
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let appeared = || {
            self.file
                .as_ref()
                .is_some_and(|file| file.exists() && std::fs::remove_file(file).is_ok())
        };
        self.pulled.set(late || appeared());
        self.pulled.get()
    }

    /// Whether it was pulled.
    pub fn was_pulled(&self) -> bool {
        self.pulled.get()
    }
}

/// Runs a command of the shell, which may say what it likes.
///
/// # Errors
/// How it failed.
pub fn execute(option: &str, command: &str) -> Result<(), String> {
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
    fn a_command_that_fails_is_named_with_its_option() {
        assert_eq!(execute("trigger", "true"), Ok(()));
        let text = execute("trigger", "exit 3").unwrap_err();
        assert_eq!(text, "--trigger='exit 3': the command ended with exit code 3");
    }
}
