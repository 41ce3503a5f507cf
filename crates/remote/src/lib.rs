//! What a client and a server of fathom say to each other.
//!
//! Pure: bytes in, messages out. Sockets belong to the program. The protocol is fathom's own, not
//! fio's; each side says hello first, so that a stranger is told from a friend by its first bytes.

mod address;
mod frame;
mod message;

pub use address::{Address, AddressError, DEFAULT_PORT, Family};
pub use frame::{FrameError, LIMIT_GREETING, LIMIT_RECORD, LIMIT_SUBMISSION, read, write};
pub use message::{
    Announced, FilePart, FromClient, FromServer, Hello, Host, JobText, PROTOCOL, Refusal,
    Submission,
};
