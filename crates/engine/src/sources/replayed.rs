//! Replays the I/O of a log (`read_iolog`).
//!
//! I/O is issued in the log's order, not before its time. A late I/O keeps the log's time as its
//! intended start, so that response latency shows the delay. Files are opened and closed as soon as
//! the entries before have been issued, so that no I/O is late because of them.

use super::RecordSource;
use crate::hot::op::{Fault, Next, Op, OpKind, QueuePolicy, Source};
use crate::job_record::JobRecordBuilder;
use crate::meter::Stamps;
use plan::Replay;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use trace::{Copied, Event, Held, Kind, Recording};

/// Events per batch that is read ahead.
const BATCH: usize = 1 << 14;
/// Batches read ahead: some 3 MiB.
const BATCHES: usize = 4;

/// A replay later than this, and by more than one part in `LATE_SHARE` of its duration, is reported.
const LATE_NS: u64 = 100_000_000;
const LATE_SHARE: u64 = 100;

/// Replays a log.
pub(crate) struct Replayed {
    events: Events,
    /// I/O waits for its time in the log.
    stalls: bool,
    duration: u64,
    /// Start of the replay, from the run's origin.
    origin: Option<u64>,
    /// Time of the latest event, in microseconds from the log's start.
    last_us: u64,
    /// Largest delay of an I/O, in nanoseconds.
    late: u64,
    failed: Option<String>,
}

/// Where the events come from.
enum Events {
    Memory { events: Arc<[Event]>, next: usize },
    Copy(Copied),
    Log { batches: Receiver<Result<Vec<Event>, String>>, batch: std::vec::IntoIter<Event> },
}

impl Events {
    fn new(recording: &Arc<Recording>) -> Events {
        match &recording.held {
            Held::Memory(events) => Events::Memory { events: Arc::clone(events), next: 0 },
            Held::Copy(copying) => Events::Copy(copying.events()),
            // Drawn by `DrawnIo`.
            Held::Drawn(_) => Events::Memory { events: Arc::default(), next: 0 },
            Held::Log(path) | Held::Later(path) => {
                let (sender, batches) = sync_channel(BATCHES);
                let (recording, path) = (Arc::clone(recording), path.clone());
                let reader = std::thread::Builder::new().name("read_iolog".into());
                let failed = sender.clone();
                let started = reader.spawn(move || read(&recording, &path, &sender));
                if let Err(error) = started {
                    // The channel is empty: there is room for it.
                    let _ = failed.send(Err(error.to_string()));
                }
                Events::Log { batches, batch: Vec::new().into_iter() }
            }
        }
    }

    fn next(&mut self) -> Result<Option<Event>, String> {
        match self {
            Events::Memory { events, next } => {
                let event = events.get(*next).copied();
                *next += 1;
                Ok(event)
            }
            Events::Copy(events) => Ok(events.next()),
            Events::Log { batches, batch } => loop {
                if let Some(event) = batch.next() {
                    return Ok(Some(event));
                }
                match batches.recv() {
                    Ok(more) => *batch = more?.into_iter(),
                    Err(_) => return Ok(None),
                }
            },
        }
    }
}

/// Reads a log ahead of its replay, until its end or the end of the worker.
fn read(recording: &Recording, path: &Path, batches: &SyncSender<Result<Vec<Event>, String>>) {
    let send_all = || -> Result<(), String> {
        let text = |error: io::Error| error.to_string();
        let input = BufReader::with_capacity(1 << 20, File::open(path).map_err(text)?);
        let mut stream = recording.stream(input).map_err(|e| e.to_string())?;
        loop {
            let mut batch = Vec::with_capacity(BATCH);
            while batch.len() < BATCH {
                match stream.next_event().map_err(|e| e.to_string())? {
                    Some(event) => batch.push(event),
                    None => break,
                }
            }
            let last = batch.len() < BATCH;
            if batches.send(Ok(batch)).is_err() || last {
                return Ok(());
            }
        }
    };
    if let Err(error) = send_all() {
        // The receiver is gone once the worker has ended.
        let _ = batches.send(Err(error));
    }
}

impl Replayed {
    pub fn new(replay: &Replay) -> Replayed {
        Replayed {
            events: Events::new(&replay.recording),
            stalls: replay.stalls,
            duration: replay.recording.duration,
            origin: None,
            last_us: 0,
            late: 0,
            failed: None,
        }
    }
}

impl Source for Replayed {
    /// The first tick starts the replay.
    fn tick(&mut self, _: &mut QueuePolicy, now: u64) -> Result<u64, Fault> {
        self.origin.get_or_insert(now);
        Ok(u64::MAX)
    }

    fn next_ready(&mut self) -> Option<Op> {
        let Events::Copy(events) = &mut self.events else { return None };
        let Event { offset, length, file, kind, .. } = events.at_hand()?;
        let kind = if kind == Kind::Read { OpKind::Read } else { OpKind::Write };
        Some(Op { kind, file, offset, length, tag: 0 })
    }

    fn next(&mut self) -> Next {
        let event = match self.events.next() {
            Ok(Some(event)) => event,
            Ok(None) => return Next::End,
            Err(text) => {
                self.failed = Some(text);
                return Next::End;
            }
        };
        let kind = match event.kind {
            Kind::Open => return Next::Open(event.file),
            Kind::Close => return Next::Close(event.file),
            Kind::Forget => {
                let Event { file, offset, length, .. } = event;
                return Next::Forget { file, offset, length };
            }
            Kind::Read => OpKind::Read,
            Kind::Write => OpKind::Write,
            Kind::Trim => OpKind::Trim,
            Kind::Sync => OpKind::Fsync,
            Kind::Datasync => OpKind::Fdatasync,
        };
        self.last_us = event.at / 1000;
        let Event { file, offset, length, .. } = event;
        // The lowest bits of the microsecond: I/O in flight at once is never half an hour apart.
        Next::Io(Op { kind, file, offset, length, tag: self.last_us as u32 })
    }

    fn due(&self, op: &Op) -> Option<u64> {
        let origin = self.origin.filter(|_| self.stalls)?;
        let behind = (self.last_us as u32).wrapping_sub(op.tag);
        let at_us = self.last_us.saturating_sub(u64::from(behind));
        Some(origin.saturating_add(at_us.saturating_mul(1000)))
    }

    fn issued(&mut self, _: &Op, stamps: &Stamps) {
        self.late = self.late.max(stamps.ready.saturating_sub(stamps.intended));
    }
}

impl RecordSource for Replayed {
    /// Reports a log that could not be read, and a replay that was slower than its log.
    fn record(&mut self, _: u64, builder: &mut JobRecordBuilder<'_>) {
        if let Some(text) = &self.failed {
            let text = format!("read_iolog: {text}");
            builder.setup_failed("read the log", &io::Error::other(text));
        }
        if self.stalls && self.late > LATE_NS.max(self.duration / LATE_SHARE) {
            builder.warn(format!(
                "the replay was up to {} ms later than its log: latency from the intended moment \
                 holds that delay",
                self.late / 1_000_000
            ));
        }
    }
}
