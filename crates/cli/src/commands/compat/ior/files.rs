//! The files of the tasks: checked before, removed before writes and at the end.

use super::super::remarks;
use crate::suites::device::may_destroy;
use anyhow::{Context, Result};
use compat::ior::IorCommand;
use record::{Facts, TargetFacts, TargetKind};
use runner::{Refusal, Runner};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use std::path::{Path, PathBuf};
use std::time::Instant;
use std::{fs, io, thread};

/// Attribute (xattr(7)) of files that a call kept. The next call may overwrite them.
const OURS: &str = "user.fathom.ior";

/// The default name of the file, which IOR's users expect to be overwritten.
const USUAL_NAME: &str = "testFile";

/// The files of a call.
pub struct Files {
    all: Vec<String>,
    /// Whether this call writes them; files that are only read stay.
    ours: bool,
    /// Directories of `-u` that were created.
    directories: Vec<PathBuf>,
}

impl Files {
    /// Checks all files, and creates the directories of `-u`. Returns facts about them as well.
    pub fn check(call: &IorCommand, runner: &Runner) -> Result<(Files, Facts)> {
        let all = call.all_paths();
        let queries: Vec<(&str, bool)> =
            all.iter().map(|path| (path.as_str(), call.write)).collect();
        let facts = remarks::survey(runner, &queries);
        for path in &all {
            check(call, path, &facts.targets.get(path).cloned().unwrap_or_default())?;
        }
        if call.write {
            check_space(call, &facts)?;
        }
        let mut files = Files { all, ours: call.write, directories: Vec::new() };
        if call.unique_dir && call.write {
            files.make_directories()?;
        }
        Ok((files, facts))
    }

    fn make_directories(&mut self) -> Result<()> {
        for path in &self.all {
            let Some(directory) = Path::new(path).parent() else { continue };
            match fs::create_dir(directory) {
                Ok(()) => self.directories.push(directory.into()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(no_directory(path));
                }
                Err(error) => {
                    let path = directory.display();
                    return Err(error).with_context(|| format!("{path}: cannot be created"));
                }
            }
        }
        Ok(())
    }

    /// For [`crate::suites::SuiteOptions::left_behind`].
    pub fn left_behind(&self) -> String {
        match self.all.as_slice() {
            _ if !self.ours => String::new(),
            [] => String::new(),
            [path] => format!(" and leaves {path}"),
            [path, others @ ..] => format!(" and leaves {path} and {} more", others.len()),
        }
    }

    /// Removes the files of a repetition, each by a thread as by a task. Returns the seconds that it
    /// took.
    pub fn remove(&self, call: &IorCommand, repetition: u32) -> Result<f64> {
        let began = Instant::now();
        let removed: Vec<Result<()>> = thread::scope(|scope| {
            let paths = call.paths(repetition);
            let threads: Vec<_> =
                paths.into_iter().map(|path| scope.spawn(move || remove(&path))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        removed.into_iter().collect::<Result<()>>()?;
        Ok(began.elapsed().as_secs_f64())
    }

    /// Marks files that are still there, for the next call.
    pub fn mark(&self) {
        for path in self.all.iter().filter(|_| self.ours) {
            // On a filesystem without attributes, the next call refuses to overwrite the file.
            let _ = setxattr(path, OURS, b"1", XattrFlags::empty());
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for directory in &self.directories {
            // Fails if files were kept in it; then it stays.
            let _ = fs::remove_dir(directory);
        }
    }
}

fn no_directory(path: &str) -> anyhow::Error {
    Refusal::usage(format!(
        "{path}: its directory is not there; make it first, or name another file with -o"
    ))
}

fn remove(path: &str) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => {
            fs::remove_file(path).with_context(|| format!("{path}: cannot be removed"))
        }
        _ => Ok(()),
    }
}

/// Checks that a file can be used.
fn check(call: &IorCommand, path: &str, target: &TargetFacts) -> Result<()> {
    let needed = call.file_size();
    match target.kind {
        TargetKind::File | TargetKind::Missing if call.write => {
            let is_free = target.kind == TargetKind::Missing
                || target.size.0 == 0
                || path == USUAL_NAME
                || getxattr(path, OURS, &mut [0; 1]).is_ok()
                || may_destroy(&call.own.allow_destroy, path, target);
            if !is_free {
                return Err(Refusal::target(format!(
                    "{path} holds {} bytes, and the test overwrites them: say \
                     --allow-destroy={path} if they may go, or name another file with -o",
                    target.size.0
                )));
            }
            match target.parent_exists || target.kind == TargetKind::File || call.unique_dir {
                true => Ok(()),
                false => Err(no_directory(path)),
            }
        }
        TargetKind::File if target.size.0 < needed => Err(Refusal::usage(format!(
            "{path} holds {} bytes, and {needed} are to be read: write it first with -w -k, or lower \
             -b, -s or -N",
            target.size.0
        ))),
        TargetKind::File | TargetKind::Block if !call.write => Ok(()),
        TargetKind::Missing => Err(Refusal::usage(format!(
            "{path} is not there, and nothing writes it: write it first with -w -k"
        ))),
        _ => Err(Refusal::target(format!("{path} is not a regular file: name one with -o"))),
    }
}

/// Checks that all files fit: on a full filesystem the test would fail late.
fn check_space(call: &IorCommand, facts: &Facts) -> Result<()> {
    if call.deadline_s > 0 {
        return Ok(());
    }
    // With -m and without -k, files of one repetition are removed before the next.
    let repetitions = if call.multi_file && call.keep { call.repetitions } else { 1 };
    let paths: Vec<String> = (0..repetitions).flat_map(|index| call.paths(index)).collect();
    let wanted = paths.iter().map(|path| (path.as_str(), call.file_size()));
    match plan::shortages(facts, wanted).first() {
        None => Ok(()),
        Some(short) => Err(Refusal::target(format!(
            "the files need {} more bytes on {}, which has {} left: lower -b, -s or -N",
            short.needed, short.mount_point, short.free
        ))),
    }
}
