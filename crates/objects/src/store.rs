//! Where objects are, and how one gets at them.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What is spoken over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Amazon S3 and what is compatible with it.
    S3,
    /// WebDAV (RFC 4918): PUT, GET, DELETE of paths.
    #[default]
    WebDav,
    /// OpenStack Swift: the same with a token.
    Swift,
}

/// Whether connections are encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Plain HTTP.
    #[default]
    Plain,
    /// TLS, and the server proves who it is.
    Verified,
    /// TLS with whoever answers.
    Insecure,
}

/// A host and port that requests go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Name or address; an IPv6 address without its brackets.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

/// How a bucket is named in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Addressing {
    /// `http://host/bucket/key`.
    #[default]
    Path,
    /// `http://bucket.host/key`.
    VirtualHost,
}

/// What the signature of a PUT covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hashing {
    /// The SHA-256 of the content, except over TLS, which guards it already.
    #[default]
    Plain,
    /// The SHA-256 of the content, always.
    Always,
    /// Only the headers: `UNSIGNED-PAYLOAD`.
    Never,
}

/// Who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Nobody in particular: nothing is signed.
    #[default]
    Anonymous,
    /// Basic authentication (RFC 7617).
    Basic {
        /// User name.
        user: String,
        /// Password.
        password: String,
    },
    /// A Swift token.
    Token(String),
    /// AWS Signature Version 4.
    Signed {
        /// The access key's name.
        key_id: String,
        /// The secret.
        key: String,
        /// Of a session, where the key is a temporary one.
        token: Option<String>,
        /// The region that is signed for.
        region: String,
    },
}

/// A key of the customer's that the server encrypts with and forgets (SSE-C).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomerKey {
    /// The cipher, "AES256".
    pub algorithm: String,
    /// The key itself: 32 bytes.
    pub key: Vec<u8>,
}

/// An object store as one worker sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// What is spoken.
    pub protocol: Protocol,
    /// Where to, in turn: connection `i` goes to endpoint `i` modulo their number.
    pub endpoints: Vec<Endpoint>,
    /// Whether it is encrypted.
    pub security: Security,
    /// PEM file with the certificates to trust instead of the system's.
    pub authorities: Option<PathBuf>,
    /// Who asks.
    pub access: Access,
    /// How buckets are named.
    pub addressing: Addressing,
    /// What the signature covers.
    pub hashing: Hashing,
    /// `x-amz-storage-class` of what is put; `None`: the bucket's own.
    pub storage_class: Option<String>,
    /// The customer's key, sent along with each request on an object.
    pub customer_key: Option<CustomerKey>,
    /// A request on which nothing moves for this long has failed.
    pub timeout: Duration,
    /// How often a request is repeated that failed in a way that may pass (connection lost,
    /// timeout, 429, 500, 502, 503, 504).
    pub retries: u32,
    /// 1: each request and its status goes to stderr; 2: also headers, without secrets.
    pub verbose: u32,
}

impl Store {
    /// Whether the content of a PUT is hashed and its hash signed.
    pub fn hashes_content(&self) -> bool {
        matches!(self.access, Access::Signed { .. })
            && match self.hashing {
                Hashing::Always => true,
                Hashing::Never => false,
                Hashing::Plain => self.security == Security::Plain,
            }
    }
}
