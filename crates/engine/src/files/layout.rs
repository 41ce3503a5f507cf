//! Files are laid out before the run: made, made longer, and filled with real data where they are
//! read or overwritten. What is there already is kept; only what is missing is written: space never
//! allocated (holes), allocated and never written, or beyond the end.

use super::fill::Writer;
use super::open::make_directories;
use super::{Action, FileError};
use crate::engines::libaio::Libaio;
use crate::engines::psync::Psync;
use crate::sys::files::{Advice, Span, advise, allocate, allocate_posix, data_spans, free_bytes};
use plan::{Prepare, Worker};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// What has to be done to the files of a worker.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Survey {
    files: Vec<Pending>,
    directories: Vec<String>,
}

/// What has to be done to a file.
#[derive(Debug, PartialEq, Eq)]
struct Pending {
    index: usize,
    size: u64,
    /// Its length now; `None`: it is not there.
    length: Option<u64>,
    /// What has to be written.
    missing: Vec<Span>,
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutReport {
    /// Files made, made longer or filled.
    pub files: usize,
    /// Bytes of data written to them.
    pub bytes_written: u64,
    /// Paths of files that are only written and were given no space: there is none for all of it.
    pub unallocated: Vec<String>,
}

/// Why files could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// Something failed on a file.
    #[error(transparent)]
    File(#[from] FileError),
    /// The disk is full. What this run had made of the file was taken back.
    #[error(
        "cannot lay out '{path}': the filesystem is full: {} MiB were still to be written and {} \
         MiB are free; what was begun has been removed. Use a smaller size, fewer files or another \
         directory",
        needed.div_ceil(1 << 20), free >> 20
    )]
    NoSpace {
        /// The file.
        path: String,
        /// Bytes that were not written yet.
        needed: u64,
        /// Bytes free once its unfinished part was gone.
        free: u64,
    },
    /// The file is not there, and making files is forbidden.
    #[error("'{path}' is not there and allow_file_create=0 forbids making it")]
    Forbidden {
        /// The file.
        path: String,
    },
    /// Cancelled. What was written is kept; the next layout goes on from there.
    #[error("laying out files was interrupted")]
    Interrupted,
}

/// Looks at the files of `worker`: what is missing of those the plan wants prepared.
///
/// # Errors
/// A file cannot be opened or asked for its extents, or must not be made.
pub fn survey(worker: &Worker) -> Result<Survey, LayoutError> {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for (index, planned) in worker.files.iter().enumerate() {
        let (size, fill) = match planned.prepare {
            Prepare::Nothing | Prepare::OnOpen { .. } => continue,
            Prepare::Directory => {
                directories.push(planned.path.clone());
                continue;
            }
            Prepare::Fill { size } => (size, true),
            Prepare::Extend { size } => (size, false),
        };
        let found = inspect(&planned.path, size, fill)
            .map_err(|e| FileError::new(Action::Inspect, &planned.path, e))?;
        let (length, missing) = match found {
            Some((length, data)) => (Some(length), complement(&data, if fill { size } else { 0 })),
            None if !worker.layout.allow_create => {
                return Err(LayoutError::Forbidden { path: planned.path.clone() });
            }
            None => (None, complement(&[], if fill { size } else { 0 })),
        };
        if !missing.is_empty() || length.is_none_or(|l| l < size) {
            files.push(Pending { index, size, length, missing });
        }
    }
    Ok(Survey { files, directories })
}

impl Survey {
    /// How many files have to be worked on.
    pub fn files(&self) -> usize {
        self.files.len() + self.directories.len()
    }

    /// What these files will hold together, in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|f| f.size).sum()
    }

    /// Bytes of data to write.
    pub fn missing(&self) -> u64 {
        self.files.iter().flat_map(|f| &f.missing).map(|s| s.end - s.start).sum()
    }

    /// Does it: `worker` is the one surveyed. `progress` gets bytes written and bytes to write, at
    /// most once a MiB. Stops soon after `cancel` is set.
    ///
    /// # Errors
    /// See [`LayoutError`].
    pub fn run(
        self,
        worker: &Worker,
        progress: &dyn Fn(u64, u64),
        cancel: &AtomicBool,
    ) -> Result<LayoutReport, LayoutError> {
        let total = self.missing();
        let mut tool = Tool::Unmade;
        let mut report = LayoutReport::default();
        for path in &self.directories {
            fs::create_dir_all(path).map_err(|e| FileError::new(Action::MakeDirectory, path, e))?;
            report.files += 1;
        }
        for pending in &self.files {
            let done = report.bytes_written;
            let mut written = 0;
            let mut step = |bytes: u64| {
                written += bytes;
                if bytes > 0 {
                    progress(done + written, total);
                }
                !cancel.load(Ordering::Relaxed)
            };
            if !step(0) {
                return Err(LayoutError::Interrupted);
            }
            let result = pending.lay_out(worker, &mut tool, &mut step);
            report.bytes_written += written;
            let allocated = result
                .map_err(|(action, error)| pending.give_up(worker, action, error, written))?;
            if !allocated {
                report.unallocated.push(worker.files[pending.index].path.clone());
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(LayoutError::Interrupted);
            }
            report.files += 1;
        }
        Ok(report)
    }
}

/// What data is written with: made when the first file needs it, kept for the others.
enum Tool {
    Unmade,
    Queued(Box<Writer<Libaio>>),
    Blocking(Box<Writer<Psync>>),
}

impl Tool {
    fn fill(
        &mut self,
        worker: &Worker,
        path: &str,
        file: &File,
        missing: &[Span],
        step: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<()> {
        if matches!(self, Tool::Unmade) {
            *self = match Writer::new(worker) {
                Ok(writer) => Tool::Queued(Box::new(writer)),
                // No asynchronous I/O left, or none at all, on this machine.
                Err(_) => Tool::Blocking(Box::new(Writer::new(worker)?)),
            };
        }
        match self {
            Tool::Queued(writer) => writer.fill(path, file, missing, step),
            Tool::Blocking(writer) => writer.fill(path, file, missing, step),
            Tool::Unmade => Ok(()),
        }
    }
}

impl Pending {
    /// Whether the file has the space it was to have. What is only written need not: who writes for
    /// a time, or a part of it, may never come to where the disk is full.
    fn lay_out(
        &self,
        worker: &Worker,
        tool: &mut Tool,
        step: &mut dyn FnMut(u64) -> bool,
    ) -> Result<bool, (Action, io::Error)> {
        let path = &worker.files[self.index].path;
        let file =
            open(path, self.length.is_none()).map_err(|e| (Action::Open { direct: false }, e))?;
        if worker.queue.direct {
            self.check_direct(path).map_err(|e| (Action::Open { direct: true }, e))?;
        }
        match self.allocate(&file, &worker.layout.fallocate) {
            Err(e) if self.missing.is_empty() && is_full(&e) => {
                file.set_len(self.length.unwrap_or(0)).map_err(|e| (Action::Allocate, e))?;
                return Ok(false);
            }
            allocated => allocated.map_err(|e| (Action::Allocate, e))?,
        }
        if self.missing.is_empty() {
            return Ok(true);
        }
        tool.fill(worker, path, &file, &self.missing, step).map_err(|e| (Action::Fill, e))?;
        if worker.layout.fsync && step(0) {
            file.sync_all().map_err(|e| (Action::Sync, e))?;
        }
        // Reads of the run shall come from the disk; `invalidate` sees to the rest.
        let _ = advise(&file, 0, 0, Advice::DontNeed);
        Ok(true)
    }

    /// Finds out that the filesystem takes no O_DIRECT before the file is filled for it, not after.
    fn check_direct(&self, path: &str) -> io::Result<()> {
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path);
        if opened.is_err() && self.length.is_none() {
            fs::remove_file(path)?;
        }
        opened.map(drop)
    }

    /// Space as `fallocate` wants it; the size at once where data follows, so that the writes need
    /// not wait for each other to make the file longer.
    fn allocate(&self, file: &File, how: &str) -> io::Result<()> {
        let longer = self.length.is_none_or(|l| l < self.size);
        if self.size == 0 {
            return Ok(());
        }
        match how {
            "native" | "keep" => match allocate(file, self.size, how == "keep") {
                Err(e) if !unsupported(&e) => return Err(e),
                _ => {}
            },
            "posix" => allocate_posix(file, self.size)?,
            _ => {}
        }
        if longer && (!self.missing.is_empty() || how == "truncate") {
            file.set_len(self.size)?;
        }
        Ok(())
    }

    /// Takes back what was begun when the disk is full or takes no file this large.
    fn give_up(
        &self,
        worker: &Worker,
        action: Action,
        error: io::Error,
        written: u64,
    ) -> LayoutError {
        let path = &worker.files[self.index].path;
        let too_large = error.raw_os_error() == Some(libc::EFBIG);
        if !is_full(&error) && !too_large {
            return FileError::new(action, path, error).into();
        }
        let file = open(path, false);
        let taken_back = match (self.length, &file) {
            // Emptied first: the kernel may hold the file for a moment after its last write, and
            // with it the space of a removed one.
            (None, Ok(file)) => file.set_len(0).and_then(|()| fs::remove_file(path)),
            (None, Err(_)) => fs::remove_file(path),
            (Some(length), Ok(file)) => file.set_len(length),
            (Some(_), Err(_)) => Ok(()),
        };
        if let Err(error) = taken_back {
            return FileError::new(Action::Unlink, path, error).into();
        }
        if too_large {
            return FileError::new(action, path, error).into();
        }
        let wanted: u64 = self.missing.iter().map(|s| s.end - s.start).sum();
        let parent = std::path::Path::new(path).parent().filter(|p| !p.as_os_str().is_empty());
        drop(file);
        let free = File::open(parent.unwrap_or(std::path::Path::new(".")))
            .and_then(free_bytes)
            .unwrap_or(0);
        let needed = if wanted == 0 { self.size } else { wanted - written };
        LayoutError::NoSpace { path: path.clone(), needed, free }
    }
}

fn open(path: &str, create: bool) -> io::Result<File> {
    if create {
        make_directories(path)?;
    }
    OpenOptions::new().read(true).write(true).create(create).truncate(false).mode(0o644).open(path)
}

/// Length of a file and, if `extents` are wanted, where it holds data within its first `size`
/// bytes; `None` when it is not there.
fn inspect(path: &str, size: u64, extents: bool) -> io::Result<Option<(u64, Vec<Span>)>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Files that may be written and not read.
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied && !extents => {
            return Ok(Some((fs::metadata(path)?.len(), Vec::new())));
        }
        Err(e) => return Err(e),
    };
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let length = metadata.len();
    let data = if extents { data_spans(file.as_fd(), length.min(size))? } else { Vec::new() };
    Ok(Some((length, data)))
}

/// What of the first `size` bytes is in none of `spans`, which are in order.
fn complement(spans: &[Span], size: u64) -> Vec<Span> {
    let mut missing = Vec::new();
    let mut position = 0;
    for span in spans {
        if span.start.min(size) > position {
            missing.push(position..span.start.min(size));
        }
        position = position.max(span.end);
    }
    if position < size {
        missing.push(position..size);
    }
    missing
}

/// Whether there is no space left, on the disk or for this user.
fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

fn unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL))
}
