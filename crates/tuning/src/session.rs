//! Setting up the machine for each cell of a sweep.

use crate::filesystem::{self, Filesystem};
use crate::journal::{Entry, Journal};
use crate::restore::{RestoreReport, restore_entries};
use crate::{Error, MkfsTarget, Setting, queue, remount, restore_leftovers};
use host::Host;
use record::Nanos;
use std::path::{Path, PathBuf};

/// Sets up the machine for the cells of a sweep. [`Session::put_back`] or dropping the session restores
/// everything.
pub struct Session {
    host: Host,
    journal: Journal,
    mkfs_target: Option<MkfsTarget>,
    stop: Box<dyn Fn() -> bool>,
    /// Number of journal entries, from the first, that stay until the end of the session.
    base: usize,
}

/// The setup of the machine for a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellSetup {
    /// Arguments to append to those of the job ("--directory=…").
    pub arguments: Vec<String>,
    /// Differences from the requested settings.
    pub notes: Vec<String>,
    /// How long mkfs took, if a filesystem was made.
    pub mkfs_time: Option<Nanos>,
}

impl Session {
    /// Restores what earlier sessions left, then starts a session. Also returns the report of this restore.
    /// Filesystems are made on `mkfs_target`. When `stop` returns true, long operations end.
    ///
    /// # Errors
    /// The journal cannot be written, or leftovers could not be restored.
    pub fn begin(
        host: Host,
        state: &Path,
        mkfs_target: Option<MkfsTarget>,
        stop: Box<dyn Fn() -> bool>,
    ) -> Result<(Session, RestoreReport), Error> {
        let host = host.without_kernel();
        let leftovers = restore_leftovers(&host, state)?;
        if !leftovers.failed.is_empty() {
            return Err(Error::failed(format!(
                "the changes of an earlier sweep could not be restored: {}; restore them with fathom \
                 sweep --restore",
                leftovers.failed.join("; ")
            )));
        }
        let journal = Journal::begin(&host, state)?;
        Ok((Session { host, journal, mkfs_target, stop, base: 0 }, leftovers))
    }

    /// Tries each combination once, so that errors appear before hours of measuring, then restores
    /// the machine except for a scratch file. No trial filesystem is made on a device of the user.
    /// Returns messages for the user.
    pub fn rehearse(
        &mut self,
        combinations: &[Vec<(Setting, String)>],
        targets: &[String],
    ) -> Result<Vec<String>, Error> {
        let mut notes = Vec::new();
        for values in combinations {
            self.check_stop()?;
            let kind = values.iter().find(|(setting, _)| *setting == Setting::Fs);
            if let (Some((_, kind)), Some(mkfs_target @ MkfsTarget::Device { .. })) =
                (kind, &self.mkfs_target)
            {
                filesystem::check(kind)?;
                mkfs_target.check(&self.host)?;
                continue;
            }
            for note in self.set_up(values, targets)?.notes {
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        self.restore_to_base()?;
        Ok(notes)
    }

    /// Sets up the machine for a cell, independently of the previous cell: restores other settings, makes
    /// new filesystems and remounts filesystems of the user.
    ///
    /// # Errors
    /// A value is invalid, the target is unsuitable, or an operation failed. Changes made until
    /// then are restored by the next call, or at the end.
    pub fn set_up(
        &mut self,
        values: &[(Setting, String)],
        targets: &[String],
    ) -> Result<CellSetup, Error> {
        for (setting, value) in values {
            setting.check(value)?;
        }
        let value = |wanted| values.iter().find(|(s, _)| *s == wanted).map(|(_, v)| v.as_str());
        let (kind, options) = (value(Setting::Fs), value(Setting::Mount));
        if kind.is_some() || options.is_some() {
            self.restore_to_base()?;
        }
        let mut setup = CellSetup::default();
        let mut targets = targets.to_vec();
        match (kind, options) {
            (Some(kind), options) => {
                let Filesystem { point, notes, mkfs_time } = self.make_filesystem(kind, options)?;
                let point = point.display().to_string();
                setup.arguments.push(format!("--directory={point}"));
                setup.notes.extend(notes);
                setup.mkfs_time = Some(mkfs_time);
                targets = vec![point];
            }
            (None, Some(options)) => setup.notes.extend(self.remount(options, &targets)?),
            (None, None) => {}
        }
        setup.notes.extend(self.set_queues(values, &targets)?);
        Ok(setup)
    }

    /// Restores everything, the last change first. Failures stay in the journal.
    pub fn put_back(&mut self) -> RestoreReport {
        self.base = 0;
        restore_entries(&self.host, &mut self.journal, 0)
    }

    fn restore_to_base(&mut self) -> Result<(), Error> {
        let report = restore_entries(&self.host, &mut self.journal, self.base);
        if report.failed.is_empty() { Ok(()) } else { Err(Error::failed(report.failed.join("; "))) }
    }

    fn make_filesystem(&mut self, kind: &str, options: Option<&str>) -> Result<Filesystem, Error> {
        filesystem::check(kind)?;
        let Some(mkfs_target) = self.mkfs_target.clone() else {
            return Err(Error::usage(format!("fs={kind}: no target for filesystems is named")));
        };
        mkfs_target.create_file(&mut self.journal, &self.stop)?;
        self.base = self.journal.entries().len();
        self.check_stop()?;
        filesystem::make(&self.host, &mut self.journal, &mkfs_target, kind, options)
    }

    fn check_stop(&self) -> Result<(), Error> {
        if (self.stop)() { Err(Error::failed("ended by a signal")) } else { Ok(()) }
    }

    fn remount(&mut self, options: &str, targets: &[String]) -> Result<Vec<String>, Error> {
        require_target(Setting::Mount, targets)?;
        let mut notes = Vec::new();
        for target in targets {
            let before = remount::find_mounted(&self.host, target)?;
            let entry = Entry::Remounted(before.clone());
            let is_this_mount =
                |entry: &Entry| matches!(entry, Entry::Remounted(r) if r.point == before.point);
            if self.journal.entries().iter().any(is_this_mount) {
                continue;
            }
            self.journal.record(vec![entry])?;
            notes.extend(remount::change(&self.host, &self.journal, &before, options)?);
        }
        Ok(notes)
    }

    /// Applies the settings of queues and restores all other queues.
    fn set_queues(
        &mut self,
        values: &[(Setting, String)],
        targets: &[String],
    ) -> Result<Vec<String>, Error> {
        let mut wanted: Vec<(PathBuf, &str)> = Vec::new();
        for setting in [Setting::Scheduler, Setting::NrRequests, Setting::ReadAhead] {
            let Some((_, value)) = values.iter().find(|(s, _)| *s == setting) else { continue };
            require_target(setting, targets)?;
            for target in targets {
                let files = queue::files(&self.host, setting, target)?;
                wanted.extend(files.into_iter().map(|file| (file, value.as_str())));
            }
        }
        let files: Vec<PathBuf> = wanted.iter().map(|(file, _)| file.clone()).collect();
        queue::restore_other_files(&self.host, &self.journal, &files)?;
        let mut notes = Vec::new();
        for (file, value) in wanted {
            notes.extend(queue::set(&self.host, &mut self.journal, &file, value)?);
        }
        Ok(notes)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Failures stay in the journal and are reported by the next restore.
        self.put_back();
    }
}

fn require_target(setting: Setting, targets: &[String]) -> Result<(), Error> {
    match targets.is_empty() {
        false => Ok(()),
        true => Err(Error::usage(format!(
            "{}: the job names neither filename nor directory, so there is no disk to set it for",
            setting.name()
        ))),
    }
}

#[cfg(test)]
mod tests;
