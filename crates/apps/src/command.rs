//! Running a program to its end, quietly.

use crate::Failure;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// What is kept of what a program complains about: its end says why it gave up.
const KEPT: usize = 2048;
/// Lines of it that are told.
const TOLD: usize = 4;

/// Runs a program in a directory. What it prints is thrown away, unless it fails.
///
/// # Errors
/// It cannot be started, or says that it failed: with the last lines of what it said.
pub(crate) fn run(program: &str, arguments: &[String], at: &Path) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(at);
    run_to_end(&mut command, program)
}

/// Runs a command to its end.
///
/// # Errors
/// See [`run`].
pub(crate) fn run_to_end(command: &mut Command, name: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("'{name}' cannot be run: {error}"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let said = child.stderr.take().map(read_tail).unwrap_or_default();
    let status = child.wait().map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure(format!("'{name}' ended with {status}{}", stderr_summary(&said)))),
    }
}

/// The last of what can be read.
pub(crate) fn read_tail(mut from: impl Read) -> Vec<u8> {
    let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
    // A pipe that breaks has said all it will say.
    while let Ok(read @ 1..) = from.read(&mut piece) {
        kept.extend_from_slice(&piece[..read]);
        kept.drain(..kept.len().saturating_sub(KEPT));
    }
    kept
}

/// ": " and the last lines of what a program said, in one; nothing where it said nothing.
pub(crate) fn stderr_summary(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!(": {}", lines[lines.len().saturating_sub(TOLD)..].join(" / ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Result<(), Failure> {
        run("sh", &["-c".into(), script.into()], Path::new("/"))
    }

    #[test]
    fn a_program_that_fails_is_told_with_its_last_words() {
        assert_eq!(sh("echo nothing to see"), Ok(()));
        let error = sh("for i in 1 2 3 4 5 6; do echo line $i >&2; done; exit 3").unwrap_err();
        assert_eq!(error.0, "'sh' ended with exit status: 3: line 3 / line 4 / line 5 / line 6");
        let error = sh("head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1");
        assert!(error.unwrap_err().0.len() < KEPT + 100);
        let error = run("/nowhere/at/all", &[], Path::new("/")).unwrap_err();
        assert!(error.0.starts_with("'/nowhere/at/all' cannot be run: No such file"), "{error}");
    }
}
