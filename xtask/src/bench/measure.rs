//! One run of one program: its own results, and what the kernel says it cost.

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program that speaks fio's command line.
pub struct Program {
    /// As in the table.
    pub name: &'static str,
    /// What it says for `--version`.
    pub version: String,
    path: PathBuf,
}

/// What one run gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// I/Os a second.
    pub iops: f64,
    /// User time of the jobs, by the program's own account, ns an I/O.
    pub user_ns: f64,
    /// System time of the jobs, by the program's own account, ns an I/O.
    pub system_ns: f64,
    /// User and system time of the process and its children from start to exit, by the kernel's
    /// account, ns an I/O. It shows what a program does outside of its jobs.
    pub process_ns: f64,
    /// Median of clat, ns.
    pub p50_ns: f64,
    /// 99th percentile of clat, ns.
    pub p99_ns: f64,
}

impl Program {
    /// A program at `path`, or found by that name. Fails if it does not start or tells no version.
    pub fn new(name: &'static str, path: &Path) -> Result<Program> {
        let asked = Command::new(path)
            .arg("--version")
            .output()
            .with_context(|| format!("starting {}", path.display()))?;
        let version = String::from_utf8_lossy(&asked.stdout).trim().to_string();
        if !asked.status.success() || version.is_empty() {
            bail!("{} --version ended with {} and no version", path.display(), asked.status);
        }
        Ok(Program { name, version, path: path.to_path_buf() })
    }

    /// Runs a job given as `arguments`; its JSON goes to `output`.
    pub fn run(&self, arguments: &[String], output: &Path) -> Result<Sample> {
        let mut child = Command::new(&self.path)
            .args(arguments)
            .args(["--eta=never", "--output-format=json"])
            .arg(format!("--output={}", output.display()))
            .current_dir(output.parent().unwrap_or(Path::new("/")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .with_context(|| format!("starting {}", self.path.display()))?;
        let process_seconds = processor_seconds_at_exit(child.id());
        let status = child.wait().context("waiting for it")?;
        if !status.success() {
            bail!("{} {} ended with {status}", self.path.display(), arguments.join(" "));
        }
        let text = fs::read_to_string(output).context("reading its JSON")?;
        sample(&text, process_seconds?)
    }
}

/// Waits until `child` has ended and reads what it and its children used, before it is reaped and
/// its account with it.
fn processor_seconds_at_exit(child: u32) -> Result<f64> {
    let pid = i32::try_from(child).ok().and_then(Pid::from_raw).context("process id")?;
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    rustix::io::retry_on_intr(|| waitid(WaitId::Pid(pid), options)).context("waiting for it")?;
    let stat = fs::read_to_string(format!("/proc/{child}/stat")).context("reading its account")?;
    ticks_used(&stat)
        .map(|ticks| ticks as f64 / rustix::param::clock_ticks_per_second() as f64)
        .context("its account in /proc has another form")
}

/// Clock ticks of a process and its reaped children from `/proc/PID/stat`: utime, stime, cutime and
/// cstime, fields 14 to 17.
fn ticks_used(stat: &str) -> Option<u64> {
    // Field 2, the name, is in parentheses and may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().skip(11).take(4).collect();
    if fields.len() < 4 {
        return None;
    }
    fields.into_iter().map(|field| field.parse::<u64>().ok()).sum()
}

/// Reads a run of reads by one group of jobs from fio's JSON.
fn sample(text: &str, process_seconds: f64) -> Result<Sample> {
    let json: Value = serde_json::from_str(text).context("its JSON does not parse")?;
    let job = json.pointer("/jobs/0").context("its JSON has no job")?;
    let number = |path: &str| {
        job.pointer(path).and_then(Value::as_f64).with_context(|| format!("its JSON has no {path}"))
    };
    if number("/error")? != 0.0 {
        bail!("the job ended with error {}", number("/error")?);
    }
    let ios = number("/read/total_ios")?;
    if ios < 1.0 {
        bail!("the job did no I/O");
    }
    // Per cent of the jobs' time together, which is given in milliseconds.
    let ns_per_percent = number("/job_runtime")? * 1e6 / 100.0 / ios;
    Ok(Sample {
        iops: number("/read/iops")?,
        user_ns: number("/usr_cpu")? * ns_per_percent,
        system_ns: number("/sys_cpu")? * ns_per_percent,
        process_ns: process_seconds * 1e9 / ios,
        p50_ns: number("/read/clat_ns/percentile/50.000000")?,
        p99_ns: number("/read/clat_ns/percentile/99.000000")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_version_is_refused() {
        assert!(Program::new("fio", Path::new("/nonexistent/fio")).is_err());
        assert!(Program::new("fio", Path::new("false")).is_err());
    }

    const JSON: &str = r#"{"jobs":[{"error":0,"job_runtime":2000,"usr_cpu":50.0,"sys_cpu":25.0,
        "read":{"iops":500.0,"total_ios":1000,
        "clat_ns":{"percentile":{"50.000000":90,"99.000000":120}}}}]}"#;

    #[test]
    fn costs_are_by_io() {
        let expected = Sample {
            iops: 500.0,
            user_ns: 1e6,
            system_ns: 5e5,
            process_ns: 2e6,
            p50_ns: 90.0,
            p99_ns: 120.0,
        };
        assert_eq!(sample(JSON, 2.0).unwrap(), expected);
    }

    #[test]
    fn a_run_that_failed_is_no_sample() {
        for (from, to) in [
            (r#""error":0"#, r#""error":5"#),
            (r#""total_ios":1000"#, r#""total_ios":0"#),
            ("usr_cpu", "cpu"),
            ("{\"jobs\"", "note\n{\"jobs\""),
        ] {
            assert!(JSON.contains(from));
            assert!(sample(&JSON.replace(from, to), 2.0).is_err(), "{to}");
        }
    }

    #[test]
    fn ticks_are_found_behind_any_name() {
        let stat = "7 (a ) b) Z 1 7 7 0 -1 4 10 20 30 40 100 20 3 1 20 0 1 0 9";
        assert_eq!(ticks_used(stat), Some(124));
        assert_eq!(ticks_used("7 (a) Z 1 7 7 0 -1 4 10 20 30 40 100 20 3"), None);
        assert_eq!(ticks_used(""), None);
    }

    #[test]
    fn what_a_child_used_is_its_own_account() {
        let mut busy = Command::new("sh")
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"])
            .spawn()
            .unwrap();
        let busy_seconds = processor_seconds_at_exit(busy.id()).unwrap();
        busy.wait().unwrap();
        let mut idle = Command::new("true").spawn().unwrap();
        let idle_seconds = processor_seconds_at_exit(idle.id()).unwrap();
        idle.wait().unwrap();
        assert!(busy_seconds > idle_seconds, "{busy_seconds} {idle_seconds}");
    }
}
