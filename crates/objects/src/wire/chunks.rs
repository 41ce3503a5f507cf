//! Bodies in chunks (RFC 9112, section 7.1).

use super::head::HEAD_MAX;
use crate::Failure;

/// The position in a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// In the digits of a size. `digits` is whether one was read.
    Size { digits: bool },
    /// After the digits, before the end of the line.
    Extension,
    /// Before the line feed of a size's line.
    SizeEnd,
    /// In a chunk.
    Data,
    /// Before the carriage return after a chunk.
    DataReturn,
    /// Before the line feed after a chunk.
    DataEnd,
    /// In the lines after the last chunk. `any` is whether this line has text.
    Trailer { any: bool },
    /// Before the line feed of such a line.
    TrailerEnd { any: bool },
    /// After the body.
    End,
}

/// Parses a chunked body.
#[derive(Clone, Debug)]
pub struct Chunks {
    place: Place,
    /// Size of the chunk as read so far, then its missing bytes.
    left: u64,
    /// Bytes of this size's line, or of all lines after the last chunk.
    line: usize,
}

impl Default for Chunks {
    fn default() -> Chunks {
        Chunks { place: Place::Size { digits: false }, left: 0, line: 0 }
    }
}

impl Chunks {
    /// Whether the body is complete.
    pub fn is_whole(&self) -> bool {
        self.place == Place::End
    }

    /// Parses received bytes and passes each piece of content to `piece`. Returns how many of the
    /// bytes belong to the body.
    ///
    /// # Errors
    /// The bytes are no chunks.
    pub fn take(&mut self, bytes: &[u8], mut piece: impl FnMut(&[u8])) -> Result<usize, Failure> {
        let mut at = 0;
        while at < bytes.len() && !self.is_whole() {
            if self.place == Place::Data {
                let rest = &bytes[at..];
                let length = self.left.min(rest.len() as u64) as usize;
                piece(&rest[..length]);
                at += length;
                self.left -= length as u64;
                if self.left == 0 {
                    self.place = Place::DataReturn;
                }
            } else {
                self.step(bytes[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    /// One byte between the chunks.
    fn step(&mut self, byte: u8) -> Result<(), Failure> {
        self.line += 1;
        if self.line > HEAD_MAX {
            return Err(Failure::Garbage("a line between its chunks does not end".into()));
        }
        self.place = match (self.place, byte) {
            (Place::Size { .. }, byte) if byte.is_ascii_hexdigit() => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                let size = self.left.checked_mul(16).ok_or_else(|| wrong(byte))?;
                self.left = size + u64::from(digit);
                Place::Size { digits: true }
            }
            (Place::Size { digits: true }, b'\r') => Place::SizeEnd,
            (Place::Size { digits: true }, b';' | b' ' | b'\t') => Place::Extension,
            (Place::Extension, b'\r') => Place::SizeEnd,
            (Place::Extension, byte) if byte != b'\n' => Place::Extension,
            (Place::SizeEnd, b'\n') => self.after_size(),
            (Place::DataReturn, b'\r') => Place::DataEnd,
            (Place::DataEnd, b'\n') => self.next(),
            (Place::Trailer { any }, b'\r') => Place::TrailerEnd { any },
            (Place::Trailer { .. }, byte) if byte != b'\n' => Place::Trailer { any: true },
            (Place::TrailerEnd { any: true }, b'\n') => Place::Trailer { any: false },
            (Place::TrailerEnd { any: false }, b'\n') => Place::End,
            (_, byte) => return Err(wrong(byte)),
        };
        Ok(())
    }

    fn after_size(&mut self) -> Place {
        self.line = 0;
        if self.left == 0 { Place::Trailer { any: false } } else { Place::Data }
    }

    fn next(&mut self) -> Place {
        self.line = 0;
        Place::Size { digits: false }
    }
}

fn wrong(byte: u8) -> Failure {
    let byte = byte.escape_ascii();
    Failure::Garbage(format!("its body is to be in chunks, and '{byte}' ends or begins none"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(text: &[u8]) -> Result<(Vec<u8>, usize, bool), Failure> {
        let mut chunks = Chunks::default();
        let mut out = Vec::new();
        let taken = chunks.take(text, |piece| out.extend_from_slice(piece))?;
        Ok((out, taken, chunks.is_whole()))
    }

    #[test]
    fn chunks_become_content() {
        let text = b"4\r\nabcd\r\n0A;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\nHTTP";
        let expected = (b"abcd0123456789".to_vec(), text.len() - 4, true);
        assert_eq!(content(text), Ok(expected.clone()));
        let mut chunks = Chunks::default();
        let mut out = Vec::new();
        for byte in &text[..text.len() - 4] {
            assert!(!chunks.is_whole());
            let taken = chunks.take(&[*byte], |piece| out.extend_from_slice(piece));
            assert_eq!(taken, Ok(1));
        }
        assert!(chunks.is_whole());
        assert_eq!(out, expected.0);
        assert_eq!(content(b"0\r\n\r\n"), Ok((Vec::new(), 5, true)));
        assert_eq!(content(b"3\r\nab"), Ok((b"ab".to_vec(), 5, false)));
    }

    #[test]
    fn an_invalid_chunk_is_refused() {
        let long = [b"1;".as_slice(), &vec![b'x'; HEAD_MAX]].concat();
        for text in [
            b"x\r\n".as_slice(),
            b"\r\n",
            b"1\na",
            b"1\r\nab",
            b"11111111111111111\r\n",
            b"1\rx",
            &long,
        ] {
            assert!(matches!(content(text), Err(Failure::Garbage(_))), "{}", text.escape_ascii());
        }
    }
}
