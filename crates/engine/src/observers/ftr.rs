//! `write_iolog` with a name that ends in ".ftr": a trace of the I/O that was done, with its latencies, as
//! `fathom model` reads it. Each worker writes a file of its own.

use super::IoObserver;
use crate::hot::op::{Fault, Op, OpKind, QueuePolicy};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use plan::{SyncMode, Worker};
use std::fs::File;
use std::io::{self, BufWriter};
use trace::ftr::{self, Entry, Event, FileKind, Flags, Header, Level, Operation, Thread, Writer};

/// Writes the trace of a worker.
pub(crate) struct TraceWriter {
    path: String,
    begin: Vec<Entry>,
    writer: Option<Writer<BufWriter<File>>>,
    flags: Flags,
    dsync: bool,
    number: u32,
    error: Option<io::Error>,
}

/// The trace of worker `number`, of a run with this `write_iolog`.
fn path_of(log: &str, number: u32) -> Option<String> {
    let stem = log.strip_suffix(".ftr")?;
    Some(format!("{stem}.{number}.ftr"))
}

impl TraceWriter {
    /// `None` if the worker writes no trace.
    pub fn new(worker: &Worker) -> Option<TraceWriter> {
        let path = path_of(worker.write_log.as_ref()?, worker.number)?;
        let queued = !worker.queue.engine.is_synchronous() || worker.queue.offload;
        let mut flags = Flags::default();
        if worker.queue.direct {
            flags = flags.with(Flags::DIRECT);
        }
        if queued && worker.queue.depth > 1 {
            flags = flags.with(Flags::ASYNC);
        }
        let thread = Thread {
            number: 0,
            process: worker.number,
            thread: worker.number,
            name: worker.name.clone(),
        };
        let files = worker.files.iter().enumerate().map(|(number, file)| {
            Entry::File(ftr::File {
                number: number as u32,
                name: file.path.clone(),
                kind: FileKind::Regular,
                size: file.whole.max(file.start + file.length),
                device: None,
            })
        });
        Some(TraceWriter {
            path,
            begin: std::iter::once(Entry::Thread(thread)).chain(files).collect(),
            writer: None,
            flags,
            dsync: worker.syncing.mode != SyncMode::None,
            number: worker.files.len() as u32,
            error: None,
        })
    }

    fn open(&mut self) -> io::Result<()> {
        let header = Header { source: "run".into(), application: true, ..Header::default() };
        let output = BufWriter::new(File::create(&self.path)?);
        let mut writer = Writer::new(output, &header)?;
        self.begin.drain(..).try_for_each(|entry| writer.entry(&entry))?;
        self.writer = Some(writer);
        Ok(())
    }

    fn keep_error(&mut self, result: io::Result<()>) {
        if let (Err(error), None) = (result, &self.error) {
            self.error = Some(error);
        }
    }
}

impl IoObserver for TraceWriter {
    fn ended(&mut self, op: &Op, stamps: &Stamps, now: u64) -> Result<(), Fault> {
        let operation = match op.kind {
            OpKind::Read => Operation::Read,
            OpKind::Write => Operation::Write,
            OpKind::Trim | OpKind::ResetZone => Operation::Discard,
            OpKind::Fsync => Operation::Fsync,
            OpKind::Fdatasync => Operation::Fdatasync,
            OpKind::SyncFileRange(_) => Operation::SyncRange,
            OpKind::Stat => return Ok(()),
        };
        let Some(writer) = self.writer.as_mut().filter(|_| op.file < self.number) else {
            return Ok(());
        };
        let durable = self.dsync && op.kind == OpKind::Write;
        let event = Event {
            at_ns: stamps.ready,
            duration_ns: Some(now.saturating_sub(stamps.ready)),
            level: Level::Application,
            operation,
            flags: if durable { self.flags.with(Flags::DSYNC) } else { self.flags },
            thread: 0,
            file: op.file,
            offset: op.offset,
            length: op.length,
            result: Some(op.length as i64),
            cpu_before_ns: None,
        };
        let written = writer.entry(&Entry::Event(event));
        self.keep_error(written);
        Ok(())
    }

    fn tick(&mut self, _: &mut QueuePolicy, _: u64) -> Result<u64, Fault> {
        if self.writer.is_none() && self.error.is_none() {
            let opened = self.open();
            self.keep_error(opened);
        }
        match self.error.take() {
            Some(error) => Err(Fault {
                errno: error.raw_os_error().unwrap_or(libc::EIO),
                operation: "write_iolog",
                text: format!("the trace {} cannot be written: {error}", self.path),
                ends: true,
            }),
            None => Ok(u64::MAX),
        }
    }

    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        if let Some(writer) = self.writer.take() {
            self.keep_error(writer.finish().map(drop));
        }
        if let Some(error) = self.error.take() {
            builder.setup_failed("write the trace", &error);
        }
    }
}
