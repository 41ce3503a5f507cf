//! The outcomes of requests.

use crate::Verb;
use std::fmt;

/// A completed request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Its slot.
    pub slot: u32,
    /// Its kind.
    pub verb: Verb,
    /// The answer, or why the request failed.
    pub result: Result<Answer, Failure>,
    /// The times of its last attempt; `begun` is that of the first attempt.
    pub stamps: Stamps,
    /// The failed attempts before the last one, in order.
    pub lost: Vec<Attempt>,
    /// Its connection, which had served other requests, was closed before the first byte of the
    /// answer, so it was sent again. Whether the server had processed it is unknown.
    pub resent: bool,
    /// The endpoint of its last attempt; `None`: it was not sent to any.
    pub endpoint: Option<usize>,
}

/// An attempt with a temporary failure, after which the request was retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its failure.
    pub failure: Failure,
    /// As in [`Outcome::endpoint`].
    pub endpoint: Option<usize>,
    /// As in [`Stamps::connect`].
    pub connect: Option<(u64, u64)>,
    /// As in [`Stamps::tls`].
    pub tls: Option<(u64, u64)>,
}

/// Times in nanoseconds of the client's clock. `None`: the event did not happen, or belongs to an
/// earlier request on the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    /// The request was started.
    pub begun: u64,
    /// Start and end of connecting, without DNS.
    pub connect: Option<(u64, u64)>,
    /// Start and end of the TLS handshake.
    pub tls: Option<(u64, u64)>,
    /// The first byte of the request was passed to the kernel.
    pub sent: Option<u64>,
    /// The first byte of the answer was received.
    pub first_byte: Option<u64>,
    /// The request was complete.
    pub ended: u64,
}

/// A successful answer: status 200 to 299, and a body of the announced and requested length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// Bytes of content sent or received.
    pub moved: u64,
    /// Its entity tag, quotes included.
    pub tag: Option<String>,
    /// Content-Length of the answer to HEAD.
    pub length: Option<u64>,
    /// The body, if it is a document (a list, the name of an upload); else empty.
    pub document: Vec<u8>,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server answered with an error status.
    Status {
        /// Status code.
        status: u16,
        /// S3's error code ("NoSuchKey", "SignatureDoesNotMatch"); empty if there is none.
        code: String,
        /// The message of the server, shortened, with the clock skew if there is one.
        message: String,
    },
    /// The host has no address.
    NoSuchHost(String),
    /// Connecting failed with this errno.
    Connect(i32),
    /// TLS failed: the reason, and the certificate if it is not trusted.
    Tls(String),
    /// There was no traffic for the store's timeout.
    Timeout,
    /// The connection broke with this errno.
    Broken(i32),
    /// The server closed the connection before the end of its answer.
    Short {
        /// Received bytes of content.
        came: u64,
        /// Expected bytes of content.
        due: u64,
    },
    /// The answer is complete, but its content does not have the requested length.
    WrongLength {
        /// Its length.
        length: u64,
        /// The requested length.
        asked: u64,
    },
    /// The answer is not HTTP, or not valid for this request; what was expected.
    Garbage(String),
    /// The request cannot be sent; the reason. Nothing was sent.
    Refused(String),
    /// The caller gave the request up.
    GivenUp,
}

impl Failure {
    /// Its kind, as statistics name it: "404", "timeout", "connect", "reset", "short body", …
    pub fn kind(&self) -> String {
        match self {
            // S3 may send a failure with status 200.
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

    /// Whether a retry may succeed.
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
