//! Runs every test of the workspace and adds up what the test programs say.

use crate::cargo;
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

/// Tests of every test program together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs the tests in `root`, all of them even when some fail. Returns cargo's exit code and a line
/// of totals.
pub fn run(root: &Path) -> Result<(u8, String)> {
    let mut child = cargo::command(root, &["test", "--workspace", "--no-fail-fast"])
        .stdout(Stdio::piped())
        .spawn()
        .context("starting cargo test")?;
    let mut totals = Totals::default();
    if let Some(stdout) = child.stdout.take() {
        totals = copy_and_count(BufReader::new(stdout), &mut std::io::stdout().lock())?;
    }
    let status = child.wait().context("waiting for cargo test")?;
    let mut code = cargo::exit_code(status);
    if code == 0 && totals.passed == 0 {
        eprintln!("no test ran");
        code = 1;
    }
    if code != 0 && totals.failed == 0 {
        // Nothing counted it: it did not build, or its program died before it could say.
        totals.failed = 1;
    }
    Ok((code, totals.line()))
}

/// Hands every line on as it comes and adds up the results among them. Lines are bytes: a failing
/// test may print anything.
fn copy_and_count(mut from: impl BufRead, to: &mut impl Write) -> Result<Totals> {
    let mut totals = Totals::default();
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).context("reading from cargo test")? > 0 {
        to.write_all(&line)?;
        to.flush()?;
        totals.add(&String::from_utf8_lossy(&line));
        line.clear();
    }
    Ok(totals)
}

impl Totals {
    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`; others add nothing.
    fn add(&mut self, line: &str) {
        let Some(results) = line.strip_prefix("test result: ") else { return };
        // The verdict before the first count ends with a full stop.
        let Some((_, counts)) = results.split_once(". ") else { return };
        for count in counts.split(';') {
            let mut words = count.split_whitespace();
            let (Some(Ok(number)), Some(what)) = (words.next().map(str::parse), words.next())
            else {
                continue;
            };
            let number: u64 = number;
            match what {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }

    fn line(self) -> String {
        let Totals { passed, failed, ignored } = self;
        match ignored {
            0 => format!("{passed} passed, {failed} failed"),
            _ => format!("{passed} passed, {failed} failed, {ignored} ignored"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_of_all_programs_are_added() {
        let output = "running 3 tests\n\
            test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished \
            in 0.00s\n\
            test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n\
            a test printed \u{fffd} test result: ok. 99 passed;\n";
        let mut copy = Vec::new();
        let totals = copy_and_count(output.as_bytes(), &mut copy).unwrap();
        assert_eq!(totals, Totals { passed: 19, failed: 2, ignored: 1 });
        assert_eq!(totals.line(), "19 passed, 2 failed, 1 ignored");
        assert_eq!(copy, output.as_bytes());
    }

    #[test]
    fn nothing_ignored_is_not_said() {
        assert_eq!(Totals { passed: 3, failed: 0, ignored: 0 }.line(), "3 passed, 0 failed");
    }

    #[test]
    fn a_broken_result_line_adds_nothing() {
        let mut totals = Totals::default();
        for line in ["test result: ", "test result: ok", "test result: ok. x passed; 3"] {
            totals.add(line);
        }
        assert_eq!(totals, Totals::default());
    }
}
