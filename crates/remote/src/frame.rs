//! Frames, which separate messages in a stream of bytes.
//!
//! A frame consists of the four bytes "FTHM", the length of the rest as a big-endian `u32`, and
//! that many bytes of JSON. JSON is used because frames are few and not sent during timed I/O, and
//! because a message with a field that one side does not know remains readable.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};

/// The start of every frame. Frames of fio begin with a small number.
const MAGIC: [u8; 4] = *b"FTHM";

/// Longest frame before the greeting, in bytes.
pub const LIMIT_GREETING: u32 = 64 << 10;

/// Longest frame that a server accepts (job files), in bytes.
pub const LIMIT_SUBMISSION: u32 = 256 << 20;

/// Longest frame that a client accepts (the record of a run of thousands of workers), in bytes.
pub const LIMIT_RECORD: u32 = 1 << 30;

/// Memory allocated before the bytes of a frame are received. The announced length is not trusted.
const TRUSTED: usize = 1 << 20;

/// The error of reading a message.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side closed the connection between two frames.
    #[error("the connection was closed")]
    Closed,
    /// The connection broke, or timed out.
    #[error("the connection failed: {0}")]
    Io(#[source] io::Error),
    /// The bytes are not a frame.
    #[error(
        "what came is not fathom's protocol; fathom does not talk to fio's own server or client, \
         only to fathom's"
    )]
    Stranger,
    /// The frame is too long.
    #[error("a message of {length} bytes is longer than the {limit} bytes allowed here")]
    TooLong {
        /// Its length.
        length: u32,
        /// The limit.
        limit: u32,
    },
    /// The content of the frame is not the expected message.
    #[error("a message cannot be understood: {0}")]
    Content(#[source] serde_json::Error),
}

/// Writes one message and flushes it.
///
/// # Errors
/// When the stream fails, and [`io::ErrorKind::InvalidData`] for a message longer than 4 GiB.
pub fn write(mut stream: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = Vec::with_capacity(256);
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&[0; 4]);
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 8).map_err(|_| io::ErrorKind::InvalidData)?;
    frame[4..8].copy_from_slice(&length.to_be_bytes());
    // A single write: a frame sent in two parts would wait for an acknowledgement in between.
    stream.write_all(&frame)?;
    stream.flush()
}

/// Reads one message of at most `limit` bytes.
///
/// # Errors
/// See [`FrameError`]. The stream cannot be used after an error.
pub fn read<T: DeserializeOwned>(mut stream: impl Read, limit: u32) -> Result<T, FrameError> {
    let mut header = [0; 8];
    let mut filled = 0;
    while filled < header.len() {
        match stream.read(&mut header[filled..]) {
            Ok(0) if filled == 0 => return Err(FrameError::Closed),
            Ok(0) => return Err(stranger_or_torn(&header[..filled])),
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(FrameError::Io(error)),
        }
        let known = filled.min(MAGIC.len());
        if header[..known] != MAGIC[..known] {
            return Err(FrameError::Stranger);
        }
    }
    let length = u32::from_be_bytes([header[4], header[5], header[6], header[7]]);
    if length > limit {
        return Err(FrameError::TooLong { length, limit });
    }
    let mut body = Vec::with_capacity((length as usize).min(TRUSTED));
    stream.take(length.into()).read_to_end(&mut body).map_err(FrameError::Io)?;
    if body.len() < length as usize {
        return Err(FrameError::Io(io::ErrorKind::UnexpectedEof.into()));
    }
    serde_json::from_slice(&body).map_err(FrameError::Content)
}

fn stranger_or_torn(begun: &[u8]) -> FrameError {
    match MAGIC.starts_with(begun) || begun.starts_with(&MAGIC) {
        true => FrameError::Io(io::ErrorKind::UnexpectedEof.into()),
        false => FrameError::Stranger,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn framed(text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(&mut bytes, &text).unwrap();
        bytes
    }

    #[test]
    fn messages_come_out_as_they_went_in_one_after_the_other() {
        let bytes = [framed("a"), framed("b\n")].concat();
        let mut stream = &bytes[..];
        assert_eq!(read::<String>(&mut stream, 100).unwrap(), "a");
        assert_eq!(read::<String>(&mut stream, 100).unwrap(), "b\n");
        assert!(matches!(read::<String>(&mut stream, 100), Err(FrameError::Closed)));
    }

    #[test]
    fn a_stranger_is_known_by_its_first_bytes() {
        // A command of fio begins with its version, 98, in two little-endian bytes.
        for bytes in [&b"\x62\x00\x05\x00"[..], b"GET / HTTP/1.1", b"\0"] {
            assert!(matches!(read::<String>(bytes, 100), Err(FrameError::Stranger)), "{bytes:?}");
        }
    }

    #[test]
    fn a_torn_frame_is_an_error_wherever_it_is_torn() {
        let whole = framed("something");
        for cut in 1..whole.len() {
            let got = read::<String>(&whole[..cut], 100);
            assert!(matches!(got, Err(FrameError::Io(_))), "{cut}: {got:?}");
        }
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_before_anything_is_read() {
        let mut bytes = framed("x");
        bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        let got = read::<String>(&bytes[..], LIMIT_RECORD);
        assert!(matches!(got, Err(FrameError::TooLong { length: u32::MAX, .. })), "{got:?}");
    }

    #[test]
    fn another_message_than_expected_is_an_error() {
        let got = read::<u64>(&framed("x")[..], 100);
        assert!(matches!(got, Err(FrameError::Content(_))), "{got:?}");
    }

    proptest! {
        #[test]
        fn noise_is_never_a_message_and_never_a_panic(noise in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(read::<String>(&noise[..], 100).is_err());
            let after = [&MAGIC[..], &noise].concat();
            // The bytes may happen to be a frame; reading them must return in any case.
            let _ = read::<crate::FromClient>(&after[..], 100);
        }
    }
}
