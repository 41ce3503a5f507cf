//! An object store.

use job::{Payload, Secret, StoreKind, Tls};
use record::Nanos;

/// An object store, and the settings of its requests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// The protocol.
    pub kind: StoreKind,
    /// Hosts (IPv6 addresses without brackets) and ports. Connections use them in turn.
    pub endpoints: Vec<(String, u16)>,
    /// Encryption of connections.
    pub tls: Tls,
    /// PEM file of the certificates to trust; `None` for those of the system.
    pub ca_file: Option<String>,
    /// Credentials.
    pub access: Access,
    /// Whether the bucket is part of the host name.
    pub virtual_host: bool,
    /// What the signature of a PUT covers.
    pub payload: Payload,
    /// Storage class of new objects; `None` for the default of the bucket.
    pub storage_class: Option<String>,
    /// Cipher and key provided by the customer (SSE-C).
    pub customer_key: Option<(String, Secret)>,
    /// Whether each file is one object, read by range. Otherwise each block is an object.
    pub ranges: bool,
    /// A request fails if no data moves for this long.
    pub timeout: Nanos,
    /// Maximum retries of a request after a temporary failure.
    pub retries: u32,
    /// 1 prints requests to stderr, 2 also their headers.
    pub verbose: u32,
}

/// Credentials for an object store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// None.
    #[default]
    Anonymous,
    /// User and password.
    Basic {
        /// Name.
        user: String,
        /// Password.
        password: Secret,
    },
    /// A token of Swift.
    Token(Secret),
    /// Signature version 4 of AWS.
    Signed {
        /// Id of the key.
        key_id: String,
        /// The key.
        key: Secret,
        /// Session token.
        token: Option<Secret>,
        /// Region in the signature.
        region: String,
    },
}
