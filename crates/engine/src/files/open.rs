//! Opening and closing, and what fio does around both: advice, invalidation, syncs, unlinking.

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

/// Makes the directories a file's name contains (`filename=sub/x`), as fio does; those of
/// `directory=` were checked to be there.
pub(super) fn make_directories(path: &str) -> io::Result<()> {
    match std::path::Path::new(path).parent() {
        Some(parent) if !parent.as_os_str().is_empty() => std::fs::create_dir_all(parent),
        _ => Ok(()),
    }
}

/// How the files of a worker are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenFlags {
    /// O_RDWR, else O_RDONLY. Jobs that only write open for both too, as fio does.
    pub write: bool,
    /// O_CREAT for regular files.
    pub create: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_SYNC or O_DSYNC.
    pub sync: SyncMode,
}

impl OpenFlags {
    /// What `worker` needs.
    pub fn of(worker: &Worker) -> OpenFlags {
        let rw = worker.pattern.rw;
        // fallocate needs a file that may be written, whatever it stands for.
        let changes_space = worker.queue.engine.changes_space();
        let looks = worker.verify.as_ref().is_some_and(|verify| verify.only);
        let write = !looks && (rw.writes() || rw.trims() || changes_space);
        OpenFlags {
            write,
            create: worker.layout.allow_create
                && ((rw.writes() && !looks) || worker.layout.on_open),
            direct: worker.queue.direct,
            sync: worker.syncing.mode,
        }
    }

    /// What file `index` of `worker` needs: one that a log only reads is opened for no more, so that
    /// a source that may not be written can be copied, and a device is not told of a writer. One of
    /// them may go through the page cache while others do not.
    fn of_file(self, worker: &Worker, index: usize) -> OpenFlags {
        let log = worker.replay.as_ref().and_then(|replay| replay.recording.files.get(index));
        let only_read = log.is_some_and(|used| used.ios.write + used.ios.trim == 0);
        let buffered = log.is_some_and(|used| used.buffered);
        OpenFlags { write: self.write && !only_read, direct: self.direct && !buffered, ..self }
    }

    /// Opens `path`, which is of this kind.
    ///
    /// # Errors
    /// What open(2) says; EINVAL mostly means that the filesystem refuses O_DIRECT.
    pub fn open(&self, path: &str, kind: TargetKind) -> io::Result<File> {
        let device = matches!(kind, TargetKind::Block | TargetKind::Char);
        let mut flags = match self.sync {
            SyncMode::None => 0,
            SyncMode::Sync => libc::O_SYNC,
            SyncMode::Dsync => libc::O_DSYNC,
        };
        if self.direct {
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
            // Only the owner and the privileged may leave access times alone.
            match options.custom_flags(flags | libc::O_NOATIME).open(path) {
                Err(e) if e.raw_os_error() == Some(libc::EPERM) => {}
                result => return result,
            }
        }
        options.custom_flags(flags).open(path)
    }
}

/// The files of one worker: which of them are open, and how.
///
/// Every opening drops what is cached of the worker's region (`invalidate`, unless `pre_read`) and
/// advises the kernel of the pattern (`fadvise_hint`).
pub struct OpenFiles<'w> {
    worker: &'w Worker,
    flags: OpenFlags,
    open: Vec<Option<File>>,
    used: Vec<bool>,
    /// All that is open was synchronised since the last I/O.
    synced: bool,
    warnings: Vec<String>,
}

impl<'w> OpenFiles<'w> {
    /// All closed.
    pub fn new(worker: &'w Worker) -> Self {
        OpenFiles {
            worker,
            flags: OpenFlags::of(worker),
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

    /// Opens file `index`, if it is not open; its descriptor.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(&mut self, index: u32) -> Result<RawFd, FileError> {
        let position = index as usize;
        if self.open[position].is_none() {
            let planned = &self.worker.files[position];
            let flags = self.flags.of_file(self.worker, position);
            let file = flags.open(&planned.path, planned.kind).map_err(|e| {
                FileError::new(Action::Open { direct: flags.direct }, &planned.path, e)
            })?;
            self.hint(&file).map_err(|e| FileError::new(Action::Hint, &planned.path, e))?;
            self.prepare(position, &file);
            if self.leaves_pages(position) {
                // An error that nobody was told of is told to who opens the file next: what others
                // wrote before is none of this worker's.
                let _ = written_back(&file);
            }
            self.open[position] = Some(file);
            self.used[position] = true;
            self.synced = false;
        }
        Ok(self.fd(index))
    }

    /// Closes file `index`, if it is open, after an fsync where `fsync_on_close` asks for it.
    /// Nothing may be in flight on it.
    ///
    /// # Errors
    /// The fsync failed, or the kernel could not write what buffered writes left in the page cache,
    /// which no write was told of; the file is closed all the same.
    pub fn close(&mut self, index: u32) -> Result<(), FileError> {
        let Some(file) = self.open[index as usize].take() else { return Ok(()) };
        if !self.flags.write {
            return Ok(());
        }
        let path = &self.worker.files[index as usize].path;
        if self.worker.syncing.fsync_on_close && !self.synced {
            file.sync_all().map_err(|e| FileError::new(Action::Sync, path, e))?;
        }
        if !self.leaves_pages(index as usize) {
            return Ok(());
        }
        written_back(&file).map_err(|e| FileError::new(Action::WriteBack, path, e))
    }

    /// Whether the worker's writes to a file end in pages whose fate says something. A direct write
    /// that meets pages of others counts as an error of the file, and where writes meet discards the
    /// kernel was seen to count errors of a device that lost nothing.
    fn leaves_pages(&self, index: usize) -> bool {
        let kind = self.worker.files[index].kind;
        let discards = kind == TargetKind::Block && self.worker.pattern.rw.trims();
        self.flags.write && !self.flags.of_file(self.worker, index).direct && !discards
    }

    /// Closes every file.
    ///
    /// # Errors
    /// The first one of [`OpenFiles::close`]; all are closed all the same.
    pub fn close_all(&mut self) -> Result<(), FileError> {
        let mut result = Ok(());
        for index in 0..self.open.len() as u32 {
            let closed = self.close(index);
            result = result.and(closed);
        }
        result
    }

    /// What `end_fsync` and `end_syncfs` ask for, on every file that was used; a closed one is
    /// opened for it. What `fsync_on_close` asks for, on those that are still open.
    ///
    /// # Errors
    /// The first failure; the others are synchronised all the same.
    pub fn sync_at_end(&mut self) -> Result<(), FileError> {
        let syncing = &self.worker.syncing;
        let at_end = syncing.end_fsync || syncing.end_syncfs;
        if !self.flags.write || !(at_end || syncing.fsync_on_close) {
            return Ok(());
        }
        let mut result = Ok(());
        for (position, planned) in self.worker.files.iter().enumerate() {
            if self.used[position] && (at_end || self.open[position].is_some()) {
                let synced = self.sync(position);
                let synced = synced.map_err(|e| FileError::new(Action::Sync, &planned.path, e));
                result = result.and(synced);
            }
        }
        self.synced = syncing.end_fsync || syncing.fsync_on_close;
        result
    }

    /// Hands everything that was written to the target, file by file.
    ///
    /// # Errors
    /// The first failure; the others are synchronised all the same.
    pub fn sync_all(&self) -> Result<(), FileError> {
        let mut result = Ok(());
        for (position, planned) in self.worker.files.iter().enumerate() {
            if self.used[position] && self.flags.write {
                let synced = self.with_file(position, File::sync_all);
                result =
                    result.and(synced.map_err(|e| FileError::new(Action::Sync, &planned.path, e)));
            }
        }
        result
    }

    /// The page cache drops what it has of a range of file `index`. Advice: a refusal changes nothing
    /// that could be reported.
    pub fn forget(&self, index: u32, offset: u64, length: u64) {
        if let Some(file) = &self.open[index as usize] {
            let _ = advise(file, offset, length, Advice::DontNeed);
        }
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

    /// Does something with a file, opened for it where it is closed.
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

    /// Removes the worker's regular files, and the directories it worked on, for `unlink` and `unlink_each_loop`. Those that are
    /// gone already are no error: other workers may share them.
    ///
    /// # Errors
    /// The first failure; the others are removed all the same.
    pub fn unlink_all(&self) -> Result<(), FileError> {
        let mut result = Ok(());
        for planned in &self.worker.files {
            let gone = [TargetKind::File, TargetKind::Missing, TargetKind::Directory];
            if !gone.contains(&planned.kind) {
                continue;
            }
            let removed = match planned.kind {
                TargetKind::Directory => std::fs::remove_dir(&planned.path),
                _ => std::fs::remove_file(&planned.path),
            };
            match removed {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    let failed = Err(FileError::new(Action::Unlink, &planned.path, e));
                    result = result.and(failed);
                }
                _ => {}
            }
        }
        result
    }

    /// What went wrong without keeping anything from running, since the last call.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Tells the kernel how long what is written will stay.
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
                    "{}: what the page cache holds of it could not be dropped ({error}); reads \
                     may be served from memory",
                    planned.path
                ));
            }
        }
        if let Some(advice) = pattern_advice(self.worker) {
            // Advice: a refusal changes nothing that could be reported.
            let _ = advise(file, planned.start, planned.length, advice);
        }
    }
}

/// What the kernel is told of the pattern of `worker` (`fadvise_hint`); `None`: nothing.
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
