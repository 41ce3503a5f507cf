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

/// Who asks. Its `Debug` shows no secret.
#[derive(Clone, Default, PartialEq, Eq)]
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

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Access::Anonymous => f.write_str("Anonymous"),
            Access::Basic { user, .. } => {
                f.debug_struct("Basic").field("user", user).finish_non_exhaustive()
            }
            Access::Token(_) => f.debug_struct("Token").finish_non_exhaustive(),
            Access::Signed { key_id, region, .. } => f
                .debug_struct("Signed")
                .field("key_id", key_id)
                .field("region", region)
                .finish_non_exhaustive(),
        }
    }
}

/// A key of the customer's that the server encrypts with and forgets (SSE-C). Its `Debug` does not
/// show it.
#[derive(Clone, PartialEq, Eq)]
pub struct CustomerKey {
    /// The cipher, "AES256".
    pub algorithm: String,
    /// The key itself: 32 bytes.
    pub key: Vec<u8>,
}

impl fmt::Debug for CustomerKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomerKey").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let secret = || "hidden".to_owned();
        let signed = Access::Signed {
            key_id: "AKID".into(),
            key: secret(),
            token: Some(secret()),
            region: "eu".into(),
        };
        for access in [
            signed,
            Access::Token(secret()),
            Access::Basic { user: "u".into(), password: secret() },
        ] {
            let key = CustomerKey { algorithm: "AES256".into(), key: secret().into() };
            let store = Store { access, customer_key: Some(key.clone()), ..Store::default() };
            let shown = format!("{store:?} {store:#?}");
            assert!(!shown.contains("hidden"), "{shown}");
            assert!(!shown.contains(&format!("{:?}", key.key)), "{shown}");
            assert!(shown.contains("AES256"), "{shown}");
        }
    }
}
