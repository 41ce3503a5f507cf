//! The messages of NBD (doc/proto.md of the NBD project): the handshake, requests, and the heads of
//! replies. All numbers are big-endian.

use std::io::{self, Read, Write};

const MAGIC: u64 = 0x4e42_444d_4147_4943;
const OPTION_MAGIC: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY_MAGIC: u64 = 0x0003_e889_0455_65a9;
const REQUEST_MAGIC: u32 = 0x2560_9513;
const SIMPLE_MAGIC: u32 = 0x6744_6698;
const STRUCTURED_MAGIC: u32 = 0x668e_33ef;

/// Handshake flags.
const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;
/// Options.
const EXPORT_NAME: u32 = 1;
const GO: u32 = 7;
const STRUCTURED_REPLY: u32 = 8;
/// Types of replies to options. A type with the top bit set is an error.
const ACK: u32 = 1;
const INFO: u32 = 3;
const ERROR: u32 = 1 << 31;
const ERROR_UNSUPPORTED: u32 = ERROR + 1;
const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;
/// Longest message of a server during the handshake that is taken.
const MESSAGE_MAX: u32 = 64 << 10;

/// Flags of an export.
const READ_ONLY: u16 = 2;
const SEND_FLUSH: u16 = 4;
const SEND_TRIM: u16 = 32;

/// An export, as its server describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Export {
    /// Bytes.
    pub size: u64,
    flags: u16,
    /// Smallest block, in bytes; 1 if the server does not say.
    pub block_min: u32,
    /// Whether replies to reads come in chunks.
    pub structured: bool,
}

impl Export {
    /// Whether it takes no writes.
    pub const fn is_read_only(self) -> bool {
        self.flags & READ_ONLY != 0
    }

    /// Whether the server takes flushes.
    pub const fn flushes(self) -> bool {
        self.flags & SEND_FLUSH != 0
    }

    /// Whether the server takes trims.
    pub const fn trims(self) -> bool {
        self.flags & SEND_TRIM != 0
    }
}

/// Agrees with a server on an export.
pub fn handshake<S: Read + Write>(stream: &mut S, name: &str) -> io::Result<Export> {
    if u64_from(stream)? != MAGIC {
        return Err(io::Error::other("the server does not speak NBD"));
    }
    if u64_from(stream)? != OPTION_MAGIC {
        return Err(io::Error::other("the server speaks NBD as before 2011 only (oldstyle)"));
    }
    let offered = u16_from(stream)?;
    if offered & FIXED_NEWSTYLE == 0 {
        return Err(io::Error::other("the server does not speak fixed newstyle NBD"));
    }
    let taken = offered & (FIXED_NEWSTYLE | NO_ZEROES);
    stream.write_all(&u32::from(taken).to_be_bytes())?;
    send_option(stream, STRUCTURED_REPLY, &[])?;
    let structured = option_reply(stream, STRUCTURED_REPLY)?.0 == ACK;
    let mut asked = (name.len() as u32).to_be_bytes().to_vec();
    asked.extend_from_slice(name.as_bytes());
    asked.extend_from_slice(&1u16.to_be_bytes());
    asked.extend_from_slice(&INFO_BLOCK_SIZE.to_be_bytes());
    send_option(stream, GO, &asked)?;
    let mut export = Export { block_min: 1, structured, ..Export::default() };
    loop {
        let (kind, data) = option_reply(stream, GO)?;
        match kind {
            ACK => return Ok(export),
            INFO => read_info(&data, &mut export),
            ERROR_UNSUPPORTED => return by_name(stream, name, taken, export),
            error if error & ERROR != 0 => return Err(refusal(name, error, &data)),
            _ => {}
        }
    }
}

fn read_info(data: &[u8], export: &mut Export) {
    match data {
        [a, b, rest @ ..] if u16::from_be_bytes([*a, *b]) == INFO_EXPORT && rest.len() == 10 => {
            export.size = rest[..8].iter().fold(0, |size, byte| size << 8 | u64::from(*byte));
            export.flags = u16::from_be_bytes([rest[8], rest[9]]);
        }
        [a, b, c, d, e, f, ..] if u16::from_be_bytes([*a, *b]) == INFO_BLOCK_SIZE => {
            export.block_min = u32::from_be_bytes([*c, *d, *e, *f]).max(1);
        }
        _ => {}
    }
}

/// The older way to choose an export. A server that does not have it closes the connection.
fn by_name<S: Read + Write>(
    stream: &mut S,
    name: &str,
    taken: u16,
    export: Export,
) -> io::Result<Export> {
    send_option(stream, EXPORT_NAME, name.as_bytes())?;
    let size = u64_from(stream)?;
    let flags = u16_from(stream)?;
    if taken & NO_ZEROES == 0 {
        stream.read_exact(&mut [0; 124])?;
    }
    Ok(Export { size, flags, ..export })
}

fn refusal(name: &str, error: u32, data: &[u8]) -> io::Error {
    let reason = match error - ERROR {
        2 => "policy forbids it",
        3 => "the request is invalid",
        4 => "its platform does not support it",
        5 => "it wants TLS",
        6 => "there is no such export",
        7 => "it is shutting down",
        8 => "it wants block sizes to be agreed on",
        _ => "the request is refused",
    };
    let detail = String::from_utf8_lossy(data);
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    io::Error::other(format!("the server refuses the export '{name}': {reason}{detail}"))
}

fn send_option<S: Write>(stream: &mut S, option: u32, data: &[u8]) -> io::Result<()> {
    let mut message = OPTION_MAGIC.to_be_bytes().to_vec();
    message.extend_from_slice(&option.to_be_bytes());
    message.extend_from_slice(&(data.len() as u32).to_be_bytes());
    message.extend_from_slice(data);
    stream.write_all(&message)
}

/// Kind and data of the reply to an option.
fn option_reply<S: Read>(stream: &mut S, option: u32) -> io::Result<(u32, Vec<u8>)> {
    let (magic, answered) = (u64_from(stream)?, u32_from(stream)?);
    let (kind, length) = (u32_from(stream)?, u32_from(stream)?);
    if magic != OPTION_REPLY_MAGIC || answered != option || length > MESSAGE_MAX {
        return Err(garbled());
    }
    let mut data = vec![0; length as usize];
    stream.read_exact(&mut data)?;
    Ok((kind, data))
}

fn u64_from<S: Read>(stream: &mut S) -> io::Result<u64> {
    let mut bytes = [0; 8];
    stream.read_exact(&mut bytes)?;
    Ok(u64::from_be_bytes(bytes))
}

fn u32_from<S: Read>(stream: &mut S) -> io::Result<u32> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

fn u16_from<S: Read>(stream: &mut S) -> io::Result<u16> {
    let mut bytes = [0; 2];
    stream.read_exact(&mut bytes)?;
    Ok(u16::from_be_bytes(bytes))
}

/// A message that is none of NBD's.
pub fn garbled() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the server sent what is no message of NBD")
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Request {
    /// Data.
    Read = 0,
    /// To store the data that follows.
    Write = 1,
    /// To close the connection.
    Disconnect = 2,
    /// To make writes durable.
    Flush = 3,
    /// To forget a range.
    Trim = 4,
}

/// Bytes of a request, without the data of a write.
pub const REQUEST_BYTES: usize = 28;

/// A request, without the data of a write.
pub fn request(kind: Request, cookie: u64, offset: u64, length: u32) -> [u8; REQUEST_BYTES] {
    let mut bytes = [0; REQUEST_BYTES];
    bytes[..4].copy_from_slice(&REQUEST_MAGIC.to_be_bytes());
    bytes[6..8].copy_from_slice(&(kind as u16).to_be_bytes());
    bytes[8..16].copy_from_slice(&cookie.to_be_bytes());
    bytes[16..24].copy_from_slice(&offset.to_be_bytes());
    bytes[24..].copy_from_slice(&length.to_be_bytes());
    bytes
}

/// The head of a reply, or of a chunk of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// That of the request.
    pub cookie: u64,
    /// What it brings.
    pub kind: Chunk,
    /// Whether the request has ended with it.
    pub is_last: bool,
}

/// What a reply or chunk brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// The end of the request, with NBD's error or 0. The data of a read follows if it is 0.
    Simple(u32),
    /// Nothing.
    None,
    /// An offset, then so many bytes of data.
    Data(u32),
    /// An offset and a length, between which all is zero.
    Hole,
    /// An error and its text, in so many bytes.
    Error(u32),
    /// So many bytes that are not understood.
    Other(u32),
}

/// The head at the beginning of `bytes`, with its length; `None` if it is not complete.
pub fn head(bytes: &[u8]) -> io::Result<Option<(Head, usize)>> {
    let Some(magic) = number::<4>(bytes, 0) else { return Ok(None) };
    match magic as u32 {
        SIMPLE_MAGIC => Ok((|| {
            let kind = Chunk::Simple(number::<4>(bytes, 4)? as u32);
            Some((Head { cookie: number::<8>(bytes, 8)?, kind, is_last: true }, 16))
        })()),
        STRUCTURED_MAGIC => {
            let read = || {
                let (flags, kind) = (number::<2>(bytes, 4)?, number::<2>(bytes, 6)?);
                Some((flags, kind, number::<8>(bytes, 8)?, number::<4>(bytes, 16)? as u32))
            };
            let Some((flags, kind, cookie, length)) = read() else { return Ok(None) };
            let kind = match kind {
                0 if length == 0 => Chunk::None,
                1 if length >= 8 => Chunk::Data(length - 8),
                2 if length == 12 => Chunk::Hole,
                kind if kind & 0x8000 != 0 && length >= 6 => Chunk::Error(length),
                _ => Chunk::Other(length),
            };
            Ok(Some((Head { cookie, kind, is_last: flags & 1 != 0 }, 20)))
        }
        _ => Err(garbled()),
    }
}

/// The number of `N` bytes at `at`; `None` if `bytes` ends before.
pub fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at + N)?;
    Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// The errno of an error of NBD, which has Linux's numbers of a few.
pub fn errno(error: u32) -> i32 {
    match error {
        0 => 0,
        1 => libc::EPERM,
        5 => libc::EIO,
        12 => libc::ENOMEM,
        22 => libc::EINVAL,
        28 => libc::ENOSPC,
        75 => libc::EOVERFLOW,
        95 => libc::EOPNOTSUPP,
        108 => libc::ESHUTDOWN,
        _ => libc::EIO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says what it was given, and keeps what it hears.
    struct Script(io::Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn greeting() -> Vec<u8> {
        let flags = (FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes();
        [&MAGIC.to_be_bytes()[..], &OPTION_MAGIC.to_be_bytes(), &flags].concat()
    }

    fn reply(option: u32, kind: u32, data: &[u8]) -> Vec<u8> {
        let numbers = [option, kind, data.len() as u32].map(u32::to_be_bytes).concat();
        [&OPTION_REPLY_MAGIC.to_be_bytes()[..], &numbers, data].concat()
    }

    fn shake(parts: &[Vec<u8>]) -> io::Result<Export> {
        handshake(&mut Script(io::Cursor::new(parts.concat()), Vec::new()), "disk")
    }

    #[test]
    fn an_export_is_agreed_on() {
        let export = [&[0, 0][..], &4096u64.to_be_bytes(), &[0, 1 + 4 + 32]].concat();
        let blocks = [0, 3, 0, 0, 2, 0, 0, 0, 16, 0, 1, 0, 0, 0];
        let made = shake(&[
            greeting(),
            reply(STRUCTURED_REPLY, ACK, &[]),
            reply(GO, INFO, &export),
            reply(GO, INFO, &blocks),
            reply(GO, ACK, &[]),
        ])
        .unwrap();
        assert_eq!((made.size, made.block_min, made.structured), (4096, 512, true));
        assert_eq!((made.is_read_only(), made.flushes(), made.trims()), (false, true, true));
    }

    #[test]
    fn a_server_without_newer_options_is_asked_the_older_way() {
        let unsupported = |option| reply(option, ERROR_UNSUPPORTED, &[]);
        let export = [&8192u64.to_be_bytes()[..], &[0, 3]].concat();
        let made =
            shake(&[greeting(), unsupported(STRUCTURED_REPLY), unsupported(GO), export]).unwrap();
        assert_eq!((made.size, made.structured, made.is_read_only()), (8192, false, true));
    }

    #[test]
    fn a_refusal_names_its_reason() {
        let unsupported = reply(STRUCTURED_REPLY, ERROR_UNSUPPORTED, &[]);
        let unknown = reply(GO, ERROR + 6, b"no disk");
        let error = shake(&[greeting(), unsupported, unknown]).unwrap_err().to_string();
        assert!(error.contains("no such export (no disk)"), "{error}");
        assert!(shake(&[b"SSH-2.0-x\r\nSSH-2.0-x\r\n".to_vec()]).is_err());
        assert!(shake(&[greeting(), vec![0; 20]]).is_err());
    }

    #[test]
    fn heads_are_read_when_they_are_complete() {
        let simple = [&SIMPLE_MAGIC.to_be_bytes()[..], &[0, 0, 0, 5], &7u64.to_be_bytes()].concat();
        assert_eq!(head(&simple[..15]).unwrap(), None);
        let kind = Chunk::Simple(5);
        assert_eq!(head(&simple).unwrap(), Some((Head { cookie: 7, kind, is_last: true }, 16)));
        let data = [
            &STRUCTURED_MAGIC.to_be_bytes()[..],
            &[0, 0, 0, 1],
            &7u64.to_be_bytes(),
            &[0, 0, 0, 12],
        ]
        .concat();
        assert_eq!(head(&data[..19]).unwrap(), None);
        let kind = Chunk::Data(4);
        assert_eq!(head(&data).unwrap(), Some((Head { cookie: 7, kind, is_last: false }, 20)));
        assert!(head(b"HTTP").is_err());
    }
}
