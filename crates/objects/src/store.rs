//! An object store: its endpoints, credentials and settings of requests.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// The protocol on top of HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// Amazon S3 and compatible stores.
    S3,
    /// WebDAV (RFC 4918): PUT, GET, DELETE of paths.
    #[default]
    WebDav,
    /// OpenStack Swift: the requests of WebDAV, with a token.
    Swift,
}

/// Encryption of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Plain HTTP.
    #[default]
    Plain,
    /// TLS; the certificate of the server is verified.
    Verified,
    /// TLS; the certificate of the server is not verified.
    Insecure,
}

/// Host and port of a server.
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
    /// The SHA-256 of the content over plain HTTP. Over TLS only the headers, because TLS protects the
    /// content.
    #[default]
    Plain,
    /// The SHA-256 of the content, also over TLS.
    Always,
    /// Only the headers: `UNSIGNED-PAYLOAD`.
    Never,
}

/// Credentials. `Debug` shows no secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub enum Access {
    /// None; requests are not signed.
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
        /// Id of the access key.
        key_id: String,
        /// The secret key.
        key: String,
        /// Session token of a temporary key.
        token: Option<String>,
        /// The region in the signature.
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

/// A customer-provided key for encryption by the server (SSE-C), which does not store the key. `Debug`
/// does not show it.
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

/// An object store as one worker accesses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Store {
    /// The protocol on top of HTTP.
    pub protocol: Protocol,
    /// Servers. Connection `i` uses endpoint `i` modulo their number.
    pub endpoints: Vec<Endpoint>,
    /// Encryption of connections.
    pub security: Security,
    /// PEM file with the certificates to trust instead of the system's.
    pub authorities: Option<PathBuf>,
    /// Credentials.
    pub access: Access,
    /// How buckets are named.
    pub addressing: Addressing,
    /// What the signature of a PUT covers.
    pub hashing: Hashing,
    /// `x-amz-storage-class` of new objects; `None` for the default of the bucket.
    pub storage_class: Option<String>,
    /// Customer-provided key, sent with each request on an object.
    pub customer_key: Option<CustomerKey>,
    /// A request fails if no data moves for this long.
    pub timeout: Duration,
    /// Maximum retries of a request after a temporary failure (connection lost, timeout, 429, 500, 502,
    /// 503, 504).
    pub retries: u32,
    /// 1 prints each request and its status to stderr; 2 also prints headers without secrets.
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
