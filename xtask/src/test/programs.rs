//! The test programs that cargo builds, and a pool that runs them side by side.

use crate::cargo;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A command of the suite, most often a test program.
pub struct Job {
    /// Package and target, such as "fathom-host live".
    pub name: String,
    /// What is run.
    pub command: Command,
}

/// A job that ended.
pub struct Outcome {
    /// The job, with the command that ran.
    pub job: Job,
    /// Its exit code.
    pub code: u8,
    /// Standard output and standard error, in the order in which they were written.
    pub output: String,
    /// How long it took.
    pub elapsed: Duration,
}

/// Builds the tests that `selection` (arguments for `cargo test`) selects. Returns cargo's exit code
/// and one job for each test program.
pub fn build(root: &Path, selection: &[&str]) -> Result<(u8, Vec<Job>)> {
    let arguments = ["test", "--no-run", "--message-format=json-render-diagnostics"];
    let mut child = cargo::command(root, &[&arguments, selection].concat())
        .stdout(Stdio::piped())
        .spawn()
        .context("starting cargo test")?;
    let mut jobs = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines() {
            jobs.extend(test_program(&line.context("reading from cargo test")?));
        }
    }
    let status = child.wait().context("waiting for cargo test")?;
    Ok((cargo::exit_code(status), jobs))
}

/// The job for the test program that one of cargo's messages announces
/// (doc.rust-lang.org/cargo/reference/external-tools.html).
fn test_program(message: &str) -> Option<Job> {
    let message: Value = serde_json::from_str(message).ok()?;
    let program = PathBuf::from(message["executable"].as_str()?);
    if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
        return None;
    }
    let directory = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = directory.file_name()?.to_string_lossy();
    let mut command = Command::new(program);
    command.current_dir(directory).env("CARGO_MANIFEST_DIR", directory);
    Some(Job { name: format!("{package} {}", message["target"]["name"].as_str()?), command })
}

impl Job {
    /// A job that runs these tests of the program, one at a time.
    pub fn only(&self, tests: &[&str]) -> Job {
        let mut command = Command::new(self.command.get_program());
        command.args(["--exact", "--test-threads=1"]).args(tests);
        for (name, value) in self.command.get_envs() {
            value.map(|value| command.env(name, value));
        }
        self.command.get_current_dir().map(|directory| command.current_dir(directory));
        Job { name: self.name.clone(), command }
    }
}

/// Runs all groups of jobs at the same time, each group so many jobs at a time, in their order. Hands
/// each job to `ended` as soon as it ends.
pub fn run<const GROUPS: usize>(
    groups: [(Vec<Job>, usize); GROUPS],
    ended: impl Fn(Outcome) + Sync,
) -> Result<()> {
    let groups = groups.map(|(jobs, width)| (Mutex::new(jobs.into_iter()), width));
    let work = |jobs: &Mutex<std::vec::IntoIter<Job>>| -> Result<()> {
        // The lock is released before the job runs.
        let next = || jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        while let Some(job) = next() {
            ended(run_one(job)?);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers = groups.iter().flat_map(|(jobs, width)| std::iter::repeat_n(jobs, *width));
        let workers: Vec<_> = workers.map(|jobs| scope.spawn(|| work(jobs))).collect();
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Runs a job to its end.
pub fn run_one(mut job: Job) -> Result<Outcome> {
    let begin = Instant::now();
    let mut file = tempfile::tempfile().context("making a file for output")?;
    let copy = |file: &File| file.try_clone().context("sharing the file for output");
    let (out, err) = (copy(&file)?, copy(&file)?);
    let status = job.command.stdin(Stdio::null()).stdout(out).stderr(err).status();
    let status = status.with_context(|| format!("starting {}", job.name))?;
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).context("reading output")?;
    let output = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Outcome { job, code: cargo::exit_code(status), output, elapsed: begin.elapsed() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(name: &str, script: &str) -> Job {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Job { name: name.into(), command }
    }

    #[test]
    fn only_test_programs_become_jobs() {
        let message = |reason: &str, executable: &str, test: bool| {
            format!(
                r#"{{"reason":"{reason}","manifest_path":"/w/crates/host/Cargo.toml",
                "target":{{"name":"live"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let job = test_program(&message("compiler-artifact", "\"/t/live-1\"", true)).unwrap();
        assert_eq!(job.name, "host live");
        assert_eq!(job.command.get_program(), "/t/live-1");
        assert_eq!(job.command.get_current_dir(), Some(Path::new("/w/crates/host")));
        for other in [
            message("compiler-artifact", "null", true),
            message("compiler-artifact", "\"/t/fathom\"", false),
            message("build-script-executed", "\"/t/live-1\"", true),
            "no JSON".into(),
        ] {
            assert!(test_program(&other).is_none(), "{other}");
        }
    }

    #[test]
    fn jobs_run_side_by_side_and_both_their_streams_are_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let fifo = scratch.path().join("fifo");
        testbed::system("mkfifo", &[fifo.to_str().unwrap()]);
        // Each end of a FIFO waits for the other.
        let write =
            shell("write", &format!("echo text > {}; echo failed >&2; exit 3", fifo.display()));
        let read = shell("read", &format!("cat {}", fifo.display()));
        let outcomes = Mutex::new(Vec::new());
        run([(vec![write, read], 2)], |outcome| outcomes.lock().unwrap().push(outcome)).unwrap();
        let mut outcomes = outcomes.into_inner().unwrap();
        outcomes.sort_by(|a, b| a.job.name.cmp(&b.job.name));
        let ended: Vec<_> =
            outcomes.iter().map(|o| (o.job.name.as_str(), o.code, o.output.as_str())).collect();
        assert_eq!(ended, [("read", 0, "text\n"), ("write", 3, "failed\n")]);
    }

    #[test]
    fn tests_run_again_where_their_program_ran() {
        let mut job = shell("x", "exit 1");
        job.command.current_dir("/tmp").env("CARGO_MANIFEST_DIR", "/w");
        let again = job.only(&["a::b", "c"]);
        let arguments: Vec<_> = again.command.get_args().collect();
        assert_eq!(arguments, ["--exact", "--test-threads=1", "a::b", "c"]);
        assert_eq!(again.command.get_program(), "sh");
        assert_eq!(again.command.get_current_dir(), Some(Path::new("/tmp")));
        assert!(again.command.get_envs().eq(job.command.get_envs()));
    }

    #[test]
    fn a_program_that_cannot_be_started_is_an_error() {
        let job = Job { name: "none".into(), command: Command::new("/does/not/exist") };
        assert!(run([(vec![job], 1)], |_| ()).unwrap_err().to_string().contains("starting none"));
    }
}
