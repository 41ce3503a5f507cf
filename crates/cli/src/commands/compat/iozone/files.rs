//! The files of a call: which may be used, what is made of them, and that they go.

use super::super::remarks;
use crate::output::{describe, say};
use crate::suites::device::may_destroy;
use anyhow::{Context, Result};
use compat::iozone::IozoneCommand;
use record::{Facts, TargetFacts, TargetKind};
use runner::Refusal;
use runner::Runner;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use std::fs::{self, File, OpenOptions};

/// Marks a file that a call made and left (xattr(7)): the next call may overwrite it unasked, as
/// people go from `iozone -i 0 -w` to `iozone -i 2`.
const OURS: &str = "user.fathom.iozone";

/// The files of a call. Those it makes are gone with this value, unless they are to stay.
pub struct Files {
    all: Vec<String>,
    /// Those that go at the end.
    made: Vec<String>,
    /// Those that are left to the next call.
    left: Vec<String>,
}

/// What is where the files of a call are to be, all of it fit for the call. Nothing was touched.
pub struct Found {
    all: Vec<String>,
    facts: Facts,
}

impl Found {
    /// Looks at all of them.
    ///
    /// # Errors
    /// Why one of them cannot be used.
    pub fn look(call: &IozoneCommand, runner: &Runner) -> Result<Found> {
        let all = call.paths();
        let queries: Vec<(&str, bool)> =
            all.iter().map(|path| (path.as_str(), call.writes())).collect();
        let found = Found { facts: remarks::survey(runner, &queries), all };
        found.all.iter().try_for_each(|path| check(call, path, &found.of(path)))?;
        if call.needs().is_none() {
            check_space(call, &found.facts, &found.all)?;
        }
        Ok(found)
    }

    fn of(&self, path: &str) -> TargetFacts {
        self.facts.targets.get(path).cloned().unwrap_or_default()
    }

    /// Takes them: those that may be overwritten begin anew.
    ///
    /// # Errors
    /// Why one of them cannot be emptied.
    pub fn take(self, call: &IozoneCommand) -> Result<Files> {
        if call.needs().is_some() {
            return Ok(Files { all: self.all, made: Vec::new(), left: Vec::new() });
        }
        let there = self.all.iter().filter(|path| self.of(path).kind == TargetKind::File);
        for path in there.filter(|_| call.begins_anew()) {
            let opened = OpenOptions::new().write(true).truncate(true).open(path);
            opened.with_context(|| format!("{path}: cannot be emptied"))?;
        }
        let files = self.all.iter().filter(|path| self.of(path).kind != TargetKind::Block).cloned();
        let (made, left) = match call.keep {
            true => (Vec::new(), files.collect()),
            false => (files.collect(), Vec::new()),
        };
        Ok(Files { all: self.all, made, left })
    }
}

impl Files {
    /// What stays when the program is ended at once, for the message that says how.
    pub fn left_behind(&self) -> String {
        match self.made.as_slice() {
            [] => String::new(),
            [path] => format!(" and leaves {path}"),
            [path, others @ ..] => format!(" and leaves {path} and {} more", others.len()),
        }
    }

    /// Waits until what was written to them is on the medium.
    ///
    /// # Errors
    /// The kernel could not write it.
    pub fn settle(&self) -> Result<()> {
        for path in &self.all {
            // The last test on a file removes it.
            if let Ok(file) = File::open(path) {
                file.sync_all().with_context(|| format!("{path}: cannot be synchronised"))?;
            }
        }
        Ok(())
    }

    /// Removes what the last run did not, and marks what stays.
    pub fn remove(&mut self) {
        for path in self.made.drain(..).filter(|path| fs::metadata(path).is_ok()) {
            if let Err(error) = fs::remove_file(&path) {
                let error = describe(&anyhow::Error::from(error));
                say(&format!("{path}: cannot be removed: {error}; remove it by hand\n"));
            }
        }
        for path in self.left.drain(..) {
            // Where a filesystem has no attributes, the next call asks before it overwrites.
            let _ = setxattr(&path, OURS, b"1", XattrFlags::empty());
        }
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Whether a file can be used. Devices that hold something are refused later, as for every job that
/// writes; files have no such guard there, so they have one here.
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

/// The largest files have to fit, all at once. Past the end the tests would measure how a filesystem
/// fills up; one in memory would take the machine with it.
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

/// Nothing is lost with what is empty, has IOzone's own name, was left by a call before, or is named.
fn may_be_overwritten(call: &IozoneCommand, path: &str, target: &TargetFacts) -> bool {
    target.size.0 == 0
        || call.is_usual_name(path)
        || getxattr(path, OURS, &mut [0; 1]).is_ok()
        || may_destroy(&call.own.allow_destroy, path, target)
}
