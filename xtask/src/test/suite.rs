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

/// So many failures are not by chance, and running them again would take long.
const CHANCE: usize = 20;

/// Runs every test program, also when some fail, and other commands `beside` them, one at a time. Tests
/// that failed beside others run again alone; only those that fail again fail the suite, and the others
/// are listed. Returns the exit code of the first program that fails, or 0, and a line of totals.
pub fn run(tests: Vec<Job>, beside: Vec<Job>) -> Result<(u8, String)> {
    let (mut quiet, waiting): (Vec<Job>, Vec<Job>) =
        tests.into_iter().partition(|job| QUIET.contains(&job.name.as_str()));
    for job in &mut quiet {
        job.command.arg("--test-threads=1");
    }
    let results = Mutex::new((Totals::default(), Vec::new()));
    let ended = |outcome: Outcome| {
        let found = report(&outcome);
        let (totals, failed) = &mut *results.lock().unwrap_or_else(PoisonError::into_inner);
        *totals = totals.plus(found);
        failed.extend((outcome.code != 0).then_some(outcome));
    };
    programs::run([(waiting, WIDTH), (beside, 1)], ended)?;
    programs::run([(quiet, 1)], ended)?;
    let (mut totals, failed) = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut code = run_again(&failed, &mut totals)?;
    if code == 0 && totals.passed == 0 {
        eprintln!("no test ran");
        code = 1;
    }
    Ok((code, totals.line()))
}

/// Runs the tests that failed again, one at a time and with nothing beside them, and lists those that
/// pass now, which count as passed. Returns the exit code of the first program that still fails, or 0.
fn run_again(failed: &[Outcome], totals: &mut Totals) -> Result<u8> {
    let count: usize = failed.iter().map(|outcome| failed_tests(&outcome.output).len()).sum();
    let mut code = 0;
    let mut passed = Vec::new();
    for outcome in failed {
        let tests = failed_tests(&outcome.output);
        let mut code_now = outcome.code;
        if count <= CHANCE && !tests.is_empty() {
            let again = programs::run_one(outcome.job.only(&tests))?;
            let found = report(&again);
            totals.passed += found.passed;
            totals.failed -= found.passed;
            code_now = again.code;
            let still = failed_tests(&again.output);
            let passes = tests.into_iter().filter(|test| !still.contains(test));
            passed.extend(passes.map(|test| format!("{}: {test}", outcome.job.name)));
        }
        code = if code == 0 { code_now } else { code };
    }
    if !passed.is_empty() {
        println!("failed beside other tests and passed alone:\n  {}", passed.join("\n  "));
    }
    Ok(code)
}

/// The tests that libtest lists before its line of results. A program that died has no such list.
fn failed_tests(output: &str) -> Vec<&str> {
    let Some((_, listed)) = output.rsplit_once("\nfailures:\n") else { return Vec::new() };
    listed.lines().map_while(|line| line.strip_prefix("    ")).collect()
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
    println!("{}: {} in {seconds:.1} s", outcome.job.name, totals.line());
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
    use std::process::Command;
    use std::time::Duration;

    fn outcome(code: u8, output: &str) -> Outcome {
        let job = Job { name: "x".into(), command: Command::new("true") };
        Outcome { job, code, output: output.into(), elapsed: Duration::from_secs(1) }
    }

    /// What libtest writes when `failed` fail and as many as `passed` pass.
    fn written(failed: &[&str], passed: usize) -> String {
        if failed.is_empty() {
            return format!("test result: ok. {passed} passed; 0 failed; 0 ignored\n");
        }
        let listed = failed.iter().map(|test| format!("    {test}\n")).collect::<String>();
        let count = failed.len();
        format!(
            "\nfailures:\n\n---- a stdout ----\nwhy\n\nfailures:\n{listed}\n\
             test result: FAILED. {passed} passed; {count} failed; 0 ignored\n"
        )
    }

    /// Runs a suite of one program that writes `first`, and `again` when tests are named.
    fn suite_of(first: &str, again: &str) -> (u8, String) {
        let scratch = tempfile::tempdir().unwrap();
        let path = |name: &str| scratch.path().join(name);
        let script =
            "#!/bin/sh\n[ $# = 0 ] && cat first && exit 101\ncat again\n! grep -q FAILED again\n";
        for (name, text) in [("first", first), ("again", again), ("script", script)] {
            std::fs::write(path(name), text).unwrap();
        }
        let (script, program) = (path("script"), path("program"));
        // Only another process has the program open for writing, so it can be run at once (execve(2), ETXTBSY).
        testbed::system("install", &[script.to_str().unwrap(), program.to_str().unwrap()]);
        let mut command = Command::new(program);
        command.current_dir(scratch.path());
        run(vec![Job { name: "x".into(), command }], Vec::new()).unwrap()
    }

    #[test]
    fn tests_that_pass_alone_do_not_fail_the_suite() {
        let first = written(&["a", "m::b"], 5);
        assert_eq!(failed_tests(&first), ["a", "m::b"]);
        assert_eq!(suite_of(&first, &written(&[], 2)), (0, "7 passed, 0 failed".into()));
        assert_eq!(suite_of(&first, &written(&["m::b"], 1)), (1, "6 passed, 1 failed".into()));
        assert_eq!(suite_of(&first, &written(&["a", "m::b"], 0)), (1, "5 passed, 2 failed".into()));
    }

    #[test]
    fn many_failures_and_programs_that_died_are_not_run_again() {
        let names: Vec<String> = (0..=CHANCE).map(|number| number.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let passes = written(&[], names.len());
        assert_eq!(suite_of(&written(&names, 1), &passes), (101, "1 passed, 21 failed".into()));
        assert_eq!(suite_of("Killed\n", &passes), (101, "0 passed, 1 failed".into()));
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
