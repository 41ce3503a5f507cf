//! What became of a request.

use crate::Verb;
use std::fmt;

/// A request that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The slot it was started with.
    pub slot: u32,
    /// What it was.
    pub verb: Verb,
    /// The answer, or why there is none that counts.
    pub result: Result<Answer, Failure>,
    /// When what happened, of its last attempt; `begun` is of the first.
    pub stamps: Stamps,
    /// The attempts before the last, in their order: each of them was followed by a repeat.
    pub lost: Vec<Attempt>,
    /// Its connection, which had served others, was closed before a byte of the answer came: it was
    /// sent once more, and this tells nothing of whether the server had taken it.
    pub resent: bool,
    /// Which of the store's endpoints its last attempt went to; `None`: it did not come so far.
    pub endpoint: Option<usize>,
}

/// An attempt that failed in a way that may pass, after which the request was repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// What it failed with.
    pub failure: Failure,
    /// As in [`Outcome::endpoint`].
    pub endpoint: Option<usize>,
    /// As in [`Stamps::connect`].
    pub connect: Option<(u64, u64)>,
    /// As in [`Stamps::tls`].
    pub tls: Option<(u64, u64)>,
}

/// Moments in the client's clock, in nanoseconds. What did not happen, or belongs to an earlier
/// request on the connection, is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// It was given to the client.
    pub begun: u64,
    /// A connection was asked for, and made: begin and end. DNS is not in it.
    pub connect: Option<(u64, u64)>,
    /// Keys were agreed on: begin and end.
    pub tls: Option<(u64, u64)>,
    /// The request's first byte was handed to the kernel.
    pub sent: Option<u64>,
    /// The first byte of the answer was there.
    pub first_byte: Option<u64>,
    /// It was over.
    pub ended: u64,
}

/// A good answer: status 200 to 299 and a body as long as it said and as was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Bytes of the object's content that were sent or received.
    pub moved: u64,
    /// Its entity tag, quotes included.
    pub tag: Option<String>,
    /// Content-Length as answered to HEAD.
    pub length: Option<u64>,
    /// The body of an answer that is a document (a list, an upload's name); empty for content.
    pub document: Vec<u8>,
}

/// Why a request has no answer that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server answered with another status.
    Status {
        /// Status code.
        status: u16,
        /// S3's code for it ("NoSuchKey", "SignatureDoesNotMatch"); empty where it has none.
        code: String,
        /// What the server says, shortened; with a skewed clock, by how much.
        message: String,
    },
    /// The host has no address.
    NoSuchHost(String),
    /// No connection: the errno.
    Connect(i32),
    /// The certificate is not trusted, or TLS went wrong otherwise: why, and whose.
    Tls(String),
    /// Nothing moved for the store's timeout.
    Timeout,
    /// The connection broke: the errno.
    Broken(i32),
    /// The server closed before its answer was whole: bytes of content that came, and were due.
    Short {
        /// Came.
        came: u64,
        /// Were due.
        due: u64,
    },
    /// The answer is whole, but its content is not as long as was asked for.
    WrongLength {
        /// Its length.
        length: u64,
        /// What was asked for.
        asked: u64,
    },
    /// What came is not HTTP, or not what this request can be answered with: what was expected.
    Garbage(String),
    /// It cannot be sent as it was asked for: why. Nothing was sent.
    Refused(String),
    /// Whoever asked did not wait for the answer.
    GivenUp,
}

impl Failure {
    /// How statistics name its kind: "404", "timeout", "connect", "reset", "short body", …
    pub fn kind(&self) -> String {
        match self {
            // S3 may answer 200 and tell of a failure all the same.
            Failure::Status { status: 200..=299, code, .. } if !code.is_empty() => code.clone(),
            Failure::Status { status, .. } => status.to_string(),
            Failure::NoSuchHost(_) => "no such host".into(),
            Failure::Connect(_) => "connect".into(),
            Failure::Tls(_) => "tls".into(),
            Failure::Timeout => "timeout".into(),
            Failure::Broken(_) => "reset".into(),
            Failure::Short { .. } => "short body".into(),
            Failure::WrongLength { .. } => "wrong length".into(),
            Failure::Garbage(_) => "not http".into(),
            Failure::Refused(_) => "refused".into(),
            Failure::GivenUp => "given up".into(),
        }
    }

    /// Whether asking again may help.
    pub fn may_pass(&self) -> bool {
        match self {
            Failure::Status { status, code, .. } => {
                let codes = ["InternalError", "SlowDown", "ServiceUnavailable", "RequestTimeout"];
                matches!(status, 429 | 500 | 502 | 503 | 504) || codes.contains(&code.as_str())
            }
            Failure::Connect(_) | Failure::Timeout | Failure::Broken(_) | Failure::Short { .. } => {
                true
            }
            _ => false,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |errno: i32| std::io::Error::from_raw_os_error(errno).to_string();
        match self {
            Failure::Status { status, code, message } => {
                write!(f, "the server answered {status}")?;
                if !code.is_empty() {
                    write!(f, " {code}")?;
                }
                if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
            }
            Failure::NoSuchHost(why) => write!(f, "the host has no address: {why}"),
            Failure::Connect(errno) => write!(f, "no connection: {}", text(*errno)),
            Failure::Tls(why) => write!(f, "no encrypted connection: {why}"),
            Failure::Timeout => write!(f, "nothing moved until the timeout"),
            Failure::Broken(errno) => write!(f, "the connection broke: {}", text(*errno)),
            Failure::Short { came, due } => {
                write!(f, "the server closed after {came} of {due} bytes of content")
            }
            Failure::WrongLength { length, asked } => {
                write!(f, "the content has {length} bytes, {asked} were asked for")
            }
            Failure::Garbage(what) => write!(f, "what the server sent is no answer: {what}"),
            Failure::Refused(why) => write!(f, "the request cannot be sent: {why}"),
            Failure::GivenUp => write!(f, "the answer was not waited for"),
        }
    }
}
