//! The temporary file or directory of a suite.

use super::Refusal;
use super::device::takes_direct;
use crate::output::write_stderr;
use anyhow::{Context, Result};
use host::{Host, TargetQuery};
use record::{Bytes, Facts};
use runner::{Runner, System};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use suite::test::SizeError;

/// Attempts to remove a directory that is not empty yet, and the time between them.
const ATTEMPTS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);
/// Most entries of a directory that are searched for files of earlier calls.
const ENTRIES_MAX: usize = 20_000;

/// A temporary file, removed when this is dropped unless it is to be kept. The run creates it.
pub struct Scratch {
    /// Its path for jobs. `$rank` in its name is the number of the rank, where several make the runs.
    pub path: String,
    /// Its path in this process.
    own: PathBuf,
    /// Free space on its filesystem.
    pub free: Bytes,
    /// Whether it probably supports O_DIRECT.
    pub direct: bool,
    keep: bool,
}

impl Scratch {
    /// A file in the directory `path`, or in the directory of the file `path`.
    ///
    /// # Errors
    /// When no file can be created there, and what to do.
    pub fn under(path: &OsStr, command: &str, machine: &Facts, keep: bool) -> Result<Scratch> {
        let directory = directory(path, command)?;
        let shown = directory.display().to_string();
        for path in left_over(&directory) {
            write_stderr(&format!(
                "fathom: an earlier call left {}; remove it if nobody needs it\n",
                path.display()
            ));
        }
        let name =
            format!("fathom-{command}-{}-{:08x}.tmp", std::process::id(), runner::fresh_seed());
        let path = directory.join(name).to_string_lossy().into_owned();
        let query = TargetQuery { path: path.clone(), will_write: true };
        let facts = Host::at("/").with_kernel(Arc::new(System)).survey(machine.clone(), &[query]);
        let target = facts.targets.get(&path).cloned().unwrap_or_default();
        let filesystem = target.filesystem.clone().unwrap_or_default();
        if filesystem.read_only {
            return Err(Refusal::target(format!(
                "{shown}: its filesystem ({} at {}) is mounted read-only, and the test writes; mount it \
                 read-write, or name another directory",
                filesystem.kind, filesystem.mount_point
            )));
        }
        if !target.writable {
            return Err(Refusal::target(format!(
                "{shown}: no file can be created there; run as a user who may write there, or name \
                 another directory"
            )));
        }
        let own = PathBuf::from(&path);
        Ok(Scratch { path, own, free: filesystem.free, direct: takes_direct(&target), keep })
    }

    /// Like [`Scratch::under`], with a file for each rank of the runner. Ranks may share the free space.
    ///
    /// # Errors
    /// Those of [`Scratch::under`].
    pub fn of_suite(path: &OsStr, command: &str, runner: &Runner, keep: bool) -> Result<Scratch> {
        let mut scratch = Scratch::under(path, command, runner.machine(), keep)?;
        if let Some(hosts) = runner.team() {
            let all = format!("{}.$rank.tmp", scratch.path.trim_end_matches(".tmp"));
            scratch.own = of_rank(&all, 0);
            scratch.path = all;
            scratch.free = Bytes(scratch.free.0 / hosts.len() as u64);
        }
        Ok(scratch)
    }

    /// For [`super::SuiteOptions::scratch`].
    pub fn to_remove(&self) -> Option<String> {
        (!self.keep).then(|| self.path.clone())
    }

    /// Like [`Scratch::under`], but creates a directory. Other users may enter it, because database
    /// servers run as their own users.
    ///
    /// # Errors
    /// When the directory cannot be created there, and what to do.
    pub fn directory_under(
        path: &OsStr,
        command: &str,
        machine: &Facts,
        keep: bool,
    ) -> Result<Scratch> {
        let scratch = Scratch::under(path, command, machine, keep)?;
        DirBuilder::new()
            .mode(0o755)
            .create(&scratch.path)
            .with_context(|| format!("{}: cannot create it", scratch.path))?;
        Ok(scratch)
    }

    /// Whether it is below a directory.
    pub fn path_is_below(&self, directory: &Path) -> bool {
        Path::new(&self.path).starts_with(directory)
    }

    /// For [`super::SuiteOptions::left_behind`].
    pub fn left_behind(&self) -> String {
        format!(" and leaves {}", self.path)
    }

    /// Removes it, unless it is to be kept. Prints why if it cannot be removed.
    pub fn remove(&mut self) {
        if self.keep {
            return;
        }
        match self.try_remove() {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                let shown = self.own.display();
                write_stderr(&format!("{shown}: cannot remove it: {error}; remove it by hand\n"));
            }
            _ => {}
        }
    }

    /// Programs that are just ending may still create files, so this tries several times.
    fn try_remove(&self) -> io::Result<()> {
        if !self.own.is_dir() {
            return fs::remove_file(&self.own);
        }
        for _ in 0..ATTEMPTS {
            match fs::remove_dir_all(&self.own) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                    std::thread::sleep(PAUSE);
                }
                removed => return removed,
            }
        }
        fs::remove_dir_all(&self.own)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}

/// The path of the file of a rank.
pub fn of_rank(path: &str, rank: u32) -> PathBuf {
    path.replace("$rank", &rank.to_string()).into()
}

/// An unsuitable size of a temporary file, as a refusal.
pub fn size_refusal(error: SizeError) -> anyhow::Error {
    match error {
        SizeError::TooSmall { .. } => Refusal::usage(error.to_string()),
        _ => Refusal::target(error.to_string()),
    }
}

/// Files in a directory that ended processes left, by their names.
fn left_over(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let mut left: Vec<PathBuf> = entries
        .filter(|entry| {
            let maker = entry.file_name().to_str().and_then(maker);
            maker.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
        })
        .map(|entry| entry.path())
        .collect();
    left.sort();
    left
}

/// The process id in a name that [`Scratch::under`] made.
fn maker(name: &str) -> Option<u32> {
    let (rest, seed) = name.strip_prefix("fathom-")?.strip_suffix(".tmp")?.rsplit_once('-')?;
    // One of several ranks has its number there.
    let seed = seed.split_once('.').map_or(seed, |(seed, _)| seed);
    let (command, process) = rest.rsplit_once('-')?;
    let is_ours = command.bytes().all(|letter| letter.is_ascii_lowercase())
        && seed.len() == 8
        && seed.bytes().all(|digit| digit.is_ascii_hexdigit());
    process.parse().ok().filter(|_| is_ours)
}

/// The directory of a path, with links resolved.
fn directory(path: &OsStr, command: &str) -> Result<PathBuf> {
    let shown = path.to_string_lossy();
    if path.to_str().is_none() {
        return Err(Refusal::usage(format!("'{shown}' is not UTF-8 text; give names in UTF-8")));
    }
    if path.is_empty() {
        return Err(Refusal::usage("the path is empty: name a directory"));
    }
    let metadata = fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            Refusal::usage(format!("{shown}: not there; make it first, or name a directory"))
        }
        ErrorKind::PermissionDenied => {
            Refusal::target(format!("{shown}: permission denied; name a directory you may enter"))
        }
        _ => anyhow::Error::from(error).context(shown.clone().into_owned()),
    })?;
    if metadata.file_type().is_block_device() {
        return Err(Refusal::target(format!(
            "{shown} is a block device; fathom {command} needs a filesystem. To read the device: \
             fathom run --filename={shown} --rw=randread …; to overwrite it: fathom precondition \
             {shown}"
        )));
    }
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(Refusal::target(format!(
            "{shown} is neither a directory nor a file; fathom {command} needs a filesystem: name a \
             directory on it"
        )));
    }
    let real =
        fs::canonicalize(path).map_err(|e| anyhow::Error::from(e).context(shown.into_owned()))?;
    if metadata.is_dir() {
        return Ok(real);
    }
    Ok(real.parent().unwrap_or(Path::new("/")).to_path_buf())
}
