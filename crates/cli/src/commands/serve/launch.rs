//! Runs that pages start: this program again, as a child, one at a time.

use host::Host;
use job::{Dialect, Engine, Inputs, Job};
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

/// Runs that are remembered after they ended.
const REMEMBERED: usize = 32;
/// So much of what a run says is shown, of its report and of its messages.
const SAID: u64 = 256 << 10;

/// Starts runs and remembers what they said.
pub struct Children {
    /// Job texts and what was said, gone with the program.
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
    /// Their runs go into this archive.
    ///
    /// # Errors
    /// When there is no place for job texts.
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
        // What a terminal sends to the pages' program is passed on by it, once.
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
        if all.values_mut().any(Started::goes_on) {
            return Err("a run that was started here goes on: two at once would measure each \
                        other; wait for its end"
                .into());
        }
        let (given, directory) = aimed(target)?;
        let number = all.keys().next_back().map_or(1, |last| last + 1);
        let file = self.scratch.path().join(format!("{number}.fio"));
        fs::write(&file, given + job).map_err(failed)?;
        check(&file)?;
        let started = self.spawn(number, &file, &directory).map_err(failed)?;
        let pid = started.child.id();
        all.insert(number, started);
        while all.len() > REMEMBERED {
            all.pop_first();
        }
        Ok(pid)
    }

    fn status(&self, pid: u32) -> Option<LaunchedRun> {
        let mut all = self.all();
        let started = all.values_mut().rev().find(|started| started.child.id() == pid)?;
        let ended = (!started.goes_on()).then(|| {
            let status = started.status.unwrap_or_default();
            status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
        });
        Some(LaunchedRun { ended, output: text(&started.out) + &text(&started.err) })
    }
}

impl Started {
    fn goes_on(&mut self) -> bool {
        if self.status.is_none() {
            // A child that cannot be waited for is none of ours any more.
            self.status = self.child.try_wait().unwrap_or(Some(ExitStatus::default()));
        }
        self.status.is_none()
    }
}

impl Drop for Children {
    /// Runs end with the program, tidily: as by Ctrl-C, so that what they measured is kept.
    fn drop(&mut self) {
        for started in self.all().values_mut() {
            if started.goes_on() {
                let _ = kill_process(Pid::from_child(&started.child), Signal::INT);
                let _ = started.child.wait();
            }
        }
    }
}

/// Options that aim jobs at a target that they do not name themselves, and the directory they run in.
fn aimed(target: &str) -> Result<(String, PathBuf), String> {
    let path = Path::new(target);
    if !path.is_absolute() || target.chars().any(char::is_control) {
        return Err("the target is to be the whole path of a directory, a file or a device".into());
    }
    let (path, metadata) = crate::commands::inspect::existing(path.as_os_str(), "name")?;
    let option = if metadata.is_dir() { "directory" } else { "filename" };
    let directory = if metadata.is_dir() { Path::new(path) } else { Path::new("/") };
    // A colon would part two names.
    let given = format!("[global]\n{option}={}\n", path.replace(':', "\\:"));
    Ok((given, directory.to_owned()))
}

/// What a page may not start: a job that is wrong, and one that starts programs. The guards of the
/// run itself come after.
fn check(file: &Path) -> Result<(), String> {
    let facts = Host::at("/").with_kernel(Arc::new(System)).facts(&[]);
    let machine = Alone { machine: Machine::new(&facts), file };
    let arguments = [file.display().to_string()];
    let mistakes = |errors: job::JobErrors| errors.to_string().replace(&arguments[0], "job");
    let invocation = job::parse(&arguments, Dialect::Fathom, &machine).map_err(mistakes)?;
    if invocation.jobs.is_empty() {
        return Err("there is no job in it: [name], then its options".into());
    }
    match invocation.jobs.iter().find(|job| starts_programs(job)) {
        Some(job) => Err(format!(
            "job '{}' starts a program (ioengine=exec, exec_prerun, exec_postrun): that is not \
             done from a page; use fathom run",
            job.identity.name
        )),
        None => Ok(()),
    }
}

fn starts_programs(job: &Job) -> bool {
    let around = &job.context;
    job.queue.engine == Engine::Exec
        || around.exec_prerun.is_some()
        || around.exec_postrun.is_some()
}

/// The job file, and no other: one that it includes could be any file of this machine, shown in what
/// is said of its mistakes. Nor are variables of the environment told.
struct Alone<'a> {
    machine: Machine,
    file: &'a Path,
}

impl Inputs for Alone<'_> {
    fn read(&self, path: &str) -> std::io::Result<Vec<u8>> {
        match Path::new(path) == self.file {
            true => self.machine.read(path),
            false => Err(std::io::Error::other("a job of a page includes no file")),
        }
    }

    fn variable(&self, _name: &str) -> Option<String> {
        None
    }

    fn keywords(&self) -> job::Keywords {
        self.machine.keywords()
    }
}

/// What was written to a file, as far as it is shown.
fn text(file: &Path) -> String {
    let mut bytes = Vec::new();
    let read = File::open(file).and_then(|file| file.take(SAID).read_to_end(&mut bytes));
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
    fn jobs_of_pages_are_alone() {
        let error = checked("[a]\ninclude /etc/passwd\nsize=1m\n").unwrap_err();
        assert!(error.contains("includes no file"), "{error}");
        let error = checked("[a]\nsize=1m\nnonsense=1\n").unwrap_err();
        assert!(error.contains("nonsense") && !error.contains("/tmp"), "{error}");
        assert!(checked("").is_err());
    }

    #[test]
    fn targets_are_whole_paths() {
        let scratch = testbed::scratch();
        let path = scratch.path().join("a:b");
        fs::write(&path, "").unwrap();
        let (given, _) = aimed(path.to_str().unwrap()).unwrap();
        assert!(given.starts_with("[global]\nfilename=/") && given.contains("a\\:b"), "{given}");
        for target in ["", "tmp", "/nowhere/at/all", "/tmp\nrw=write"] {
            assert!(aimed(target).is_err(), "{target}");
        }
    }
}
