//! One run of one program: its own results, and what the kernel says it cost.

use super::cases::Ends;
use super::sample::Sample;
use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::{ResUse, Wait4};

/// A program that speaks fio's command line.
pub struct Program {
    /// As in the table.
    pub name: &'static str,
    /// What it says for `--version`.
    pub version: String,
    /// Where it is.
    pub path: PathBuf,
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
    pub fn run(&self, arguments: &[String], ends: Ends, output: &Path) -> Result<Sample> {
        let mut command = Command::new(&self.path);
        command
            .args(["--eta=never", "--output-format=json"])
            .arg(format!("--output={}", output.display()))
            .args(arguments)
            // What it costs to archive a run is none of what is compared.
            .env("FATHOM_ARCHIVE", "off")
            .current_dir(output.parent().unwrap_or(Path::new("/")))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if ends == Ends::Refused {
            // It says why.
            command.stderr(Stdio::null());
        }
        let start = Instant::now();
        let mut child =
            command.spawn().with_context(|| format!("starting {}", self.path.display()))?;
        let ResUse { status, rusage } = child.wait4().context("waiting for it")?;
        let elapsed_ns = start.elapsed().as_nanos() as f64;
        let expected = if ends == Ends::Refused { Some(1) } else { Some(0) };
        if status.code() != expected {
            bail!("{} {} ended with {status}", self.path.display(), arguments.join(" "));
        }
        let mut sample = match ends {
            Ends::Timed => sample(&fs::read_to_string(output).context("reading its JSON")?)?,
            Ends::Done | Ends::Refused => Sample::default(),
        };
        let process_ns = (rusage.utime + rusage.stime).as_nanos() as f64;
        sample.process_ns = process_ns / sample.ios.max(1.0);
        sample.elapsed_ns = elapsed_ns;
        sample.memory_bytes = rusage.maxrss as f64;
        Ok(sample)
    }
}

/// Reads a run of one group of jobs from fio's JSON.
fn sample(text: &str) -> Result<Sample> {
    let json: Value = serde_json::from_str(text).context("its JSON does not parse")?;
    let job = json.pointer("/jobs/0").context("its JSON has no job")?;
    let number = |path: &str| {
        job.pointer(path).and_then(Value::as_f64).with_context(|| format!("its JSON has no {path}"))
    };
    if number("/error")? != 0.0 {
        bail!("the job ended with error {}", number("/error")?);
    }
    let reads = number("/read/total_ios")?;
    let writes = number("/write/total_ios")?;
    let ios = reads + writes;
    if ios < 1.0 {
        bail!("the job did no I/O");
    }
    // The latencies are those of the direction it did more of.
    let most = if reads >= writes { "read" } else { "write" };
    // Per cent of the jobs' time together, which is given in milliseconds.
    let ns_per_percent = number("/job_runtime")? * 1e6 / 100.0 / ios;
    Ok(Sample {
        ios,
        iops: number("/read/iops")? + number("/write/iops")?,
        user_ns: number("/usr_cpu")? * ns_per_percent,
        system_ns: number("/sys_cpu")? * ns_per_percent,
        p50_ns: number(&format!("/{most}/clat_ns/percentile/50.000000"))?,
        p99_ns: number(&format!("/{most}/clat_ns/percentile/99.000000"))?,
        ..Sample::default()
    })
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Samples that differ in what they did a second; each took two milliseconds.
    pub fn of_iops(iops: &[f64]) -> Vec<Sample> {
        let sample = |&iops: &f64| Sample {
            iops,
            user_ns: 160.25,
            system_ns: 1.0,
            process_ns: 170.0,
            p50_ns: 30.0,
            p99_ns: 12345.0,
            elapsed_ns: 2e6,
            ..Sample::default()
        };
        iops.iter().map(sample).collect()
    }

    #[test]
    fn a_program_without_a_version_is_refused() {
        assert!(Program::new("fio", Path::new("/nonexistent/fio")).is_err());
        assert!(Program::new("fio", Path::new("false")).is_err());
    }

    const JSON: &str = r#"{"jobs":[{"error":0,"job_runtime":2000,"usr_cpu":50.0,"sys_cpu":25.0,
        "read":{"iops":300.0,"total_ios":600,
        "clat_ns":{"percentile":{"50.000000":90,"99.000000":120}}},
        "write":{"iops":200.0,"total_ios":400}}]}"#;

    #[test]
    fn costs_are_by_io() {
        let expected = Sample {
            ios: 1000.0,
            iops: 500.0,
            user_ns: 1e6,
            system_ns: 5e5,
            p50_ns: 90.0,
            p99_ns: 120.0,
            ..Sample::default()
        };
        assert_eq!(sample(JSON).unwrap(), expected);
    }

    #[test]
    fn a_run_that_failed_is_no_sample() {
        for (from, to) in [
            (r#""error":0"#, r#""error":5"#),
            (r#""total_ios":600"#, r#""total_ios":0"#),
            ("usr_cpu", "cpu"),
            ("{\"jobs\"", "note\n{\"jobs\""),
        ] {
            assert!(JSON.contains(from));
            let json = JSON.replace(from, to).replace(r#""total_ios":400"#, r#""total_ios":0"#);
            assert!(sample(&json).is_err(), "{to}");
        }
    }

    #[test]
    fn what_a_run_used_is_its_own_account() {
        let scratch = tempfile::tempdir().unwrap();
        let output = scratch.path().join("out.json");
        let program = |text: &str| {
            let path = scratch.path().join("program");
            let version = "[ \"$1\" = --version ] && { echo 1; exit 0; }";
            fs::write(&path, format!("#!/bin/sh\n{version}\n{text}\n")).unwrap();
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(&path, mode).unwrap();
            Program::new("fio", &path).unwrap()
        };
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let busy = program(busy).run(&[], Ends::Done, &output).unwrap();
        let idle = program("exit 1").run(&[], Ends::Refused, &output).unwrap();
        assert!(busy.process_ns > idle.process_ns, "{busy:?} {idle:?}");
        assert!(busy.elapsed_ns > 0.0 && busy.memory_bytes > 1e5, "{busy:?}");
        assert!(program("exit 1").run(&[], Ends::Done, &output).is_err());
    }
}
