//! Opens whatever holds a trace: its first bytes show what it is.

use super::blktrace::Blktrace;
use super::event::Entry;
use super::header::{End, Header, MAGIC};
use super::iolog::Iolog;
use super::reader::Reader;
use super::strace::{Strace, is_strace};
use crate::blktrace::is_magic;
use crate::error::TraceError;
use crate::iolog;
use std::io::{BufRead, Chain, Cursor, Read};

/// Bytes that are looked at.
const FIRST: u64 = 64 << 10;

type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

enum Source<R> {
    Ftr(Box<Reader<Whole<R>>>),
    Strace(Box<Strace<Whole<R>>>),
    Blktrace(Box<Blktrace<Whole<R>>>),
    Iolog(Box<Iolog<Whole<R>>>),
}

/// The entries of a trace, a text of strace, a block trace or an iolog.
pub struct AnyTrace<R> {
    source: Source<R>,
    header: Header,
    has_failed: bool,
}

impl<R: BufRead> AnyTrace<R> {
    /// Opens it.
    ///
    /// # Errors
    /// It is none of these, of another version, or cannot be read.
    pub fn open(mut input: R) -> Result<Self, TraceError> {
        let mut first = Vec::new();
        input.by_ref().take(FIRST).read_to_end(&mut first)?;
        let number = first.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
        let same = first.len().min(MAGIC.len());
        let is_ftr = same > 0 && first[..same] == MAGIC[..same];
        let is_iolog = first.starts_with(iolog::MAGIC);
        let is_text = !is_ftr && !is_iolog && is_strace(&first);
        let is_empty = first.is_empty();
        let whole = Cursor::new(first).chain(input);
        let source = match number {
            _ if is_empty => return Err(TraceError::Whole("it is empty".into())),
            _ if is_ftr => Source::Ftr(Box::new(Reader::new(whole)?)),
            _ if is_iolog => Source::Iolog(Box::new(Iolog::new(whole)?)),
            Some(number) if is_magic(number) => Source::Blktrace(Box::new(Blktrace::new(whole))),
            _ if is_text => Source::Strace(Box::new(Strace::new(whole))),
            _ => {
                let why = "it is no trace: expected one of fathom capture, a text of strace, a binary \
                           trace of blktrace or blkparse -d, or an iolog of fio";
                return Err(TraceError::Whole(why.into()));
            }
        };
        let named = |source: &str, device: bool| Header {
            source: source.into(),
            application: !device,
            device,
            ..Header::default()
        };
        let header = match &source {
            Source::Ftr(reader) => reader.header().clone(),
            Source::Strace(_) => named("strace", false),
            Source::Blktrace(_) => named("blktrace", true),
            Source::Iolog(_) => named("iolog", false),
        };
        Ok(AnyTrace { source, header, has_failed: false })
    }

    /// What was known when the trace began.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What was known when it ended; `None` before that was read, and of what other tools recorded.
    pub fn end(&self) -> Option<End> {
        match &self.source {
            Source::Ftr(reader) => reader.end(),
            Source::Strace(_) | Source::Blktrace(_) | Source::Iolog(_) => None,
        }
    }

    /// Whether the trace ends without the mark of its end. Known when all entries are read.
    pub fn is_truncated(&self) -> bool {
        matches!(&self.source, Source::Ftr(reader) if reader.is_truncated())
    }

    /// Calls on sockets, pipes, terminals and files of the kernel, so far.
    pub fn left_out(&self) -> u64 {
        match &self.source {
            Source::Ftr(reader) => reader.end().map_or(0, |end| end.left_out),
            Source::Strace(strace) => strace.left_out,
            Source::Blktrace(_) | Source::Iolog(_) => 0,
        }
    }

    /// What a reader should know of the entries so far.
    pub fn notes(&self) -> Vec<String> {
        match &self.source {
            Source::Strace(strace) if strace.rings > 0 => vec![format!(
                "strace does not show what io_uring does: {} calls of io_uring_enter have no events",
                strace.rings
            )],
            _ => Vec::new(),
        }
    }
}

impl<R: BufRead> Iterator for AnyTrace<R> {
    type Item = Result<Entry, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed {
            return None;
        }
        let next = match &mut self.source {
            Source::Ftr(reader) => reader.next().transpose(),
            Source::Strace(strace) => strace.next(),
            Source::Blktrace(trace) => trace.next(),
            Source::Iolog(log) => log.next(),
        };
        self.has_failed = next.is_err();
        next.transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftr::{Event, Operation, Writer};

    fn events(bytes: &[u8]) -> (String, Vec<Event>) {
        let mut trace = AnyTrace::open(bytes).unwrap();
        let events = trace.by_ref().filter_map(|entry| match entry.unwrap() {
            Entry::Event(event) => Some(event),
            _ => None,
        });
        let events = events.collect();
        (trace.header().source.clone(), events)
    }

    #[test]
    fn the_first_bytes_show_what_it_is() {
        let header = Header { source: "capture".into(), ..Header::default() };
        let trace = Writer::new(Vec::new(), &header).unwrap().finish().unwrap();
        assert_eq!(events(&trace), ("capture".into(), vec![]));
        let text = "12 10:00:00.5 pwrite64(3</x>, \"\"..., 9, 7) = 9 <0.000001>\n";
        let (source, found) = events(text.as_bytes());
        assert_eq!((source.as_str(), found[0].offset, found[0].length), ("strace", 7, 9));
        let (source, found) = events(b"fio version 2 iolog\n/a add\n/a open\n/a read 512 1024\n");
        assert_eq!((source.as_str(), found.len()), ("iolog", 2));
        assert_eq!((found[1].operation, found[1].offset), (Operation::Read, 512));
        let record =
            crate::blktrace::tests::record(5, 8, 512, crate::blktrace::tests::queued(0), true);
        assert_eq!(events(&record).0, "blktrace");
        let refused = |bytes: &[u8]| AnyTrace::open(bytes).err().unwrap().to_string();
        assert_eq!(refused(b""), "it is empty");
        for other in ["hello", "int main() {\n}\n", "\u{89}f"] {
            assert!(refused(other.as_bytes()).starts_with("it is no trace"), "{other}");
        }
        assert!(refused(b"\x89ftr").contains("ends within its header"));
        assert!(refused(b"fio version 9 iolog\n").contains("expected 2 or 3"));
    }
}
