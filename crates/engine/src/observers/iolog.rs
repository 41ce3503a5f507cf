//! `write_iolog`: logs the issued I/O in a form that can be replayed.
//!
//! Lines are buffered and appended to the file in blocks of whole lines, so that workers can share a
//! file.

use super::IoObserver;
use crate::hot::op::{Fault, Next, Op, OpKind, QueuePolicy};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use plan::Worker;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use trace::{HEADER, write_action, write_file_action};

/// Bytes to buffer before a write.
const BLOCK: usize = 1 << 20;

/// Writes an iolog.
pub(crate) struct IologWriter {
    path: String,
    files: Vec<String>,
    /// For each file, whether it is open.
    open: Vec<bool>,
    /// Start of the log, from the run's origin.
    origin: Option<u64>,
    latest_us: u64,
    file: Option<File>,
    lines: Vec<u8>,
    error: Option<io::Error>,
}

impl IologWriter {
    /// `None` if the worker writes no iolog.
    pub fn new(worker: &Worker) -> Option<IologWriter> {
        let path = worker.write_log.clone().filter(|path| !path.ends_with(".ftr"))?;
        let files: Vec<String> = worker.files.iter().map(|file| file.path.clone()).collect();
        let at_first = match worker.opens_by_log() {
            true => 0,
            false => worker.selection.open_at_once(files.len() as u32) as usize,
        };
        Some(IologWriter {
            path,
            open: (0..files.len()).map(|file| file < at_first).collect(),
            files,
            origin: None,
            latest_us: 0,
            file: None,
            lines: Vec::with_capacity(BLOCK + 8192),
            error: None,
        })
    }

    /// Opens the log and writes the lines before the first I/O.
    fn begin(&mut self) -> io::Result<()> {
        self.file = Some(OpenOptions::new().append(true).create(true).open(&self.path)?);
        writeln!(self.lines, "{HEADER}")?;
        for path in &self.files {
            write_file_action(&mut self.lines, 0, path, "add")?;
        }
        for (path, _) in self.files.iter().zip(&self.open).filter(|(_, open)| **open) {
            write_file_action(&mut self.lines, 0, path, "open")?;
        }
        Ok(())
    }

    fn write_out(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file {
            file.write_all(&self.lines)?;
        }
        self.lines.clear();
        Ok(())
    }

    fn set_open(&mut self, file: u32, open: bool) {
        let state = &mut self.open[file as usize];
        if std::mem::replace(state, open) != open {
            let action = if open { "open" } else { "close" };
            let path = &self.files[file as usize];
            let written = write_file_action(&mut self.lines, self.latest_us, path, action);
            self.keep_error(written);
        }
    }

    fn keep_error(&mut self, result: io::Result<()>) {
        if let (Err(error), None) = (result, &self.error) {
            self.error = Some(error);
        }
    }

    fn fault(&self, error: &io::Error) -> Fault {
        Fault {
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            operation: "write_iolog",
            text: format!("the iolog {} cannot be written: {error}", self.path),
            ends: true,
        }
    }
}

impl IoObserver for IologWriter {
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        // Operations without a file cannot be replayed.
        let Some(path) = self.files.get(op.file as usize) else { return };
        let since = stamps.ready.saturating_sub(self.origin.unwrap_or(stamps.ready));
        self.latest_us = self.latest_us.max(since / 1000);
        let (action, length) = match op.kind {
            OpKind::Read => ("read", op.length),
            OpKind::Write => ("write", op.length),
            OpKind::Trim | OpKind::ResetZone => ("trim", op.length),
            OpKind::Fsync => ("sync", 0),
            // The format has no ranges: the replay synchronises the whole file.
            OpKind::Fdatasync | OpKind::SyncFileRange(_) => ("datasync", 0),
            // The format has no objects.
            OpKind::Stat => return,
        };
        let written =
            write_action(&mut self.lines, self.latest_us, path, action, op.offset, length);
        let result = match self.lines.len() >= BLOCK {
            true => written.and_then(|()| self.write_out()),
            false => written,
        };
        self.keep_error(result);
    }

    fn file_step(&mut self, step: Next) {
        match step {
            Next::Open(file) => self.set_open(file, true),
            Next::Close(file) => self.set_open(file, false),
            _ => {
                let open: Vec<u32> =
                    (0_u32..).zip(&self.open).filter(|(_, o)| **o).map(|(f, _)| f).collect();
                open.iter().for_each(|file| self.set_open(*file, false));
                open.iter().for_each(|file| self.set_open(*file, true));
            }
        }
    }

    fn tick(&mut self, _: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        if self.origin.is_none() {
            self.origin = Some(now);
            let begun = self.begin();
            self.keep_error(begun);
        }
        match self.error.take() {
            Some(error) => Err(self.fault(&error)),
            None => Ok(u64::MAX),
        }
    }

    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        (0..self.files.len() as u32).for_each(|file| self.set_open(file, false));
        let written = self.write_out();
        self.keep_error(written);
        if let Some(error) = self.error.take() {
            builder.setup_failed("write the iolog", &error);
        }
    }
}
