//! Runs test programs, prints what they found and adds up their results.

use super::programs::{self, Job, Outcome};
use anyhow::Result;
use std::sync::{Mutex, PoisonError};

/// Programs whose tests measure time or count what the whole machine does. They run last, one test at a
/// time, with nothing beside it.
const QUIET: &[&str] = &["cli checks", "cli timing"];

/// Programs that run side by side. Most of what they do is waiting.
const WIDTH: usize = 3;

/// Tests of every test program together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
    ignored: u64,
}

/// Runs every test program, also when some fail, and other commands `beside` them, one at a time.
/// Returns the exit code of the first that fails, or 0, and a line of totals.
pub fn run(tests: Vec<Job>, beside: Vec<Job>) -> Result<(u8, String)> {
    let (mut quiet, waiting): (Vec<Job>, Vec<Job>) =
        tests.into_iter().partition(|job| QUIET.contains(&job.name.as_str()));
    for job in &mut quiet {
        job.command.arg("--test-threads=1");
    }
    let results = Mutex::new((0, Totals::default()));
    let ended = |outcome: Outcome| {
        let found = report(&outcome);
        let (code, totals) = &mut *results.lock().unwrap_or_else(PoisonError::into_inner);
        *totals = totals.plus(found);
        *code = if *code == 0 { outcome.code } else { *code };
    };
    programs::run([(waiting, WIDTH), (beside, 1)], ended)?;
    programs::run([(quiet, 1)], ended)?;
    let (mut code, totals) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    if code == 0 && totals.passed == 0 {
        eprintln!("no test ran");
        code = 1;
    }
    Ok((code, totals.line()))
}

/// Prints one line for a job that passed, and everything that one that failed wrote.
fn report(outcome: &Outcome) -> Totals {
    let mut totals = Totals::default();
    outcome.output.lines().for_each(|line| totals.add(line));
    if outcome.code != 0 {
        // A program that died has no line of results.
        totals.failed = totals.failed.max(1);
        print!("{}", outcome.output);
    }
    let seconds = outcome.elapsed.as_secs_f64();
    println!("{}: {} in {seconds:.1} s", outcome.name, totals.line());
    totals
}

impl Totals {
    fn plus(self, other: Totals) -> Totals {
        Totals {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            ignored: self.ignored + other.ignored,
        }
    }

    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; …`. Other lines add nothing.
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
    use std::time::Duration;

    fn outcome(code: u8, output: &str) -> Outcome {
        let elapsed = Duration::from_secs(1);
        Outcome { name: "x".into(), code, output: output.into(), elapsed }
    }

    #[test]
    fn results_of_a_job_are_added() {
        let output = "running 3 tests\n\
            test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished \
            in 0.00s\n\
            test result: FAILED. 7 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out\n\
            a test printed \u{fffd} test result: ok. 99 passed;\n";
        let totals = report(&outcome(101, output));
        assert_eq!(totals, Totals { passed: 19, failed: 2, ignored: 1 });
        assert_eq!(totals.plus(totals).line(), "38 passed, 4 failed, 2 ignored");
    }

    #[test]
    fn ignored_tests_are_listed_only_where_there_are_some() {
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

    #[test]
    fn a_job_that_died_before_its_results_failed() {
        assert_eq!(report(&outcome(1, "Segmentation fault\n")).failed, 1);
    }

    #[test]
    fn a_suite_without_tests_fails() {
        assert_eq!(run(Vec::new(), Vec::new()).unwrap(), (1, "0 passed, 0 failed".into()));
    }
}
