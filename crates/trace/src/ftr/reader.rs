//! Reads a trace, block by block.

use super::codec::{Context, decode};
use super::event::Entry;
use super::header::{End, FIXED, Header, MAGIC};
use super::varint::Bytes;
use super::writer::{BEFORE, BLOCK, END, UNPACKED_MAX};
use crate::error::TraceError;
use std::io::Read;

const HEADER_CUT: &str = "it ends within its header: nothing was captured";

/// Reads the entries of a trace, one block in memory at a time.
///
/// A trace whose writer was killed ends with its last whole block; [`Reader::is_truncated`] says so
/// then. Damage in front of that is an error, after which no entry follows.
pub struct Reader<R> {
    input: R,
    header: Header,
    /// Bytes read so far, whole blocks.
    at: u64,
    entries: Vec<u8>,
    next: usize,
    left: u32,
    context: Context,
    files: u32,
    threads: u32,
    end: Option<End>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Ended,
    Truncated,
    Failed,
}

impl<R: Read> Reader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// It is not a trace of this format and version, or cannot be read.
    pub fn new(mut input: R) -> Result<Self, TraceError> {
        let mut fixed = [0; FIXED];
        let read = fill(&mut input, &mut fixed)?;
        let same = read.min(MAGIC.len());
        match read {
            0 => return Err(TraceError::Whole("it is empty".into())),
            _ if fixed[..same] != MAGIC[..same] => {
                let what = "no trace of fathom capture begins like this";
                return Err(TraceError::Byte { byte: 0, what: what.into() });
            }
            1..FIXED => return Err(TraceError::Whole(HEADER_CUT.into())),
            _ => {}
        }
        let (length, sum) = Header::text_length(&fixed)?;
        let mut text = vec![0; length];
        if fill(&mut input, &mut text)? < length {
            return Err(TraceError::Whole(HEADER_CUT.into()));
        }
        Ok(Reader {
            input,
            header: Header::decode(&text, sum)?,
            at: (FIXED + length) as u64,
            entries: Vec::new(),
            next: 0,
            left: 0,
            context: Context::new(),
            files: 0,
            threads: 0,
            end: None,
            state: State::Reading,
        })
    }

    /// What was known when the trace began.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What was known when it ended; `None` before the end was read, and of a truncated trace.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Whether the trace ends without the mark of its end: its writer was killed. Known when all
    /// entries are read.
    pub fn is_truncated(&self) -> bool {
        self.state == State::Truncated
    }

    /// Reads the next block. `false` at the end.
    fn block(&mut self) -> Result<bool, TraceError> {
        let begin = self.at;
        let wrong = |what: String| TraceError::Byte { byte: begin, what };
        let mut before = [0; BEFORE];
        let read = fill(&mut self.input, &mut before)?;
        if read < BEFORE || before == [0; BEFORE] {
            self.state = State::Truncated;
            return Ok(false);
        }
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| before[at + byte]));
        let [mark, packed, unpacked, count, sum] = [0, 4, 8, 12, 16].map(word);
        if mark != BLOCK && mark != END {
            return Err(wrong("no block begins here: the trace is damaged".into()));
        }
        let (packed, unpacked) = (packed as usize, unpacked as usize);
        if packed > lz4_flex::block::get_maximum_output_size(UNPACKED_MAX)
            || unpacked > UNPACKED_MAX
        {
            let what = "its length is beyond that of any block: the trace is damaged";
            return Err(wrong(what.into()));
        }
        let mut bytes = vec![0; packed];
        if fill(&mut self.input, &mut bytes)? < packed {
            self.state = State::Truncated;
            return Ok(false);
        }
        if crc32c::crc32c_append(crc32c::crc32c(&before[..16]), &bytes) != sum {
            // The last block may lack parts that were never written to the disk.
            if fill(&mut self.input, &mut [0])? == 0 {
                self.state = State::Truncated;
                return Ok(false);
            }
            return Err(wrong("a block does not have its checksum: the trace is damaged".into()));
        }
        self.at += (BEFORE + packed) as u64;
        if mark == END {
            self.end = End::decode(&bytes);
            self.state = State::Ended;
            if fill(&mut self.input, &mut [0])? > 0 {
                let what = "bytes follow the end of the trace: it is damaged or two were joined";
                return Err(TraceError::Byte { byte: self.at, what: what.into() });
            }
            return Ok(false);
        }
        self.entries.resize(unpacked, 0);
        let filled = lz4_flex::block::decompress_into(&bytes, &mut self.entries);
        if !filled.is_ok_and(|filled| filled == unpacked) {
            return Err(wrong("a block cannot be unpacked: the trace is damaged".into()));
        }
        (self.next, self.left) = (0, count);
        self.context.reset();
        Ok(true)
    }

    fn entry(&mut self) -> Result<Option<Entry>, TraceError> {
        while self.left == 0 {
            if self.next < self.entries.len() {
                return Err(self.damaged("bytes are left in a block"));
            }
            if !self.block()? {
                return Ok(None);
            }
        }
        self.left -= 1;
        let mut bytes = Bytes(&self.entries[self.next..]);
        let decoded = decode(&mut bytes, &mut self.context);
        self.next = self.entries.len() - bytes.0.len();
        let Some(entry) = decoded else { return Err(self.damaged("an entry is none")) };
        let is_known = match &entry {
            Entry::Event(event) => event.file < self.files && event.thread < self.threads,
            Entry::Contents(contents) => contents.file < self.files,
            Entry::File(file) => {
                self.files = self.files.saturating_add(1);
                file.number == self.files - 1
            }
            Entry::Thread(thread) => {
                self.threads = self.threads.saturating_add(1);
                thread.number == self.threads - 1
            }
            Entry::Lost(_) => true,
        };
        match is_known {
            true => Ok(Some(entry)),
            false => Err(self.damaged("an entry names a file or thread that is not known")),
        }
    }

    fn damaged(&self, what: &str) -> TraceError {
        TraceError::Byte { byte: self.at, what: format!("{what}: the trace is damaged") }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Entry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state != State::Reading {
            return None;
        }
        let entry = self.entry();
        if entry.is_err() {
            self.state = State::Failed;
        }
        entry.transpose()
    }
}

/// Fills `bytes` as far as possible. Returns the number of bytes read.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> Result<usize, TraceError> {
    let mut filled = 0;
    while filled < bytes.len() {
        match input.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(filled)
}
