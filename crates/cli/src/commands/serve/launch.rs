//! Starts runs for web pages, as child processes of this program, one at a time.

use host::Host;
use job::{Dialect, Inputs, Job};
use runner::System;
use runner::inputs::Machine;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use web::{LaunchedRun, Launcher};

/// Most runs whose output is kept.
const RUNS_MAX: usize = 32;
/// Most bytes shown of a run's report, and of its messages.
const OUTPUT_MAX: u64 = 256 << 10;

/// Starts runs and keeps their output.
pub struct Children {
    /// Holds job files and output; removed at the end.
    scratch: tempfile::TempDir,
    archive: PathBuf,
    all: Mutex<BTreeMap<u64, Started>>,
}

/// A run that was started.
struct Started {
    child: Child,
    status: Option<ExitStatus>,
    out: PathBuf,
    err: PathBuf,
}

impl Children {
    /// Starts runs that are archived in `archive`.
    ///
    /// # Errors
    /// When the directory for job files cannot be created.
    pub fn new(archive: &Path) -> std::io::Result<Children> {
        let scratch = tempfile::Builder::new().prefix("fathom-serve-").tempdir()?;
        Ok(Children { scratch, archive: archive.to_owned(), all: Mutex::default() })
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, Started>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a run of a job file.
    fn spawn(&self, number: u64, job: &Path, directory: &Path) -> std::io::Result<Started> {
        let file = |name: &str| self.scratch.path().join(format!("{number}.{name}"));
        let (out, err) = (file("out"), file("err"));
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("run").arg("--eta=never").arg(job).current_dir(directory);
        command.env("FATHOM_ARCHIVE", &self.archive);
        command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
        // In its own process group, so that Ctrl-C reaches only the server, which ends the run.
        let child = command.process_group(0).spawn()?;
        Ok(Started { child, status: None, out, err })
    }
}

impl Launcher for Children {
    fn start(&self, job: &str, target: &str) -> Result<u32, String> {
        let failed = |error: std::io::Error| {
            format!("the run could not be started: {}", crate::output::describe(&error.into()))
        };
        let mut all = self.all();
        if all.values_mut().any(Started::is_running) {
            return Err(
                "a run that was started here is in progress; two runs at once would disturb \
                        each other, so wait for its end"
                    .into(),
            );
        }
        let (given, directory) = target_section(target)?;
        let number = all.keys().next_back().map_or(1, |last| last + 1);
        let file = self.scratch.path().join(format!("{number}.fio"));
        fs::write(&file, given + job).map_err(failed)?;
        check(&file)?;
        let started = self.spawn(number, &file, &directory).map_err(failed)?;
        let pid = started.child.id();
        all.insert(number, started);
        while all.len() > RUNS_MAX {
            all.pop_first();
        }
        Ok(pid)
    }

    fn status(&self, pid: u32) -> Option<LaunchedRun> {
        let mut all = self.all();
        let started = all.values_mut().rev().find(|started| started.child.id() == pid)?;
        let ended = (!started.is_running()).then(|| {
            let status = started.status.unwrap_or_default();
            status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
        });
        Some(LaunchedRun { ended, output: text(&started.out) + &text(&started.err) })
    }
}

impl Started {
    fn is_running(&mut self) -> bool {
        if self.status.is_none() {
            // If waiting fails, the child does not exist any more.
            self.status = self.child.try_wait().unwrap_or(Some(ExitStatus::default()));
        }
        self.status.is_none()
    }
}

impl Drop for Children {
    /// Ends the runs as Ctrl-C does, so that their results are saved.
    fn drop(&mut self) {
        for started in self.all().values_mut() {
            if started.is_running() {
                let _ = kill_process(Pid::from_child(&started.child), Signal::INT);
                let _ = started.child.wait();
            }
        }
    }
}

/// A global section that sets the target of jobs, and the directory to run them in.
fn target_section(target: &str) -> Result<(String, PathBuf), String> {
    let path = Path::new(target);
    if !path.is_absolute() || target.chars().any(char::is_control) {
        return Err("the target must be the absolute path of a directory, file or device".into());
    }
    let (path, metadata) = crate::commands::inspect::existing(path.as_os_str(), "name")?;
    let option = if metadata.is_dir() { "directory" } else { "filename" };
    let directory = if metadata.is_dir() { Path::new(path) } else { Path::new("/") };
    // A colon separates two names.
    let given = format!("[global]\n{option}={}\n", path.replace(':', "\\:"));
    Ok((given, directory.to_owned()))
}

/// Refuses wrong jobs and jobs that start programs. The guards of the run itself apply as well.
fn check(file: &Path) -> Result<(), String> {
    let facts = Host::at("/").with_kernel(Arc::new(System)).facts(&[]);
    let machine = JobFileOnly { machine: Machine::new(&facts), file };
    let arguments = [file.display().to_string()];
    let mistakes = |errors: job::JobErrors| errors.to_string().replace(&arguments[0], "job");
    let invocation = job::parse(&arguments, Dialect::Fathom, &machine).map_err(mistakes)?;
    if invocation.jobs.is_empty() {
        return Err("the text has no job; start one with [name]".into());
    }
    match invocation.jobs.iter().find(|job| starts_programs(job)) {
        Some(job) => Err(format!(
            "job '{}' starts a program (ioengine=exec, exec_prerun, exec_postrun); a page must not do \
             that, use fathom run",
            job.identity.name
        )),
        None => Ok(()),
    }
}

fn starts_programs(job: &Job) -> bool {
    let context = &job.context;
    job.queue.engine.runs_program()
        || context.exec_prerun.is_some()
        || context.exec_postrun.is_some()
}

/// Reads only the job file. An included file could be any file of this machine, and error messages would
/// show parts of it. Environment variables are hidden too.
struct JobFileOnly<'a> {
    machine: Machine,
    file: &'a Path,
}

impl Inputs for JobFileOnly<'_> {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        match Path::new(path) == self.file {
            true => self.machine.read(path),
            false => Err(std::io::Error::other("a job of a page must not include files")),
        }
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn keywords(&self) -> job::Keywords {
        self.machine.keywords()
    }
}

/// The start of a file, up to [`OUTPUT_MAX`].
fn text(file: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(OUTPUT_MAX).read_to_end(&mut bytes));
    match read {
        Ok(_) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(text: &str) -> Result<(), String> {
        let scratch = testbed::scratch();
        let file = scratch.path().join("1.fio");
        fs::write(&file, text).unwrap();
        check(&file)
    }

    #[test]
    fn jobs_that_start_programs_are_refused() {
        assert_eq!(checked("[a]\nrw=read\nsize=1m\n"), Ok(()));
        for text in [
            "[a]\nioengine=exec\nprogram=/bin/true\n",
            "[a]\nexec_prerun=id\nsize=1m\n",
            "[global]\nexec_postrun=id\n[a]\nsize=1m\n",
        ] {
            assert!(checked(text).unwrap_err().contains("starts a program"), "{text}");
        }
    }

    #[test]
    fn jobs_of_pages_read_no_other_file() {
        let error = checked("[a]\ninclude /etc/passwd\nsize=1m\n").unwrap_err();
        assert!(error.contains("must not include files"), "{error}");
        let error = checked("[a]\nsize=1m\nnonsense=1\n").unwrap_err();
        assert!(error.contains("nonsense") && !error.contains("/tmp"), "{error}");
        assert!(checked("").is_err());
    }

    #[test]
    fn targets_are_absolute_paths() {
        let scratch = testbed::scratch();
        let path = scratch.path().join("a:b");
        fs::write(&path, "").unwrap();
        let (given, _) = target_section(path.to_str().unwrap()).unwrap();
        assert!(given.starts_with("[global]\nfilename=/") && given.contains("a\\:b"), "{given}");
        for target in ["", "tmp", "/nowhere/at/all", "/tmp\nrw=write"] {
            assert!(target_section(target).is_err(), "{target}");
        }
    }
}
