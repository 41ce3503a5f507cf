//! What was asked of an object store, and what it answered.

use crate::{Bytes, Histogram};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The requests of one worker. Requests that belong to one I/O (the parts of an upload, repeats
/// after a failure) are each counted here; the I/O is counted once in its direction's result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Exchange {
    /// What was spoken: "s3", "webdav", "swift".
    pub protocol: String,
    /// Hosts with their ports, in the order they were used in turn.
    pub endpoints: Vec<String>,
    /// What protects the content on its way: "signed" (its SHA-256 is in the signature),
    /// "unsigned" (only headers are), "none".
    pub content: String,
    /// "off", "verified", "insecure".
    pub tls: String,
    /// Connections that were made.
    pub connections: u64,
    /// One for each kind of request that was sent.
    pub requests: Vec<RequestResult>,
    /// How long connections took to be made.
    pub connect: Histogram,
    /// How long agreeing on keys took; empty without TLS.
    pub handshake: Histogram,
    /// The answers that counted as errors, and what else went wrong, in words: the first of each
    /// kind.
    pub failures: Vec<String>,
}

/// The requests of one kind, of the measured window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestResult {
    /// Its name, after S3's API: "GET", "PUT", "HEAD", "LIST", "UploadPart".
    pub request: String,
    /// How many were sent, repeats included.
    pub sent: u64,
    /// How many were answered as they should be.
    pub good: u64,
    /// How many repeated a failed one.
    pub retries: u64,
    /// Bytes of content that were sent or received by good ones.
    pub bytes: Bytes,
    /// Keys that lists named.
    pub keys: u64,
    /// Answers by status, also those that are errors.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures without a status, by kind: "timeout", "connect", "reset", "short body", …
    pub failures: BTreeMap<String, u64>,
    /// From handing the request to the kernel until the first byte of the answer, of good ones.
    pub first_byte: Histogram,
    /// From the request's beginning (signing and waiting for its connection included) until its
    /// end, of good ones.
    pub whole: Histogram,
    /// Good answers, bytes and keys in each second of the window.
    pub seconds: Vec<Second>,
}

/// One second of a kind of request. What ends in it is counted in it; bytes are spread evenly over
/// the seconds that a request took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Requests that ended.
    pub requests: u64,
    /// Bytes of content.
    pub bytes: f64,
    /// Keys.
    pub keys: u64,
}

impl Exchange {
    /// The requests of a kind; `None`: there were none.
    pub fn of(&self, request: &str) -> Option<&RequestResult> {
        self.requests.iter().find(|result| result.request == request)
    }
}

impl RequestResult {
    /// Requests that have no answer that counts.
    pub fn failed(&self) -> u64 {
        self.sent - self.good.min(self.sent)
    }
}
