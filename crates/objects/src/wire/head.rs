//! Heads of answers.

use crate::{Failure, Verb};
use std::str;

/// Maximum size of a head, in bytes.
pub const HEAD_MAX: usize = 64 << 10;
const HEADERS_MAX: usize = 128;

/// How the end of a body is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// By its length in bytes, which may be 0.
    Length(u64),
    /// In chunks.
    Chunked,
    /// By the end of the connection.
    Close,
}

/// The head of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// Status code.
    pub status: u16,
    /// How its body ends.
    pub framing: Framing,
    /// Whether the connection may carry another request.
    pub reusable: bool,
    /// Entity tag, quotes included.
    pub tag: Option<String>,
    /// Content-Length, even if no body follows.
    pub length: Option<u64>,
    /// First and last byte of Content-Range.
    pub range: Option<(u64, u64)>,
    /// All headers, if they are requested or the answer is an error, because a header may explain
    /// the error.
    pub headers: Vec<(String, String)>,
}

/// Parses the head at the start of `bytes`. Returns the head and its length in bytes, or `None` if
/// more bytes are needed. With `all`, the headers of a successful answer are kept, too.
///
/// # Errors
/// It is no head of HTTP/1, or no answer to `verb`.
pub fn read(bytes: &[u8], verb: Verb, all: bool) -> Result<Option<(Head, usize)>, Failure> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut parsed = httparse::Response::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) if length <= HEAD_MAX => length,
        Ok(httparse::Status::Partial) if bytes.len() < HEAD_MAX => return Ok(None),
        Ok(_) => {
            let text = format!("its head is longer than {HEAD_MAX} bytes");
            return Err(Failure::Garbage(text));
        }
        Err(error) => return Err(Failure::Garbage(not_http(bytes, error))),
    };
    let status = parsed.code.unwrap_or(0);
    if status < 100 || status == 101 {
        return Err(Failure::Garbage(format!("status {status} answers no request of ours")));
    }
    let version = parsed.version.unwrap_or(0);
    let mut head = FramingHeaders::read(parsed.headers)?.head(status, version, verb)?;
    if all || status >= 300 {
        head.headers.extend(parsed.headers.iter().map(|header| {
            (header.name.to_string(), String::from_utf8_lossy(header.value).into_owned())
        }));
    }
    Ok(Some((head, length)))
}

/// The values of the headers that are used.
#[derive(Default)]
struct FramingHeaders {
    tag: Option<String>,
    length: Option<u64>,
    range: Option<(u64, u64)>,
    chunked: Option<bool>,
    close: bool,
    keep: bool,
}

impl FramingHeaders {
    fn read(headers: &[httparse::Header<'_>]) -> Result<FramingHeaders, Failure> {
        let mut framing = FramingHeaders::default();
        for header in headers {
            // The length of a name excludes most headers quickly.
            match header.name.len() {
                4 if header.name.eq_ignore_ascii_case("etag") => {
                    framing.tag = Some(String::from_utf8_lossy(header.value).into_owned());
                }
                10 if header.name.eq_ignore_ascii_case("connection") => {
                    framing.close |= lists(header.value, "close");
                    framing.keep |= lists(header.value, "keep-alive");
                }
                13 if header.name.eq_ignore_ascii_case("content-range") => {
                    framing.range = range(header.value);
                }
                14 if header.name.eq_ignore_ascii_case("content-length") => {
                    framing.length = Some(length(header.value, framing.length)?);
                }
                17 if header.name.eq_ignore_ascii_case("transfer-encoding") => {
                    framing.chunked =
                        Some(header.value.trim_ascii().eq_ignore_ascii_case(b"chunked"));
                }
                _ => {}
            }
        }
        Ok(framing)
    }

    fn head(self, status: u16, version: u8, verb: Verb) -> Result<Head, Failure> {
        let bodiless = matches!(verb, Verb::Head | Verb::HeadBucket)
            || matches!(status, 100..=199 | 204 | 304);
        let framing = match (bodiless, self.chunked, self.length) {
            (true, ..) => Framing::Length(0),
            (false, Some(true), _) => Framing::Chunked,
            (false, Some(false), _) => {
                let text = "its body has a transfer encoding that is not 'chunked'";
                return Err(Failure::Garbage(text.into()));
            }
            (false, None, Some(length)) => Framing::Length(length),
            (false, None, None) => Framing::Close,
        };
        let kept = if version == 0 { self.keep } else { !self.close };
        // With both lengths, the end of the body is ambiguous.
        let twice = self.chunked.is_some() && self.length.is_some();
        Ok(Head {
            status,
            framing,
            reusable: kept && !twice && framing != Framing::Close,
            tag: self.tag,
            length: self.length,
            range: self.range,
            headers: Vec::new(),
        })
    }
}

/// Whether a comma-separated list contains `word`.
fn lists(value: &[u8], word: &str) -> bool {
    value
        .split(|byte| *byte == b',')
        .any(|one| one.trim_ascii().eq_ignore_ascii_case(word.as_bytes()))
}

/// The value of a Content-Length. `before` is the value of an earlier one.
fn length(value: &[u8], before: Option<u64>) -> Result<u64, Failure> {
    let mut length = before;
    for one in value.split(|byte| *byte == b',') {
        let read = number(one.trim_ascii());
        if read.is_none() || (length.is_some() && length != read) {
            let text = String::from_utf8_lossy(value);
            let text = format!("Content-Length is no length, or two different ones: '{text}'");
            return Err(Failure::Garbage(text));
        }
        length = read;
    }
    Ok(length.unwrap_or(0))
}

/// First and last byte of "bytes 0-99/1000".
fn range(value: &[u8]) -> Option<(u64, u64)> {
    let rest = value.trim_ascii().strip_prefix(b"bytes")?.trim_ascii_start();
    let dash = rest.iter().position(|byte| *byte == b'-')?;
    let slash = rest.iter().position(|byte| *byte == b'/')?;
    let first = number(&rest[..dash])?;
    let last = number(rest.get(dash + 1..slash)?)?;
    (first <= last && last < u64::MAX).then_some((first, last))
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    str::from_utf8(digits).ok()?.parse().ok()
}

fn not_http(bytes: &[u8], error: httparse::Error) -> String {
    // A TLS record: an alert or a handshake.
    if matches!(bytes, [0x15 | 0x16, 0x03, ..]) {
        return "it speaks TLS where plain HTTP was expected: ask for https".into();
    }
    if error == httparse::Error::TooManyHeaders {
        return format!("its head has more than {HEADERS_MAX} headers");
    }
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(60)]).into_owned();
    format!("expected a head as 'HTTP/1.1 200 OK' begins one, not {start:?} ({error})")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, verb: Verb) -> Head {
        let (head, length) = read(text.as_bytes(), verb, false).unwrap().unwrap();
        assert_eq!(length, text.len());
        head
    }

    #[test]
    fn each_way_to_end_a_body_is_recognized() {
        let ok = |rest: &str| one(&format!("HTTP/1.1 200 OK\r\n{rest}\r\n"), Verb::Get);
        assert_eq!(ok("Content-Length: 12\r\n").framing, Framing::Length(12));
        assert_eq!(ok("content-length: 3, 3\r\n").framing, Framing::Length(3));
        assert_eq!(ok("Transfer-Encoding: Chunked\r\n").framing, Framing::Chunked);
        assert_eq!(ok("").framing, Framing::Close);
        assert!(!ok("").reusable);
        assert!(ok("Content-Length: 1\r\n").reusable);
        assert!(!ok("Content-Length: 1\r\nConnection: te, Close\r\n").reusable);
        assert!(!ok("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n").reusable);
        let old = "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n";
        assert!(!one(&format!("{old}\r\n"), Verb::Get).reusable);
        assert!(one(&format!("{old}Connection: keep-alive\r\n\r\n"), Verb::Get).reusable);
    }

    #[test]
    fn answers_without_a_body_have_none() {
        let head = one("HTTP/1.1 200 OK\r\nContent-Length: 77\r\n\r\n", Verb::Head);
        assert_eq!((head.framing, head.length), (Framing::Length(0), Some(77)));
        let head = one("HTTP/1.1 204 No Content\r\n\r\n", Verb::Delete);
        assert_eq!((head.framing, head.reusable), (Framing::Length(0), true));
        let head = one("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", Verb::Get);
        assert_eq!(head.framing, Framing::Length(0));
    }

    #[test]
    fn the_fields_of_a_head_are_kept() {
        let said = "ETag: \"abc\"\r\nContent-Range: bytes 5-9/*\r\nContent-Length: 5\r\n";
        let head = one(&format!("HTTP/1.1 206 Partial\r\n{said}\r\n"), Verb::Get);
        assert_eq!((head.tag.as_deref(), head.range), (Some("\"abc\""), Some((5, 9))));
        assert!(head.headers.is_empty());
        let head = one("HTTP/1.1 403 No\r\nX-Amz-A: b\r\nContent-Length: 0\r\n\r\n", Verb::Get);
        assert_eq!(head.headers[0], ("X-Amz-A".to_string(), "b".to_string()));
        for wrong in ["bytes 9-5/10", "bytes */10", "5-9/10x", "bytes 5/9-10", "bytes -1-2/3"] {
            assert_eq!(range(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn garbage_is_distinguished_from_an_incomplete_head() {
        let part = b"HTTP/1.1 200 OK\r\nContent-Le";
        for end in 0..part.len() {
            assert_eq!(read(&part[..end], Verb::Get, false), Ok(None), "{end}");
        }
        let refused = |bytes: &[u8]| match read(bytes, Verb::Get, false) {
            Err(Failure::Garbage(text)) => text,
            other => panic!("{other:?}"),
        };
        assert!(refused(b"SSH-2.0-OpenSSH_9\r\n").contains("SSH-2.0"));
        assert!(refused(b"\x15\x03\x03\0\x02").contains("https"));
        let lengths = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n";
        assert!(refused(lengths).contains("Content-Length"));
        refused(b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n");
        refused(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n");
        refused(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n");
        refused(b"HTTP/1.1 101 Switching\r\n\r\n");
        let mut long = b"HTTP/1.1 200 OK\r\nA: ".to_vec();
        long.resize(HEAD_MAX, b'a');
        assert!(refused(&long).contains("longer"));
        let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(HEADERS_MAX + 1));
        assert!(refused(many.as_bytes()).contains("headers"));
    }
}
