//! Opening and closing files, with advice, cache invalidation, syncs and unlinking as in fio.

use super::{Action, FileError};
use crate::sys::files::{
    Advice, advise, flush_device_cache, set_write_hint, sync_filesystem, written_back,
};
use plan::{SyncMode, Worker};
use record::TargetKind;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;

/// Creates the directories in a file's name (`filename=sub/x`), as fio does. The plan has checked that
/// the directories of `directory=` exist.
pub(super) fn make_directories(path: &str) -> io::Result<()> {
    match std::path::Path::new(path).parent() {
        Some(parent) if !parent.as_os_str().is_empty() => std::fs::create_dir_all(parent),
        _ => Ok(()),
    }
}

/// How the files of a worker are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    /// O_RDWR instead of O_RDONLY. As in fio, jobs that only write also use O_RDWR.
    pub write: bool,
    /// O_CREAT for regular files.
    pub create: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// The engine sends commands to devices.
    pub commands: bool,
    /// O_SYNC or O_DSYNC.
    pub sync: SyncMode,
}

impl OpenFlags {
    /// The flags for `worker`.
    pub fn for_worker(worker: &Worker) -> OpenFlags {
        let rw = worker.pattern.rw;
        // fallocate needs a writable file for every kind of I/O.
        let changes_space = worker.queue.engine.changes_space();
        let verifies_only = worker.verify.as_ref().is_some_and(|verify| verify.only);
        let write = !verifies_only && (rw.writes() || rw.trims() || changes_space);
        OpenFlags {
            write,
            create: worker.layout.allow_create
                && ((rw.writes() && !verifies_only) || worker.layout.on_open),
            direct: worker.queue.direct,
            commands: worker.queue.engine.sends_commands(),
            sync: worker.syncing.mode,
        }
    }

    /// The flags for file `index` of `worker`. A file that a replayed log only reads is opened read-only,
    /// so that it need not be writable. Single files of a log may be buffered.
    fn for_file(self, worker: &Worker, index: usize) -> OpenFlags {
        let log = worker.replay.as_ref().and_then(|replay| replay.recording.files.get(index));
        let only_read = log.is_some_and(|used| used.ios.write + used.ios.trim == 0);
        let buffered = log.is_some_and(|used| used.buffered);
        OpenFlags { write: self.write && !only_read, direct: self.direct && !buffered, ..self }
    }

    /// Opens `path`, which is of this kind. EINVAL usually means that the filesystem refuses O_DIRECT.
    pub fn open(&self, path: &str, kind: TargetKind) -> io::Result<File> {
        let device = matches!(kind, TargetKind::Block | TargetKind::Char);
        let mut flags = match self.sync {
            SyncMode::None => 0,
            SyncMode::Sync => libc::O_SYNC,
            SyncMode::Dsync => libc::O_DSYNC,
        };
        // Devices that take commands have no page cache to bypass, and may refuse the flag.
        if self.direct && !(self.commands && kind == TargetKind::Char) {
            flags |= libc::O_DIRECT;
        }
        let mut options = OpenOptions::new();
        options.read(true).write(self.write).mode(0o600);
        if self.create && !device {
            make_directories(path)?;
            if self.write {
                options.create(true);
            } else {
                flags |= libc::O_CREAT;
            }
        }
        if device {
            // Only the owner and privileged users may set O_NOATIME.
            match options.custom_flags(flags | libc::O_NOATIME).open(path) {
                Err(e) if e.raw_os_error() == Some(libc::EPERM) => {}
                result => return result,
            }
        }
        options.custom_flags(flags).open(path)
    }
}

/// The open files of one worker.
///
/// Every open drops the page cache of the worker's region (`invalidate`, unless `pre_read`) and
/// advises the kernel of the pattern (`fadvise_hint`).
pub struct OpenFiles<'w> {
    worker: &'w Worker,
    flags: OpenFlags,
    open: Vec<Option<File>>,
    used: Vec<bool>,
    /// All open files were synchronised since the last I/O.
    synced: bool,
    warnings: Vec<String>,
}

impl<'w> OpenFiles<'w> {
    /// With all files closed.
    pub fn new(worker: &'w Worker) -> Self {
        OpenFiles {
            worker,
            flags: OpenFlags::for_worker(worker),
            open: worker.files.iter().map(|_| None).collect(),
            used: vec![false; worker.files.len()],
            synced: false,
            warnings: Vec::new(),
        }
    }

    /// The descriptor of file `index`; -1 while closed.
    pub fn fd(&self, index: u32) -> RawFd {
        self.open[index as usize].as_ref().map_or(-1, AsRawFd::as_raw_fd)
    }

    /// Opens file `index` if it is closed. Returns its descriptor.
    pub fn open(&mut self, index: u32) -> Result<RawFd, FileError> {
        let position = index as usize;
        if self.open[position].is_none() {
            let planned = &self.worker.files[position];
            let flags = self.flags.for_file(self.worker, position);
            let file = flags.open(&planned.path, planned.kind).map_err(|e| {
                FileError::new(Action::Open { direct: flags.direct }, &planned.path, e)
            })?;
            self.hint(&file).map_err(|e| FileError::new(Action::Hint, &planned.path, e))?;
            self.prepare(position, &file);
            if self.checks_write_back(position) {
                // Discards an unreported error of earlier writers, which the kernel reports to the
                // next one who opens the file.
                let _ = written_back(&file);
            }
            self.open[position] = Some(file);
            self.used[position] = true;
            self.synced = false;
        }
        Ok(self.fd(index))
    }

    /// Closes file `index` if it is open, after the fsync of `fsync_on_close`. Nothing may be in flight on
    /// it. Fails if the fsync failed, or if the kernel could not write back the buffered writes; the
    /// file is closed in any case.
    pub fn close(&mut self, index: u32) -> Result<(), FileError> {
        let Some(file) = self.open[index as usize].take() else { return Ok(()) };
        if !self.flags.write {
            return Ok(());
        }
        let path = &self.worker.files[index as usize].path;
        let syncs = self.worker.syncing.fsync_on_close && self.has_cache(index as usize);
        if syncs && !self.synced {
            file.sync_all().map_err(|e| FileError::new(Action::Sync, path, e))?;
        }
        if !self.checks_write_back(index as usize) {
            return Ok(());
        }
        written_back(&file).map_err(|e| FileError::new(Action::WriteBack, path, e))
    }

    /// Whether write-back errors of a file are meaningful for the worker, which are those of buffered
    /// writes. A direct write that meets cached pages of others counts as an error of the file. With
    /// discards, the kernel was observed to count errors although no data was lost.
    fn checks_write_back(&self, index: usize) -> bool {
        let kind = self.worker.files[index].kind;
        let discards = kind == TargetKind::Block && self.worker.pattern.rw.trims();
        self.flags.write && !self.flags.for_file(self.worker, index).direct && !discards
    }

    /// Whether the kernel may keep data of a file that a sync writes to the device. It keeps none of
    /// character devices that take commands, and refuses to sync them.
    fn has_cache(&self, index: usize) -> bool {
        !(self.flags.commands && self.worker.files[index].kind == TargetKind::Char)
    }

    /// Closes every file. Returns the first error.
    pub fn close_all(&mut self) -> Result<(), FileError> {
        (0..self.open.len() as u32).map(|index| self.close(index)).fold(Ok(()), Result::and)
    }

    /// Does `end_fsync` and `end_syncfs` on every file that was used, and `fsync_on_close` on files that
    /// are still open. Returns the first error.
    pub fn sync_at_end(&mut self) -> Result<(), FileError> {
        let syncing = &self.worker.syncing;
        let at_end = syncing.end_fsync || syncing.end_syncfs;
        if !self.flags.write || !(at_end || syncing.fsync_on_close) {
            return Ok(());
        }
        let needs_sync = |at: &usize| {
            self.used[*at] && self.has_cache(*at) && (at_end || self.open[*at].is_some())
        };
        let sync = |position| self.sync_error(position, self.sync(position));
        let result = (0..self.open.len()).filter(needs_sync).map(sync).fold(Ok(()), Result::and);
        self.synced = syncing.end_fsync || syncing.fsync_on_close;
        result
    }

    /// Synchronises every file that was used. Returns the first error.
    pub fn sync_all(&self) -> Result<(), FileError> {
        let written = |position: &usize| {
            self.used[*position] && self.flags.write && self.has_cache(*position)
        };
        let sync = |position| self.sync_error(position, self.with_file(position, File::sync_all));
        (0..self.open.len()).filter(written).map(sync).fold(Ok(()), Result::and)
    }

    /// Drops the page cache of a range of file `index`. The kernel may ignore this advice.
    pub fn forget(&self, index: u32, offset: u64, length: u64) {
        if let Some(file) = &self.open[index as usize] {
            let _ = advise(file, offset, length, Advice::DontNeed);
        }
    }

    fn sync_error(&self, position: usize, synced: io::Result<()>) -> Result<(), FileError> {
        let path = &self.worker.files[position].path;
        synced.map_err(|error| FileError::new(Action::Sync, path, error))
    }

    fn sync(&self, position: usize) -> io::Result<()> {
        self.with_file(position, |file| {
            let closes = self.worker.syncing.fsync_on_close && self.open[position].is_some();
            if self.worker.syncing.end_fsync || closes {
                file.sync_all()?;
            }
            if self.worker.syncing.end_syncfs {
                sync_filesystem(file)?;
            }
            Ok(())
        })
    }

    /// Calls `act` with the file, which is opened for it if closed.
    fn with_file(
        &self,
        position: usize,
        act: impl FnOnce(&File) -> io::Result<()>,
    ) -> io::Result<()> {
        let reopened;
        let file = match &self.open[position] {
            Some(file) => file,
            None => {
                let planned = &self.worker.files[position];
                let flags = OpenFlags { create: false, direct: false, ..self.flags };
                reopened = flags.open(&planned.path, planned.kind)?;
                &reopened
            }
        };
        act(file)
    }

    /// Removes the worker's regular files and directories, for `unlink` and `unlink_each_loop`. A file
    /// that is gone already is no error, because workers may share files. Returns the first error.
    pub fn unlink_all(&self) -> Result<(), FileError> {
        let remove = |planned: &plan::File| {
            let removed = match planned.kind {
                TargetKind::Directory => std::fs::remove_dir(&planned.path),
                TargetKind::File | TargetKind::Missing => std::fs::remove_file(&planned.path),
                _ => Ok(()),
            };
            match removed {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    Err(FileError::new(Action::Unlink, &planned.path, e))
                }
                _ => Ok(()),
            }
        };
        self.worker.files.iter().map(remove).fold(Ok(()), Result::and)
    }

    /// The warnings since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Sets the write hint.
    fn hint(&self, file: &File) -> io::Result<()> {
        match self.worker.layout.write_hint {
            Some(hint) if self.flags.write => set_write_hint(file, hint, self.flags.direct),
            _ => Ok(()),
        }
    }

    fn prepare(&mut self, position: usize, file: &File) {
        let planned = &self.worker.files[position];
        let layout = &self.worker.layout;
        let seekable =
            !matches!(planned.kind, TargetKind::Char | TargetKind::Fifo | TargetKind::Other);
        if !seekable {
            return;
        }
        if layout.invalidate && !layout.pre_read {
            let result = match planned.kind {
                TargetKind::Block => flush_device_cache(file),
                _ => advise(file, planned.start, planned.length, Advice::DontNeed),
            };
            if let Err(error) = result
                && !self.used[position]
            {
                self.warnings.push(format!(
                    "{}: cannot drop its page cache ({error}); reads may be served from memory",
                    planned.path
                ));
            }
        }
        if let Some(advice) = pattern_advice(self.worker) {
            // The kernel may ignore advice.
            let _ = advise(file, planned.start, planned.length, advice);
        }
    }
}

/// The advice about the pattern of `worker` (`fadvise_hint`).
pub fn pattern_advice(worker: &Worker) -> Option<Advice> {
    match worker.layout.fadvise_hint.as_str() {
        "0" | "none" => None,
        "random" => Some(Advice::Random),
        "sequential" => Some(Advice::Sequential),
        "noreuse" => Some(Advice::NoReuse),
        _ if worker.pattern.rw.is_random() => Some(Advice::Random),
        _ => Some(Advice::Sequential),
    }
}
