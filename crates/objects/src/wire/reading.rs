//! Incremental parsing of an answer, without sockets.

use super::chunks::Chunks;
use super::head::{self, Framing, Head};
use crate::{Failure, Verb};

/// Maximum bytes to read of a body that explains an error or that is longer than requested. If more
/// follow, the connection is closed.
const EXCESS_MAX: u64 = 64 << 10;
/// Maximum interim heads before the final one ("100 Continue").
const INTERIM_MAX: u32 = 32;
/// Maximum size of a document, in bytes.
const DOCUMENT_MAX: usize = 64 << 20;

/// The request that is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The request.
    pub verb: Verb,
    /// Length of the content of a GET, in bytes.
    pub length: u64,
    /// First byte of the content, if a range of the object was requested.
    pub from: Option<u64>,
    /// Whether to keep the headers of a successful answer, too.
    pub headers: bool,
}

/// What happens to the bytes of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sink {
    /// They are only counted.
    Count,
    /// They are the requested content.
    Content,
    /// They are kept: a document, or the explanation of an error.
    Text,
}

/// One answer.
#[derive(Debug)]
pub struct Reading {
    asked: Asked,
    /// The start of an incomplete head.
    part: Vec<u8>,
    /// Number of interim heads.
    interim: u32,
    head: Option<Head>,
    sink: Sink,
    chunks: Chunks,
    /// Bytes of the body so far, and the bytes that were kept.
    came: u64,
    text: Vec<u8>,
    /// Whether any byte was received.
    begun: bool,
    whole: bool,
    /// Whether the rest of the body is not read.
    cut: bool,
}

impl Reading {
    /// The answer to a request, before its first byte.
    pub fn new(asked: Asked) -> Reading {
        Reading {
            asked,
            part: Vec::new(),
            interim: 0,
            head: None,
            sink: Sink::Count,
            chunks: Chunks::default(),
            came: 0,
            text: Vec::new(),
            begun: false,
            whole: false,
            cut: false,
        }
    }

    /// Whether a byte of it was received.
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// Whether the answer is complete, or the rest of it is not needed.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether the connection may carry another request after it.
    pub fn leaves_reusable(&self) -> bool {
        self.whole && !self.cut && self.head.as_ref().is_some_and(|head| head.reusable)
    }

    /// Whether content may be stored in the slot's buffer.
    pub fn wants_room(&self) -> bool {
        self.asked.verb == Verb::Get && (self.head.is_none() || self.sink == Sink::Content)
    }

    /// The offset in the content and the number of bytes that may be received directly there,
    /// without parsing. `None` if received bytes must be parsed by [`Reading::take`].
    pub fn straight(&self) -> Option<(u64, u64)> {
        if self.whole || self.sink == Sink::Text {
            return None;
        }
        match self.head.as_ref()?.framing {
            Framing::Length(length) => Some((self.came, length - self.came)),
            Framing::Close => Some((self.came, u64::MAX - self.came)),
            Framing::Chunked => None,
        }
    }

    /// Counts bytes that were received directly.
    ///
    /// # Errors
    /// The content is far longer than requested.
    pub fn passed(&mut self, bytes: u64) -> Result<(), Failure> {
        self.came += bytes;
        self.after_body()
    }

    /// Parses bytes and stores content in `room`. Returns how many of the bytes belong to this
    /// answer.
    ///
    /// # Errors
    /// The bytes are no answer to the request.
    pub fn take(&mut self, bytes: &[u8], mut room: Option<&mut [u8]>) -> Result<usize, Failure> {
        self.begun |= !bytes.is_empty();
        let mut at = 0;
        while at < bytes.len() && !self.whole {
            at += match &self.head {
                None => self.take_head(&bytes[at..])?,
                Some(_) => self.take_body(&bytes[at..], room.as_deref_mut())?,
            };
        }
        Ok(at)
    }

    /// Handles the end of the connection.
    ///
    /// # Errors
    /// The answer is incomplete.
    pub fn close(&mut self) -> Result<(), Failure> {
        let Some(head) = &self.head else {
            if !self.part.is_empty() {
                head::read(&self.part, self.asked.verb, self.asked.headers)?;
            }
            return Err(match self.asked.verb {
                Verb::Get => Failure::Short { came: 0, due: self.asked.length },
                _ => Failure::Broken(libc::ECONNRESET),
            });
        };
        let due = match head.framing {
            // The status explains the failure.
            _ if head.status >= 300 => self.came,
            Framing::Close if self.sink != Sink::Content => self.came,
            Framing::Close => self.asked.length,
            Framing::Length(length) => length,
            Framing::Chunked if self.came < self.asked.length => self.asked.length,
            Framing::Chunked => return Err(Failure::Garbage("its last chunk is missing".into())),
        };
        if self.came < due {
            return Err(Failure::Short { came: self.came, due });
        }
        self.whole = true;
        self.cut = true;
        Ok(())
    }

    /// The head, and the bytes of the body that were kept.
    ///
    /// # Errors
    /// The content has another length than requested.
    pub fn finish(self) -> Result<(Head, Vec<u8>), Failure> {
        if self.sink == Sink::Content && self.came != self.asked.length {
            return Err(Failure::WrongLength { length: self.came, asked: self.asked.length });
        }
        match self.head {
            Some(head) => Ok((head, self.text)),
            None => Err(Failure::Garbage("it has no head".into())),
        }
    }

    fn take_head(&mut self, bytes: &[u8]) -> Result<usize, Failure> {
        let before = self.part.len();
        // Without a line end, parsing again is useless until the head is too long.
        if before > 256 && !bytes.contains(&b'\n') && before + bytes.len() < head::HEAD_MAX {
            self.part.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        let read = if before == 0 {
            head::read(bytes, self.asked.verb, self.asked.headers)?
        } else {
            let fits = bytes.len().min(head::HEAD_MAX + 1 - before.min(head::HEAD_MAX));
            self.part.extend_from_slice(&bytes[..fits]);
            head::read(&self.part, self.asked.verb, self.asked.headers)?
        };
        let Some((head, length)) = read else {
            if before == 0 {
                self.part.extend_from_slice(bytes);
                return Ok(bytes.len());
            }
            return Ok(self.part.len() - before);
        };
        self.part.clear();
        if head.status >= 200 {
            self.begin_body(head)?;
        } else {
            self.interim += 1;
            if self.interim > INTERIM_MAX {
                return Err(Failure::Garbage("status 100 again and again, and no answer".into()));
            }
        }
        Ok(length - before)
    }

    fn begin_body(&mut self, head: Head) -> Result<(), Failure> {
        self.sink = match self.asked.verb {
            _ if head.status >= 300 => Sink::Text,
            Verb::Get => Sink::Content,
            Verb::List | Verb::BeginUpload | Verb::EndUpload => Sink::Text,
            _ => Sink::Count,
        };
        if self.sink == Sink::Content {
            self.check_range(&head)?;
        }
        if let (Framing::Length(length), Sink::Content) = (head.framing, self.sink) {
            self.check_length(length)?;
        }
        self.head = Some(head);
        self.after_body()
    }

    /// Checks that the content is the requested range of the object.
    fn check_range(&self, head: &Head) -> Result<(), Failure> {
        let asked = self.asked.length;
        match (self.asked.from, head.status, head.range) {
            (None, 206, _) => Err(Failure::Garbage("part of the object, all was asked for".into())),
            (None, ..) => Ok(()),
            (Some(from), 206, Some((first, last))) => {
                if first != from {
                    let text = format!("bytes from {first} on, those from {from} were asked for");
                    return Err(Failure::Garbage(text));
                }
                let length = last - first + 1;
                let same = length == asked;
                if same { Ok(()) } else { Err(Failure::WrongLength { length, asked }) }
            }
            (Some(_), 206, None) => {
                Err(Failure::Garbage("part of the object without a Content-Range".into()))
            }
            (Some(from), ..) => match head.framing {
                Framing::Length(length) if length != asked => {
                    Err(Failure::WrongLength { length, asked })
                }
                _ if from == 0 => Ok(()),
                _ => Err(Failure::Garbage(format!(
                    "the object's beginning, bytes from {from} on were asked for"
                ))),
            },
        }
    }

    /// Checks the length of the content against the request.
    fn check_length(&self, length: u64) -> Result<(), Failure> {
        let asked = self.asked.length;
        let far = length > asked.saturating_add(EXCESS_MAX);
        if far { Err(Failure::WrongLength { length, asked }) } else { Ok(()) }
    }

    fn take_body(&mut self, bytes: &[u8], mut room: Option<&mut [u8]>) -> Result<usize, Failure> {
        let framing = self.head.as_ref().map_or(Framing::Close, |head| head.framing);
        let taken = match framing {
            Framing::Length(length) => (length - self.came).min(bytes.len() as u64) as usize,
            Framing::Close => bytes.len(),
            Framing::Chunked => {
                let (sink, came, text) = (self.sink, &mut self.came, &mut self.text);
                self.chunks.take(bytes, |piece| {
                    keep(sink, piece, *came, room.as_deref_mut(), text);
                    *came += piece.len() as u64;
                })?
            }
        };
        if framing != Framing::Chunked {
            keep(self.sink, &bytes[..taken], self.came, room, &mut self.text);
            self.came += taken as u64;
        }
        self.after_body()?;
        Ok(taken)
    }

    /// Checks whether the body is complete, or enough of it was received.
    fn after_body(&mut self) -> Result<(), Failure> {
        let Some(head) = &self.head else { return Ok(()) };
        // The end of the connection may have completed it.
        self.whole |= match head.framing {
            Framing::Length(length) => self.came == length,
            Framing::Chunked => self.chunks.is_whole(),
            Framing::Close => false,
        };
        // A body that is only counted, or that explains an error, need not be received completely.
        let dull = self.sink == Sink::Count || head.status >= 300;
        match self.sink {
            Sink::Content => self.check_length(self.came),
            _ if dull && !self.whole && self.came >= EXCESS_MAX => {
                self.whole = true;
                self.cut = true;
                Ok(())
            }
            Sink::Text if self.text.len() > DOCUMENT_MAX => {
                Err(Failure::Garbage(format!("its document is longer than {DOCUMENT_MAX} bytes")))
            }
            _ => Ok(()),
        }
    }
}

/// Stores a piece of a body that starts at offset `at`.
fn keep(sink: Sink, piece: &[u8], at: u64, room: Option<&mut [u8]>, text: &mut Vec<u8>) {
    match (sink, room) {
        (Sink::Text, _) => text.extend_from_slice(piece),
        (Sink::Content, Some(room)) => {
            let from = usize::try_from(at).unwrap_or(usize::MAX).min(room.len());
            let fits = piece.len().min(room.len() - from);
            room[from..from + fits].copy_from_slice(&piece[..fits]);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn get(length: u64) -> Asked {
        Asked { verb: Verb::Get, length, from: None, headers: false }
    }

    /// Parses `text` in pieces of `step` bytes, then the end of the connection. Returns the bytes
    /// of the answer, the content of the buffer, and the result.
    fn read(asked: Asked, text: &[u8], step: usize) -> (usize, Vec<u8>, Result<u16, Failure>) {
        let mut reading = Reading::new(asked);
        let mut room = vec![0; asked.length as usize];
        let mut taken = 0;
        let mut run = || {
            for piece in text.chunks(step) {
                taken += reading.take(piece, Some(&mut room))?;
                if reading.is_whole() {
                    break;
                }
            }
            if !reading.is_whole() {
                reading.close()?;
            }
            Ok(())
        };
        let result = run().and_then(|()| reading.finish()).map(|(head, _)| head.status);
        (taken, room, result)
    }

    fn result(asked: Asked, text: &str) -> Result<u16, Failure> {
        let (_, _, result) = read(asked, text.as_bytes(), usize::MAX);
        assert_eq!(read(asked, text.as_bytes(), 1).2, result, "{text:?} byte by byte");
        result
    }

    #[test]
    fn content_gets_to_its_room_however_it_is_framed() {
        for text in [
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n2\r\nef\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\n\r\nabcdef",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef",
        ] {
            for step in [1, 2, 7, 1000] {
                let (taken, room, result) = read(get(6), text.as_bytes(), step);
                assert_eq!((taken, room.as_slice(), result), (text.len(), &b"abcdef"[..], Ok(200)));
            }
        }
    }

    #[test]
    fn bytes_after_an_answer_are_not_part_of_it() {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabHTTP/1.1";
        let (taken, room, result) = read(get(2), text.as_bytes(), 1000);
        assert_eq!((taken, room.as_slice(), result), (text.len() - 8, &b"ab"[..], Ok(200)));
    }

    #[test]
    fn content_that_ends_too_early_is_short() {
        let short = |came, due| Err(Failure::Short { came, due });
        assert_eq!(result(get(6), "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc"), short(3, 6));
        assert_eq!(result(get(6), "HTTP/1.1 200 OK\r\n\r\nabc"), short(3, 6));
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(result(get(6), &format!("{chunked}3\r\nabc\r\n")), short(3, 6));
        assert!(matches!(
            result(get(3), &format!("{chunked}3\r\nabc\r\n")),
            Err(Failure::Garbage(_))
        ));
        assert_eq!(result(get(6), "HTTP/1.1 200"), short(0, 6));
        let put = Asked { verb: Verb::Put, length: 6, from: None, headers: false };
        assert_eq!(result(put, ""), Err(Failure::Broken(libc::ECONNRESET)));
    }

    #[test]
    fn content_of_another_length_is_wrong() {
        let wrong = |length, asked| Err(Failure::WrongLength { length, asked });
        let ok = "HTTP/1.1 200 OK\r\n";
        assert_eq!(result(get(6), &format!("{ok}Content-Length: 3\r\n\r\nabc")), wrong(3, 6));
        assert_eq!(result(get(2), &format!("{ok}Content-Length: 3\r\n\r\nabc")), wrong(3, 2));
        assert_eq!(result(get(2), &format!("{ok}\r\nabc")), wrong(3, 2));
        // A surplus of this size is not received.
        assert_eq!(result(get(2), &format!("{ok}Content-Length: 99999999\r\n\r\n")), {
            wrong(99_999_999, 2)
        });
    }

    #[test]
    fn a_range_is_the_one_that_was_asked_for() {
        let asked = Asked { verb: Verb::Get, length: 3, from: Some(4), headers: false };
        let part = |range: &str, length: u64| {
            let content = "x".repeat(length as usize);
            let head = "HTTP/1.1 206 Partial Content\r\n";
            format!("{head}Content-Range: {range}\r\nContent-Length: {length}\r\n\r\n{content}")
        };
        let wrong = Err(Failure::WrongLength { length: 2, asked: 3 });
        assert_eq!(result(asked, &part("bytes 4-6/10", 3)), Ok(206));
        assert_eq!(result(asked, &part("bytes 4-5/6", 2)), wrong);
        assert_eq!(result(asked, &part("bytes 4-6/10", 2)), wrong);
        assert!(matches!(result(asked, &part("bytes 0-2/10", 3)), Err(Failure::Garbage(_))));
        assert!(matches!(result(asked, &part("nonsense", 3)), Err(Failure::Garbage(_))));
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789";
        assert_eq!(result(asked, whole), Err(Failure::WrongLength { length: 10, asked: 3 }));
        let same = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n012";
        assert!(matches!(result(asked, same), Err(Failure::Garbage(_))));
        assert_eq!(result(Asked { from: Some(0), ..asked }, same), Ok(200));
        assert!(matches!(result(get(3), &part("bytes 0-2/10", 3)), Err(Failure::Garbage(_))));
    }

    #[test]
    fn an_error_is_known_by_its_status_whatever_its_body() {
        let head = "HTTP/1.1 404 Not Found\r\nContent-Length: 50\r\n\r\n";
        assert_eq!(result(get(6), &format!("{head}<Error>")), Ok(404));
        let long = format!("HTTP/1.1 500 No\r\n\r\n{}", "x".repeat(EXCESS_MAX as usize * 2));
        let mut reading = Reading::new(get(6));
        reading.take(long.as_bytes(), None).unwrap();
        assert!(reading.is_whole() && !reading.leaves_reusable());
        let mut reading = Reading::new(get(6));
        reading.take(format!("{head}{}", "y".repeat(50)).as_bytes(), None).unwrap();
        assert!(reading.is_whole() && reading.leaves_reusable());
        assert_eq!(reading.finish().unwrap().1.len(), 50);
    }

    #[test]
    fn answers_without_an_end_come_to_one() {
        let put = Asked { verb: Verb::Put, length: 6, from: None, headers: false };
        let mut reading = Reading::new(put);
        let long = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(EXCESS_MAX as usize));
        reading.take(long.as_bytes(), None).unwrap();
        assert!(reading.is_whole() && !reading.leaves_reusable());
        let again = "HTTP/1.1 100 Continue\r\n\r\n".repeat(100);
        assert!(matches!(result(put, &again), Err(Failure::Garbage(_))));
        let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(EXCESS_MAX as usize * 2));
        let long = read(get(6), endless.as_bytes(), 1000).2;
        assert!(matches!(long, Err(Failure::WrongLength { asked: 6, .. })), "{long:?}");
    }

    #[test]
    fn documents_are_kept() {
        let mut reading =
            Reading::new(Asked { verb: Verb::List, length: 0, from: None, headers: false });
        let text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n<a>\r\n4\r\n</a>\r\n0\r\n\r\n";
        reading.take(text.as_bytes(), None).unwrap();
        assert_eq!(reading.finish().unwrap().1, b"<a></a>");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_and_pieces_make_no_difference(
            start in prop::sample::select(vec![
                "", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 206 P\r\nContent-Range: bytes 0-",
                "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n", "HTTP/1.0 503 Slow Down\r\n",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            ]),
            words in prop::collection::vec(prop::sample::select(vec![
                "a", "\r\n", "\r\n\r\n", "0\r\n", "7", "f", ":", ";", " ", "\n", "\0", "HTTP/1.1 200 ",
                "Content-Length: ", "Transfer-Encoding: chunked\r\n", "bytes ", "\u{ff}",
            ]), 0..40),
            step in 1usize..50,
            length in 0u64..40,
            from in prop::option::of(0u64..3),
        ) {
            let text = format!("{start}{}", words.concat());
            let asked = Asked { verb: Verb::Get, length, from, headers: false };
            let at_once = read(asked, text.as_bytes(), usize::MAX);
            let pieces = read(asked, text.as_bytes(), step);
            // The message of a failure quotes the bytes received until then.
            prop_assert_eq!(at_once.2.map_err(|why| why.kind()), pieces.2.map_err(|why| why.kind()));
            prop_assert_eq!(at_once.1, pieces.1);
        }
    }
}
