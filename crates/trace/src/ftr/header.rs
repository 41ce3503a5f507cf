//! The beginning of a trace file, and what stands at its end.

use super::varint::{Bytes, put, put_text};
use crate::error::TraceError;

/// First bytes of every trace.
pub(crate) const MAGIC: &[u8; 8] = b"\x89ftr\r\n\x1a\n";
/// Version of the format that is written, and the only one that is read.
const VERSION: u32 = 1;
/// Bytes before the text of a header: magic, version, length, checksum.
pub(super) const FIXED: usize = 20;
/// Longest text of a header.
const TEXT_MAX: usize = 1 << 20;

/// Whether these are the first bytes of a trace; fewer than eight may be.
pub fn is_trace(first: &[u8]) -> bool {
    first.iter().zip(MAGIC).all(|(byte, expected)| byte == expected)
}

/// What is known when a trace begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// What made the trace: "capture", "strace", "blktrace", "iolog".
    pub source: String,
    /// Time of day when it began, in nanoseconds since 1970; `None` if unknown.
    pub began_unix_ns: Option<u64>,
    /// What was traced, for people: a command, a process, a path.
    pub subject: String,
    /// The application level was traced.
    pub application: bool,
    /// The device level was traced.
    pub device: bool,
    /// Names are hashes.
    pub anonymous: bool,
}

/// What is known when a trace ends in good order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Length of the trace, in nanoseconds.
    pub duration_ns: u64,
    /// Calls on sockets, pipes, terminals and files of the kernel (/proc, /sys), which are left out.
    pub left_out: u64,
    /// Events that were lost, in all.
    pub lost: u64,
}

impl Header {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut text = Vec::new();
        put_text(&mut text, &self.source);
        put(&mut text, self.began_unix_ns.unwrap_or(0));
        put_text(&mut text, &self.subject);
        let bits = [self.application, self.device, self.anonymous];
        text.push(bits.iter().rev().fold(0, |all, bit| all << 1 | u8::from(*bit)));
        let mut out = MAGIC.to_vec();
        for word in [VERSION, text.len() as u32, crc32c::crc32c(&text)] {
            out.extend(word.to_le_bytes());
        }
        out.extend(text);
        out
    }

    /// The length of the text and its checksum, from the fixed part behind the magic.
    pub(super) fn text_length(fixed: &[u8; FIXED]) -> Result<(usize, u32), TraceError> {
        let wrong = |byte, what: String| Err(TraceError::Byte { byte, what });
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| fixed[at + byte]));
        let (version, length) = (word(8), word(12) as usize);
        if version != VERSION {
            let what = format!(
                "the trace has version {version}: this program reads version {VERSION}; use the \
                 fathom that wrote it, or capture again"
            );
            return wrong(8, what);
        }
        if length > TEXT_MAX {
            return wrong(12, format!("a header of {length} bytes: the trace is damaged"));
        }
        Ok((length, word(16)))
    }

    pub(super) fn decode(text: &[u8], sum: u32) -> Result<Header, TraceError> {
        let wrong = |what: &str| {
            Err(TraceError::Byte {
                byte: FIXED as u64,
                what: format!("{what}: the trace is damaged"),
            })
        };
        if crc32c::crc32c(text) != sum {
            return wrong("the header does not have its checksum");
        }
        let mut bytes = Bytes(text);
        let mut read = || {
            let (source, began) = (bytes.text()?.to_owned(), bytes.number()?);
            let (subject, bits) = (bytes.text()?.to_owned(), bytes.byte()?);
            let bit = |bit: u8| bits & 1 << bit != 0;
            Some(Header {
                source,
                began_unix_ns: Some(began).filter(|began| *began > 0),
                subject,
                application: bit(0),
                device: bit(1),
                anonymous: bit(2),
            })
        };
        read().map_or_else(|| wrong("the header is incomplete"), Ok)
    }
}

impl End {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        [self.duration_ns, self.left_out, self.lost].iter().for_each(|n| put(&mut out, *n));
        out
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<End> {
        let mut bytes = Bytes(bytes);
        Some(End { duration_ns: bytes.number()?, left_out: bytes.number()?, lost: bytes.number()? })
    }
}
