//! The journal of a session: the old state of everything it changes, on disk before each change.
//!
//! A journal is two files: NAME.json, replaced and synced before each change, and NAME.lock, locked
//! (flock(2)) while its session runs. Every program that the session starts holds the lock too, so
//! that the lock is free only when nothing of the session can still change the machine.

use crate::Error;
use host::Host;
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Raised with every change that an older program would misread.
const SCHEMA: u32 = 1;

/// One change to undo. Undoing twice does no harm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// A file in /sys was changed.
    Value {
        /// The file.
        file: PathBuf,
        /// Its old value.
        old: String,
    },
    /// A file was made.
    File {
        /// The file.
        path: PathBuf,
    },
    /// A directory was made.
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// A file was or was about to be attached to a loop device.
    Loop {
        /// The file, by its path without links.
        file: PathBuf,
    },
    /// A filesystem was or was about to be mounted.
    Mounted {
        /// Mount point.
        point: PathBuf,
    },
    /// A filesystem of the user was remounted; its old mount.
    Remounted(Remounted),
}

impl Entry {
    /// Whether both are about the same thing.
    fn is_same_place(&self, other: &Entry) -> bool {
        match (self.place(), other.place()) {
            (None, None) => self == other,
            (a, b) => a == b,
        }
    }

    /// The changed file or mount point; `None` for things that were made.
    fn place(&self) -> Option<&Path> {
        match self {
            Entry::Value { file, .. } => Some(file),
            Entry::Remounted(before) => Some(&before.point),
            _ => None,
        }
    }
}

/// The old mount of a filesystem of the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remounted {
    /// Mount point.
    pub point: PathBuf,
    /// Source: the path of a block device.
    pub source: String,
    /// Type of the filesystem.
    pub kind: String,
    /// Options, as in mountinfo.
    pub options: Vec<String>,
}

/// The document in NAME.json.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub schema: u32,
    /// The process that made the changes.
    pub pid: u32,
    /// Its start time, in clock ticks since boot.
    pub start: u64,
    /// The boot it ran in. State of the kernel ends with the boot.
    pub boot: String,
    /// The changes to undo, the oldest first.
    pub entries: Vec<Entry>,
}

/// The journal of this session, or one left by an ended session.
pub(crate) struct Journal {
    path: PathBuf,
    lock: File,
    document: Document,
}

/// The owner of a journal.
pub(crate) enum Owner {
    /// A running process.
    Running(u32),
    /// The process has ended; the journal is now ours.
    Ended(Journal),
    /// The process has ended, but a program it started is running.
    ProgramRunning,
}

impl Journal {
    /// An empty journal. Its file is written with the first entry.
    pub fn begin(host: &Host, state: &Path) -> Result<Journal, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(1);
        make_directory(state)?;
        let pid = std::process::id();
        let start = host.process_start(pid).unwrap_or(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = state.join(format!("{pid}-{start}-{count}.json"));
        let lock_path = path.with_extension("lock");
        let mut options = OpenOptions::new();
        options.create_new(true).read(true).write(true).mode(0o600);
        let lock = options.open(&lock_path).map_err(|e| unwritable(&lock_path, &e))?;
        let locked = flock(&lock, FlockOperation::NonBlockingLockExclusive);
        locked.map_err(|e| Error::io(&lock_path, "cannot be locked", &e.into()))?;
        let boot = host.boot_id().unwrap_or_default();
        let document = Document { schema: SCHEMA, pid, start, boot, entries: Vec::new() };
        Ok(Journal { path, lock, document })
    }

    /// The owner of the journal at `path`; `None` if it does not exist any more.
    pub fn take_over(host: &Host, path: &Path) -> Result<Option<Owner>, Error> {
        let lock_path = path.with_extension("lock");
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let lock = options.open(&lock_path).map_err(|e| unwritable(&lock_path, &e))?;
        let locked = flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok();
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if locked {
                    remove(&lock_path)?;
                }
                return Ok(None);
            }
            Err(error) => return Err(Error::io(path, "cannot be read", &error)),
        };
        let document: Document = serde_json::from_slice(&text)
            .map_err(|error| Error::failed(format!("{}: no journal: {error}", path.display())))?;
        if document.schema > SCHEMA {
            let text = "was written by a newer fathom: put it back with that one";
            return Err(Error::failed(format!("{}: {text}", path.display())));
        }
        Ok(Some(match locked {
            true => Owner::Ended(Journal { path: path.to_owned(), lock, document }),
            false if host.process_start(document.pid) == Some(document.start) => {
                Owner::Running(document.pid)
            }
            false => Owner::ProgramRunning,
        }))
    }

    /// The changes to undo, the oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.document.entries
    }

    /// Whether the machine has not been rebooted since.
    pub fn is_of_this_boot(&self, host: &Host) -> bool {
        host.boot_id().is_some_and(|boot| boot == self.document.boot)
    }

    /// Records changes durably before they are made. Of a file in /sys only the first old value is
    /// kept.
    pub fn record(&mut self, entries: Vec<Entry>) -> Result<(), Error> {
        let before = self.document.entries.len();
        for entry in entries {
            if !self.document.entries.iter().any(|noted| noted.is_same_place(&entry)) {
                self.document.entries.push(entry);
            }
        }
        if self.document.entries.len() == before {
            return Ok(());
        }
        if let Err(error) = self.check_exclusive(&self.document.entries[before..]) {
            self.document.entries.truncate(before);
            return Err(error);
        }
        self.save().inspect_err(|_| self.document.entries.truncate(before))
    }

    /// Removes an entry that was undone. With the last one the file is removed.
    pub fn remove_entry(&mut self, entry: &Entry) -> Result<(), Error> {
        self.document.entries.retain(|other| other != entry);
        if self.document.entries.is_empty() { remove(&self.path) } else { self.save() }
    }

    /// A handle for a program to inherit, so that the lock lasts until it has ended.
    pub fn lock_handle(&self) -> io::Result<File> {
        self.lock.try_clone()
    }

    /// Ends like its process. Programs that other tests start at this moment hold copies of every
    /// open file, so closing alone may not unlock at once.
    #[cfg(test)]
    pub fn simulate_crash(self) {
        flock(&self.lock, FlockOperation::Unlock).unwrap();
    }

    /// A unique path beside the journal.
    pub fn sibling_path(&self, extension: &str) -> PathBuf {
        self.path.with_extension(extension)
    }

    /// A unique name.
    pub fn name(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Two sessions that change the same thing would restore each other's values.
    fn check_exclusive(&self, entries: &[Entry]) -> Result<(), Error> {
        let state = self.path.parent().unwrap_or(Path::new("/"));
        let files = fs::read_dir(state).map_err(|e| Error::io(state, "cannot be read", &e))?;
        let others = files.flatten().map(|file| file.path());
        let others = others.filter(|path| {
            *path != self.path && path.extension().is_some_and(|extension| extension == "json")
        });
        // An unreadable one was removed meanwhile, or reported when this session began.
        let read = |path: PathBuf| serde_json::from_slice::<Document>(&fs::read(path).ok()?).ok();
        for other in others.filter_map(read) {
            let shared =
                entries.iter().find(|entry| other.entries.iter().any(|o| o.is_same_place(entry)));
            if let Some(place) = shared.and_then(Entry::place) {
                return Err(Error::refused(format!(
                    "{} is changed by another sweep (process {}): wait for its end, or restore what it \
                     left with fathom sweep --restore",
                    place.display(),
                    other.pid
                )));
            }
        }
        Ok(())
    }

    fn save(&self) -> Result<(), Error> {
        let beside = self.sibling_path("new");
        let saved = replace(&beside, &self.path, &self.document);
        if saved.is_err() {
            // The error is reported; a failure to remove the temporary file adds nothing.
            let _ = fs::remove_file(&beside);
        }
        saved.map_err(|error| unwritable(&self.path, &error))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // With entries left, a later restore needs the files.
        if self.document.entries.is_empty() {
            let _ = fs::remove_file(self.path.with_extension("lock"));
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::refused(format!(
        "{}: the journal of changes cannot be written, so nothing is changed: {error}",
        path.display()
    ))
}

fn replace(beside: &Path, path: &Path, document: &Document) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).write(true).truncate(true).mode(0o600).open(beside)?;
    serde_json::to_writer(&file, document)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(beside, path)?;
    let directory = path.parent().unwrap_or(Path::new("/"));
    File::open(directory)?.sync_all()
}

/// The directory must be private, because root carries out what a journal says.
fn make_directory(state: &Path) -> Result<(), Error> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(state);
    made.map_err(|error| unwritable(state, &error))?;
    check_owner(state)
}

/// Refuses a directory that another user can write to.
pub(crate) fn check_owner(state: &Path) -> Result<(), Error> {
    let metadata = fs::metadata(state).map_err(|e| Error::io(state, "cannot be read", &e))?;
    let user = rustix::process::geteuid().as_raw();
    match metadata.uid() == user && metadata.mode() & 0o022 == 0 {
        true => Ok(()),
        false => Err(Error::refused(format!(
            "{}: others may write there, and root would carry out what they write: name a directory \
             of your own with {}",
            state.display(),
            crate::STATE_VARIABLE
        ))),
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Error::io(path, "cannot be removed", &error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(file: &str) -> Entry {
        Entry::Value { file: file.into(), old: "none".into() }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn recorded_entries_are_on_disk_until_they_are_removed() {
        let host = Host::at("/");
        let state = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(&host, state.path()).unwrap();
        assert_eq!(names(state.path()).len(), 1, "only the lock");
        journal.record(vec![value("a"), value("b")]).unwrap();
        let later = Entry::Value { file: "a".into(), old: "bfq".into() };
        journal.record(vec![later]).unwrap();
        let document: Document = serde_json::from_slice(&fs::read(&journal.path).unwrap()).unwrap();
        assert_eq!(document.entries, [value("a"), value("b")]);
        journal.remove_entry(&value("a")).unwrap();
        journal.remove_entry(&value("b")).unwrap();
        drop(journal);
        assert!(names(state.path()).is_empty(), "{:?}", names(state.path()));
    }

    /// A clone of the lock's file stands for a program that outlives its session.
    #[test]
    fn a_journal_is_taken_over_only_if_no_process_holds_it() {
        let host = Host::at("/");
        let state = tempfile::tempdir().unwrap();
        let mut journal = Journal::begin(&host, state.path()).unwrap();
        journal.record(vec![value("a")]).unwrap();
        let path = journal.path.clone();
        let owner = || Journal::take_over(&host, &path).unwrap().unwrap();
        assert!(matches!(owner(), Owner::Running(pid) if pid == std::process::id()));
        journal.document.start += 1;
        journal.save().unwrap();
        assert!(
            matches!(owner(), Owner::ProgramRunning),
            "the number belongs to another process now"
        );
        let program = journal.lock_handle().unwrap();
        drop(journal);
        assert!(matches!(owner(), Owner::ProgramRunning));
        flock(&program, FlockOperation::Unlock).unwrap();
        let Owner::Ended(mut left) = owner() else { panic!("nobody holds it") };
        assert_eq!(left.entries(), [value("a")]);
        assert!(left.is_of_this_boot(&host));
        left.remove_entry(&value("a")).unwrap();
        drop(left);
        assert!(Journal::take_over(&host, &path).unwrap().is_none());
        assert!(names(state.path()).is_empty(), "{:?}", names(state.path()));
    }

    #[test]
    fn an_unusable_directory_is_an_error() {
        let host = Host::at("/");
        let state = tempfile::tempdir().unwrap();
        let file = state.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Journal::begin(&host, &file).err().unwrap();
        assert!(error.text.contains("nothing is changed"), "{error}");
        fs::write(state.path().join("x.json"), "{").unwrap();
        let broken = Journal::take_over(&host, &state.path().join("x.json"));
        assert!(broken.err().unwrap().text.contains("no journal"));
    }
}
