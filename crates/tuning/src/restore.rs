//! Undoing the entries of a journal. Changes that were already undone, by hand or by an interrupted
//! attempt, are skipped.

use crate::journal::{Entry, Journal, Remounted};
use crate::programs::{run, text, wait_until};
use crate::{Error, queue, remount};
use host::Host;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// The result of restoring, in sentences for the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoreReport {
    /// What was restored.
    pub done: Vec<String>,
    /// What could not be restored, and why. These entries stay in the journal for another attempt.
    pub failed: Vec<String>,
    /// Changes of running sessions, which were not touched.
    pub left: Vec<String>,
}

impl RestoreReport {
    pub(crate) fn merge(&mut self, other: RestoreReport) {
        self.done.extend(other.done);
        self.failed.extend(other.failed);
        self.left.extend(other.left);
    }
}

/// Undoes the entries of `journal` from the last down to index `from`. After a reboot only files
/// and directories are left to undo.
pub(crate) fn restore_entries(host: &Host, journal: &mut Journal, from: usize) -> RestoreReport {
    let mut report = RestoreReport::default();
    let same_boot = journal.is_of_this_boot(host);
    let entries: Vec<Entry> = journal.entries().iter().skip(from).cloned().collect();
    // A remaining mount or loop device keeps the entries below it in use.
    let mut is_in_use = false;
    for entry in entries.iter().rev() {
        let persists = matches!(entry, Entry::File { .. } | Entry::Directory { .. });
        let can_be_in_use = persists || matches!(entry, Entry::Loop { .. });
        if is_in_use && can_be_in_use {
            continue;
        }
        let undone = if same_boot || persists { undo(host, entry, journal) } else { Ok(None) };
        match undone.and_then(|what| journal.remove_entry(entry).map(|()| what)) {
            Ok(what) => report.done.extend(what),
            Err(error) => {
                is_in_use |= matches!(entry, Entry::Mounted { .. } | Entry::Loop { .. });
                report.failed.push(error.text);
            }
        }
    }
    report
}

/// Undoes one entry. Returns what was done; `None` if there was nothing to do.
fn undo(host: &Host, entry: &Entry, journal: &Journal) -> Result<Option<String>, Error> {
    match entry {
        Entry::Value { file, old } => queue::restore_value(host, file, old),
        Entry::File { path } => removal_result(path, fs::remove_file(path)),
        Entry::Directory { path } => removal_result(path, fs::remove_dir(path)),
        Entry::Loop { file } => detach(host, file, journal),
        Entry::Mounted { point } => unmount(host, point, journal),
        Entry::Remounted(before) => remount_as_before(host, before, journal),
    }
}

fn removal_result(path: &Path, result: io::Result<()>) -> Result<Option<String>, Error> {
    match result {
        Ok(()) => Ok(Some(format!("removed {}", path.display()))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::io(path, "cannot be removed; remove it by hand", &error)),
    }
}

/// Detaches every loop device over a file.
fn detach(host: &Host, file: &Path, journal: &Journal) -> Result<Option<String>, Error> {
    let loops = host.loop_devices_over(file);
    for name in &loops {
        run("losetup", &["--detach", &format!("/dev/{name}")], journal)?;
    }
    // The kernel detaches a device only when nobody has it open.
    let detached = wait_until(|| host.loop_devices_over(file).is_empty());
    match (loops.is_empty(), detached) {
        (true, _) => Ok(None),
        (false, true) => Ok(Some(format!("detached {}", loops.join(", ")))),
        (false, false) => {
            Err(Error::failed(format!("{} is in use and stays attached", loops.join(", "))))
        }
    }
}

fn is_mounted(host: &Host, point: &Path) -> bool {
    host.mounts().iter().any(|mount| mount.point == point)
}

/// Unmounts a mount point.
fn unmount(host: &Host, point: &Path, journal: &Journal) -> Result<Option<String>, Error> {
    if !is_mounted(host, point) {
        return Ok(None);
    }
    let name = text(point)?;
    let mut last_result = Ok(());
    wait_until(|| {
        last_result = run("umount", &[name], journal);
        !is_mounted(host, point)
    });
    match is_mounted(host, point) {
        false => Ok(Some(format!("unmounted {name}"))),
        true => {
            Err(last_result.err().unwrap_or_else(|| Error::failed(format!("{name} stays mounted"))))
        }
    }
}

fn remount_as_before(
    host: &Host,
    before: &Remounted,
    journal: &Journal,
) -> Result<Option<String>, Error> {
    let point = before.point.display();
    match remount::state(host, before) {
        remount::MountState::Unchanged => return Ok(None),
        remount::MountState::Covered => {
            return Err(Error::failed(format!(
                "{point}: something else is mounted there now; unmount it, then restore again"
            )));
        }
        remount::MountState::Changed => {
            unmount(host, &before.point, journal)?;
        }
        remount::MountState::Unmounted => {}
    }
    remount::restore(host, before, journal)?;
    Ok(Some(format!("mounted {} at {point} as it was", before.source)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn journal(state: &Path, entries: &[Entry]) -> (Host, Journal) {
        let host = Host::at("/");
        let mut journal = Journal::begin(&host, state).unwrap();
        journal.record(entries.to_vec()).unwrap();
        (host, journal)
    }

    #[test]
    fn files_and_directories_are_removed_in_reverse_order_down_to_an_index() {
        let state = tempfile::tempdir().unwrap();
        let directory = state.path().join("made");
        let file = directory.join("file");
        let kept = Entry::File { path: state.path().join("kept") };
        let entries = [
            kept.clone(),
            Entry::Directory { path: directory.clone() },
            Entry::File { path: file.clone() },
            Entry::File { path: directory.join("never made") },
        ];
        fs::create_dir(&directory).unwrap();
        fs::write(&file, "x").unwrap();
        let (host, mut journal) = journal(state.path(), &entries);
        let report = restore_entries(&host, &mut journal, 1);
        assert!(report.failed.is_empty() && report.done.len() == 2, "{report:?}");
        assert!(!directory.exists());
        assert_eq!(journal.entries(), [kept]);
        assert!(restore_entries(&host, &mut journal, 0).done.is_empty());
    }

    #[test]
    fn a_failed_restore_stays_in_the_journal() {
        let state = tempfile::tempdir().unwrap();
        let directory = state.path().join("full");
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("of another"), "x").unwrap();
        let entry = Entry::Directory { path: directory.clone() };
        let (host, mut journal) = journal(state.path(), std::slice::from_ref(&entry));
        let report = restore_entries(&host, &mut journal, 0);
        assert!(report.failed[0].contains("remove it by hand"), "{report:?}");
        assert_eq!(journal.entries(), std::slice::from_ref(&entry));
        fs::remove_file(directory.join("of another")).unwrap();
        assert_eq!(restore_entries(&host, &mut journal, 0).failed, Vec::<String>::new());
    }
}
