//! The I/O that a log lists, at the times it lists it.
//!
//! A worker does it in the log's order. An I/O that comes before its time waits for it; one that is
//! late keeps its time as the intended one, so that response latency shows the delay. Files are
//! opened and closed as soon as what stands before has been done: no I/O is late because of them.

use crate::meter::Stamps;
use crate::ops::{Next, Op, OpKind};
use crate::worker::Builder;
use plan::Replay;
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use trace::{Copied, Event, Held, Kind, Recording};

/// Events read ahead at a time, and how many such batches wait: some 3 MiB.
const BATCH: usize = 1 << 14;
const BATCHES: usize = 4;

/// Later than this by so much is worth telling.
const LATE_NS: u64 = 100_000_000;
const LATE_SHARE: u64 = 100;

/// A log under way.
pub(super) struct Replayed {
    feed: Feed,
    stalls: bool,
    duration: u64,
    /// Start of the replay, from the run's origin.
    origin: Option<u64>,
    /// Time of the event given last, in microseconds from the log's beginning.
    last_us: u64,
    /// How much later than intended the latest I/O was.
    late: u64,
    failed: Option<String>,
}

/// Where the events come from.
enum Feed {
    Memory { events: Arc<[Event]>, next: usize },
    Copy(Copied),
    Log { batches: Receiver<Result<Vec<Event>, String>>, batch: std::vec::IntoIter<Event> },
}

impl Feed {
    fn new(recording: &Arc<Recording>) -> Feed {
        match &recording.held {
            Held::Memory(events) => Feed::Memory { events: Arc::clone(events), next: 0 },
            Held::Copy(copying) => Feed::Copy(copying.events()),
            Held::Log(path) => {
                let (sender, batches) = sync_channel(BATCHES);
                let (recording, path) = (Arc::clone(recording), path.clone());
                let reader = std::thread::Builder::new().name("read_iolog".into());
                let failed = sender.clone();
                let started = reader.spawn(move || read(&recording, &path, &sender));
                if let Err(error) = started {
                    // The channel is empty: there is room for it.
                    let _ = failed.send(Err(error.to_string()));
                }
                Feed::Log { batches, batch: Vec::new().into_iter() }
            }
        }
    }

    fn next(&mut self) -> Result<Option<Event>, String> {
        match self {
            Feed::Memory { events, next } => {
                let event = events.get(*next).copied();
                *next += 1;
                Ok(event)
            }
            Feed::Copy(events) => Ok(events.next()),
            Feed::Log { batches, batch } => loop {
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

/// Reads a log ahead of its replay, until its end or until nobody wants more.
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
        // Nobody waits for it any more when the worker has ended.
        let _ = batches.send(Err(error));
    }
}

impl Replayed {
    pub fn new(replay: &Replay) -> Replayed {
        Replayed {
            feed: Feed::new(&replay.recording),
            stalls: replay.stalls,
            duration: replay.recording.duration,
            origin: None,
            last_us: 0,
            late: 0,
            failed: None,
        }
    }

    /// The replay starts when it is called first.
    pub fn begin(&mut self, now: u64) {
        self.origin.get_or_insert(now);
    }

    /// The next I/O, where nothing has to be looked at to know it; else see [`Replayed::next`].
    #[inline(always)]
    pub fn at_hand(&mut self) -> Option<Op> {
        let Feed::Copy(events) = &mut self.feed else { return None };
        let Event { offset, length, file, kind, .. } = events.at_hand()?;
        let kind = if kind == Kind::Read { OpKind::Read } else { OpKind::Write };
        Some(Op { kind, file, offset, length, tag: 0 })
    }

    pub fn next(&mut self) -> Next {
        let event = match self.feed.next() {
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
        // The microsecond's lowest bits: what is in flight at once is never half an hour apart.
        Next::Io(Op { kind, file, offset, length, tag: self.last_us as u32 })
    }

    /// When an I/O that was given is due.
    pub fn intended(&self, op: &Op) -> Option<u64> {
        let origin = self.origin.filter(|_| self.stalls)?;
        let behind = (self.last_us as u32).wrapping_sub(op.tag);
        let at_us = self.last_us.saturating_sub(u64::from(behind));
        Some(origin.saturating_add(at_us.saturating_mul(1000)))
    }

    pub fn issued(&mut self, stamps: &Stamps) {
        self.late = self.late.max(stamps.ready.saturating_sub(stamps.intended));
    }

    /// Tells of a log that could not be read to its end, and of a replay that was not as fast.
    pub fn gather(&self, builder: &mut Builder<'_>) {
        if let Some(text) = &self.failed {
            let text = format!("read_iolog: {text}");
            builder.setup_failed("read the log", &io::Error::other(text));
        }
        if self.stalls && self.late > LATE_NS.max(self.duration / LATE_SHARE) {
            let text = format!(
                "the replay was up to {} ms later than its log: latency from the intended moment \
                 holds that delay",
                self.late / 1_000_000
            );
            builder.warn(text);
        }
    }
}
