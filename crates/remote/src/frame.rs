//! Frames: how messages are told apart in a stream of bytes.
//!
//! A frame is the four bytes "FTHM", the length of what follows as a big-endian `u32`, and so many
//! bytes of JSON. JSON and not a compact form: frames are few and far from any timed I/O, and a
//! message with a field that one side does not know is still understood by the other.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};

/// Begins every frame. No frame of fio begins so: those begin with a small number.
const MAGIC: [u8; 4] = *b"FTHM";

/// The longest frame taken from a peer that has not said who it is, in bytes.
pub const LIMIT_GREETING: u32 = 64 << 10;

/// The longest frame a server takes: job files, in bytes.
pub const LIMIT_SUBMISSION: u32 = 256 << 20;

/// The longest frame a client takes: the record of a run of thousands of workers, in bytes.
pub const LIMIT_RECORD: u32 = 1 << 30;

/// Memory set aside before the bytes of a frame have come: a length is only a claim.
const TRUSTED: usize = 1 << 20;

/// Why no message could be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The other side is gone; between frames.
    #[error("the connection was closed")]
    Closed,
    /// The connection broke, or nothing came in time.
    #[error("the connection failed: {0}")]
    Io(#[source] io::Error),
    /// The bytes are no frame.
    #[error(
        "what came is not fathom's protocol; fathom does not talk to fio's own server or client, \
         only to fathom's"
    )]
    Stranger,
    /// The frame is longer than it may be.
    #[error("a message of {length} bytes is longer than the {limit} bytes allowed here")]
    TooLong {
        /// Its length.
        length: u32,
        /// What is allowed.
        limit: u32,
    },
    /// The frame holds something else than expected.
    #[error("a message cannot be understood: {0}")]
    Content(#[source] serde_json::Error),
}

/// Writes one message and flushes it.
///
/// # Errors
/// Those of the stream, and [`io::ErrorKind::InvalidData`] for a message longer than 4 GiB.
pub fn write(mut stream: impl Write, message: &impl Serialize) -> io::Result<()> {
    let mut frame = Vec::with_capacity(256);
    frame.extend_from_slice(&MAGIC);
    frame.extend_from_slice(&[0; 4]);
    serde_json::to_writer(&mut frame, message)?;
    let length = u32::try_from(frame.len() - 8).map_err(|_| io::ErrorKind::InvalidData)?;
    frame[4..8].copy_from_slice(&length.to_be_bytes());
    // One write: a frame in two parts would wait for the network's acknowledgement in between.
    stream.write_all(&frame)?;
    stream.flush()
}

/// Reads one message of `limit` bytes at most.
///
/// # Errors
/// See [`FrameError`]; after any of them the stream is of no more use.
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
            // Whether it is one by chance does not matter, that it returns does.
            let _ = read::<crate::FromClient>(&after[..], 100);
        }
    }
}
