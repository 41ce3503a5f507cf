//! Runs a program to its end without showing its output.

use crate::Failure;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes kept from the end of standard error, where a program says why it failed.
const STDERR_BYTES_MAX: usize = 2048;
/// Lines of standard error in an error message.
const STDERR_LINES_MAX: usize = 4;

/// Runs a program in a directory. Its output is discarded, unless it fails.
///
/// # Errors
/// The program cannot be started, or it fails: with the last lines of its standard error.
pub(crate) fn run(program: &str, arguments: &[String], at: &Path) -> Result<(), Failure> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(at);
    run_to_end(&mut command, program)
}

/// Runs a command to its end, as [`run`] does.
pub(crate) fn run_to_end(command: &mut Command, name: &str) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure(format!("'{name}' cannot be run: {error}"));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let stderr = child.stderr.take().map(read_tail).unwrap_or_default();
    let status = child.wait().map_err(failed)?;
    match status.success() {
        true => Ok(()),
        false => Err(Failure(format!("'{name}' ended with {status}{}", stderr_summary(&stderr)))),
    }
}

/// The last [`STDERR_BYTES_MAX`] bytes of a stream.
pub(crate) fn read_tail(mut stream: impl Read) -> Vec<u8> {
    let (mut tail, mut piece) = (Vec::new(), [0; 4096]);
    // A read error ends the stream, too.
    while let Ok(read @ 1..) = stream.read(&mut piece) {
        tail.extend_from_slice(&piece[..read]);
        tail.drain(..tail.len().saturating_sub(STDERR_BYTES_MAX));
    }
    tail
}

/// ": " and the last lines of standard error, joined into one line; empty if there are none.
pub(crate) fn stderr_summary(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!(": {}", lines[lines.len().saturating_sub(STDERR_LINES_MAX)..].join(" / ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Result<(), Failure> {
        run("sh", &["-c".into(), script.into()], Path::new("/"))
    }

    #[test]
    fn the_error_of_a_failed_program_ends_with_its_last_lines() {
        assert_eq!(sh("echo nothing to see"), Ok(()));
        let error = sh("for i in 1 2 3 4 5 6; do echo line $i >&2; done; exit 3").unwrap_err();
        assert_eq!(error.0, "'sh' ended with exit status: 3: line 3 / line 4 / line 5 / line 6");
        let error = sh("head -c 100000 /dev/zero | tr '\\0' x >&2; echo end >&2; exit 1");
        assert!(error.unwrap_err().0.len() < STDERR_BYTES_MAX + 100);
        let error = run("/nowhere/at/all", &[], Path::new("/")).unwrap_err();
        assert!(error.0.starts_with("'/nowhere/at/all' cannot be run: No such file"), "{error}");
    }
}
