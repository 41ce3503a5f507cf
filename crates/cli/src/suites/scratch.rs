//! The one file or directory that a test makes, in a directory that is in use.

use super::Refusal;
use super::device::takes_direct;
use crate::output::say;
use anyhow::{Context, Result};
use host::{Host, TargetQuery};
use record::{Bytes, Facts};
use runner::System;
use std::ffi::OsStr;
use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How often a directory is tried to be removed that is not empty yet, and how far apart.
const ATTEMPTS: u32 = 40;
const PAUSE: Duration = Duration::from_millis(50);
/// Names in a directory that are looked at for what earlier calls left.
const LOOKED_AT: usize = 20_000;

/// A file that is not there yet and is gone with the value, unless it is to be kept.
pub struct Scratch {
    /// Its path.
    pub path: String,
    /// Free space where it is made.
    pub free: Bytes,
    /// Whether it will take O_DIRECT, as far as that can be told before.
    pub direct: bool,
    keep: bool,
}

impl Scratch {
    /// A file in the directory that `path` names, or that holds the file it names.
    ///
    /// # Errors
    /// What is wrong with the path, and what to do.
    pub fn under(path: &OsStr, command: &str, machine: &Facts, keep: bool) -> Result<Scratch> {
        let directory = directory(path, command)?;
        let shown = directory.display().to_string();
        for path in left_over(&directory) {
            say(&format!(
                "fathom: left by an earlier call that was killed or was to keep it: {}; remove it if \
                 nobody needs it\n",
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
                "{shown}: the filesystem there ({} at {}) is mounted read-only, and a test writes: \
                 mount it read-write, or name another place",
                filesystem.kind, filesystem.mount_point
            )));
        }
        if !target.writable {
            return Err(Refusal::target(format!(
                "{shown}: no file can be made there: take part as a user who may write there, or \
                 name another place"
            )));
        }
        Ok(Scratch { path, free: filesystem.free, direct: takes_direct(&target), keep })
    }

    /// The same as a directory, which is made: others may enter it, because servers run as users of
    /// their own.
    ///
    /// # Errors
    /// What is wrong with the path, and what to do; the directory cannot be made.
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
            .with_context(|| format!("{}: cannot be made", scratch.path))?;
        Ok(scratch)
    }

    /// Whether it is below a directory.
    pub fn path_is_below(&self, directory: &Path) -> bool {
        Path::new(&self.path).starts_with(directory)
    }

    /// What stays when the program is ended at once, for the message that says how.
    pub fn left_behind(&self) -> String {
        format!(" and leaves {}", self.path)
    }

    /// Removes it, unless it is to be kept. That it cannot be removed is said.
    pub fn remove(&mut self) {
        if self.keep {
            return;
        }
        match self.removed() {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                say(&format!("{}: cannot be removed: {error}; remove it by hand\n", self.path));
            }
            _ => {}
        }
    }

    /// Programs that were ended together may still make files while they go.
    fn removed(&self) -> io::Result<()> {
        if !Path::new(&self.path).is_dir() {
            return fs::remove_file(&self.path);
        }
        for _ in 0..ATTEMPTS {
            match fs::remove_dir_all(&self.path) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {
                    std::thread::sleep(PAUSE);
                }
                removed => return removed,
            }
        }
        fs::remove_dir_all(&self.path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}

/// What calls that run no more left in a directory, by its name.
fn left_over(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(LOOKED_AT);
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let maker = entry.file_name().to_str().and_then(maker);
            maker.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists())
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The process that made what has a name as [`Scratch::under`] gives it.
fn maker(name: &str) -> Option<u32> {
    let (rest, seed) = name.strip_prefix("fathom-")?.strip_suffix(".tmp")?.rsplit_once('-')?;
    let (command, process) = rest.rsplit_once('-')?;
    let is_ours = command.bytes().all(|letter| letter.is_ascii_lowercase())
        && seed.len() == 8
        && seed.bytes().all(|digit| digit.is_ascii_hexdigit());
    process.parse().ok().filter(|_| is_ours)
}

/// The directory that a path names, links resolved.
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
        ErrorKind::PermissionDenied => Refusal::target(format!(
            "{shown}: may not be looked at; name a directory you may enter"
        )),
        _ => anyhow::Error::from(error).context(shown.clone().into_owned()),
    })?;
    if metadata.file_type().is_block_device() {
        return Err(Refusal::target(format!(
            "{shown} is a block device; fathom {command} makes a file on a filesystem. For the \
             device itself: fathom run --filename={shown} --rw=randread … reads it, fathom \
             precondition {shown} overwrites it"
        )));
    }
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(Refusal::target(format!(
            "{shown} is neither a directory nor a file: fathom {command} makes a file on a \
             filesystem; name a directory there, or a file in it"
        )));
    }
    let real =
        fs::canonicalize(path).map_err(|e| anyhow::Error::from(e).context(shown.into_owned()))?;
    if metadata.is_dir() {
        return Ok(real);
    }
    Ok(real.parent().unwrap_or(Path::new("/")).to_path_buf())
}
