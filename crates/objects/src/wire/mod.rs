//! The network side: sockets, TLS, and incremental parsing of answers.

mod certificate;
mod chunks;
mod head;
mod reading;
mod stream;
pub mod tls;

pub use head::Head;
pub use reading::{Asked, Reading};
pub use stream::Stream;

use crate::{Failure, Verb};

/// Parses a whole answer, from its first byte to the end of the connection, and returns its status.
/// `length` is the requested content of a GET, in bytes. For tests of how a client understands a
/// server.
///
/// # Errors
/// It is no answer to such a request, or its content has another length.
pub fn read_answer(verb: Verb, length: u64, bytes: &[u8]) -> Result<u16, Failure> {
    let mut reading = Reading::new(Asked { verb, length, from: None, headers: false });
    reading.take(bytes, None)?;
    if !reading.is_whole() {
        reading.close()?;
    }
    reading.finish().map(|(head, _)| head.status)
}
