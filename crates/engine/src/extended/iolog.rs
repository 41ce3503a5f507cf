//! `write_iolog`: the I/O a worker issues, as a log that can be replayed.
//!
//! Lines are kept in memory and added to the file a block at a time, whole, so that workers that
//! share a file do not tear each other's lines apart.

use super::Chore;
use crate::meter::Stamps;
use crate::ops::{Fault, Next, Op, OpKind};
use crate::steps::Policy;
use crate::worker::Builder;
use plan::Worker;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use trace::{HEADER, write_action, write_file_action};

/// Bytes kept before they are written.
const BLOCK: usize = 1 << 20;

/// A log being written.
pub(super) struct Iolog {
    path: String,
    files: Vec<String>,
    /// By file: it is open.
    open: Vec<bool>,
    /// Start of the log, from the run's origin.
    origin: Option<u64>,
    latest_us: u64,
    file: Option<File>,
    lines: Vec<u8>,
    error: Option<io::Error>,
}

impl Iolog {
    /// What the worker is to write; `None` when that is none.
    pub fn new(worker: &Worker) -> Option<Iolog> {
        let path = worker.write_log.clone()?;
        let files: Vec<String> = worker.files.iter().map(|file| file.path.clone()).collect();
        let at_first = match worker.opens_by_log() {
            true => 0,
            false => worker.selection.open_at_once(files.len() as u32) as usize,
        };
        Some(Iolog {
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

    /// Opens the log and writes what comes before any I/O.
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

    fn turn(&mut self, file: u32, open: bool) {
        let state = &mut self.open[file as usize];
        if std::mem::replace(state, open) != open {
            let action = if open { "open" } else { "close" };
            let path = &self.files[file as usize];
            let written = write_file_action(&mut self.lines, self.latest_us, path, action);
            self.note(written);
        }
    }

    fn note(&mut self, result: io::Result<()>) {
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

impl Chore for Iolog {
    fn issued(&mut self, op: &Op, stamps: &Stamps) {
        // Work that has no file has nothing that could be replayed.
        let Some(path) = self.files.get(op.file as usize) else { return };
        let since = stamps.ready.saturating_sub(self.origin.unwrap_or(stamps.ready));
        self.latest_us = self.latest_us.max(since / 1000);
        let (action, length) = match op.kind {
            OpKind::Read => ("read", op.length),
            OpKind::Write => ("write", op.length),
            OpKind::Trim | OpKind::ResetZone => ("trim", op.length),
            OpKind::Fsync => ("sync", 0),
            // The format knows no ranges: what is made durable is at least what was.
            OpKind::Fdatasync | OpKind::SyncFileRange(_) => ("datasync", 0),
            // Nor does it know of objects.
            OpKind::Stat => return,
        };
        let written =
            write_action(&mut self.lines, self.latest_us, path, action, op.offset, length);
        let result = match self.lines.len() >= BLOCK {
            true => written.and_then(|()| self.write_out()),
            false => written,
        };
        self.note(result);
    }

    fn file_step(&mut self, step: Next) {
        match step {
            Next::Open(file) => self.turn(file, true),
            Next::Close(file) => self.turn(file, false),
            _ => {
                let open: Vec<u32> =
                    (0_u32..).zip(&self.open).filter(|(_, o)| **o).map(|(f, _)| f).collect();
                open.iter().for_each(|file| self.turn(*file, false));
                open.iter().for_each(|file| self.turn(*file, true));
            }
        }
    }

    fn tick(&mut self, _: &mut Policy, now: u64) -> Result<u64, Fault> {
        if self.origin.is_none() {
            self.origin = Some(now);
            let begun = self.begin();
            self.note(begun);
        }
        match self.error.take() {
            Some(error) => Err(self.fault(&error)),
            None => Ok(u64::MAX),
        }
    }

    fn gather(mut self: Box<Self>, _: u64, builder: &mut Builder<'_>) {
        (0..self.files.len() as u32).for_each(|file| self.turn(file, false));
        let written = self.write_out();
        self.note(written);
        if let Some(error) = self.error.take() {
            builder.setup_failed("write the iolog", &error);
        }
    }
}
