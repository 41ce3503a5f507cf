//! An object store.

use job::{Payload, Secret, StoreKind, Tls};
use record::Nanos;

/// An object store, and how its objects are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// What is spoken.
    pub kind: StoreKind,
    /// Hosts, IPv6 addresses without brackets, and ports; connections go to them in turn.
    pub endpoints: Vec<(String, u16)>,
    /// Whether it is encrypted.
    pub tls: Tls,
    /// PEM file of the certificates to trust; `None`: the system's.
    pub ca_file: Option<String>,
    /// Who asks.
    pub access: Access,
    /// The bucket is part of the host's name.
    pub virtual_host: bool,
    /// What the signature of a PUT covers.
    pub payload: Payload,
    /// Storage class of what is put; `None`: the bucket's own.
    pub storage_class: Option<String>,
    /// The customer's cipher and key.
    pub customer_key: Option<(String, Secret)>,
    /// Each file is one object, read by range; else each block is one.
    pub ranges: bool,
    /// A request on which nothing moves for this long has failed.
    pub timeout: Nanos,
    /// How often a failed request is repeated that may succeed then.
    pub retries: u32,
    /// 1: requests go to stderr, 2: with their heads.
    pub verbose: u32,
}

/// Who asks an object store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Access {
    /// Nobody in particular.
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
        /// Name of the key.
        key_id: String,
        /// The key.
        key: Secret,
        /// Of a session.
        token: Option<Secret>,
        /// Region that is signed for.
        region: String,
    },
}
