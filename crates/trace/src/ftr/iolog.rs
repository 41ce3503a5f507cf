//! Reads an iolog of fio as a trace: one thread, no durations.

use super::event::{Entry, Event, File, FileKind, Flags, Level, Operation, Thread};
use crate::error::TraceError;
use crate::event::{Kind, Name};
use crate::reader;
use std::io::BufRead;

/// Reads entries.
pub(super) struct Iolog<R> {
    log: reader::Reader<R>,
    files: u32,
    has_thread: bool,
    /// An event that waits for the entry of its file.
    waiting: Option<crate::event::Event>,
}

impl<R: BufRead> Iolog<R> {
    pub fn new(input: R) -> Result<Self, TraceError> {
        Ok(Iolog { log: reader::Reader::new(input)?, files: 0, has_thread: false, waiting: None })
    }

    /// The next entry; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Entry>, TraceError> {
        if !std::mem::replace(&mut self.has_thread, true) {
            let name = "fio".to_owned();
            return Ok(Some(Entry::Thread(Thread { number: 0, process: 0, thread: 0, name })));
        }
        let event = match self.waiting.take() {
            Some(event) => Some(event),
            None => self.log.next_event()?,
        };
        let Some(event) = event else { return Ok(None) };
        if event.file >= self.files {
            let number = self.files;
            self.files += 1;
            self.waiting = Some(event);
            return Ok(self.log.names().get(number as usize).map(|name| file(number, name)));
        }
        let operation = match event.kind {
            Kind::Read => Operation::Read,
            Kind::Write => Operation::Write,
            Kind::Trim => Operation::Discard,
            Kind::Sync => Operation::Fsync,
            Kind::Datasync => Operation::Fdatasync,
            Kind::Open => Operation::Open,
            Kind::Close | Kind::Forget => Operation::Close,
        };
        Ok(Some(Entry::Event(Event {
            at_ns: event.at,
            duration_ns: None,
            level: Level::Application,
            operation,
            flags: Flags::default(),
            thread: 0,
            file: event.file,
            offset: event.offset,
            length: event.length,
            result: None,
            cpu_before_ns: None,
        })))
    }
}

fn file(number: u32, name: &Name) -> Entry {
    let (name, device) = match name {
        Name::Path(path) => (path.clone(), None),
        Name::Device { major, minor } => (format!("{major}:{minor}"), Some((*major, *minor))),
    };
    let kind = if device.is_some() { FileKind::Block } else { FileKind::Regular };
    Entry::File(File { number, name, kind, size: 0, device })
}
