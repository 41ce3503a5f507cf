//! Reads a block trace as a trace of devices. A request begins when the driver gets it and ends when the
//! device has answered. Where a driver has no requests, or the trace has only queued I/O, it begins when
//! it is queued.

use super::event::{Entry, Event, File, FileKind, Flags, Level, Operation, Thread};
use crate::blktrace::{
    AHEAD, COMPLETED, DISCARD, FLUSH, FORCED, ISSUED, MERGED_BACK, MERGED_FRONT, METADATA, QUEUED,
    REQUEUED, Record, Records, SECTOR, WRITE,
};
use crate::error::TraceError;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io::BufRead;

/// Most I/Os in flight. If more seem to be in flight, the trace lacks the completions of some.
const IN_FLIGHT_MAX: usize = 65_536;

/// Device and sector.
type Key = (u32, u64);

/// Reads entries.
pub(super) struct Blktrace<R> {
    records: Records<R>,
    origin: Option<u64>,
    queued: HashMap<Key, Record>,
    issued: HashMap<Key, Record>,
    devices: HashMap<u32, u32>,
    threads: HashMap<u32, u32>,
    out: VecDeque<Entry>,
    is_over: bool,
}

impl<R: BufRead> Blktrace<R> {
    pub fn new(input: R) -> Self {
        Blktrace {
            records: Records::new(input),
            origin: None,
            queued: HashMap::new(),
            issued: HashMap::new(),
            devices: HashMap::new(),
            threads: HashMap::new(),
            out: VecDeque::new(),
            is_over: false,
        }
    }

    /// The next entry; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Entry>, TraceError> {
        loop {
            if let Some(entry) = self.out.pop_front() {
                return Ok(Some(entry));
            }
            if self.is_over {
                return Ok(None);
            }
            match self.records.next()? {
                Some((_, record)) if record.is_io() => self.record(record),
                Some(_) => {}
                None => {
                    self.is_over = true;
                    self.give_up();
                }
            }
        }
    }

    fn record(&mut self, record: Record) {
        self.origin.get_or_insert(record.time);
        let key = (record.device, record.sector);
        match record.action & 0xffff {
            QUEUED => {
                self.queued.insert(key, record);
            }
            MERGED_BACK | MERGED_FRONT => {
                self.queued.remove(&key);
            }
            ISSUED => {
                let from = self.queued.remove(&key);
                // The thread that asked; another may issue.
                let process = from.map_or(record.process, |queued| queued.process);
                self.issued.insert(key, Record { process, ..record });
            }
            REQUEUED => {
                self.issued.remove(&key);
            }
            COMPLETED => {
                if let Some(begun) = self.issued.remove(&key).or_else(|| self.queued.remove(&key)) {
                    self.event(&begun, Some(&record));
                }
            }
            _ => {}
        }
        if self.queued.len() + self.issued.len() > IN_FLIGHT_MAX {
            self.give_up();
        }
    }

    /// Writes all I/Os in flight as without a completion.
    fn give_up(&mut self) {
        let all = self.queued.drain().chain(self.issued.drain());
        let sorted: BTreeMap<(u64, Key), Record> =
            all.map(|(key, record)| ((record.time, key), record)).collect();
        sorted.values().for_each(|record| self.event(record, None));
    }

    fn event(&mut self, begun: &Record, ended: Option<&Record>) {
        let action = begun.action;
        let operation = match action {
            _ if action & DISCARD != 0 => Operation::Discard,
            _ if action & FLUSH != 0 && begun.length == 0 => Operation::Flush,
            _ if begun.length == 0 => return,
            _ if action & WRITE != 0 => Operation::Write,
            _ => Operation::Read,
        };
        let set = [(AHEAD, Flags::READAHEAD), (METADATA, Flags::METADATA), (FORCED, Flags::FUA)];
        let set = set.iter().filter(|(bit, _)| action & bit != 0);
        let result = |end: &Record| match end.error {
            0 => i64::from(begun.length),
            error => -i64::from((error as i16).unsigned_abs()),
        };
        let (thread, file) = (self.thread(begun.process), self.device(begun.device));
        self.out.push_back(Entry::Event(Event {
            at_ns: begun.time.saturating_sub(self.origin.unwrap_or(0)),
            duration_ns: ended.map(|end| end.time.saturating_sub(begun.time)),
            level: Level::Device,
            operation,
            flags: set.fold(Flags::default(), |all, (_, flag)| all.with(*flag)),
            thread,
            file,
            offset: if begun.length == 0 { 0 } else { begun.sector.saturating_mul(SECTOR) },
            length: begun.length.into(),
            result: ended.map(result),
            cpu_before_ns: None,
        }));
    }

    fn thread(&mut self, thread: u32) -> u32 {
        let next = self.threads.len() as u32;
        let number = *self.threads.entry(thread).or_insert(next);
        if number == next {
            let name = String::new();
            self.out.push_back(Entry::Thread(Thread { number, process: thread, thread, name }));
        }
        number
    }

    fn device(&mut self, device: u32) -> u32 {
        let next = self.devices.len() as u32;
        let number = *self.devices.entry(device).or_insert(next);
        if number == next {
            let (major, minor) = (device >> 20, device & 0xf_ffff);
            let (name, kind) = (format!("{major}:{minor}"), FileKind::Block);
            let device = Some((major, minor));
            self.out.push_back(Entry::File(File { number, name, kind, size: 0, device }));
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blktrace::tests::{queued, record};

    fn events(bytes: &[u8]) -> Vec<(u64, Option<u64>, Operation, u64, u64)> {
        let mut trace = Blktrace::new(bytes);
        let mut all = Vec::new();
        while let Some(entry) = trace.next().unwrap() {
            if let Entry::Event(event) = entry {
                let Event { at_ns, duration_ns, operation, offset, length, .. } = event;
                all.push((at_ns, duration_ns, operation, offset, length));
            }
        }
        all
    }

    #[test]
    fn a_request_lasts_from_its_issue_to_its_completion() {
        let bytes = [
            record(1_000, 8, 4096, queued(WRITE), false),
            record(1_100, 16, 4096, queued(WRITE), false),
            record(1_150, 16, 4096, MERGED_BACK | WRITE, false),
            record(1_500, 8, 8192, ISSUED | WRITE, false),
            record(1_600, 800, 512, queued(1 << 16), false),
            record(2_000, 8, 8192, COMPLETED | WRITE, false),
            record(2_100, 800, 512, COMPLETED | 1 << 16, false),
            record(2_200, 900, 512, queued(1 << 16), false),
        ]
        .concat();
        let expected = [
            (500, Some(500), Operation::Write, 4096, 8192),
            (600, Some(500), Operation::Read, 409_600, 512),
            (1_200, None, Operation::Read, 460_800, 512),
        ];
        assert_eq!(events(&bytes), expected);
    }

    #[test]
    fn a_trace_without_completions_gives_what_was_queued() {
        let bytes: Vec<u8> = (0..70_000_u32)
            .flat_map(|number| {
                record(u64::from(number), 8 * u64::from(number), 4096, queued(1 << 16), false)
            })
            .collect();
        let found = events(&bytes);
        assert_eq!(found.len(), 70_000);
        assert!(found.is_sorted_by_key(|event| event.0));
    }
}
