//! What goes over the wire: sockets, TLS, and answers as they come.

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

/// Reads a whole answer, from its first byte to the connection's end, without a connection: its
/// status. `length` is the content that a GET asked for, in bytes. For those who want to know what
/// a client makes of what a server sends.
///
/// # Errors
/// It is no answer to such a request, or its content is not as long.
pub fn read_answer(verb: Verb, length: u64, bytes: &[u8]) -> Result<u16, Failure> {
    let mut reading = Reading::new(Asked { verb, length, from: None, headers: false });
    reading.take(bytes, None)?;
    if !reading.is_whole() {
        reading.close()?;
    }
    reading.finish().map(|(head, _)| head.status)
}
