//! Lays out files before the run: creates and extends them, and fills them with data if the job reads or
//! overwrites them. Existing data is kept. Only missing data is written: holes, allocated but
//! unwritten extents, and space beyond the end.

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

/// The work to lay out the files of a worker.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Survey {
    files: Vec<FileWork>,
    directories: Vec<String>,
}

/// The work to lay out one file.
#[derive(Debug, PartialEq, Eq)]
struct FileWork {
    index: usize,
    size: u64,
    /// Its current length; `None` if it does not exist.
    length: Option<u64>,
    /// The ranges to write.
    missing: Vec<Span>,
}

/// The result of a layout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutReport {
    /// Number of files created, extended or filled.
    pub files: usize,
    /// Bytes of data written to them.
    pub bytes_written: u64,
    /// Paths of files that are only written and for which there was no space to allocate.
    pub unallocated: Vec<String>,
}

/// Why files could not be laid out.
#[derive(Debug, thiserror::Error)]
pub enum LayoutError {
    /// An operation on a file failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The disk is full. The unfinished part of the file was removed.
    #[error(
        "cannot lay out '{path}': the filesystem is full: {} MiB are missing and {} MiB are free. The \
         unfinished part was removed. Use a smaller size, fewer files or another directory",
        needed.div_ceil(1 << 20), free >> 20
    )]
    NoSpace {
        /// The file.
        path: String,
        /// Bytes not yet written.
        needed: u64,
        /// Bytes free after its unfinished part was removed.
        free: u64,
    },
    /// The file does not exist, and the job forbids creating files.
    #[error("'{path}' does not exist and allow_file_create=0 forbids creating it")]
    Forbidden {
        /// The file.
        path: String,
    },
    /// Cancelled. Written data is kept; the next layout continues from there.
    #[error("laying out files was interrupted")]
    Interrupted,
}

/// Inspects the files of `worker` that the plan wants prepared.
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
            files.push(FileWork { index, size, length, missing });
        }
    }
    Ok(Survey { files, directories })
}

impl Survey {
    /// Number of files and directories to work on.
    pub fn files(&self) -> usize {
        self.files.len() + self.directories.len()
    }

    /// Total size of these files, in bytes.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|f| f.size).sum()
    }

    /// Bytes of data to write.
    pub fn missing(&self) -> u64 {
        self.files.iter().flat_map(|f| &f.missing).map(|s| s.end - s.start).sum()
    }

    /// Lays out the files of `worker`, for which the survey was made. Calls `progress` with bytes written
    /// and bytes to write, at most once per MiB. Stops soon after `cancel` is set.
    pub fn run(
        self,
        worker: &Worker,
        progress: &dyn Fn(u64, u64),
        cancel: &AtomicBool,
    ) -> Result<LayoutReport, LayoutError> {
        let total = self.missing();
        let mut writer = LazyWriter::Unopened;
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
            let result = pending.lay_out(worker, &mut writer, &mut step);
            report.bytes_written += written;
            let allocated =
                result.map_err(|(action, error)| pending.undo(worker, action, error, written))?;
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

/// Writes data. Opened for the first file that needs it and kept for the others.
enum LazyWriter {
    Unopened,
    Queued(Box<Writer<Libaio>>),
    Blocking(Box<Writer<Psync>>),
}

impl LazyWriter {
    fn fill(
        &mut self,
        worker: &Worker,
        path: &str,
        file: &File,
        missing: &[Span],
        step: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<()> {
        if matches!(self, LazyWriter::Unopened) {
            *self = match Writer::new(worker) {
                Ok(writer) => LazyWriter::Queued(Box::new(writer)),
                // This machine has no asynchronous I/O, or none left.
                Err(_) => LazyWriter::Blocking(Box::new(Writer::new(worker)?)),
            };
        }
        match self {
            LazyWriter::Queued(writer) => writer.fill(path, file, missing, step),
            LazyWriter::Blocking(writer) => writer.fill(path, file, missing, step),
            LazyWriter::Unopened => Ok(()),
        }
    }
}

impl FileWork {
    /// Returns whether the file's space is allocated. A file that is only written may go without: a job
    /// that writes a part of it, or for a limited time, may never fill the disk.
    fn lay_out(
        &self,
        worker: &Worker,
        writer: &mut LazyWriter,
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
        writer.fill(worker, path, &file, &self.missing, step).map_err(|e| (Action::Fill, e))?;
        if worker.layout.fsync && step(0) {
            file.sync_all().map_err(|e| (Action::Sync, e))?;
        }
        // Reads of the run should come from the disk; `invalidate` does the rest.
        let _ = advise(&file, 0, 0, Advice::DontNeed);
        Ok(true)
    }

    /// Checks that the filesystem supports O_DIRECT before the file is filled.
    fn check_direct(&self, path: &str) -> io::Result<()> {
        let opened = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path);
        if opened.is_err() && self.length.is_none() {
            fs::remove_file(path)?;
        }
        opened.map(drop)
    }

    /// Allocates as `fallocate=` asks. If data follows, sets the size first, so that the writes need not
    /// wait for each other to extend the file.
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

    /// Removes the unfinished part if the disk is full or the file is too large for it.
    fn undo(&self, worker: &Worker, action: Action, error: io::Error, written: u64) -> LayoutError {
        let path = &worker.files[self.index].path;
        let too_large = error.raw_os_error() == Some(libc::EFBIG);
        if !is_full(&error) && !too_large {
            return FileError::new(action, path, error).into();
        }
        let file = open(path, false);
        let undone = match (self.length, &file) {
            // Truncated first, because the kernel may keep a removed file and its space for a moment
            // after its last write.
            (None, Ok(file)) => file.set_len(0).and_then(|()| fs::remove_file(path)),
            (None, Err(_)) => fs::remove_file(path),
            (Some(length), Ok(file)) => file.set_len(length),
            (Some(_), Err(_)) => Ok(()),
        };
        if let Err(error) = undone {
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

/// Length of a file and, with `extents`, its data extents within the first `size` bytes; `None` if it
/// does not exist.
fn inspect(path: &str, size: u64, extents: bool) -> io::Result<Option<(u64, Vec<Span>)>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        // Files with write permission only.
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

/// The parts of the first `size` bytes that are in none of `spans`, which are sorted.
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

/// Whether the disk or the user's quota is full.
fn is_full(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSPC | libc::EDQUOT))
}

fn unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL))
}
