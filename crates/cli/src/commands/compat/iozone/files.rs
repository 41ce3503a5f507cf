//! The files of the tests: checked before, truncated, and removed at the end.

use super::super::remarks;
use crate::output::{describe, write_stderr};
use crate::suites::device::may_destroy;
use anyhow::{Context, Result};
use compat::iozone::IozoneCommand;
use record::{Facts, TargetFacts, TargetKind};
use runner::{Refusal, Runner};
use rustix::fs::{XattrFlags, getxattr, setxattr};
use std::fs::{self, File, OpenOptions};

/// Attribute (xattr(7)) of files that a call left. The next call may overwrite them, as in `iozone -i 0
/// -w` followed by `iozone -i 2`.
const OURS: &str = "user.fathom.iozone";

/// The files of a call. They are removed when this is dropped, unless `-w` keeps them.
pub struct Files {
    all: Vec<String>,
    /// Files to remove at the end.
    temporary: Vec<String>,
    /// Files to mark and leave for the next call.
    kept: Vec<String>,
}

/// The targets of a call, all of them usable. Nothing was changed yet.
pub struct CheckedTargets {
    all: Vec<String>,
    facts: Facts,
}

impl CheckedTargets {
    /// Checks all targets.
    pub fn check(call: &IozoneCommand, runner: &Runner) -> Result<CheckedTargets> {
        let all = call.paths();
        let queries: Vec<(&str, bool)> =
            all.iter().map(|path| (path.as_str(), call.writes())).collect();
        let targets = CheckedTargets { facts: remarks::survey(runner, &queries), all };
        targets.all.iter().try_for_each(|path| check(call, path, &targets.facts_of(path)))?;
        if call.needs().is_none() {
            check_space(call, &targets.facts, &targets.all)?;
        }
        Ok(targets)
    }

    fn facts_of(&self, path: &str) -> TargetFacts {
        self.facts.targets.get(path).cloned().unwrap_or_default()
    }

    /// Truncates the files that will be overwritten.
    pub fn into_files(self, call: &IozoneCommand) -> Result<Files> {
        if call.needs().is_some() {
            return Ok(Files { all: self.all, temporary: Vec::new(), kept: Vec::new() });
        }
        let existing = self.all.iter().filter(|path| self.facts_of(path).kind == TargetKind::File);
        for path in existing.filter(|_| call.begins_anew()) {
            let opened = OpenOptions::new().write(true).truncate(true).open(path);
            opened.with_context(|| format!("{path}: cannot be truncated"))?;
        }
        let files =
            self.all.iter().filter(|path| self.facts_of(path).kind != TargetKind::Block).cloned();
        let (temporary, kept) = match call.keep {
            true => (Vec::new(), files.collect()),
            false => (files.collect(), Vec::new()),
        };
        Ok(Files { all: self.all, temporary, kept })
    }
}

impl Files {
    /// For [`crate::suites::SuiteOptions::left_behind`].
    pub fn left_behind(&self) -> String {
        match self.temporary.as_slice() {
            [] => String::new(),
            [path] => format!(" and leaves {path}"),
            [path, others @ ..] => format!(" and leaves {path} and {} more", others.len()),
        }
    }

    /// Writes the data of all files to the medium.
    pub fn sync(&self) -> Result<()> {
        for path in &self.all {
            // The last test on a file removes it.
            if let Ok(file) = File::open(path) {
                file.sync_all().with_context(|| format!("{path}: cannot be synchronised"))?;
            }
        }
        Ok(())
    }

    /// Removes temporary files that still exist, and marks those to keep.
    pub fn remove(&mut self) {
        for path in self.temporary.drain(..).filter(|path| fs::metadata(path).is_ok()) {
            if let Err(error) = fs::remove_file(&path) {
                let error = describe(&anyhow::Error::from(error));
                write_stderr(&format!("{path}: cannot be removed: {error}; remove it by hand\n"));
            }
        }
        for path in self.kept.drain(..) {
            // On a filesystem without attributes, the next call refuses to overwrite the file.
            let _ = setxattr(&path, OURS, b"1", XattrFlags::empty());
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Checks that a target can be used. The plan refuses devices with data, but not files with data, so this
/// does.
fn check(call: &IozoneCommand, path: &str, target: &TargetFacts) -> Result<()> {
    let needed = call.needs().map_or(0, |kb| kb << 10);
    match target.kind {
        TargetKind::Block => Ok(()),
        TargetKind::File if target.size.0 < needed => Err(Refusal::usage(format!(
            "{path} holds {} kB, and the tests need {} kB: write it first with -i 0, or name a \
             smaller size with -s",
            target.size.0 >> 10,
            needed >> 10
        ))),
        TargetKind::File if call.writes() && !may_be_overwritten(call, path, target) => {
            Err(Refusal::target(format!(
                "{path} holds {} bytes, and the tests overwrite them: say --allow-destroy={path} \
                 if they may go, or name another file with -f",
                target.size.0
            )))
        }
        TargetKind::File => Ok(()),
        TargetKind::Missing if !target.parent_exists => Err(Refusal::usage(format!(
            "{path}: its directory is not there; make it first, or name another file with -f"
        ))),
        TargetKind::Missing if needed > 0 => Err(Refusal::usage(format!(
            "{path} is not there, and no test writes it: begin with -i 0, which does; -w keeps \
             it for the next call"
        ))),
        TargetKind::Missing => Ok(()),
        TargetKind::Directory => {
            Err(Refusal::target(format!("{path} is a directory: name a file in it with -f")))
        }
        TargetKind::Char | TargetKind::Fifo | TargetKind::Other => Err(Refusal::target(format!(
            "{path} is neither a file nor a block device: name one with -f"
        ))),
    }
}

/// Checks that all files of the largest size fit. On a full filesystem the tests would fail late, and a
/// full one in memory would harm the machine.
fn check_space(call: &IozoneCommand, facts: &Facts, all: &[String]) -> Result<()> {
    let Some(bytes) = call.largest().map(|kb| kb << 10) else { return Ok(()) };
    let is_file = |path: &&String| {
        facts.targets.get(*path).is_none_or(|target| target.kind != TargetKind::Block)
    };
    let wanted = all.iter().filter(is_file).map(|path| (path.as_str(), bytes));
    match plan::shortages(facts, wanted).first() {
        None => Ok(()),
        Some(short) => Err(Refusal::target(format!(
            "the largest files need {} more kB on {}, which has {} left: name smaller ones with -s or \
             -g, or fewer with -t",
            short.needed >> 10,
            short.mount_point,
            short.free >> 10
        ))),
    }
}

/// Whether the file is empty, has IOzone's default name, was left by an earlier call, or is named by
/// --allow-destroy.
fn may_be_overwritten(call: &IozoneCommand, path: &str, target: &TargetFacts) -> bool {
    target.size.0 == 0
        || call.is_usual_name(path)
        || getxattr(path, OURS, &mut [0; 1]).is_ok()
        || may_destroy(&call.own.allow_destroy, path, target)
}
