//! What a target is, and whether it may be written.

use crate::suites::device;
use anyhow::{Context, Result};
use host::Host;
use powercut::session::{TargetIdentity, TargetShape};
use powercut::storage::{foreign_entry, is_own_file};
use record::{Bytes, TargetFacts, TargetKind};
use runner::{Refusal, Runner};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::path::Path;

/// A target as it is now.
pub struct Target {
    /// Its path, with links resolved.
    pub path: String,
    /// What describes it to a later check.
    pub identity: TargetIdentity,
    facts: TargetFacts,
}

impl Target {
    /// Looks at a target. Changes nothing.
    ///
    /// # Errors
    /// When the path is neither a directory nor a file nor a block device, nor a new file in a directory.
    pub fn inspect(typed: &str, runner: &Runner) -> Result<Target> {
        let machine = device::facts(typed, runner);
        let facts = machine.targets.get(typed).cloned().unwrap_or_default();
        let kind = match facts.kind {
            TargetKind::Directory => TargetShape::Directory,
            TargetKind::Block => TargetShape::Device,
            TargetKind::File => TargetShape::File,
            TargetKind::Missing if facts.parent_exists => TargetShape::File,
            TargetKind::Missing => {
                return Err(Refusal::usage(format!("{typed}: its directory is not there")));
            }
            TargetKind::Char | TargetKind::Fifo | TargetKind::Other => {
                return Err(Refusal::target(format!(
                    "{typed} is neither a directory nor a file nor a block device"
                )));
            }
        };
        let path = match facts.canonical.as_str() {
            "" => typed.to_owned(),
            canonical => canonical.to_owned(),
        };
        let boot = Host::at("/").boot_id().unwrap_or_default();
        let identity = TargetIdentity::from_facts(&path, kind, boot, &facts, &machine);
        Ok(Target { path, identity, facts })
    }

    /// Whether O_DIRECT probably works on it.
    pub fn takes_direct(&self) -> bool {
        device::takes_direct(&self.facts)
    }

    /// The room for writes: the size of a device, the free space of a filesystem.
    pub fn room(&self) -> Bytes {
        match (self.identity.kind, &self.facts.filesystem) {
            (TargetShape::Device, _) => self.facts.size,
            (_, Some(filesystem)) => Bytes(filesystem.free.0 + self.facts.size.0),
            (_, None) => Bytes(u64::MAX),
        }
    }

    /// Refuses what another tester writes to, and what holds data that is not from an earlier test, unless it
    /// is named.
    ///
    /// # Errors
    /// What would be destroyed.
    pub fn check_use(&self, allowed: &[String]) -> Result<()> {
        let path = &self.path;
        // What another tester has just begun to write does not look like that of a test yet.
        if let Ok(file) = File::open(path) {
            lock(&file, path)?;
        }
        let in_use = |reason| report::trim::in_use(path, reason);
        if let Some(text) = self.facts.uses.iter().find_map(in_use) {
            return Err(Refusal::target(text));
        }
        if device::may_destroy(allowed, path, &self.facts) {
            return Ok(());
        }
        match self.identity.kind {
            TargetShape::Device => Err(Refusal::target(format!(
                "{path} would be overwritten; give --allow-destroy={path} to allow it"
            ))),
            TargetShape::File if self.facts.size.0 > 0 && !is_own_file(Path::new(path)) => {
                Err(Refusal::target(format!(
                    "{path} holds {} bytes, which would be overwritten; name a new file, or give \
                     --allow-destroy={path} to allow it",
                    self.facts.size.0
                )))
            }
            TargetShape::Directory => check_directory(path),
            TargetShape::File => Ok(()),
        }
    }
}

impl Target {
    /// Creates a missing file, and keeps other testers away from the target as long as the result lives.
    ///
    /// # Errors
    /// When another tester writes to it.
    pub fn lock(&mut self) -> Result<File> {
        let path = self.path.clone();
        let file = match self.identity.kind {
            TargetShape::File => File::options().append(true).create(true).open(&path),
            TargetShape::Directory | TargetShape::Device => File::open(&path),
        };
        let file = file.with_context(|| path.clone())?;
        let resolved = fs::canonicalize(&path).with_context(|| path.clone())?;
        self.path = resolved.display().to_string();
        self.identity.path.clone_from(&self.path);
        lock(&file, &path)?;
        Ok(file)
    }
}

/// Locks a target until the file is closed.
fn lock(file: &File, path: &str) -> Result<()> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::WOULDBLOCK) => {
            Err(Refusal::target(format!("{path}: another tester writes to it")))
        }
        Err(error) => Err(error).with_context(|| format!("locking {path}")),
    }
}

/// Refuses a directory in which something else is than an earlier test.
fn check_directory(path: &str) -> Result<()> {
    match foreign_entry(Path::new(path)).with_context(|| path.to_owned())? {
        None => Ok(()),
        Some(name) => Err(Refusal::target(format!(
            "{path} holds '{name}', which is not of a test; name an empty directory"
        ))),
    }
}
