//! The machine, made what each cell asks for.

use crate::filesystem::{self, Filesystem};
use crate::journal::{Entry, Journal};
use crate::restore::{RestoreReport, restore_entries};
use crate::{Error, MkfsTarget, Setting, queue, remount, restore_leftovers};
use host::Host;
use std::path::{Path, PathBuf};

/// Changes of the machine for cells of a sweep, one after the other. All is put back with
/// [`Session::put_back`], or when the value goes.
pub struct Session {
    host: Host,
    journal: Journal,
    mkfs_target: Option<MkfsTarget>,
    stop: Box<dyn Fn() -> bool>,
    /// So many of the first entries of the journal are for all cells.
    base: usize,
}

/// What a cell has to know of the machine that was made for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellSetup {
    /// Arguments for the job ("--directory=…"), to be given after its own.
    pub arguments: Vec<String>,
    /// Where the machine is not quite what was asked for.
    pub notes: Vec<String>,
}

impl Session {
    /// Begins, with nothing changed. What sessions left that died is put back first: told in the
    /// second value. Filesystems are made on `mkfs_target`. While `stop` says so, nothing long is begun
    /// or gone on with.
    ///
    /// # Errors
    /// There is no place to note what is to be put back, or something left could not be put back.
    pub fn begin(
        host: Host,
        state: &Path,
        mkfs_target: Option<MkfsTarget>,
        stop: Box<dyn Fn() -> bool>,
    ) -> Result<(Session, RestoreReport), Error> {
        let host = host.without_kernel();
        let before = restore_leftovers(&host, state)?;
        if !before.failed.is_empty() {
            return Err(Error::failed(format!(
                "what an earlier sweep changed could not be put back: {}; put it back with fathom \
                 sweep --restore",
                before.failed.join("; ")
            )));
        }
        let journal = Journal::begin(&host, state)?;
        Ok((Session { host, journal, mkfs_target, stop, base: 0 }, before))
    }

    /// Tries each of the combinations once, so that what the machine cannot do is found before hours
    /// of measuring; then all is as before but for a scratch file. On a device of the user no
    /// filesystem is made for a trial. Lines for the user.
    ///
    /// # Errors
    /// As [`Session::set_up`].
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
        self.back_to_base()?;
        Ok(notes)
    }

    /// Makes the machine what one cell asks for, whatever it was for the cell before: what this cell
    /// does not ask for is as it was at first, filesystems are new, and filesystems of the user
    /// newly mounted.
    ///
    /// # Errors
    /// A value is none, the target does not suit, or the machine did not follow. What was changed
    /// until then is put back by the next call, or at the end.
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
            self.back_to_base()?;
        }
        let mut setup = CellSetup::default();
        let mut targets = targets.to_vec();
        match (kind, options) {
            (Some(kind), options) => {
                let Filesystem { point, notes } = self.make(kind, options)?;
                let point = point.display().to_string();
                setup.arguments.push(format!("--directory={point}"));
                setup.notes.extend(notes);
                targets = vec![point];
            }
            (None, Some(options)) => setup.notes.extend(self.remount(options, &targets)?),
            (None, None) => {}
        }
        setup.notes.extend(self.queues(values, &targets)?);
        Ok(setup)
    }

    /// Puts everything back, the last change first. What could not be put back stays noted.
    pub fn put_back(&mut self) -> RestoreReport {
        self.base = 0;
        restore_entries(&self.host, &mut self.journal, 0)
    }

    fn back_to_base(&mut self) -> Result<(), Error> {
        let put_back = restore_entries(&self.host, &mut self.journal, self.base);
        match put_back.failed.is_empty() {
            true => Ok(()),
            false => Err(Error::failed(put_back.failed.join("; "))),
        }
    }

    fn make(&mut self, kind: &str, options: Option<&str>) -> Result<Filesystem, Error> {
        filesystem::check(kind)?;
        let Some(mkfs_target) = self.mkfs_target.clone() else {
            return Err(Error::usage(format!(
                "fs={kind}: nothing to make a filesystem on is named"
            )));
        };
        mkfs_target.create_file(&mut self.journal, &self.stop)?;
        self.base = self.journal.entries().len();
        self.check_stop()?;
        filesystem::make(&self.host, &mut self.journal, &mkfs_target, kind, options)
    }

    fn check_stop(&self) -> Result<(), Error> {
        match (self.stop)() {
            false => Ok(()),
            true => Err(Error::failed("ended by a signal")),
        }
    }

    fn remount(&mut self, options: &str, targets: &[String]) -> Result<Vec<String>, Error> {
        require(Setting::Mount, targets)?;
        let mut notes = Vec::new();
        for target in targets {
            let before = remount::find_mounted(&self.host, target)?;
            let entry = Entry::Remounted(before.clone());
            let is_done =
                |noted: &Entry| matches!(noted, Entry::Remounted(r) if r.point == before.point);
            if self.journal.entries().iter().any(is_done) {
                continue;
            }
            self.journal.record(vec![entry])?;
            notes.extend(remount::change(&self.host, &self.journal, &before, options)?);
        }
        Ok(notes)
    }

    /// Sets what is a file of a queue, and leaves no other queue changed.
    fn queues(
        &mut self,
        values: &[(Setting, String)],
        targets: &[String],
    ) -> Result<Vec<String>, Error> {
        let mut wanted: Vec<(PathBuf, &str)> = Vec::new();
        for setting in [Setting::Scheduler, Setting::NrRequests, Setting::ReadAhead] {
            let Some((_, value)) = values.iter().find(|(s, _)| *s == setting) else { continue };
            require(setting, targets)?;
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
        // What failed stays noted, and is told by whoever asks for it to be restored.
        self.put_back();
    }
}

fn require(setting: Setting, targets: &[String]) -> Result<(), Error> {
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
