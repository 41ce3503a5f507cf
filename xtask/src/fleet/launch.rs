//! Starting ranks on this machine, and reading what they report.

use super::scale::Scale;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testbed::Seeded;

/// The launchers, by the names that Debian gives them.
pub const LAUNCHERS: [&str; 2] = ["mpirun.openmpi", "mpirun.mpich"];
/// A launcher that has not ended after so long hangs. 64 ranks on two cores need a few seconds to join and a
/// lost rank is given up after [`RANK_TIMEOUT`].
const HANGS_AFTER: Duration = Duration::from_secs(60);
/// `--rank-timeout` of every run.
const RANK_TIMEOUT: &str = "--rank-timeout=10";
/// The exit code of timeout(1) when it had to end the program.
const TIMED_OUT: i32 = 124;
/// … and when the program did not end on SIGTERM.
const KILLED: i32 = 137;

/// Characters of a line that are shown.
const LINE_MAX: usize = 200;

/// Where the proofs of one launcher are made.
pub struct Stage {
    pub launcher: &'static str,
    fathom: PathBuf,
    pub ranks: u32,
    pub draws: u32,
    pub seeded: Seeded,
    interrupted: Arc<AtomicBool>,
}

/// How a launcher ended.
pub struct Ended {
    /// The directory in which the ranks ran.
    pub directory: TempDir,
    /// The exit code of the launcher.
    pub code: i32,
    pub took: Duration,
    /// What it printed.
    printed: String,
    /// fathom's JSON, if there is any.
    pub report: Option<Value>,
}

impl Stage {
    pub fn new(
        launcher: &'static str,
        fathom: &Path,
        scale: Scale,
        interrupted: Arc<AtomicBool>,
    ) -> Stage {
        let Scale { ranks, draws, seed } = scale;
        let seeded = Seeded::new(seed);
        Stage { launcher, fathom: fathom.to_owned(), ranks, draws, seeded, interrupted }
    }

    /// "mpirun (Open MPI) 4.1.4".
    pub fn version(&self) -> Result<String> {
        let ended = Command::new(self.launcher).arg("--version").output();
        let ended = ended.with_context(|| self.launcher.to_owned())?;
        let text = String::from_utf8_lossy(&ended.stdout).into_owned();
        let numbered = text.lines().find(|line| line.chars().any(|c| c.is_ascii_digit()));
        let line = numbered.context("no version")?;
        Ok(format!("{}: {}", self.launcher, line.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    /// Runs `fathom run` with these options on so many ranks. Each rank is started by a shell script, which
    /// has its number in `R`, and whose arguments are the program and its options.
    pub fn ranks(&self, count: u32, script: &str, options: &[String]) -> Result<Ended> {
        let mut line = vec![self.launcher.to_owned()];
        if self.launcher == "mpirun.openmpi" {
            line.extend(["--allow-run-as-root", "--oversubscribe"].map(String::from));
        }
        let script = format!(
            "R=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\necho $$ > pid.$R\n{script}\nexec \"$@\""
        );
        line.extend(["-n".to_owned(), count.to_string()]);
        line.extend(["sh", "-c", &script, "sh"].map(String::from));
        line.extend(self.fathom_line(options));
        line.push(RANK_TIMEOUT.to_owned());
        self.ended(&line)
    }

    /// Runs `fathom run` without a launcher.
    pub fn alone(&self, options: &[String]) -> Result<Ended> {
        self.ended(&self.fathom_line(options))
    }

    fn fathom_line(&self, options: &[String]) -> Vec<String> {
        let mut line = vec![self.fathom.display().to_string()];
        let fixed = ["run", "--no-archive", "--output-format=json", "--output=report.json"];
        line.extend(fixed.map(String::from));
        line.extend_from_slice(options);
        line
    }

    fn ended(&self, line: &[String]) -> Result<Ended> {
        ensure!(!self.interrupted.load(Ordering::Relaxed), "interrupted");
        let directory = tempfile::tempdir()?;
        let begin = Instant::now();
        let mut command = Command::new("timeout");
        command.args(["--kill-after=10", &HANGS_AFTER.as_secs().to_string()]).args(line);
        command.current_dir(directory.path()).env("FATHOM_ARCHIVE", "off").stdin(Stdio::null());
        let output = command.output().context("timeout")?;
        let took = begin.elapsed();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let report = fs::read_to_string(directory.path().join("report.json"));
        Ok(Ended {
            code: output.status.code().unwrap_or(KILLED),
            took,
            printed: text(&output.stdout) + &text(&output.stderr),
            report: report.ok().and_then(|text| serde_json::from_str(&text).ok()),
            directory,
        })
    }
}

impl Ended {
    /// Whether the launcher had to be ended.
    pub fn hung(&self) -> bool {
        self.code == TIMED_OUT || self.took >= HANGS_AFTER
    }

    /// The last line that it printed, cut: libraries of MPI say much.
    pub fn last_line(&self) -> String {
        let last = self.printed.lines().rfind(|line| line.chars().any(char::is_alphanumeric));
        last.unwrap_or("").chars().take(LINE_MAX).collect()
    }

    /// The report of a run that had no error.
    pub fn good(&self) -> Result<&Value> {
        ensure!(self.code == 0, "exit code {}: {}", self.code, self.last_line());
        self.report.as_ref().context("no report")
    }

    /// The part of the report about the ranks.
    pub fn fleet(&self) -> Result<&Value> {
        Ok(&self.good()?["fathom"]["fleet"])
    }

    /// Texts of the findings of a check.
    pub fn findings(&self, check: &str) -> Vec<String> {
        let findings =
            self.report.iter().flat_map(|report| report["fathom"]["findings"].as_array());
        let of_check = findings.flatten().filter(|finding| finding["check"] == check);
        of_check.filter_map(|finding| Some(finding["text"].as_str()?.to_owned())).collect()
    }
}

/// Options as a list.
pub fn options(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A second of I/O at a pace that leaves CPUs to all ranks.
pub fn paced() -> Vec<String> {
    options(&[
        "--name=paced",
        "--ioengine=null",
        "--size=1g",
        "--rw=randread",
        "--rate_iops=100",
        "--time_based",
        "--runtime=1",
    ])
}
