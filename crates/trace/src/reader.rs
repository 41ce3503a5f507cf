//! Reads a log in the format that its first bytes show.

use crate::blktrace::{Blktrace, is_magic};
use crate::error::TraceError;
use crate::event::{Event, Name};
use crate::iolog::{self, Iolog};
use std::io::{BufRead, Cursor, Read};

/// The format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// fio's text log of this version.
    Iolog(u8),
    /// A binary block trace.
    Blktrace,
}

impl Default for Format {
    fn default() -> Self {
        Format::Iolog(3)
    }
}

/// Reads the events of a log in order.
pub struct Reader<R>(Inner<R>);

type Whole<R> = std::io::Chain<Cursor<Vec<u8>>, R>;

enum Inner<R> {
    Iolog(Iolog<Whole<R>>),
    Blktrace(Box<Blktrace<Whole<R>>>),
}

impl<R: BufRead> Reader<R> {
    /// Starts to read.
    ///
    /// # Errors
    /// The log is neither an iolog nor a block trace, or its version is not known.
    pub fn new(mut input: R) -> Result<Self, TraceError> {
        let mut first = Vec::new();
        input.by_ref().take(iolog::MAGIC.len() as u64).read_to_end(&mut first)?;
        let number = first.first_chunk().map(|bytes| u32::from_ne_bytes(*bytes));
        let whole = |first| Cursor::new(first).chain(input);
        match number {
            _ if first == iolog::MAGIC => Ok(Reader(Inner::Iolog(Iolog::new(whole(first))?))),
            Some(number) if is_magic(number) => {
                Ok(Reader(Inner::Blktrace(Box::new(Blktrace::new(whole(first))))))
            }
            None if first.is_empty() => Err(TraceError::Whole("it is empty".into())),
            _ => Err(TraceError::Whole(
                "it is neither an iolog, whose first line is 'fio version 2 iolog' or \
                 'fio version 3 iolog', nor a binary trace of blktrace or blkparse -d"
                    .into(),
            )),
        }
    }

    /// The format.
    pub fn format(&self) -> Format {
        match &self.0 {
            Inner::Iolog(log) => Format::Iolog(log.version()),
            Inner::Blktrace(_) => Format::Blktrace,
        }
    }

    /// The names of the files of the events so far.
    pub fn names(&self) -> &[Name] {
        match &self.0 {
            Inner::Iolog(log) => log.names(),
            Inner::Blktrace(trace) => trace.names(),
        }
    }

    /// The largest number of I/Os in flight in a block trace so far; 0 for an iolog, which does not
    /// show it.
    pub fn peak_depth(&self) -> u32 {
        match &self.0 {
            Inner::Iolog(_) => 0,
            Inner::Blktrace(trace) => trace.peak(),
        }
    }

    /// The next event; `None` at the end. Must not be called again after an error.
    ///
    /// # Errors
    /// What is wrong with the log, and where.
    pub fn next_event(&mut self) -> Result<Option<Event>, TraceError> {
        match &mut self.0 {
            Inner::Iolog(log) => log.next(),
            Inner::Blktrace(trace) => trace.next(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_identify_the_format() {
        let format = |bytes: &[u8]| Reader::new(bytes).map(|r| r.format());
        assert_eq!(format(b"fio version 2 iolog\n"), Ok(Format::Iolog(2)));
        assert_eq!(format(b"fio version 3 iolog"), Ok(Format::Iolog(3)));
        assert_eq!(format(&0x6561_7407_u32.to_be_bytes()), Ok(Format::Blktrace));
        assert_eq!(format(&0x6561_7407_u32.to_le_bytes()), Ok(Format::Blktrace));
        assert_eq!(format(b"").unwrap_err().to_string(), "it is empty");
        for other in ["f", "hello, world", "fio version", "#!/bin/sh"] {
            let text = format(other.as_bytes()).unwrap_err().to_string();
            assert!(text.starts_with("it is neither an iolog"), "{other}: {text}");
        }
    }
}
