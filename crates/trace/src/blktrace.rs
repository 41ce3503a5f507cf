//! The kernel's block trace: records of 48 bytes, each followed by data that is skipped. Layout and
//! numbers are those of `linux/blktrace_api.h`. A trace has the byte order of the machine that
//! recorded it, which the magic number shows.

use crate::error::TraceError;
use crate::event::{Event, Kind, Name};
use crate::iolog::check_range;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};

/// Bytes of a record without its data.
const RECORD: usize = 48;
/// `BLK_IO_TRACE_MAGIC`; the version is the lowest byte.
const MAGIC: u32 = 0x6561_7400;
/// `BLK_IO_TRACE_VERSION`.
const VERSION: u32 = 7;
const MAGIC_NOW: u32 = MAGIC | VERSION;
pub(crate) const SECTOR: u64 = 512;

// The categories of a request, in the upper half of an action.
pub(crate) const WRITE: u32 = 1 << (1 + 16);
pub(crate) const FLUSH: u32 = 1 << (2 + 16);
const PASSTHROUGH: u32 = 1 << (9 + 16);
const NOTIFY: u32 = 1 << (10 + 16);
pub(crate) const DISCARD: u32 = 1 << (13 + 16);
pub(crate) const AHEAD: u32 = 1 << (11 + 16);
pub(crate) const METADATA: u32 = 1 << (12 + 16);
pub(crate) const FORCED: u32 = 1 << (15 + 16);

// The event of a request, in the lower half of an action.
pub(crate) const QUEUED: u32 = 1;
pub(crate) const MERGED_BACK: u32 = 2;
pub(crate) const MERGED_FRONT: u32 = 3;
pub(crate) const REQUEUED: u32 = 6;
pub(crate) const ISSUED: u32 = 7;
pub(crate) const COMPLETED: u32 = 8;

/// One record, without its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub sequence: u32,
    /// Nanoseconds.
    pub time: u64,
    pub sector: u64,
    pub length: u32,
    pub action: u32,
    pub process: u32,
    pub device: u32,
    pub cpu: u32,
    pub error: u16,
}

impl Record {
    /// Whether it is queued I/O, which a replay issues.
    pub fn is_queued(&self) -> bool {
        self.action & 0xffff == QUEUED && self.is_io()
    }

    /// Whether it is about I/O of a filesystem or program, not about the trace itself or commands.
    pub fn is_io(&self) -> bool {
        self.action & (PASSTHROUGH | NOTIFY) == 0
    }

    /// The record in this machine's byte order, without data.
    pub fn encode(&self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        let mut at = 0;
        let mut put = |field: &[u8]| {
            bytes[at..at + field.len()].copy_from_slice(field);
            at += field.len();
        };
        put(&MAGIC_NOW.to_ne_bytes());
        put(&self.sequence.to_ne_bytes());
        put(&self.time.to_ne_bytes());
        put(&self.sector.to_ne_bytes());
        for word in [self.length, self.action, self.process, self.device, self.cpu] {
            put(&word.to_ne_bytes());
        }
        put(&self.error.to_ne_bytes());
        bytes
    }
}

/// Reads the fields of a record in either byte order.
struct Fields<'a> {
    bytes: &'a [u8],
    swapped: bool,
}

impl Fields<'_> {
    fn take<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.bytes[at..at + N]);
        if self.swapped {
            field.reverse();
        }
        field
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_ne_bytes(self.take(at))
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_ne_bytes(self.take(at))
    }

    fn long(&self, at: usize) -> u64 {
        u64::from_ne_bytes(self.take(at))
    }
}

/// Whether this is the magic number, in either byte order.
pub(crate) fn is_magic(number: u32) -> bool {
    number & !0xff == MAGIC || number.swap_bytes() & !0xff == MAGIC
}

/// Reads records.
pub(crate) struct Records<R> {
    input: R,
    at: u64,
}

impl<R: BufRead> Records<R> {
    pub fn new(input: R) -> Self {
        Records { input, at: 0 }
    }

    /// The next record and its offset; `None` at the end.
    pub fn next(&mut self) -> Result<Option<(u64, Record)>, TraceError> {
        let begin = self.at;
        let wrong = |what: String| TraceError::Byte { byte: begin, what };
        let mut bytes = [0; RECORD];
        let read = fill(&mut self.input, &mut bytes)?;
        if read == 0 {
            return Ok(None);
        }
        let cut = |read, of, what| {
            let what = format!("the trace ends within {what}: {read} of {of} bytes are there");
            wrong(what + "; record it again or cut it here")
        };
        if read < RECORD {
            return Err(cut(read as u64, RECORD as u64, "a record"));
        }
        let raw = Fields { bytes: &bytes, swapped: false }.word(0);
        if !is_magic(raw) {
            let what = format!("{raw:#010x} stands where a record begins with {MAGIC_NOW:#010x}");
            return Err(wrong(what + ": the trace is damaged"));
        }
        let fields = Fields { bytes: &bytes, swapped: raw & !0xff != MAGIC };
        let version = fields.word(0) & 0xff;
        if version != VERSION {
            let what = format!("the trace is of version {version}: expected version {VERSION}");
            return Err(wrong(what));
        }
        let data = u64::from(fields.half(46));
        let passed = io::copy(&mut self.input.by_ref().take(data), &mut io::sink())?;
        if passed < data {
            return Err(cut(passed, data, "the data of a record"));
        }
        self.at += RECORD as u64 + data;
        Ok(Some((begin, decode(&fields))))
    }
}

fn decode(fields: &Fields<'_>) -> Record {
    Record {
        sequence: fields.word(4),
        time: fields.long(8),
        sector: fields.long(16),
        length: fields.word(24),
        action: fields.word(28),
        process: fields.word(32),
        device: fields.word(36),
        cpu: fields.word(40),
        error: fields.half(44),
    }
}

/// Fills `bytes` as far as possible. Returns the number of bytes read.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Reads the queued I/O of a trace.
pub(crate) struct Blktrace<R> {
    records: Records<R>,
    names: Vec<Name>,
    known: HashMap<u32, u32>,
    /// Time of the first I/O, which counts as 0.
    origin: Option<u64>,
    latest: u64,
    depth: u32,
    peak: u32,
    /// The write after a flush that was returned first.
    behind: Option<Event>,
}

impl<R: BufRead> Blktrace<R> {
    pub fn new(input: R) -> Self {
        Blktrace {
            records: Records::new(input),
            names: Vec::new(),
            known: HashMap::new(),
            origin: None,
            latest: 0,
            depth: 0,
            peak: 0,
            behind: None,
        }
    }

    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The largest number of I/Os in flight so far.
    pub fn peak(&self) -> u32 {
        self.peak
    }

    /// The next event; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Event>, TraceError> {
        if let Some(write) = self.behind.take() {
            return Ok(Some(write));
        }
        while let Some((begin, record)) = self.records.next()? {
            self.count(&record);
            if !record.is_queued() || (record.length == 0 && record.action & FLUSH == 0) {
                continue;
            }
            let event = self.event(&record);
            if record.action & FLUSH != 0 {
                self.behind = Some(event).filter(|_| record.length > 0);
                return Ok(Some(Event { kind: Kind::Sync, offset: 0, length: 0, ..event }));
            }
            let checked = check_range(event.kind, event.offset, event.length);
            return checked
                .map(|()| Some(event))
                .map_err(|what| TraceError::Byte { byte: begin, what });
        }
        Ok(None)
    }

    /// Merged I/O completes as part of another I/O.
    fn count(&mut self, record: &Record) {
        if !record.is_io() {
            return;
        }
        match record.action & 0xffff {
            QUEUED => self.depth += 1,
            MERGED_BACK | MERGED_FRONT | COMPLETED => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.peak = self.peak.max(self.depth);
    }

    fn event(&mut self, record: &Record) -> Event {
        let next = self.names.len() as u32;
        let file = *self.known.entry(record.device).or_insert(next);
        if file == next {
            let (major, minor) = (record.device >> 20, record.device & 0xf_ffff);
            self.names.push(Name::Device { major, minor });
        }
        let origin = *self.origin.get_or_insert(record.time);
        // Times may step back if traces of several CPUs were not sorted. Late I/O is issued at
        // once.
        self.latest = self.latest.max(record.time.saturating_sub(origin));
        let kind = match record.action {
            action if action & DISCARD != 0 => Kind::Trim,
            action if action & WRITE != 0 => Kind::Write,
            _ => Kind::Read,
        };
        let offset = record.sector.saturating_mul(SECTOR);
        Event { at: self.latest, offset, length: record.length.into(), file, kind }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const READ: u32 = 1 << 16;

    /// A record as a machine of this or the other byte order writes it.
    pub(crate) fn record(time: u64, sector: u64, length: u32, action: u32, swap: bool) -> Vec<u8> {
        let word = |v: u32| if swap { v.swap_bytes() } else { v }.to_ne_bytes();
        let long = |v: u64| if swap { v.swap_bytes() } else { v }.to_ne_bytes();
        let mut bytes = Vec::new();
        bytes.extend(word(MAGIC | VERSION));
        bytes.extend(word(1));
        bytes.extend(long(time));
        bytes.extend(long(sector));
        [length, action, 77, 7 << 20 | 3, 0].iter().for_each(|v| bytes.extend(word(*v)));
        bytes.extend([0; 4]);
        bytes
    }

    pub(crate) const fn queued(category: u32) -> u32 {
        QUEUED | category | 1 << (4 + 16) | 1 << (8 + 16)
    }

    fn events(bytes: &[u8]) -> Result<Vec<Event>, String> {
        let mut trace = Blktrace::new(bytes);
        let mut all = Vec::new();
        while let Some(event) = trace.next().map_err(|e| e.to_string())? {
            all.push(event);
        }
        Ok(all)
    }

    #[test]
    fn both_byte_orders_are_read() {
        for swap in [false, true] {
            let mut bytes = record(0, 0, 0, NOTIFY, swap);
            bytes.extend(record(5_000, 8, 4096, queued(READ), swap));
            bytes.extend(record(5_500, 8, 4096, COMPLETED | READ, swap));
            bytes.extend(record(6_000, 1 << 33, 8192, queued(WRITE), swap));
            bytes.extend(record(7_000, 16, 1 << 20, queued(WRITE | DISCARD), swap));
            bytes.extend(record(8_000, 0, 0, queued(WRITE | FLUSH), swap));
            bytes.extend(record(9_000, 24, 512, queued(WRITE | FLUSH), swap));
            bytes.extend(record(9_500, 24, 512, queued(READ | PASSTHROUGH), swap));
            let at = |at, kind, offset, length| Event { at, kind, offset, length, file: 0 };
            assert_eq!(
                events(&bytes).unwrap(),
                [
                    at(0, Kind::Read, 4096, 4096),
                    at(1_000, Kind::Write, 1 << 42, 8192),
                    at(2_000, Kind::Trim, 8192, 1 << 20),
                    at(3_000, Kind::Sync, 0, 0),
                    at(4_000, Kind::Sync, 0, 0),
                    at(4_000, Kind::Write, 24 * 512, 512),
                ]
            );
            let mut trace = Blktrace::new(&*bytes);
            while trace.next().unwrap().is_some() {}
            assert_eq!(trace.names(), [Name::Device { major: 7, minor: 3 }]);
            assert_eq!(trace.peak(), 4);
        }
    }

    #[test]
    fn a_record_is_written_as_it_was_read() {
        for swap in [false, true] {
            let bytes = record(5, 8, 4096, queued(WRITE), swap);
            let (_, read) = Records::new(&*bytes).next().unwrap().unwrap();
            assert_eq!(read.encode()[..], record(5, 8, 4096, queued(WRITE), false));
        }
    }

    #[test]
    fn data_behind_a_record_is_passed_over() {
        let mut bytes = record(0, 0, 512, queued(READ), false);
        bytes[46..48].copy_from_slice(&5_u16.to_ne_bytes());
        bytes.extend(b"hello");
        bytes.extend(record(1, 1, 512, queued(READ), false));
        assert_eq!(events(&bytes).unwrap().len(), 2);
        bytes.truncate(50);
        let text = events(&bytes).unwrap_err();
        assert!(
            text.starts_with("byte 0: the trace ends within the data of a record: 2 of 5"),
            "{text}"
        );
    }

    #[test]
    fn an_error_names_the_byte() {
        let good = record(0, 0, 512, queued(READ), false);
        let cut = events(&[&good[..], &good[..20]].concat()).unwrap_err();
        assert!(cut.starts_with("byte 48: the trace ends within a record: 20 of 48"), "{cut}");
        let mut other = good.clone();
        other[..4].copy_from_slice(&(MAGIC | 8).to_ne_bytes());
        let text = events(&[&good[..], &other].concat()).unwrap_err();
        assert_eq!(text, "byte 48: the trace is of version 8: expected version 7");
        other[..4].copy_from_slice(&[1, 2, 3, 4]);
        let text = events(&[&good[..], &other].concat()).unwrap_err();
        assert!(text.starts_with("byte 48: 0x04030201 stands where"), "{text}");
        let far = record(0, u64::MAX, 512, queued(READ), false);
        assert!(events(&far).unwrap_err().starts_with("byte 0: offset"));
    }
}
